"""What names stand for in the formula reference, and the names of the dims of ``...``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oracle.reference.match import Named, unify
from oracle.reference.scope import DOTS, Held, own_term
from oracle.reference.text import Term

NOTHING = Held(np.zeros(()), (), None)


def hold(name: str, operand: Any, terms: Sequence[Term | None]) -> Held:
    """An operand as its uses see it."""
    term = own_term(name, operand, terms)
    if isinstance(operand, Named):
        return Held(np.asarray(operand.array), operand.names, term)
    array = np.asarray(operand)
    return Held(array, (None,) * array.ndim, term)


def join_dots(left: Mapping[str, str | None], right: Mapping[str, str | None]) -> dict[str, str | None]:
    """The names of broadcast dims, which are numbered from the right."""
    rank = max(len(left), len(right))
    places = [f"{DOTS}:{at}" for at in range(rank, 0, -1)]
    columns = [tuple(side[place] for place in places if place in side) for side in (left, right)]
    first = (None,) * (rank - len(columns[0])) + columns[0]
    return dict(zip(places, unify(first, columns[1], True), strict=True))
