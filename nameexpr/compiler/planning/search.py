"""The order of a network of more than a few operands: exact where that is fast, else by search.

Three cases are handled first. Operands with equal labels are multiplied: this is never worse, because each
step of any order is unchanged, or has fewer elements, when one of the two follows the other. A scalar is
multiplied into the smallest operand, and parts that share no label are ordered one by one. A vector is left
to the search, because the best operand to multiply it into depends on sizes.

Then the best of a few randomised greedy orders is annealed for as long as the network is worth it, and its
subtrees are improved. Annealing first gives the best result for the time: improving the subtrees of a greedy
order before takes longer and ends with a higher cost.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import cycle
from math import inf, log
from random import Random

from nameexpr.compiler.planning.exact import Chain, cut_chain, read_chain, search_connected
from nameexpr.compiler.planning.greedy import Start, greedy, read_start
from nameexpr.compiler.planning.network import (
    Network,
    Pairs,
    bits,
    hyperedges,
    importance,
    splice,
    time_budget,
)
from nameexpr.compiler.planning.tree import Tree, anneal, refine

FEW = 8
"""The number of operands up to which outer products are tried as well."""
SOME = 24
"""The number of operands up to which the exact search is tried."""
CHAIN, RING = 200, 140
"""The number of operands up to which a chain or ring is ordered exactly: the work grows with their cube."""
TRIALS = 100_000
"""The number of pairs of sets that the exact search may always try."""
ROUND, TURN, TRIAL = 2.5e-6, 6e-7, 1.5e-7
"""The seconds of a greedy round per operand and per pair of neighbours, of a sweep of annealing per operand,
and of one trial.
"""
LONG = 800
"""The number of operands with which a set of labels takes twice the time of a small one."""
LASTING = 8
"""The number of labels in three operands or more up to which their time is negligible: each is examined
separately.
"""
PORTION, MANY = 0.25, 128
"""Greedy rounds: their fraction of the time, and their largest number."""
COOL, WARM = 1e-3, 1.0
"""Least and most noise of a greedy round."""
HEAT = 0.5
"""The initial temperature of annealing: a rotation that makes two steps twice as costly is accepted once in
four times.
"""
SWEEPS, PATIENCE = 400, 3
"""The number of sweeps of the first annealing (each later one has twice as many), and how many may fail in a
row.
"""
QUICK, THOROUGH = 5, 8
"""The number of values of a subtree that is reordered after each annealing, and of one at the end."""


def best_path(network: Network) -> Pairs:
    """Return the best known order.

    Examples
    --------
    >>> from nameexpr.compiler.planning.network import Cells
    >>> best_path(Network((1, 3, 6, 12, 24, 16), 0, Cells([10.0, 2.0, 10.0, 2.0, 10.0])))
    [(0, 1), (2, 3), (4, 5), (7, 8), (6, 9)]
    """
    if len(network.terms) <= FEW and _chain(network) is None:
        pairs = search_connected(network, outer=True)[0]
        if pairs is not None:
            return pairs
    return search_components(network, _searched)


def _chain(network: Network) -> Chain | None:
    """Return the chain or ring that a network is, if it can be ordered exactly."""
    count = len(network.terms)
    chain = read_chain(network) if count <= CHAIN else None
    return None if chain is None or (chain.is_ring and count > RING) else chain


def search_components(network: Network, search: Callable[[Network], Pairs]) -> Pairs:
    """Return an order of a network, whose parts are ordered by a search one by one."""
    count = len(network.terms)
    pairs: Pairs = []
    values = _merge_equal_terms(network, pairs)
    _merge_scalar(network, values, pairs)
    results: list[tuple[float, int]] = []
    for part in _components(values):
        terms = tuple(values[number] for number in part)
        output = _output(values, part, network)
        order = search(Network(terms, output, network.cells)) if len(terms) > 1 else []
        results.append((network.cells[output], splice(order, part, pairs, count)))
    heapify(results)
    while len(results) > 1:  # smallest first
        (size, left), (other_size, right) = heappop(results), heappop(results)
        pairs.append((left, right))
        heappush(results, (size * other_size, count + len(pairs) - 1))
    return pairs


def _merge_equal_terms(network: Network, pairs: Pairs) -> dict[int, int]:
    """Multiply operands with equal labels; return the labels of each remaining value."""
    count = len(network.terms)
    values = dict(enumerate(network.terms))
    while True:
        same: dict[int, int] = {}
        before = len(pairs)
        for number, term in list(values.items()):
            twin = same.get(term)
            if twin is not None:
                pairs.append((twin, number))
                del values[twin], values[number]
                number = count + len(pairs) - 1
                values[number] = term
            same[term] = number
        if len(pairs) == before:
            return values
        once = more = 0
        for term in values.values():
            more |= once & term
            once |= term
        needed = more | network.output
        values = {number: term & needed for number, term in values.items()}


def _merge_scalar(network: Network, values: dict[int, int], pairs: Pairs) -> None:
    """Multiply the scalar, if there is one, into the smallest operand, unless a result is smaller still."""
    scalar = next((number for number, term in values.items() if not term), None)
    if scalar is None or len(values) == 1:
        return
    cells = network.cells
    smallest = min(
        (number for number in values if number != scalar), key=lambda number: cells[values[number]]
    )
    results = [cells[_output(values, part, network)] for part in _components(values) if part != [scalar]]
    if cells[values[smallest]] < min(results):
        pairs.append((scalar, smallest))
        values[len(network.terms) + len(pairs) - 1] = values.pop(smallest)
        del values[scalar]


def _output(values: dict[int, int], part: list[int], network: Network) -> int:
    output = 0
    for number in part:
        output |= values[number] & network.output
    return output


def _components(values: dict[int, int]) -> list[list[int]]:
    """Return the values in groups that share no label."""
    owners: dict[int, list[int]] = {}
    for number, term in values.items():
        for label in bits(term):
            owners.setdefault(label, []).append(number)
    left = dict.fromkeys(values)
    parts = []
    while left:
        first, _ = left.popitem()
        part, seen = [first], 0
        for number in part:
            for label in bits(values[number] & ~seen):
                near = [neighbour for neighbour in owners[label] if neighbour in left]
                part += near
                for neighbour in near:
                    del left[neighbour]
            seen |= values[number]
        parts.append(sorted(part))
    return parts[::-1]


def _searched(network: Network) -> Pairs:
    """Return the best known order of connected operands."""
    count = len(network.terms)
    if count == 2:  # noqa: PLR2004
        return [(0, 1)]
    chain = _chain(network)
    if chain is not None:
        return cut_chain(chain)
    exact = search_connected(network, outer=True)[0] if count <= FEW else None
    if exact is not None:
        return exact
    tree, spent = _greedy_tree(read_start(network))
    if count <= SOME:
        spent += _polish(tree, THOROUGH, PORTION * time_budget(tree.cost(), count))
        cost = tree.cost()
        least = TRIALS * importance(cost, count)
        trials = max(least, PORTION * time_budget(cost, count) / TRIAL) / _slowness(network)
        exact = search_connected(network, bound=cost * (1 + 1e-9), trials=trials)[0]
    return exact or _annealed(tree, spent)


def _greedy_tree(start: Start) -> tuple[Tree, float]:
    """Return the best of some greedy orders (one without noise, then as many as the network is worth), and
    the seconds that they take.
    """
    network = start.network
    count = len(network.terms)
    round_time = _times(network) * (1 + len(start.edges) / count) * ROUND
    cost, pairs = greedy(start) or (inf, [])
    rng = Random(count)
    table = [-log(-log(1 - rng.random())) for _ in range(1021)]  # Gumbel noise: each wins with its odds
    rounds = min(MANY, int(PORTION * time_budget(cost, count) / round_time))
    for _ in range(rounds):
        warmth = COOL * (WARM / COOL) ** rng.random()
        noise = cycle([warmth * noise for noise in table])
        cost, pairs = greedy(start, 2 * rng.random(), noise, cost) or (cost, pairs)
        table = table[1:] + table[:1]
    return Tree(network, pairs), (rounds + 1) * round_time


def _times(network: Network) -> float:
    """Return how much longer an operation takes for all operands than for one: sets of many labels
    are long.
    """
    count = len(network.terms)
    return count * (1 + count / LONG) * _slowness(network)


def _slowness(network: Network) -> float:
    """Return how much longer steps take whose labels must be examined one by one."""
    return max(1.0, len(hyperedges(network.terms, network.output)) / LASTING)


def _polish(tree: Tree, leaves: int, seconds: float) -> float:
    """Improve subtrees as long as that helps and time is left, and return the seconds that it takes."""
    seen: set[frozenset[int]] = set()
    trial = TRIAL * _slowness(tree.network)
    spent = 0.0
    cost = inf
    while spent < seconds and tree.cost() < cost * (1 - 1e-4):
        cost = tree.cost()
        spent += trial * refine(tree, leaves, seen, (seconds - spent) / trial)
    return spent


def _annealed(tree: Tree, spent: float) -> Pairs:
    """Return the best order that annealing finds from here, repeatedly, longer each time."""
    rng = Random(tree.count)
    sweep_time = _times(tree.network) * TURN
    best, cost = tree.pairs(), tree.cost()
    sweeps, failures = SWEEPS, 0
    while failures < PATIENCE and (left := time_budget(cost, tree.count) - spent) > 0:
        sweeps = min(sweeps, 1 + int(left / sweep_time))
        anneal(tree, rng, HEAT, sweeps)
        spent += sweeps * sweep_time + _polish(tree, QUICK, PORTION * left)
        if tree.cost() < cost * (1 - 1e-9):
            best, cost, failures = tree.pairs(), tree.cost(), 0
        else:
            tree = Tree(tree.network, best)
            failures += 1
        sweeps *= 2
    tree = Tree(tree.network, best)
    _polish(tree, THOROUGH, time_budget(cost, tree.count) / 2)
    return tree.pairs()
