"""An order for a network that is too large for the memory: some labels are sliced, that is, their indices are
taken one at a time.

Labels are chosen one by one, from those of the step that needs most memory, and the order is improved for the
network without them before the next is chosen. An order that is best without slices has large values in many
steps, which need many sliced labels; another one often needs few (Gray and Kourtis, "Hyper-optimized tensor
network contraction", 2021).
"""

from __future__ import annotations

from math import inf, log
from random import Random
from typing import NamedTuple

from nameexpr.compiler.planning.network import Network, Pairs, bits
from nameexpr.compiler.planning.tree import Tree, anneal, refine

MANY = 8
"""The largest number of sliced labels: each is a loop inside the one before, and Python nests at most 20."""
LEAVES, TRIALS = 6, 20_000
"""The number of values of a subtree that is reordered after each choice, and the trials for all subtrees."""
TURN, TRIAL, SCORED = 6e-7, 1.5e-7, 4e-7
"""The seconds of a sweep of annealing per operand, of one trial, and of scoring one label per operand."""
LASTING = 8
"""The number of labels in three operands or more up to which their time is negligible."""


class SliceEffort(NamedTuple):
    """How a search tries to find an order: the sweeps of annealing after each choice and their initial
    temperature, and which of the best labels is sliced first.
    """

    sweeps: int
    heat: float
    first: int


class SlicedOrder(NamedTuple):
    """An order, the labels that are sliced, whether it fits then, and the seconds that it took to find it."""

    pairs: Pairs
    labels: int
    fits: bool
    seconds: float


def slice_network(
    network: Network, pairs: Pairs, limit: float, labels: int, effort: SliceEffort
) -> SlicedOrder:
    """Return an order whose values fit a limit if some labels are sliced.

    Parameters
    ----------
    network : Network
        The operands.
    pairs : list of tuple of int
        Their order without slices.
    limit : float
        The number of elements that values may have that are alive at the same time, operands not counted.
    labels : int
        The labels that may be sliced.
    effort : SliceEffort
        How to search.

    Examples
    --------
    >>> from nameexpr.compiler.planning.network import Cells
    >>> network = Network((0b0011, 0b0110, 0b1100), 0b1001, Cells([10.0, 20.0, 30.0, 40.0]))
    >>> slice_network(network, [(0, 1), (3, 2)], 150.0, 0b1111, SliceEffort(100, 0.3, 0)).labels
    1
    """
    rng, sliced, spent, peak = Random(len(pairs)), 0, 0.0, inf
    tree = Tree(network, pairs)
    slowness = max(1.0, len(tree.lasting) / LASTING)
    for number in range(MANY + 1):
        memory = _Memory(tree, limit)
        peak, _, top = memory.measured(0)
        if peak <= limit or number == MANY:
            break
        left, right = tree.children[top]
        alive = (tree.labels[left] | tree.labels[right]) & labels & ~sliced
        scored = sorted([(memory.score(label), label) for label in bits(alive)])
        spent += SCORED * tree.count * (len(scored) + 1)
        if not scored:
            break
        sliced |= scored[0 if number else min(effort.first, len(scored) - 1)][1]
        tree, seconds = _improved(_without(network, sliced), tree.pairs(), limit, rng, effort)
        spent += slowness * seconds
    return SlicedOrder(tree.pairs(), sliced, peak <= limit, spent)


def _without(network: Network, labels: int) -> Network:
    terms = tuple([term & ~labels for term in network.terms])
    return Network(terms, network.output & ~labels, network.cells)


def _improved(
    network: Network, pairs: Pairs, limit: float, rng: Random, effort: SliceEffort
) -> tuple[Tree, float]:
    """Return a better order if annealing and refining finds one, and the seconds that it takes."""
    before, tree = Tree(network, pairs), Tree(network, pairs)
    anneal(tree, rng, effort.heat, effort.sweeps)
    tried = refine(tree, LEAVES, set(), TRIALS)
    seconds = TURN * effort.sweeps * tree.count + TRIAL * tried
    is_better = _Memory(tree, limit).score(0) < _Memory(before, limit).score(0)
    return tree if is_better else before, seconds


class _Memory:
    """The memory of an order in which the value that exceeds its result by most is always computed first."""

    def __init__(self, tree: Tree, limit: float) -> None:
        self.tree, self.limit = tree, limit
        self.steps: list[tuple[int, int, int]] = []
        waiting = [len(tree.children) - 1]
        while waiting:
            node = waiting.pop()
            if node >= tree.count:
                left, right = tree.children[node]
                self.steps.append((node, left, right))
                waiting += (left, right)
        self.steps.reverse()

    def measured(self, label: int) -> tuple[float, float, int]:
        """Return the number of elements at the peak if a label is sliced, the sum of the logarithms of what
        steps exceed the limit by, and the step with most elements.
        """
        tree, limit = self.tree, self.limit
        labels, elements, size = tree.labels, tree.sizes, tree.cells[label]
        peaks, sizes = [0.0] * len(labels), [0.0] * len(labels)
        excess = most = 0.0
        top = len(labels) - 1
        for node, left, right in self.steps:
            own = sizes[node] = elements[node] / size if labels[node] & label else elements[node]
            own += sizes[left] + sizes[right]
            first, second = peaks[left], peaks[right]
            one = max(first, sizes[left] + second)
            other = max(second, sizes[right] + first)
            peaks[node] = max(own, min(one, other))
            if own > limit:
                excess += log(own / limit)
            if own > most:
                most, top = own, node
        peak = peaks[len(labels) - 1]
        return peak, max(excess, log(peak / limit)) if peak > limit else 0.0, top

    def score(self, label: int) -> float:
        """Return the logarithm of the cost of all slices of a label, plus the excess over the limit."""
        tree = self.tree
        labels, costs, size = tree.labels, tree.costs, tree.cells[label]
        rest = sum(
            [costs[node] for node, left, right in self.steps if not (labels[left] | labels[right]) & label]
        )
        cost = rest * size + tree.cost() - rest
        return log(max(1.0, cost)) + self.measured(label)[1]
