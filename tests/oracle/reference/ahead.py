"""Sizes that follow from all uses of statements together, before any statement is computed.

A statement whose left side has only known sizes has a shape, so its uses say as much as those of operands. A
label that is in a use of a statement without a shape waits for it; only if all of them wait, positions alone
decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from oracle.reference.affine import is_at
from oracle.reference.rules import inner_items, labels_of
from oracle.reference.scope import Held, Scope, view
from oracle.reference.sizes import size_of
from oracle.reference.statements import Index, Statement, Use
from oracle.reference.text import Pack, Term
from oracle.reference.walks import nodes_of, walk

Seen = tuple[str, Term]


def learn_ahead(scope: Scope, statements: Sequence[Statement], operands: Iterable[Term]) -> None:
    """Find sizes until nothing changes; `operands` are the terms of uses of operands."""
    left = {statement.name: statement.term for statement in statements}
    uses = {(node.name, node.term) for node in nodes_of(statements) if isinstance(node, Use) and node.term}
    waiting = {(name, term) for name, term in uses if name in left}
    plain, before = scope.plain, -1
    known = {label for term in operands for label in labels_of(term)}
    while before != len(scope.sizes):
        before = len(scope.sizes)
        for name, term in [use for use in waiting if has_shape(scope, left[use[0]])]:
            shape = [size_of(item, scope.sizes) for item in left[name] or ()]
            array = np.broadcast_to(0.0, shape)
            view(scope, Held(array, (None,) * len(shape), None, is_statement=True), term)
            waiting.remove((name, term))
            known |= set(labels_of(term))
        for with_places in (True, False):
            if before == len(scope.sizes):
                scope.plain = known | undecided(waiting, left, with_places)
                scope.solve()
    scope.plain = plain


def has_shape(scope: Scope, term: Term | None) -> bool:
    """Whether all sizes on a left side are known."""
    packs = any(isinstance(item, Pack) for item in term or ())
    return term is not None and not packs and set(labels_of(term)) <= scope.sizes.keys()


def undecided(uses: Iterable[Seen], left: dict[str, Term | None], with_places: bool) -> set[str]:
    """The labels of uses of statements without a shape, but for those on the left of the statement."""
    found: set[str] = set()
    for name, term in uses:
        places = [item.place for item in inner_items(term) if is_at(item)] if with_places else []
        own = {node.label for place in places for node in walk(place) if isinstance(node, Index)}
        found |= (own | set(labels_of(term))) - set(labels_of(left[name] or ()))
    return found
