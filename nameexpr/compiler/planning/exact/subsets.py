"""All orders of a few operands, outer products among them: the best split in two of every set of operands.

Here flops come first, exactly as they are reported, and cells written only decide between equals. With few
operands the caller can see every order, and expects the one that a textbook would take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.planning.pairs import Pairs, unfold


def best_of_all(terms: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]) -> Pairs:
    """Return the order with the fewest flops.

    Examples
    --------
    >>> terms = [frozenset("ij"), frozenset("jk"), frozenset("kl")]
    >>> best_of_all(terms, frozenset("il"), dict(i=10, j=2, k=10, l=2))
    [(1, 2), (0, 3)]
    """
    names = sorted(frozenset().union(*terms))
    widths = [sizes[name] for name in names]
    keep = _kept(terms, output, names)
    everything = len(keep) - 1
    cells: dict[int, int] = {}
    best: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * (everything + 1)
    for subset in range(3, everything + 1):
        if subset & (subset - 1):
            found = []
            left = (subset - 1) & subset
            while 2 * left > subset:  # the half with the last operand, so that each split comes once
                right = subset ^ left
                labels = keep[left] | keep[right]
                flops = cells.get(labels)
                if flops is None:
                    flops = cells[labels] = _product(labels, widths)
                if labels != keep[subset]:
                    flops *= 2
                one, other = best[left], best[right]
                found.append((one[0] + other[0] + flops, one[1] + other[1], right, left))
                left = (left - 1) & subset
            flops, written, right, left = min(found)
            best[subset] = (flops, written + _product(keep[subset], widths), right, left)
    count = len(terms)
    return unfold(everything, lambda it: best[it][2:] if it & (it - 1) else it.bit_length() - 1, count)


def _kept(terms: Sequence[frozenset[str]], output: frozenset[str], names: Sequence[str]) -> list[int]:
    """Return, for every set of operands, which labels their product keeps."""
    places = {name: 1 << position for position, name in enumerate(names)}
    inside = [0]
    for term in terms:
        labels = 0
        for name in term:
            labels |= places[name]
        inside += [labels | others for others in inside]
    result = 0
    for name in output:
        result |= places.get(name, 0)
    return [one & (result | other) for one, other in zip(inside, reversed(inside), strict=True)]


def _product(labels: int, widths: Sequence[int]) -> int:
    cells = 1
    while labels:
        lowest = labels & -labels
        cells *= widths[lowest.bit_length() - 1]
        labels ^= lowest
    return cells
