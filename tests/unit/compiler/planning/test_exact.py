"""The exact searches, beside all trees and beside the textbook's matrix chain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from nameexpr.compiler.planning.exact import cut_chain, read_chain, search_connected
from nameexpr.compiler.planning.few import orders_within, search_all
from nameexpr.compiler.planning.network import WRITING, read_network
from nameexpr.compiler.planning.path import find_path
from nameexpr.compiler.planning.search import best_path

Terms = list[frozenset[str]]
Named = tuple[Terms, frozenset[str], dict[str, int]]
Pairs = list[tuple[int, int]]


@cache
def all_orders(count: int) -> list[Pairs]:
    def extend(alive: tuple[int, ...], number: int) -> Iterator[Pairs]:
        if len(alive) == 1:
            yield []
        for left, right in itertools.combinations(alive, 2):
            rest = (*(one for one in alive if one not in (left, right)), number)
            for later in extend(rest, number + 1):
                yield [(left, right), *later]

    return list(extend(tuple(range(count)), count))


def cost_of(pairs: Pairs, network: Named, writing: float = WRITING, *, is_connected: bool = False) -> float:
    """Return what an order costs, counted again from names: infinitely much if only connected ones count."""
    terms, output, sizes = network
    values = dict(enumerate(terms))
    total = 0.0
    for number, (left, right) in enumerate(pairs, len(terms)):
        one, other = values.pop(left), values.pop(right)
        if is_connected and not one & other:
            return math.inf
        values[number] = (one | other) & output.union(*values.values())
        step = math.prod(sizes[label] for label in one | other)
        total += step * (1 + (values[number] != one | other))
        total += writing * math.prod(sizes[label] for label in values[number])
    return total


def least_cost(network: Named, writing: float = WRITING, *, is_connected: bool = False) -> float:
    orders = all_orders(len(network[0]))
    return min(cost_of(order, network, writing, is_connected=is_connected) for order in orders)


def random_network(count: int, seed: int) -> Named:
    """Labels in one to four operands, some in the output: hyperedges, scalars, parts that hang apart."""
    rng = Random(seed)
    members: list[set[str]] = [set() for _ in range(count)]
    output = set()
    names = [f"l{number}" for number in range(rng.randint(count - 2, count + 3))]
    for name in names:
        chosen = rng.sample(range(count), rng.choice((1, 2, 2, 2, 3, min(4, count - 1))))
        for operand in chosen:
            members[operand].add(name)
        if len(chosen) == 1 or rng.random() < 0.25:
            output.add(name)
    return [frozenset(one) for one in members], frozenset(output), {name: rng.randint(2, 9) for name in names}


def random_tree(count: int, seed: int) -> Named:
    rng = Random(seed)
    members: list[set[str]] = [set() for _ in range(count)]
    for operand in range(1, count):
        members[operand].add(f"l{operand}")
        members[rng.randrange(operand)].add(f"l{operand}")
    members[0].add("out")
    terms = [frozenset(one) for one in members]
    return terms, frozenset({"out"}), {name: rng.randint(2, 30) for name in sorted(frozenset().union(*terms))}


def line(count: int, seed: int, *, is_ring: bool, legs: bool) -> Named:
    """A chain or ring, its operands shuffled, with labels of the output at some of them."""
    rng = Random(seed)
    terms = [{f"x{i}", f"x{(i + 1) % count if is_ring else i + 1}"} for i in range(count)]
    output = set() if is_ring else {"x0", f"x{count}"} - ({"x0"} if rng.random() < 0.3 else set())
    if "x0" not in output and not is_ring:
        terms[0].discard("x0")
    for place in range(count):
        if legs and rng.random() < 0.4:
            terms[place].add(f"leg{place}")
            output.add(f"leg{place}")
    rng.shuffle(terms)
    found = [frozenset(term) for term in terms]
    sizes = {name: rng.randint(2, 20) for name in sorted(frozenset().union(*found))}
    return found, frozenset(output), sizes


@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("seed", range(10))
def test_a_few_operands_take_the_fewest_flops_and_then_the_fewest_cells(count: int, seed: int) -> None:
    network = random_network(count, seed)
    found = search_all(*network)
    assert cost_of(found, network, 1e-9) == pytest.approx(least_cost(network, 1e-9), rel=1e-12)
    assert cost_of(find_path(*network), network, 0) == least_cost(network, 0)


@pytest.mark.parametrize("seed", range(6))
def test_orders_within_a_number_of_flops_are_all_of_them(seed: int) -> None:
    network = random_network(4, seed)
    costs = sorted({cost_of(order, network, 0) for order in all_orders(4)})
    most = costs[len(costs) // 2]
    found = orders_within(most, *network)
    assert [cost_of(order, network, 0) for order in found] == sorted(cost_of(o, network, 0) for o in found)
    trees = {frozenset(tree_of(order, 4)) for order in all_orders(4) if cost_of(order, network, 0) <= most}
    assert {frozenset(tree_of(order, 4)) for order in found} == trees
    assert len(found) == len(trees)


def tree_of(pairs: Pairs, count: int) -> list[frozenset[int]]:
    """The sets of operands that an order computes."""
    values = [frozenset({operand}) for operand in range(count)]
    for left, right in pairs:
        values.append(values[left] | values[right])
    return values[count:]


def test_sizes_of_zero_and_one_count_as_they_are_among_a_few_operands() -> None:
    for seed in range(30):
        terms, output, sizes = random_network(4, seed)
        rng = Random(seed)
        network = terms, output, {name: rng.choice((0, 1, 2, 5)) for name in sizes}
        assert cost_of(search_all(*network), network, 0) == least_cost(network, 0)


@pytest.mark.parametrize("seed", range(40))
def test_six_operands_take_the_least_that_any_order_costs(seed: int) -> None:
    network = random_network(6, seed)
    assert cost_of(best_path(read_network(*network)), network) == pytest.approx(least_cost(network))
    assert cost_of(find_path(*network), network) == pytest.approx(least_cost(network))


@pytest.mark.parametrize("seed", range(20))
def test_connected_orders_are_searched_exactly(seed: int) -> None:
    network = random_network(6, seed) if seed % 2 else random_tree(6, seed)
    best = least_cost(network, is_connected=True)
    small = read_network(*network)
    found = search_connected(small)[0]
    if best == math.inf:
        assert found is None
        return
    assert found is not None
    assert cost_of(found, network, is_connected=True) == pytest.approx(best)
    assert search_connected(small, bound=best * 0.999)[0] is None
    again = search_connected(small, bound=best * 1.001)[0]
    assert again is not None
    assert cost_of(again, network) == pytest.approx(best)


def test_the_exact_search_gives_up_when_its_trials_are_used_up() -> None:
    network = read_network(*random_tree(12, 1))
    tried = search_connected(network)[1]
    assert search_connected(network, trials=tried)[0] is not None
    assert search_connected(network, trials=tried - 1)[0] is None


@pytest.mark.parametrize("is_ring", [False, True])
@pytest.mark.parametrize("legs", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_chains_and_rings_are_cut_as_all_connected_orders_say(is_ring: bool, legs: bool, seed: int) -> None:
    network = line(6, seed, is_ring=is_ring, legs=legs)
    found = read_chain(read_network(*network))
    assert found is not None
    assert found.is_ring == is_ring
    assert cost_of(cut_chain(found), network) == pytest.approx(least_cost(network, is_connected=True))
    longer = line(13, seed, is_ring=is_ring, legs=legs)
    small = read_network(*longer)
    one, other = read_chain(small), search_connected(small)[0]
    assert one is not None and other is not None
    assert cost_of(cut_chain(one), longer) == pytest.approx(cost_of(other, longer))


@pytest.mark.parametrize("is_ring", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_outer_products_win_in_no_chain_or_ring_of_matrices(is_ring: bool, seed: int) -> None:
    network = line(6, seed, is_ring=is_ring, legs=False)
    assert cost_of(find_path(*network), network) == pytest.approx(least_cost(network))


@pytest.mark.parametrize("count", [7, 30, 100])
def test_matrix_chains_take_the_multiplications_of_the_textbook(count: int) -> None:
    """Cormen et al., chapter 15.2, with a cell of each product counted beside its multiplications."""
    rng = Random(count)
    widths = [rng.randint(2, 100) for _ in range(count + 1)]
    terms = [frozenset((f"x{i}", f"x{i + 1}")) for i in range(count)]
    network = terms, frozenset(("x0", f"x{count}")), {f"x{i}": width for i, width in enumerate(widths)}
    table = [[0.0] * count for _ in range(count)]
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length - 1
            table[i][j] = WRITING * widths[i] * widths[j + 1] + min(
                table[i][k] + table[k + 1][j] + 2 * widths[i] * widths[k + 1] * widths[j + 1]
                for k in range(i, j)
            )
    assert cost_of(find_path(*network), network) == pytest.approx(table[0][-1])


def test_what_is_neither_chain_nor_ring_is_not_taken_for_one() -> None:
    star = [frozenset("abc"), frozenset("a"), frozenset("b"), frozenset("c")]
    two_rings = [frozenset(pair) for pair in ("ab", "bc", "ca", "de", "ef", "fd")]
    apart = [frozenset(pair) for pair in ("a", "ab", "b", "de", "ef", "fd")]
    hyperedge = [frozenset(pair) for pair in ("ab", "bc", "bd")]
    for terms in (star, two_rings, apart, hyperedge):
        assert read_chain(read_network(terms, frozenset(), dict.fromkeys("abcdef", 3))) is None
