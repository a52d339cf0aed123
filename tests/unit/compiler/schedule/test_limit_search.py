"""The search for loops: the order of steps, the costs of one more loop, and what programs copy."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, permutations, product

import pytest

from nameexpr.compiler.ir.axes import Contraction
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.planning.network import in_order
from nameexpr.compiler.planning.plan import ContractionPlan, plan_contractions
from nameexpr.compiler.schedule.limit.copies import learn_copies
from nameexpr.compiler.schedule.limit.loops import measure, paths_of, with_loop
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction, StepTree
from nameexpr.compiler.schedule.limit.ordering import in_least_memory
from nameexpr.compiler.schedule.limit.search import Effort, Search, _changed, _more, find_nests, widened
from unit.compiler.schedule.test_limit import compiled

GRID = "a b, a c, b d e, c d f, e g, f g h, h k, k b -> g a", [
    (9, 8), (9, 7), (8, 6, 5), (7, 6, 4), (5, 9), (4, 9, 8), (8, 30), (30, 8),
]  # fmt: skip


def depth_first(plan: ContractionPlan, value: int) -> Iterator[list[int]]:
    """Yield the orders of the steps for a value that finish one operand of a step before the other."""
    count = len(plan.terms)
    if value < count:
        yield []
        return
    for values in permutations(plan.steps[value - count].values):
        for parts in product(*(list(depth_first(plan, part)) for part in values)):
            yield [*chain(*parts), value - count]


def peak_in(plan: ContractionPlan, order: Sequence[int]) -> int:
    """Return the most elements alive at a time if steps are computed in another order."""
    count, alive, peak = len(plan.terms), 0, 0
    sizes = {count + number: plan.contraction.size(step.labels) for number, step in enumerate(plan.steps)}
    for number in order:
        alive += sizes[count + number]
        peak = max(peak, alive)
        alive -= sum(sizes.get(value, 0) for value in plan.steps[number].values)
    return peak


def plans(count: int) -> Iterator[ContractionPlan]:
    """Yield random networks of eight factors, in random orders."""
    drawn = random.Random(5)
    for _ in range(count):
        sizes = {label: drawn.choice([2, 3, 5, 20]) for label in "abcdefghijkl"}
        terms = [drawn.sample("abcdefghijkl", drawn.randint(1, 3)) for _ in range(8)]
        result, *dropped = sorted({label for term in terms for label in term})
        contraction = Contraction(tuple(map(tuple, terms)), (result,), tuple(dropped), None, sizes)
        pairs, waiting = list[tuple[int, int]](), list(range(8))
        for made in range(8, 15):
            left, right = drawn.sample(waiting, 2)
            waiting = [made, *(value for value in waiting if value not in (left, right))]
            pairs.append((left, right))
        yield plan_contractions(contraction, order=in_order(pairs, 8))


def test_the_order_needs_as_little_memory_as_the_best_that_finishes_one_operand_first() -> None:
    gains = 0
    for plan in plans(100):
        best, steps = in_least_memory(plan), range(len(plan.steps))
        assert sorted(step.flops for step in best.steps) == sorted(step.flops for step in plan.steps)
        assert {step.labels for step in best.steps} == {step.labels for step in plan.steps}
        orders = depth_first(plan, len(plan.terms) + len(steps) - 1)
        assert peak_in(best, steps) == min(peak_in(plan, order) for order in orders)
        gains += peak_in(best, steps) < peak_in(plan, steps)
    assert gains > 3


@pytest.mark.parametrize("limit", [2_000, 4_000, 9_000])
def test_the_costs_of_one_more_loop_are_those_of_the_whole_nest(limit: int) -> None:
    tree = compiled(GRID[0], *GRID[1])[2]
    search, seen, useless = Search(tree, limit, Effort()), 0, 0
    nests = [()]
    for nest in nests:
        before = measure(tree, nest, limit, is_traced=True)
        for path, loop in _more(search, nest, before):
            more = with_loop(nest, path, loop)
            changed, whole = _changed(search, more, before, path, loop), measure(tree, more, limit)
            seen += 1
            if len(nests) < 12 and seen % 7 == 0:
                nests.append(more)
            if changed is None:
                useless += 1
                assert whole.excess > before.excess - 1e-6
                continue
            assert whole.excess < before.excess
            assert changed.excess == pytest.approx(whole.excess, abs=1e-6)
            assert changed.cost == pytest.approx(whole.cost) and changed.flops == pytest.approx(whole.flops)
            assert (changed.excess == 0) == (whole.peak <= limit)
    assert 0 < useless < seen and seen > 40


def test_blocks_are_as_large_as_the_limit_allows() -> None:
    tree = compiled(GRID[0], *GRID[1])[2]
    limit = measure(tree, (), 0).peak / 3
    found, _ = find_nests(tree, limit)
    assert found and all(measure(tree, one.nest, limit).peak <= limit for one in found)
    looser = widened(tree, 2 * limit, [one.nest for one in found])
    assert looser[0].cost <= found[0].cost
    blocks = [[loop.block for _, loop in paths_of(one.nest)] for one in looser]
    assert any(max(sizes, default=1) > 1 for sizes in blocks)


def test_what_a_program_copies_is_expected_in_the_next_search() -> None:
    _, single, tree = compiled("a b c, c d a -> b d", (40, 30, 20), (20, 25, 40))
    assert isinstance(single, SingleReduction) and isinstance(tree, StepTree)
    program = lower_loops(single, ())
    peak = peak_bytes(program, shapes_of(program))
    before = measure(tree, (), 0).peak
    assert before < peak  # the operands are transposed for a product of matrices
    assert learn_copies(tree, (), program, single.operands.given, 1)
    assert not learn_copies(tree, (), program, single.operands.given, 1)
    assert peak <= 1.02 * measure(tree, (), 0).peak
