"""Operands through their terms: the labels of every dim, all sizes, and the names under packs.

A formula's uses of operands are read as the input terms of one expression, so that groups, packs, ellipses,
aliases, sizes and their mistakes are what they are there; messages say the operand's name where they would
say its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nameexpr.compiler.formula.scope import Scope, terms_of
from nameexpr.compiler.match_names import match_names, names_under_packs
from nameexpr.compiler.operands import Operand, stretch
from nameexpr.compiler.resolve import Resolved, resolve
from nameexpr.compiler.sizes import solve
from nameexpr.compiler.typed import Axes, Names
from nameexpr.errors import Diagnostic, Mark, NameExprError, OperandInfo, did_you_mean, error
from nameexpr.syntax.ast import (
    Alias,
    Anonymous,
    Dots,
    Expression,
    Item,
    Label,
    Literal,
    Pack,
    Sized,
    Term,
    atoms,
)
from nameexpr.syntax.formula_ast import Formula, Use, nodes
from nameexpr.syntax.unparse import unparse_item


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
    _check_given(scope, operands)
    default = {name: _default_term(scope, name, operands[name]) for name in scope.operands}
    pairs = tuple(
        (name, term)
        for name, uses in scope.uses.items()
        for term in dict.fromkeys(use.term or default[name] for use in uses)
    )
    tree = scope.tree
    expression = Expression(tuple(term for _, term in pairs), None, None, tree.text)
    given = [operands[name] for name, _ in pairs]
    titles = [name for name, _ in pairs]
    try:
        return _solved(tree, expression, pairs, given, sizes, default)
    except NameExprError as fault:
        raise in_formula_words(fault, titles) from None


def _solved(
    tree: Formula,
    expression: Expression,
    pairs: tuple[tuple[str, Term], ...],
    given: Sequence[Operand],
    sizes: Mapping[str, int],
    default: Mapping[str, Term],
) -> Views:
    resolved = resolve(expression, given)
    under = _names_under(expression, given, [name for name, _ in pairs], resolved)
    left = tuple(
        None if statement.term is None else _left_axes(expression, statement.term, given, resolved)
        for statement in tree.statements
    )
    written = {a.name: a.size for term in _terms(tree) for a in _sized(term)}
    resolved = replace(resolved, written={**_literals(tree), **written, **resolved.written})
    here = {a.name for t in expression.inputs for a in atoms(t.items) if isinstance(a, Label | Sized | Alias)}
    elsewhere = _labels_of(tree) - here
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


def _names_under(
    expression: Expression, given: Sequence[Operand], titles: Sequence[str], resolved: Resolved
) -> dict[str, Names]:
    """Check the names of all operands against their terms; return the names under packs.

    What stands under `...` is each value's own: those names are unified where values meet.
    """
    blanked = [
        replace(operand, names=_without_dots(term, operand.names))
        for term, operand in zip(expression.inputs, given, strict=True)
    ]
    try:
        match_names(expression, blanked, resolved.packs)
        return names_under_packs(expression, blanked, resolved.packs) if given else {}
    except NameExprError as fault:
        raise in_formula_words(fault, titles) from None


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


def _sized(term: Term) -> list[Sized]:
    return [atom for atom in atoms(term.items) if isinstance(atom, Sized)]


def _terms(tree: Formula) -> Iterator[Term]:
    """Return every term of a formula: on the left, of uses, in brackets."""
    for statement in tree.statements:
        if statement.term is not None:
            yield statement.term
        for node in nodes(statement.value):
            term = getattr(node, "term", None)
            if term is not None:
                yield term


def _literals(tree: Formula) -> dict[str, int]:
    """Return the sizes of literals on the left, by the labels that `resolve` gives them."""
    found: dict[str, int] = {}
    for statement in tree.statements:
        for literal in () if statement.term is None else atoms(statement.term.items):
            if isinstance(literal, Literal):
                for place in range(64):
                    found[f"{literal.size}@out.{place}"] = literal.size
    return found


def _labels_of(tree: Formula) -> set[str]:
    """Return every label that a formula mentions, in terms and in brackets."""
    named = (a for term in _terms(tree) for a in atoms(term.items))
    return {atom.name for atom in named if isinstance(atom, Label | Sized | Alias)}


def _check_sizes_given(tree: Formula, sizes: Mapping[str, int], labels: set[str]) -> None:
    for name in sizes:
        if name not in labels:
            hint = did_you_mean(name, sorted(labels)) or f"the labels are {', '.join(sorted(labels))}"
            message = f"sizes: {name} is no label of the formula"
            raise error(Diagnostic("NE602", message, tree.text, hint=hint))


def _check_agree(tree: Formula, sizes: Mapping[str, int], known: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if known.get(name, size) != size:
            message = f"'{name}' is {known[name]} in the operands and {size} in sizes="
            raise error(
                Diagnostic(
                    "NE330", message, tree.text, marks_of_label(tree, name), hint="leave it out of sizes="
                )
            )


def marks_of_label(tree: Formula, label: str) -> tuple[Mark, ...]:
    """Return marks below every mention of a label."""
    named = (a for term in _terms(tree) for a in atoms(term.items) if isinstance(a, Label | Sized | Alias))
    marks = [Mark(atom.span) for atom in named if atom.name == label]
    return tuple(sorted(marks, key=lambda mark: mark.span.start))


def _check_given(scope: Scope, operands: Mapping[str, Operand]) -> None:
    text = scope.tree.text
    found = []
    for name, uses in scope.uses.items():
        if name not in operands:
            unused = [given for given in operands if given not in scope.uses]
            near = did_you_mean(name, unused)
            hint = near or f"give it by keyword: {name}=..., or define it in an earlier statement"
            mark = (Mark(uses[0].name_span),)
            found.append(Diagnostic("NE521", f"there is no operand '{name}'", text, mark, hint=hint))
    named = {statement.name for statement in scope.tree.statements}
    for name in operands:
        if name not in scope.uses and not found:
            hint = did_you_mean(name, scope.uses) or "leave it out"
            message = f"the operand {name}= is used nowhere in the formula"
            if name in named:
                message, hint = f"{name}= is computed by the formula, and given as an operand", "leave it out"
            found.append(Diagnostic("NE522", message, text, hint=hint))
    if found:
        raise error(*found)


def _default_term(scope: Scope, name: str, operand: Operand) -> Term:
    """Return the term of a use that has none: the operand's only term, or its own names."""
    uses = scope.uses[name]
    terms = terms_of(uses)
    bare = next((use for use in uses if use.term is None), None)
    if bare is not None and len({canonical(term) for term in terms}) > 1:
        marks = (Mark(bare.span), *(Mark(use.span) for use in uses if use.term is not None))
        message = f"which dims are meant by '{name}' alone? it has different terms"
        raise error(Diagnostic("NE523", message, scope.tree.text, marks, hint="write the term at every use"))
    if terms and (uses[0].term is not None or operand.names is None):
        if uses[0].term is None and operand.shape:
            raise _no_term(scope, uses[0], operand)
        return terms[0]
    if operand.names is not None and None not in operand.names:
        return Term(tuple(Label(str(own), uses[0].span) for own in operand.names), uses[0].span)
    if operand.shape:
        raise _no_term(scope, uses[0], operand)
    return Term((), uses[0].span)


def _no_term(scope: Scope, use: Use, operand: Operand) -> NameExprError:
    count = len(operand.shape)
    dims = "1 dim" if count == 1 else f"{count} dims"
    example = " ".join("ijklmnabcdefgh"[:count])
    message = f"'{use.name}' has {dims}, and its first use does not name them"
    if operand.names is not None:
        message = f"'{use.name}' has a dim without a name, and no term that gives it one"
    info = OperandInfo(0, operand.shape, operand.names, (), use.name)
    hint = f"write {use.name}[{example}] where it stands first"
    return error(Diagnostic("NE523", message, scope.tree.text, (Mark(use.span),), (info,), hint))


def in_formula_words(fault: NameExprError, titles: Sequence[str]) -> NameExprError:
    """Return an error of the shared stages with the operands called by their names."""

    def named(text: str) -> str:
        return re.sub(r"\boperand ([0-9]+)\b", lambda number: titles[int(number[1])], text)

    diagnostics = []
    for one in fault.diagnostics:
        infos = dict.fromkeys(replace(info, title=titles[info.position]) for info in one.operands)
        first = {info.title: info for info in reversed(infos)}
        diagnostics.append(
            replace(
                one,
                message=named(one.message),
                hint=named(one.hint),
                marks=tuple(replace(mark, note=named(mark.note)) for mark in one.marks),
                operands=tuple(info for info in infos if first[info.title] is info),
            )
        )
    return error(*diagnostics)


def relabelled(text: str, name: str, term: Term, shape: tuple[int, ...], known: dict[str, int]) -> Axes:
    """Return the labels of an earlier statement's dims under a term of its own; learn the new sizes.

    Raises
    ------
    SizeError
        If the term does not fit the shape, or a label has another size elsewhere (NE330).
    """
    expression = Expression((term,), None, None, text)
    operand = [Operand(shape)]
    try:
        resolved = resolve(expression, operand)
        grouped = {a.name for i in term.items if not isinstance(i, Label | Sized | Alias) for a in _named(i)}
        hints = {label: known[label] for label in grouped if label in known}
        resolved, sizes = solve(expression, operand, resolved, hints)
    except NameExprError as fault:
        raise in_formula_words(fault, [name]) from None
    axes = _local_dots(resolved, operand).operands[0]
    for label, size in sizes.items():
        if known.setdefault(label, size) != size:
            marks = tuple(Mark(item.span) for item in term.items if getattr(item, "name", "") == label)
            message = f"'{label}' is {size} in {name} and {known[label]} elsewhere"
            raise error(Diagnostic("NE330", message, text, marks, hint="if these are two dims, rename one"))
    known.update({labels[0]: size for labels, size in zip(axes, shape, strict=True) if len(labels) == 1})
    return axes


def canonical(term: Term) -> str:
    """Return a term without its sizes, to tell if two terms see the same dims: `C=3` is `C`, `()` is `1`."""
    words = " ".join(map(unparse_item, term.items))
    return re.sub(r"([^\W\d]\w*'*)=[0-9]+(?![\w'])", r"\1", words).replace("()", "1")


def _named(item: Item) -> list[Label | Sized | Alias]:
    return [a for a in atoms((item,)) if isinstance(a, Label | Sized | Alias)]
