"""Operands through their terms: the labels of every dim, all sizes, and the names under packs.

A formula's uses of operands are read as the input terms of one expression, so that groups, packs, ellipses,
aliases, sizes and their mistakes are what they are there. Terms of nothing but labels are read in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.faults.values import other_size
from nameexpr.compiler.analysis.formula_operands import check_given, default_term
from nameexpr.compiler.analysis.names import match_names, names_under_packs
from nameexpr.compiler.analysis.operands import Operand, measured, stretch
from nameexpr.compiler.analysis.resolve import Resolved, resolve, resolve_result
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.analysis.sizes import solve
from nameexpr.compiler.analysis.term_queries import View, labels_in, marks_of_label, sized_in, terms_in
from nameexpr.compiler.ir.axes import DOTS, Axes, Names, is_under_dots, under_dots
from nameexpr.errors import Diagnostic, Mark, did_you_mean, error
from nameexpr.records import record, replace
from nameexpr.syntax.ast import Alias, Anonymous, Dots, Expression, Formula, Label, Pack, Sized, Term, atoms
from nameexpr.syntax.unparse import unparse_item


@record
class Views:
    """How a formula sees its operands.

    `axes` gives for each operand and term through which it is seen the labels of its dims, `default` the term
    of a use that has none. `left` are the axes of every statement's own term. `packs` are the packs that
    operands have, `under` the names there.
    """

    operands: Mapping[str, Operand]
    axes: Mapping[View, Axes]
    default: Mapping[str, Term]
    left: tuple[Axes | None, ...]
    sizes: dict[str, int]
    packs: Mapping[str, int]
    under: Mapping[str, Names]


def read_views(scope: Scope, operands: Mapping[str, Operand], sizes: Mapping[str, int]) -> Views:
    """Return labels and sizes of everything that a formula uses.

    Raises
    ------
    OperandError
        NE521 to NE523 if operands are missing, are not used, or have dims and no term.
    SizeError, DimNameError, OptionError
        As expressions do, for sizes, ranks and names that do not fit.
    """
    views = None if sizes or scope.plain is None else _plain_views(scope, scope.plain, operands)
    return _read_views(scope, operands, sizes) if views is None else views


def _plain_views(scope: Scope, plain: Sequence[View], operands: Mapping[str, Operand]) -> Views | None:
    """Return the views of a formula whose terms hold nothing but labels, if everything fits; else None."""
    if operands.keys() != scope.uses.keys():
        return None
    sizes: dict[str, int] = {}
    axes: dict[View, Axes] = {}
    for view in plain:
        labels = measured(view[1], operands[view[0]], sizes)
        if labels is None:
            return None
        axes[view] = labels
    left: list[Axes | None] = []
    for statement in scope.tree.statements:
        term = statement.term
        left.append(None if term is None else tuple([(item.name,) for item in term.items]))  # type: ignore[union-attr]
    if not all(label in sizes for group in left for (label,) in group or ()):
        return None
    default = {name: uses[0].term for name, uses in scope.uses.items() if uses[0].term is not None}
    return Views(operands, axes, default, tuple(left), sizes, {}, {})


def _read_views(scope: Scope, operands: Mapping[str, Operand], sizes: Mapping[str, int]) -> Views:
    check_given(scope, operands)
    default = {name: default_term(scope, name, operands[name]) for name in scope.operands}
    pairs = tuple(
        (name, term)
        for name, uses in scope.uses.items()
        for term in dict.fromkeys(use.term or default[name] for use in uses)
    )
    tree = scope.tree
    expression = Expression(tuple(term for _, term in pairs), None, None, tree.text)
    given = [Operand(operands[name].shape, operands[name].names, name) for name, _ in pairs]
    resolved = resolve(expression, given)
    under = _names_under(expression, given, resolved)
    packs = resolved.packs
    written: dict[str, int] = {}
    left: list[Axes | None] = []
    for statement in tree.statements:
        left.append(None)
        if statement.term is not None:
            _check_left(tree.text, statement.term, packs)
            left[-1] = resolve_result(statement.term, packs, written, tree.text)
    sized = sized_in(tree)
    written |= {item.name: item.size for item in sized}
    resolved = replace(resolved, written={**written, **resolved.written}, sized=sized)
    here = labels_in(*expression.inputs)
    elsewhere = labels_in(*terms_in(tree)) - here
    _check_sizes_given(tree, sizes, here | elsewhere)
    inside = {name: size for name, size in sizes.items() if name in here}
    resolved, solved = solve(expression, given, _local_dots(resolved, given), inside)
    known = {**{name: size for name, size in sizes.items() if name in elsewhere}, **solved}
    _check_agree(tree, sizes, known)
    axes = dict(zip(pairs, resolved.operands, strict=True))
    return Views(operands, axes, default, tuple(left), known, packs, under)


def _local_dots(resolved: Resolved, given: Sequence[Operand]) -> Resolved:
    """Return the dims under `...` with their size in their label: `...` is what each value has there."""
    if DOTS not in resolved.packs:
        return resolved
    operands = tuple(
        tuple(
            tuple(under_dots(label.number, size) if is_under_dots(label) else label for label in labels)
            for labels, size in zip(axes, operand.shape, strict=True)
        )
        for axes, operand in zip(resolved.operands, given, strict=True)
    )
    packs = {word: length for word, length in resolved.packs.items() if word != DOTS}
    return replace(resolved, operands=operands, packs=packs)


def _names_under(expression: Expression, given: Sequence[Operand], resolved: Resolved) -> dict[str, Names]:
    """Check the names of all operands against their terms; return the names under packs.

    What stands under `...` is each value's own: those names are unified where values meet.
    """
    if all(operand.names is None for operand in given):
        return {}
    blanked = [
        replace(operand, names=_without_dots(term, operand.names))
        for term, operand in zip(expression.inputs, given, strict=True)
    ]
    match_names(expression, blanked, resolved.packs)
    return names_under_packs(expression, blanked, resolved.packs)


def _without_dots(term: Term, names: Names | None) -> Names | None:
    if names is None:
        return None
    dims = stretch(term, len(names))
    return tuple(
        None if isinstance(item, Dots) else name for (item, _), name in zip(dims, names, strict=True)
    )


def _check_left(text: str, term: Term, packs: Mapping[str, int]) -> None:
    for atom in atoms(term.items):
        if isinstance(atom, Anonymous):
            hint = "name the dim; a new dim of size 1 is written 1"
            raise error(Diagnostic("NE239", "_ stands for no dim here", text, (Mark(atom.span),), hint=hint))
        if isinstance(atom, Dots | Pack) and unparse_item(atom) not in packs:
            word = unparse_item(atom)
            hint = did_you_mean(word, packs) or "write it in the term whose dims it stands for"
            raise error(
                Diagnostic("NE239", f"'{word}' stands in no operand", text, (Mark(atom.span),), hint=hint)
            )


def _check_sizes_given(tree: Formula, sizes: Mapping[str, int], labels: set[str]) -> None:
    for name in sizes:
        if name not in labels:
            known = f"the labels are {', '.join(sorted(labels))}"
            if len(labels) < 2:  # noqa: PLR2004  one label, or none
                known = f"the only label is {min(labels)}" if labels else "no dim has a label"
            hint = did_you_mean(name, sorted(labels)) or known
            message = f"sizes: {name} is no label of the formula"
            raise error(Diagnostic("NE602", message, tree.text, hint=hint))


def _check_agree(tree: Formula, sizes: Mapping[str, int], known: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if known.get(name, size) != size:
            message = f"'{name}' is {known[name]} in the text and {size} in sizes="
            marks = marks_of_label(tree, name)
            raise error(Diagnostic("NE330", message, tree.text, marks, hint="leave it out of sizes="))


def relabelled(text: str, view: View, shape: tuple[int, ...], views: Views) -> Axes:
    """Return the labels of an earlier statement's dims under a term of its own; learn the new sizes.

    Raises
    ------
    SizeError
        If the term does not fit the shape, or a label has another size elsewhere (NE330).
    """
    name, term = view
    known = views.sizes
    expression = Expression((term,), None, None, text)
    operand = [Operand(shape, None, name)]
    resolved = resolve(expression, operand)
    groups = tuple(item for item in term.items if not isinstance(item, Label | Sized | Alias))
    hints = {label: known[label] for label in labels_in(Term(groups)) if label in known}
    resolved, sizes = solve(expression, operand, resolved, hints)
    axes = _local_dots(resolved, operand).operands[0]
    for label, size in sizes.items():
        if known.setdefault(label, size) != size:
            seen = {other: views.operands[other[0]] for other in views.axes}
            raise error(other_size(text, view, shape, label, (size, known[label]), seen))
    known.update({labels[0]: size for labels, size in zip(axes, shape, strict=True) if len(labels) == 1})
    return axes
