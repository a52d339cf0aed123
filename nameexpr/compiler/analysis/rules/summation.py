"""The rules on what the result lacks (docs/language.md, section 3): it is a contraction, a 1, or reduced by
request, and a reducer has something to reduce.

They run on texts that keep the rules of `nameexpr.compiler.analysis.rules.check`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nameexpr.compiler.analysis.rules.unsummed import lone_labels, reduced_by_sum
from nameexpr.errors import Diagnostic, Mark
from nameexpr.syntax.ast import (
    LABELLED,
    STRETCHED,
    Anonymous,
    Expression,
    Group,
    Item,
    Literal,
    NamedGroup,
    atoms,
)
from nameexpr.syntax.unparse import unparse_item


def _nothing_unsaid_is_dropped(tree: Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    """Rules 2 and 3: what is dropped without a reducer must be a contraction, or a literal 1."""
    if tree.reducer is not None or has_reduce:
        return
    kept = _kept(tree)
    for word, items in _dropped_words(tree, kept).items():
        hint = f"keep it, or say how it is reduced: {reduced_by_sum(tree)}"
        message = f"{word} would be dropped in silence"
        yield Diagnostic("NE213", message, tree.text, tuple(Mark(item.span) for item in items), hint=hint)
    yield from _dropped_literals(tree)
    yield from lone_labels(tree, kept)


def _kept(tree: Expression) -> set[str]:
    assert tree.outputs is not None
    atoms_out = [atom for term in tree.outputs for atom in atoms(term.items)]
    return {atom.name for atom in atoms_out if isinstance(atom, LABELLED)} | {
        unparse_item(atom) for atom in atoms_out if isinstance(atom, STRETCHED)
    }


def _dropped_words(tree: Expression, kept: set[str]) -> dict[str, list[Item]]:
    """Return the packs, ellipses and anonymous dims that the result lacks, with all their places."""
    dropped: dict[str, list[Item]] = {}
    anonymous: list[Item] = [
        atom for term in tree.inputs for atom in atoms(term.items) if isinstance(atom, Anonymous)
    ]
    outside = Counter(type(atom) for term in tree.outputs or () for atom in atoms(term.items))[Anonymous]
    for item in anonymous[outside:]:
        dropped.setdefault("_", []).append(item)
    for term in tree.inputs:
        for item in term.items:
            if isinstance(item, STRETCHED) and unparse_item(item) not in kept:
                dropped.setdefault(f"'{unparse_item(item)}'", []).append(item)
    return dropped


def _dropped_literals(tree: Expression) -> Iterator[Diagnostic]:
    for term in tree.inputs:
        for atom in atoms(term.items):
            if isinstance(atom, Literal) and atom.size != 1:
                message = f"{atom.size} is a dim without a name: the result cannot keep it, so it is dropped"
                hint = f"name the dim, such as d={atom.size}, on both sides; or reduce it, such as with : sum"
                yield Diagnostic("NE214", message, tree.text, (Mark(atom.span),), hint=hint)


def _something_is_dropped(tree: Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    if tree.reducer is None and not has_reduce:
        return
    kept = _kept(tree)
    names = {a.name for t in tree.inputs for a in atoms(t.items) if isinstance(a, LABELLED)}
    literals = any(_has_literal(term.items) for term in tree.inputs)
    if names - kept or literals or _dropped_words(tree, kept):
        return
    marks = (Mark(tree.reducer.span),) if tree.reducer is not None else ()
    which = f"': {tree.reducer.name}'" if tree.reducer is not None else "reduce="
    hint = "leave the reducer out, or leave a label out of the result"
    message = f"{which} has nothing to reduce: every dim is kept"
    yield Diagnostic("NE215", message, tree.text, marks, hint=hint)


def _has_literal(items: tuple[Item, ...]) -> bool:
    """Whether a dim without a label stands among the items: a literal, or `()`, which is the same as 1."""
    groups = [item.group if isinstance(item, NamedGroup) else item for item in items]
    return any(
        isinstance(item, Literal)
        or (isinstance(item, Group) and (not item.items or _has_literal(item.items)))
        for item in groups
    )


DROPPING_RULES = (_nothing_unsaid_is_dropped, _something_is_dropped)
