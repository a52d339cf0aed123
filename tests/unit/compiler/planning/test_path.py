"""The front door of the planner: what `optimize=` may be, and that every answer is an order."""

from __future__ import annotations

import math
import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import opt_einsum
import pytest
from opt_einsum.paths import linear_to_ssa

import nameexpr as ne
from nameexpr.compiler.planning.path import STRATEGIES, find_path
from nameexpr.compiler.planning.plan import flops_of

Terms = list[frozenset[str]]
Named = tuple[Terms, frozenset[str], dict[str, int]]


def chain(count: int, seed: int = 0) -> Named:
    rng = Random(seed)
    terms = [frozenset((f"x{i}", f"x{i + 1}")) for i in range(count)]
    return terms, frozenset(("x0", f"x{count}")), {f"x{i}": rng.randint(2, 100) for i in range(count + 1)}


def graph(count: int, degree: int, size: int = 2, seed: int = 0) -> Named:
    """Operands with `degree` labels each, every label in two of them: a random regular graph."""
    rng = Random(seed)
    ends = [operand for operand in range(count) for _ in range(degree)]
    rng.shuffle(ends)
    members: list[set[str]] = [set() for _ in range(count)]
    for number, (one, other) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
        members[one].add(f"e{number}")
        members[other].add(f"e{number}")
    return [frozenset(one) for one in members], frozenset(), {f"e{i}": size for i in range(len(ends) // 2)}


def lattice(side: int, size: int = 2) -> Named:
    members: dict[tuple[int, int], set[str]] = {(i, j): set() for i in range(side) for j in range(side)}
    for (i, j), labels in members.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in members:
                label = f"{i}_{j}_{other[0]}_{other[1]}"
                labels.add(label)
                members[other].add(label)
    terms = [frozenset(one) for one in members.values()]
    return terms, frozenset(), dict.fromkeys(frozenset().union(*terms), size)


def hypergraph(count: int, labels: int, seed: int = 0) -> Named:
    """Labels in one to five operands each, a few of them in the output; every third operand twice."""
    rng = Random(seed)
    members: list[set[str]] = [set() for _ in range(count)]
    for number in range(labels):
        for operand in rng.sample(range(count), min(count, rng.choice((1, 2, 2, 2, 3, 5)))):
            members[operand].add(f"l{number}")
    terms = [frozenset(members[operand - operand % 3 // 2]) for operand in range(count)]
    sizes = {f"l{number}": rng.choice((0, 1, 1, 2, 3, 5)) for number in range(labels)}
    return terms, frozenset(rng.sample(sorted(sizes), labels // 5)) & frozenset().union(*terms), sizes


def flops(pairs: Any, terms: Terms, output: frozenset[str], sizes: dict[str, int]) -> int:
    values = dict(enumerate(terms))
    total = 0
    for number, (left, right) in enumerate(pairs, len(terms)):
        one, other = values.pop(left), values.pop(right)
        values[number] = (one | other) & output.union(*values.values())
        total += flops_of(one | other, sizes, is_summed=values[number] != one | other)
    return total


def is_order(pairs: Any, count: int) -> bool:
    """Whether each value but the last is used once, and after it has been made."""
    used = [value for pair in pairs for value in pair]
    return (
        len(pairs) == count - 1
        and sorted(used) == list(range(2 * count - 2))
        and all(max(pair) < count + place for place, pair in enumerate(pairs))
    )


NETWORKS = {
    "chain": chain(60),
    "long chain": chain(250),
    "lattice": lattice(7),
    "graph": graph(60, 3),
    "dense graph": graph(24, 7),
    "hypergraph": hypergraph(50, 60),
    "loose hypergraph": hypergraph(80, 30),
    "scalars": ([frozenset[str]()] * 20, frozenset[str](), {}),
    "equal operands": ([frozenset("ab")] * 40, frozenset("a"), {"a": 3, "b": 4}),
    "outer product": ([frozenset({f"x{i}"}) for i in range(30)], frozenset(f"x{i}" for i in range(30)),
                      {f"x{i}": 10**30 for i in range(30)}),
    "batch": ([frozenset(("b", f"x{i}", f"x{i + 1}")) for i in range(150)], frozenset("b"),
              {"b": 5, **{f"x{i}": 2 + i % 3 for i in range(151)}}),
    "one label": ([frozenset(("b", f"x{i}")) for i in range(60)] + [frozenset(f"x{i}" for i in range(60))],
                  frozenset(), {"b": 5, **{f"x{i}": 2 for i in range(60)}}),
    "endless sizes": (graph(30, 3)[0], frozenset(), dict.fromkeys(graph(30, 3)[2], 10**400)),
    "size zero": (graph(30, 3)[0], frozenset(), dict.fromkeys(graph(30, 3)[2], 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_gets_an_order(name: str) -> None:
    terms, output, sizes = NETWORKS[name]
    assert is_order(find_path(terms, output, sizes), len(terms))


@pytest.mark.parametrize("seed", range(40))
def test_hypergraphs_of_all_sizes_get_an_order(seed: int) -> None:
    count = 1 + seed
    terms, output, sizes = hypergraph(count, 1 + seed * 2 % 31, seed)
    for part in (terms, terms[:7], terms[:2], terms[:1]):
        assert is_order(find_path(part, output & frozenset().union(*part), sizes), len(part))


def test_labels_that_only_one_operand_has_do_not_disturb() -> None:
    terms = [frozenset((f"x{i}", f"x{i + 1}", f"own{i}")) for i in range(9)]
    sizes = dict.fromkeys(frozenset().union(*terms), 3)
    assert is_order(find_path(terms, frozenset(("x0", "x9")), sizes), 9)


@pytest.mark.parametrize("network", ["chain", "lattice", "graph", "hypergraph"])
def test_the_work_is_at_most_that_of_random_greedy(network: str) -> None:
    terms, output, sizes = NETWORKS[network]
    sizes = {label: max(size, 2) for label, size in sizes.items()}
    peer = linear_to_ssa(opt_einsum.RandomGreedy(max_repeats=32)(terms, output, sizes))
    assert flops(find_path(terms, output, sizes), terms, output, sizes) <= flops(peer, terms, output, sizes)


@pytest.mark.parametrize(("count", "factor"), [(10, 2), (20, 4), (50, 4)])
def test_chains_take_a_fraction_of_the_work_that_opt_einsum_s_default_finds(count: int, factor: int) -> None:
    ratios = []
    for seed in range(5):
        network = chain(count, seed)
        peer = find_path(*network, opt_einsum.paths.auto)
        ratios.append(flops(peer, *network) / flops(find_path(*network), *network))
    assert math.prod(ratios) ** (1 / 5) > factor


@pytest.mark.parametrize("optimize", [None, True, "auto"])
def test_ours_has_three_names(optimize: Any) -> None:
    terms, output, sizes = lattice(5)
    assert find_path(terms, output, sizes, optimize) == find_path(terms, output, sizes)


def test_false_takes_operands_as_they_stand() -> None:
    terms, output, sizes = chain(5)
    found = find_path(terms, output, sizes, optimize=False)
    assert [set(pair) for pair in found] == [{0, 1}, {2, 5}, {3, 6}, {4, 7}]
    assert find_path(terms[:1], frozenset(("x0", "x1")), sizes, optimize=False) == []


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("count", [3, 8, 12, 30])
def test_the_strategies_of_opt_einsum_answer_to_their_names(name: str, count: int) -> None:
    terms, output, sizes = chain(count)
    assert is_order(find_path(terms, output, sizes, name), count)


def test_a_strategy_that_is_followed_is_opt_einsum_s_own() -> None:
    terms, output, sizes = chain(12)
    expected = linear_to_ssa(opt_einsum.paths.greedy(terms, output, sizes))
    found = find_path(terms, output, sizes, "greedy")
    assert [set(pair) for pair in found] == [set(pair) for pair in expected]


def test_optimizers_are_called_with_as_many_arguments_as_they_take() -> None:
    calls: list[int] = []

    def three(inputs: Any, output: Any, sizes: Any) -> Any:
        calls.append(3)
        return [(0, 1)] * (len(inputs) - 1)

    def named(inputs: Any, output: Any, sizes: Any, **options: Any) -> Any:
        calls.append(len(options))
        return [(0, 1)] * (len(inputs) - 1)

    def four(inputs: Any, output: Any, sizes: Any, memory_limit: Any) -> Any:
        calls.append(4)
        return np.array([(0, 1)] * (len(inputs) - 1))

    terms, output, sizes = chain(7)
    dp, greedy = opt_einsum.DynamicProgramming(), opt_einsum.RandomGreedy(max_repeats=4)
    for optimizer in (three, named, four, dp, greedy):
        assert is_order(find_path(terms, output, sizes, optimizer), 7)
    assert calls == [3, 0, 4]


def test_optimizers_of_cotengra_are_followed() -> None:
    cotengra = pytest.importorskip("cotengra")
    terms, output, sizes = graph(16, 3)
    for optimizer in (
        cotengra.GreedyOptimizer(),
        cotengra.RandomGreedyOptimizer(max_repeats=4, seed=1),
        cotengra.HyperOptimizer(max_repeats=2, progbar=False, parallel=False, methods=["greedy"]),
    ):
        assert is_order(find_path(terms, output, sizes, optimizer), 16)


def test_explicit_paths_are_taken_apart_and_completed() -> None:
    terms, output, sizes = chain(5)
    assert find_path(terms, output, sizes, [(3, 4), (0, 1, 2), (0, 1)]) == [(3, 4), (0, 1), (6, 2), (5, 7)]
    assert find_path(terms, output, sizes, [(1, 2)]) == [(1, 2), (0, 3), (6, 4), (7, 5)]
    from_numpy = np.einsum_path("ab,bc,cd->ad", *[np.ones((2, 2))] * 3, optimize="greedy")[0]
    assert is_order(find_path(terms[:3], frozenset(("x0", "x3")), sizes, from_numpy), 3)


BAD = (
    [(0, 3)], [(0, 0)], [(0, 1), (0, 2)], [(-1, 0)], [(0, 0.5)], [()], [0, 1], ["einsum_path", "einsum_path"],
    [(0, 1), "einsum_path"], ["fast", (0, 1)], [("0", "1")], [None], 3.5, object(), [(0, 1), (0, 1), (0, 1)],
)  # fmt: skip


@pytest.mark.parametrize("path", BAD, ids=lambda path: "object" if type(path) is object else str(path))
def test_what_is_no_path_is_refused(path: Any) -> None:
    terms, output, sizes = chain(3)
    with pytest.raises(ne.OptionError, match="is not a path for 3 operands"):
        find_path(terms, output, sizes, path)
    with pytest.raises(ne.OptionError, match="is not a path for 3 operands"):
        find_path(terms, output, sizes, lambda *_: path)


def test_a_failing_optimizer_is_named() -> None:
    terms, output, sizes = chain(3)
    with pytest.raises(ne.OptionError, match="ZeroDivisionError"):
        find_path(terms, output, sizes, lambda *_: 1 / 0)


def test_unknown_strategies_are_refused() -> None:
    terms, output, sizes = chain(3)
    with pytest.raises(ne.OptionError, match="'gready' is not a way"):
        find_path(terms, output, sizes, "gready")


SOURCE = """
import sys
sys.path[:0] = {paths!r}
from unit.compiler.planning.test_path import NETWORKS
from nameexpr.compiler.planning.path import find_path
for name in ("chain", "lattice", "graph", "dense graph", "hypergraph", "loose hypergraph", "one label"):
    print(find_path(*NETWORKS[name]))
for count in range(3, 9):
    terms, output, sizes = NETWORKS["hypergraph"]
    print(find_path(terms[:count], output & frozenset().union(*terms[:count]), sizes))
"""


@pytest.mark.slow
def test_the_same_order_whatever_the_hash_seed() -> None:
    source = SOURCE.format(paths=sys.path)
    printed = {
        subprocess.run(
            [sys.executable, "-c", source],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(printed) == 1


def test_labels_of_size_1_are_left_out_where_values_would_have_too_many_dims() -> None:
    """An order that is requested makes a value of more dims than NumPy has, and may."""
    left, right = (" ".join(f"{letter}{k}" for k in range(40)) for letter in "xy")
    text = f"{left} k, {right} k, {left} m, {right} m -> k m"
    rng = np.random.default_rng(0)
    vectors = [rng.random(length) for length in (3, 3, 2, 2)]
    operands = [np.broadcast_to(vector, (*(1,) * 40, len(vector))) for vector in vectors]
    a, b, c, d = vectors
    path = [(0, 1), (0, 1), (0, 1)]
    np.testing.assert_allclose(ne.einsum(text, *operands, optimize=path), np.outer(a * b, c * d))
