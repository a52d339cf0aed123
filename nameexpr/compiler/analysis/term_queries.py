"""What a formula mentions, from its text alone: terms, labels, and sizes that are written."""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.errors import Mark
from nameexpr.syntax.ast import Alias, Dots, Formula, Label, Literal, Pack, Sized, Term, atoms, nodes
from nameexpr.syntax.unparse import unparse_item


def terms_in(tree: Formula) -> Iterator[Term]:
    """Return every term of a formula: on the left, of uses, in brackets."""
    for statement in tree.statements:
        if statement.term is not None:
            yield statement.term
        for node in nodes(statement.value):
            term = getattr(node, "term", None)
            if term is not None:
                yield term


def labels_in(*terms: Term) -> set[str]:
    """Return every label that stands in terms."""
    named = (atom for term in terms for atom in atoms(term.items))
    return {atom.name for atom in named if isinstance(atom, Label | Sized | Alias)}


def written_sizes(tree: Formula) -> dict[str, int]:
    """Return the sizes that the text gives to labels, and to the literals on the left."""
    sized = [atom for term in terms_in(tree) for atom in atoms(term.items) if isinstance(atom, Sized)]
    return {**_literals(tree), **{atom.name: atom.size for atom in sized}}


def _literals(tree: Formula) -> dict[str, int]:
    """Return the sizes of literals on the left, by the labels that `resolve` gives them."""
    found: dict[str, int] = {}
    for statement in tree.statements:
        for literal in () if statement.term is None else atoms(statement.term.items):
            if isinstance(literal, Literal):
                for place in range(64):
                    found[f"{literal.size}@out.{place}"] = literal.size
    return found


def marks_of_label(tree: Formula, label: str) -> tuple[Mark, ...]:
    """Return marks below every mention of a label; of one under a pack or `...`, below those."""
    word, dots, _ = label.partition("...")
    marks = []
    for term in terms_in(tree):
        for atom in atoms(term.items):
            is_pack = isinstance(atom, Pack | Dots) and unparse_item(atom) == word + dots
            is_label = isinstance(atom, Label | Sized | Alias) and atom.name == label
            if is_pack or is_label:
                marks.append(Mark(atom.span))
    return tuple(sorted(marks, key=lambda mark: mark.span.start))
