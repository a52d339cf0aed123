"""The order of a network of more than a few operands: exactly where that is quick, else by search.

Beyond that the best of a few randomised greedy orders is annealed for as long as the network is worth it, and
then its subtrees are made better. Annealing first does most for the time: making the subtrees of a greedy
order better before takes longer and ends higher.
"""

from __future__ import annotations

from itertools import cycle
from math import inf, log
from random import Random

from nameexpr.compiler.planning.cost import allowance
from nameexpr.compiler.planning.exact.chains import Line, best_cuts, read_line
from nameexpr.compiler.planning.exact.connected import cheapest
from nameexpr.compiler.planning.network import Network, hyperedges
from nameexpr.compiler.planning.pairs import Pairs
from nameexpr.compiler.planning.search.anneal import anneal
from nameexpr.compiler.planning.search.greedy import Start, greedy, read_start
from nameexpr.compiler.planning.search.preprocess import planned_apart
from nameexpr.compiler.planning.search.refine import refine
from nameexpr.compiler.planning.search.tree import Tree

FEW = 8
"""Operands up to which outer products are tried as well."""
SOME = 24
"""Operands up to which the exact search is tried."""
CHAIN, RING = 200, 140
"""Operands up to which a chain or ring is ordered exactly: the work grows with their cube."""
TRIALS = 100_000
"""Pairs of sets that the exact search may try in any case."""
ROUND, TURN, TRIAL = 2.5e-6, 6e-7, 1.5e-7
"""Seconds of a greedy round for each operand and each pair of neighbours, of a sweep of annealing for each
operand, and of one trial.
"""
LONG = 800
"""Operands with which a set of labels takes twice the time of a small one."""
LASTING = 8
"""Labels in three operands or more up to which they take no time of their own: each is looked at alone."""
PORTION, MANY = 0.25, 128
"""Greedy rounds: their part of the time, and how many at most."""
COOL, WARM = 1e-3, 1.0
"""Least and most noise of a greedy round."""
HEAT = 0.5
"""Where annealing starts: a turn that makes two steps twice as costly happens once in four times."""
SWEEPS, PATIENCE = 400, 3
"""Sweeps of the first annealing (each later one has twice as many), and how many may fail in a row."""
QUICK, THOROUGH = 5, 8
"""Values of a subtree that is ordered anew after each annealing, and of one in the end."""


def best_path(network: Network) -> Pairs:
    """Return the best order that is known.

    Examples
    --------
    >>> from nameexpr.compiler.planning.network import Cells
    >>> best_path(Network((1, 3, 6, 12, 24, 16), 0, Cells([10.0, 2.0, 10.0, 2.0, 10.0])))
    [(0, 1), (2, 3), (4, 5), (7, 8), (6, 9)]
    """
    if len(network.terms) <= FEW and _line(network) is None:
        found = cheapest(*network, outer=True).pairs
        if found is not None:
            return found
    return planned_apart(network, _searched)


def _line(network: Network) -> Line | None:
    """Return the chain or ring that a network is, if it is one that can be ordered exactly."""
    count = len(network.terms)
    line = read_line(network) if count <= CHAIN else None
    return None if line is None or (line.is_ring and count > RING) else line


def _searched(network: Network) -> Pairs:
    """Return the best order that is known for operands that hang together."""
    count = len(network.terms)
    if count == 2:  # noqa: PLR2004
        return [(0, 1)]
    line = _line(network)
    if line is not None:
        return best_cuts(line)
    exact = cheapest(*network, outer=True).pairs if count <= FEW else None
    if exact is not None:
        return exact
    tree, spent = _first(read_start(network))
    if count <= SOME:
        spent += _polish(tree, THOROUGH, PORTION * allowance(tree.cost(), count))
        cost = tree.cost()
        trials = max(TRIALS, PORTION * allowance(cost, count) / TRIAL) / _slowness(network)
        exact = cheapest(*network, bound=cost * (1 + 1e-9), trials=trials).pairs
    return exact or _annealed(tree, spent)


def _first(start: Start) -> tuple[Tree, float]:
    """Return the best of some greedy orders (one without noise, then as many as the network is worth), and
    the seconds that they take.
    """
    network = start.network
    count = len(network.terms)
    round_time = _times(network) * (1 + len(start.edges) / count) * ROUND
    cost, pairs = greedy(start) or (inf, [])
    rng = Random(count)
    table = [-log(-log(1 - rng.random())) for _ in range(1021)]  # Gumbel's: the winner is drawn by its odds
    rounds = min(MANY, int(PORTION * allowance(cost, count) / round_time))
    for _ in range(rounds):
        warmth = COOL * (WARM / COOL) ** rng.random()
        noise = cycle([warmth * noise for noise in table])
        cost, pairs = greedy(start, 2 * rng.random(), noise, cost) or (cost, pairs)
        table = table[1:] + table[:1]
    return Tree(network, pairs), (rounds + 1) * round_time


def _times(network: Network) -> float:
    """Return how much longer something takes for all operands than for one: sets of many labels are long."""
    count = len(network.terms)
    return count * (1 + count / LONG) * _slowness(network)


def _slowness(network: Network) -> float:
    """Return how much longer steps take that have many labels to look at one by one."""
    return max(1.0, len(hyperedges(network.terms, network.output)) / LASTING)


def _polish(tree: Tree, leaves: int, seconds: float) -> float:
    """Make subtrees better as long as that helps and time is left, and return the seconds that it takes."""
    seen: set[frozenset[int]] = set()
    trial = TRIAL * _slowness(tree.network)
    spent = 0.0
    cost = inf
    while spent < seconds and tree.cost() < cost * (1 - 1e-4):
        cost = tree.cost()
        spent += trial * refine(tree, leaves, seen, (seconds - spent) / trial)
    return spent


def _annealed(tree: Tree, spent: float) -> Pairs:
    """Return the best order that annealing finds from here, again and again, longer each time."""
    rng = Random(tree.count)
    sweep_time = _times(tree.network) * TURN
    best, cost = tree.pairs(), tree.cost()
    sweeps, failures = SWEEPS, 0
    while failures < PATIENCE and (left := allowance(cost, tree.count) - spent) > 0:
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
    _polish(tree, THOROUGH, allowance(cost, tree.count) / 2)
    return tree.pairs()
