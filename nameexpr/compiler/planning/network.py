"""A network of operands as the searches see it: sets of labels are the bits of whole numbers.

Labels that cannot change which order is best are gone before a search starts: those of size 1 (and of size 0,
where every order costs nothing), those that only one operand has, those in every operand, and all but one of
those that always come together, whose sizes are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

HUGE = 1e300
"""Numbers of cells beyond it count as it: nothing of that kind can run, and floats end soon after."""


class Cells(dict[int, float]):
    """Number of cells of a set of labels, remembered."""

    def __init__(self, sizes: Sequence[float]) -> None:
        super().__init__()
        self[0] = 1.0
        for position, size in enumerate(sizes):
            self[1 << position] = size

    def __missing__(self, labels: int) -> float:
        cells, left = 1.0, labels
        while left:
            lowest = left & -left
            cells *= self[lowest]
            left ^= lowest
        self[labels] = cells = min(cells, HUGE)
        return cells


class Network(NamedTuple):
    """Operands to be contracted: their labels, those of the result, and the cells of each set of labels."""

    terms: tuple[int, ...]
    output: int
    cells: Cells


def bits(labels: int) -> Iterator[int]:
    """Return each label of a set, as a set of its own."""
    while labels:
        lowest = labels & -labels
        yield lowest
        labels ^= lowest


def read_network(
    terms: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]
) -> Network:
    """Return the network of operands with named labels, with only the labels that matter.

    Examples
    --------
    >>> terms = [frozenset("ijk"), frozenset("jkl"), frozenset("lm")]
    >>> network = read_network(terms, frozenset("im"), dict(i=2, j=3, k=5, l=1, m=7))
    >>> network.terms, network.output, network.cells[0b10]
    ((3, 2, 4), 5, 15.0)
    """
    places: dict[str, int] = {}
    for position, term in enumerate(terms):
        for label in term:
            places[label] = places.get(label, 0) | 1 << position
    everywhere = (1 << len(terms)) - 1
    groups: dict[tuple[int, bool], float] = {}
    for label in sorted(places):  # not in the order of a set, which differs from process to process
        where, size = places[label], sizes[label]
        is_kept = label in output
        if size > 1 and where != everywhere and (is_kept or where & (where - 1)):
            groups[where, is_kept] = min(groups.get((where, is_kept), 1.0) * min(size, HUGE), HUGE)
    masks = [0] * len(terms)
    result = 0
    for position, (where, is_kept) in enumerate(groups):
        result |= is_kept << position
        for operand in bits(where):
            masks[operand.bit_length() - 1] |= 1 << position
    return Network(tuple(masks), result, Cells(list(groups.values())))


def hyperedges(terms: Sequence[int], output: int) -> dict[int, int]:
    """Return the labels that can outlive a contraction of two operands that have them, each with the set of
    its operands: those in three operands or more, and those in two and in the output (which then belongs to
    the set as one more operand).
    """
    once = twice = more = 0
    for term in (*terms, output):
        more |= twice & term
        twice |= once & term
        once |= term
    found = {}
    for label in bits(more):
        found[label] = sum(1 << position for position, term in enumerate((*terms, output)) if term & label)
    return found


def staying(labels: int, operands: int, lasting: Mapping[int, int]) -> int:
    """Return those of the lasting labels that something outside a set of operands still needs."""
    kept = 0
    while labels:
        lowest = labels & -labels
        if lasting[lowest] & ~operands:
            kept |= lowest
        labels ^= lowest
    return kept
