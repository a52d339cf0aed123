"""What a formula mentions, from its text alone: terms, labels, and sizes that are written."""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.compiler.ir.axes import Unnamed
from nameexpr.errors import Mark
from nameexpr.syntax.ast import LABELLED, STRETCHED, Formula, Sized, Term, atoms, nodes
from nameexpr.syntax.unparse import unparse_item

View = tuple[str, Term]
"""An operand or a statement, and the term through which it is seen."""


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
    return {atom.name for atom in named if isinstance(atom, LABELLED)}


def sized_in(tree: Formula) -> tuple[Sized, ...]:
    """Return the items that give sizes to labels."""
    return tuple(atom for term in terms_in(tree) for atom in atoms(term.items) if isinstance(atom, Sized))


def marks_of_label(tree: Formula, label: str) -> tuple[Mark, ...]:
    """Return marks below every mention of a label; of one under a pack or `...`, below those."""
    word = label.word if isinstance(label, Unnamed) else label
    marks = []
    for term in terms_in(tree):
        for atom in atoms(term.items):
            is_pack = isinstance(atom, STRETCHED) and unparse_item(atom) == word
            if is_pack or (isinstance(atom, LABELLED) and atom.name == word):
                marks.append(Mark(atom.span))
    return tuple(sorted(marks, key=lambda mark: mark.span.start))
