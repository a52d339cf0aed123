"""The searches for big networks: what they say an order costs, that they better it, and how much they do."""

from __future__ import annotations

from itertools import cycle
from random import Random
from typing import Any

import pytest

from nameexpr.compiler.planning import network as networks
from nameexpr.compiler.planning import search
from nameexpr.compiler.planning.greedy import greedy, read_start
from nameexpr.compiler.planning.network import (
    LEAST,
    MOST,
    WRITING,
    Cells,
    Network,
    Pairs,
    hyperedges,
    read_network,
    time_budget,
)
from nameexpr.compiler.planning.search import best_path, search_components
from nameexpr.compiler.planning.tree import Tree, anneal, refine


def connected(count: int, seed: int, most: int = 2) -> Network:
    """Return a random network that hangs together; each label has up to `most` operands."""
    rng = Random(seed)
    terms = [0] * count
    labels = 0
    for operand in range(1, count):
        for _ in range(rng.choice((1, 1, 2))):
            for other in rng.sample(range(operand), min(operand, rng.randint(1, most - 1))):
                terms[other] |= 1 << labels
            terms[operand] |= 1 << labels
            labels += 1
    output = sum(1 << label for label in range(labels) if most > 2 and rng.random() < 0.1)
    return Network(tuple(terms), output, Cells([float(rng.randint(2, 4)) for _ in range(labels)]))


def recounted(network: Network, pairs: Pairs) -> float:
    """Return what an order costs, from the definition."""
    values = dict(enumerate(network.terms))
    total = 0.0
    for number, (left, right) in enumerate(pairs, len(network.terms)):
        one, other = values.pop(left), values.pop(right)
        needed = network.output
        for term in values.values():
            needed |= term
        values[number] = (one | other) & needed
        step = network.cells[one | other]
        total += step * (1 + (values[number] != one | other)) + WRITING * network.cells[values[number]]
    assert len(values) == 1
    return total


NETWORKS = [connected(30, seed, most) for seed in range(4) for most in (2, 4)]


@pytest.mark.parametrize("network", NETWORKS)
def test_greedy_says_what_its_order_costs(network: Network) -> None:
    start = read_start(network)
    for weight in (0.0, 1.0, 2.0):
        noise = cycle([Random(3).random() for _ in range(50)])
        found = greedy(start, weight, noise)
        assert found is not None
        assert found[0] == pytest.approx(recounted(network, found[1]))
        assert greedy(start, weight, cycle([0.0]), found[0] / 1e6) is None


@pytest.mark.parametrize("network", NETWORKS)
def test_a_tree_says_what_it_costs_however_it_is_changed(network: Network) -> None:
    found = greedy(read_start(network), 0.2)
    assert found is not None
    tree = Tree(network, found[1])
    assert tree.cost() == pytest.approx(found[0])
    for heat in (3.0, 0.5):
        anneal(tree, Random(1), heat, 20)
        assert tree.cost() == pytest.approx(recounted(network, tree.pairs()))
    before = tree.cost()
    for leaves in (3, 5, 8):
        tried = refine(tree, leaves, set())
        assert tried > 0
        assert tree.cost() == pytest.approx(recounted(network, tree.pairs()))
        assert tree.cost() <= before
        before = tree.cost()


def test_annealing_and_refining_better_greedy_orders() -> None:
    network = connected(60, 5)
    found = greedy(read_start(network), 0.0, cycle([0.0, 3.0, 1.0]))
    assert found is not None
    annealed, refined = Tree(network, found[1]), Tree(network, found[1])
    anneal(annealed, Random(1), 0.5, 300)
    refine(refined, 8, set())
    assert annealed.cost() < 0.8 * found[0]
    assert refined.cost() < 0.95 * found[0]
    assert recounted(network, best_path(network)) <= min(annealed.cost(), refined.cost())


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_what_the_exact_one_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network = connected(13, seed, 2 + seed % 2)
    exact = best_path(network)
    monkeypatch.setattr(search, "SOME", 0)
    assert recounted(network, best_path(network)) <= 1.15 * recounted(network, exact)


def test_a_search_costs_a_share_of_the_run_and_not_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MOST", 0.1)
    done = {"rounds": 0, "sweeps": 0}

    def counted(name: str, function: Any) -> Any:
        def called(*given: Any) -> Any:
            done[name] += given[3] if name == "sweeps" else 1
            return function(*given)

        return called

    monkeypatch.setattr(search, "greedy", counted("rounds", greedy))
    monkeypatch.setattr(search, "anneal", counted("sweeps", anneal))
    for network in (connected(200, 1), connected(200, 1, 4), connected(40, 1)):
        count = len(network.terms)
        done.update(rounds=0, sweeps=0)
        found = recounted(network, best_path(network))
        first = greedy(read_start(network))
        assert first is not None
        assert time_budget(found, count) <= time_budget(first[0], count) <= 0.1
        turn = count * (1 + count / search.LONG) * search.TURN
        assert done["rounds"] <= search.MANY + 1
        assert 0 < done["sweeps"] * turn <= time_budget(first[0], count) + search.PATIENCE * turn


def test_the_time_budget_lies_between_its_bounds() -> None:
    shortest = 100 * (LEAST * networks.SHORTEST + networks.SHARE * networks.CALL)
    assert time_budget(0.0, 100) == pytest.approx(shortest)
    work = networks.FLOPS * networks.CALL * 100  # takes as long as the calls
    assert time_budget(work, 100) == pytest.approx(100 * LEAST, rel=0.1)
    assert time_budget(1e300, 100) == MOST
    assert time_budget(1e9, 10) < time_budget(1e10, 10) < MOST


def test_equal_operands_are_multiplied_first_and_parts_smallest_first() -> None:
    names = {"a": 9, "b": 8, "c": 7, "d": 6}
    terms = [frozenset(term) for term in ("ab", "c", "ab", "d", "cd", "ab", "a", "cd")]
    network = read_network(terms, frozenset("bd"), names)
    seen: list[Network] = []

    def search_part(part: Network) -> Pairs:
        seen.append(part)
        return best_path(part)

    pairs = search_components(network, search_part)
    assert pairs[:3] == [(0, 2), (8, 5), (4, 7)]
    assert sorted(len(part.terms) for part in seen) == [2, 3]
    assert recounted(network, pairs) == pytest.approx(recounted(network, best_path(network)), rel=0.5)


def test_a_scalar_goes_where_it_costs_least() -> None:
    text = ("", "ij", "jk", "kl", "lm", "mn", "no", "op", "pq", "qr", "r")
    terms = [frozenset(term) for term in text]
    sizes = {**dict.fromkeys("jklmnopqr", 50), "i": 40}
    network = read_network(terms, frozenset("i"), sizes)
    assert 0 in best_path(network)[-1]  # 40 cells in the result, and 50 in the vector
    network = read_network(terms, frozenset("i"), {**sizes, "i": 60})
    assert best_path(network)[0] == (0, 10)


def test_labels_that_change_nothing_are_left_out() -> None:
    terms = [frozenset(term) for term in ("bijx", "bjky", "bkly")]
    sizes = {"b": 5, "i": 2, "j": 3, "k": 4, "l": 6, "x": 7, "y": 1}
    network = read_network(terms, frozenset("bil"), sizes)
    widths = [[network.cells[label] for label in (1, 2, 4, 8) if term & label] for term in network.terms]
    assert [sorted(found) for found in widths] == [[2, 3], [3, 4], [4, 6]]
    together = read_network([frozenset("ijk"), frozenset("ijl"), frozenset("kl")], frozenset(), sizes)
    assert sorted(together.cells[1 << label] for label in range(3)) == [4, 6, 6]


def test_hyperedges_are_the_labels_that_outlive_a_pair() -> None:
    assert hyperedges([0b0111, 0b0011, 0b1001], 0b0010) == {0b0001: 0b111, 0b0010: 0b1011}
