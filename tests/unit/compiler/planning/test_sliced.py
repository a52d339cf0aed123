"""Orders for slices: they fit, by a count of their own."""

from __future__ import annotations

from math import prod

import pytest

from nameexpr.compiler.planning.network import Network, Pairs, bits, read_network
from nameexpr.compiler.planning.search import best_path
from nameexpr.compiler.planning.sliced import SliceEffort, slice_network

EFFORT = SliceEffort(40, 0.3, 0)


def grid(side: int, size: int) -> Network:
    terms: list[set[str]] = [set() for _ in range(side * side)]
    for place in range(side * side):
        for other in [place + 1] * ((place + 1) % side > 0) + [place + side] * (place < side * (side - 1)):
            terms[place].add(f"e{place}_{other}")
            terms[other].add(f"e{place}_{other}")
    sizes = {label: size for term in terms for label in term}
    return read_network([frozenset(term) for term in terms], frozenset(), sizes)


def peak(network: Network, pairs: Pairs, sliced: int) -> float:
    """Return the most elements alive if one operand of each step is finished before the other is started."""
    count, terms = len(network.terms), [term & ~sliced for term in network.terms]
    groups = [{position} for position in range(count)]

    def size(group: set[int]) -> float:
        inside = outside = 0
        for position, term in enumerate(terms):
            inside, outside = (inside | term, outside) if position in group else (inside, outside | term)
        return prod(network.cells[label] for label in bits(inside & (outside | network.output)))

    needs, sizes = [0.0] * count, [0.0] * count
    for left, right in pairs:
        groups.append(groups[left] | groups[right])
        own = size(groups[-1])
        first, second = sorted((left, right), key=lambda value: sizes[value] - needs[value])
        needs.append(max(needs[first], sizes[first] + needs[second], sizes[first] + sizes[second] + own))
        sizes.append(own)
    return needs[-1]


@pytest.mark.parametrize("share", [2, 5, 12])
def test_values_fit_if_the_chosen_labels_are_sliced(share: int) -> None:
    network = grid(4, 5)
    pairs = best_path(network)
    limit = peak(network, pairs, 0) / share
    order = slice_network(network, pairs, limit, -1, EFFORT)
    assert order.fits and order.labels and order.seconds > 0
    assert peak(network, order.pairs, order.labels) <= limit
    assert order == slice_network(network, pairs, limit, -1, EFFORT)


def test_only_labels_that_may_be_sliced_are() -> None:
    network = grid(4, 5)
    pairs = best_path(network)
    limit = peak(network, pairs, 0) / 3
    some = sum(network.cells.keys() & {1 << place for place in range(0, 24, 2)})
    assert not slice_network(network, pairs, limit, some, EFFORT).labels & ~some
    nothing = slice_network(network, pairs, limit, 0, EFFORT)
    assert not nothing.fits and not nothing.labels


def test_nothing_is_sliced_if_everything_fits() -> None:
    network = grid(3, 4)
    pairs = best_path(network)
    order = slice_network(network, pairs, peak(network, pairs, 0), -1, EFFORT)
    assert order.fits and not order.labels
