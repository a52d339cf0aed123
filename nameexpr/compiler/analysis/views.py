"""Operands through their terms: the labels of every dim, all sizes, and the names under packs.

A formula's uses of operands are read as the input terms of one expression, so that groups, packs, ellipses,
aliases, sizes and their mistakes are what they are there; messages say the operand's name where they would
say its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nameexpr.compiler.analysis.faults.words import View, in_formula_words, other_size
from nameexpr.compiler.analysis.formula_operands import check_given, default_term
from nameexpr.compiler.analysis.names import match_names, names_under_packs
from nameexpr.compiler.analysis.operands import Operand, stretch
from nameexpr.compiler.analysis.resolve import Resolved, resolve
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.analysis.sizes import solve
from nameexpr.compiler.analysis.term_queries import labels_in, marks_of_label, terms_in, written_sizes
from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.errors import Diagnostic, Mark, NameExprError, did_you_mean, error
from nameexpr.syntax.ast import Alias, Anonymous, Dots, Expression, Formula, Label, Pack, Sized, Term, atoms
from nameexpr.syntax.unparse import unparse_item

__all__ = ["Views", "marks_of_label", "read_views", "relabelled"]


@dataclass(frozen=True, slots=True)
class Views:
    """How a formula sees its operands.

    `terms` gives for each operand the terms that its uses have, `axes` for each (operand, term) the labels of
    its dims, `default` the term of a use that has none. `left` are the axes of every statement's own term.
    """

    terms: tuple[tuple[str, Term], ...]
    axes: Mapping[tuple[str, Term], Axes]
    default: Mapping[str, Term]
    left: tuple[Axes | None, ...]
    sizes: dict[str, int]
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
    check_given(scope, operands)
    default = {name: default_term(scope, name, operands[name]) for name in scope.operands}
    pairs = tuple(
        (name, term)
        for name, uses in scope.uses.items()
        for term in dict.fromkeys(use.term or default[name] for use in uses)
    )
    tree = scope.tree
    expression = Expression(tuple(term for _, term in pairs), None, None, tree.text)
    given = [operands[name] for name, _ in pairs]
    try:
        return _solved(tree, expression, pairs, given, sizes, default)
    except NameExprError as fault:
        raise in_formula_words(fault, pairs, tree) from None


def _solved(
    tree: Formula,
    expression: Expression,
    pairs: tuple[tuple[str, Term], ...],
    given: Sequence[Operand],
    sizes: Mapping[str, int],
    default: Mapping[str, Term],
) -> Views:
    resolved = resolve(expression, given)
    under = _names_under(expression, given, resolved)
    left = tuple(
        None if statement.term is None else _left_axes(expression, statement.term, given, resolved)
        for statement in tree.statements
    )
    resolved = replace(resolved, written={**written_sizes(tree), **resolved.written})
    here = labels_in(*expression.inputs)
    elsewhere = labels_in(*terms_in(tree)) - here
    _check_sizes_given(tree, sizes, here | elsewhere)
    inside = {name: size for name, size in sizes.items() if name in here}
    resolved = _local_dots(resolved, given)
    resolved, solved = solve(expression, given, resolved, inside)
    known = {**{name: size for name, size in sizes.items() if name in elsewhere}, **solved}
    _check_agree(tree, sizes, known)
    axes = dict(zip(pairs, resolved.operands, strict=True))
    return Views(pairs, axes, default, left, known, under)


def _local_dots(resolved: Resolved, given: Sequence[Operand]) -> Resolved:
    """Return the dims under `...` with their size in their label: `...` is what each value has there."""
    operands = tuple(
        tuple(
            tuple(f"{label}@{size}" if label.startswith("...") else label for label in labels)
            for labels, size in zip(axes, operand.shape, strict=True)
        )
        for axes, operand in zip(resolved.operands, given, strict=True)
    )
    packs = {word: length for word, length in resolved.packs.items() if word != "..."}
    return replace(resolved, operands=operands, packs=packs)


def _names_under(expression: Expression, given: Sequence[Operand], resolved: Resolved) -> dict[str, Names]:
    """Check the names of all operands against their terms; return the names under packs.

    What stands under `...` is each value's own: those names are unified where values meet.
    """
    blanked = [
        replace(operand, names=_without_dots(term, operand.names))
        for term, operand in zip(expression.inputs, given, strict=True)
    ]
    match_names(expression, blanked, resolved.packs)
    return names_under_packs(expression, blanked, resolved.packs) if given else {}


def _without_dots(term: Term, names: Names | None) -> Names | None:
    if names is None:
        return None
    dims = stretch(term, len(names))
    return tuple(
        None if isinstance(item, Dots) else name for (item, _), name in zip(dims, names, strict=True)
    )


def _left_axes(expression: Expression, term: Term, given: Sequence[Operand], resolved: Resolved) -> Axes:
    _check_left(expression.text, term, resolved)
    return resolve(replace(expression, outputs=(term,)), given).result


def _check_left(text: str, term: Term, resolved: Resolved) -> None:
    for atom in atoms(term.items):
        if isinstance(atom, Anonymous):
            hint = "name the dim; a new dim of size 1 is written 1"
            raise error(Diagnostic("NE239", "_ stands for no dim here", text, (Mark(atom.span),), hint=hint))
        if isinstance(atom, Dots | Pack) and unparse_item(atom) not in resolved.packs:
            word = unparse_item(atom)
            hint = did_you_mean(word, resolved.packs) or "write it in the term whose dims it stands for"
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


def relabelled(
    text: str,
    name: str,
    term: Term,
    shape: tuple[int, ...],
    known: dict[str, int],
    operands: Mapping[View, Operand] | None = None,
) -> Axes:
    """Return the labels of an earlier statement's dims under a term of its own; learn the new sizes.

    `operands` are those of the formula by the views that it has of them, for what an error says.

    Raises
    ------
    SizeError
        If the term does not fit the shape, or a label has another size elsewhere (NE330).
    """
    expression = Expression((term,), None, None, text)
    operand = [Operand(shape)]
    try:
        resolved = resolve(expression, operand)
        groups = tuple(item for item in term.items if not isinstance(item, Label | Sized | Alias))
        grouped = labels_in(Term(groups))
        hints = {label: known[label] for label in grouped if label in known}
        resolved, sizes = solve(expression, operand, resolved, hints)
    except NameExprError as fault:
        raise in_formula_words(fault, [(name, term)]) from None
    axes = _local_dots(resolved, operand).operands[0]
    for label, size in sizes.items():
        if known.setdefault(label, size) != size:
            pair = size, known[label]
            raise error(other_size(text, (name, term), shape, label, pair, operands or {}))
    known.update({labels[0]: size for labels, size in zip(axes, shape, strict=True) if len(labels) == 1})
    return axes
