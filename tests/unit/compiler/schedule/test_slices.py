"""Orders with sliced labels, and their nests of loops."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.planning.network import in_order
from nameexpr.compiler.planning.plan import plan_contractions
from nameexpr.compiler.planning.sliced import SliceEffort, slice_network
from nameexpr.compiler.schedule.limit.loops import measure, paths_of
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import StepTree
from nameexpr.compiler.schedule.limit.ordering import in_least_memory
from nameexpr.compiler.schedule.limit.orders import order_nests
from nameexpr.compiler.schedule.limit.search import Effort
from nameexpr.compiler.schedule.limit.slices import network_of, sliceable, sliced_nests
from unit.compiler.schedule.test_limit import compiled, run

LADDER = "a b, a c, b d e, c d f, e g h, f g i, h j k, i j l, k m, l m n -> n"
SIZES = dict.fromkeys("abcdefghijklm", 5) | {"n": 3}
SHAPES = [tuple(SIZES[label] for label in term.split()) for term in LADDER[: LADDER.index("-")].split(",")]


@pytest.mark.parametrize("share", [2, 5, 12])
def test_nests_for_slices_fit_and_compute_the_same(share: int) -> None:
    made, single, tree = compiled(LADDER, *SHAPES)
    limit = measure(tree, (), 0).peak / share
    network, pairs = network_of(tree, single.plan)
    order = slice_network(network, pairs, limit / tree.width, sliceable(tree), SliceEffort(50, 0.3, 0))
    assert order.fits
    plan = plan_contractions(single.plan.contraction, order=in_order(order.pairs, len(network.terms)))
    single = single._replace(plan=in_least_memory(plan))
    nests = sliced_nests(StepTree(single), order.labels, limit)
    operands = [np.random.default_rng(1).random(shape) for shape in SHAPES]
    want = run(made.program, operands)
    assert nests
    for nest in nests:
        loops = len(list(paths_of(nest)))
        assert loops <= order.labels.bit_count()
        results = loops * tree.elements[tree.result] * tree.width  # each loop adds blocks up
        assert measure(StepTree(single), nest, limit).peak <= limit + results
        np.testing.assert_allclose(run(lower_loops(single, nest), operands), want)


def test_the_network_of_a_plan_has_only_labels_that_operands_share() -> None:
    """Steps that sum a label of one operand alone are none of its pairs."""
    _, single, tree = compiled(
        "a b x, b c, y c d, d e z -> a e : sum", (4, 5, 6), (5, 3), (7, 3, 8), (8, 2, 9)
    )
    network, pairs = network_of(tree, single.plan)
    terms = [tree.mask(labels) for labels in ("ab", "bc", "cd", "de")]
    assert list(network.terms) == terms and network.output == tree.mask("ae")
    assert sorted(value for pair in pairs for value in pair) == list(range(2 * len(terms) - 2))


def test_a_loop_repeats_nothing_where_memory_suffices() -> None:
    """What does not depend on its label is computed before or after it."""
    _, single, tree = compiled(LADDER, *SHAPES)
    for label in tree.bits.values():
        nests = sliced_nests(tree, label, 1e9)
        assert nests and min(measure(tree, nest, 1e9).flops for nest in nests) == single.plan.flops


def test_labels_whose_blocks_cannot_be_combined_are_not_sliced() -> None:
    _, _, tree = compiled("a b, b c, c d -> a : median", (6, 40), (40, 50), (50, 7))
    assert {label for label, bit in tree.bits.items() if sliceable(tree) & bit} == {"a"}


def test_a_given_order_stays_under_a_limit() -> None:
    free = ne.compile(LADDER, optimize=False).plan(*SHAPES)
    tight = ne.compile(LADDER, optimize=False, memory_limit=free.peak_bytes // 4).plan(*SHAPES)
    assert tight.peak_bytes <= free.peak_bytes // 4
    _, single, tree = compiled(LADDER, *SHAPES)
    limit = measure(tree, (), 0).peak / 2
    (kept,) = order_nests(single, limit, Effort())
    assert kept.single.plan == single.plan
    orders = order_nests(single._replace(is_free=True), limit, Effort())
    costs = [order.cost for order in orders]
    assert len(costs) > 1 and costs == sorted(costs)
    for order in orders:
        assert all(measure(order.tree, one.nest, limit).peak <= limit for one in order.nests)


def test_another_order_is_used_where_it_costs_less() -> None:
    text = ", ".join(
        " ".join(sorted({f"x{min(i, j)}_{max(i, j)}" for j in (i - 1, i + 1, i + 4, i - 4) if is_near(i, j)}))
        for i in range(16)
    )
    shapes = [(6,) * len(term.split()) for term in text.split(",")]
    operands = [np.random.default_rng(place).random(shape) for place, shape in enumerate(shapes)]
    free = ne.compile(f"{text} ->")
    limit = free.plan(*shapes).peak_bytes // 12
    tight = ne.compile(f"{text} ->", memory_limit=limit)
    assert tight.plan(*shapes).peak_bytes <= limit
    assert tight.plan(*shapes).flops < 10 * free.plan(*shapes).flops
    np.testing.assert_allclose(tight(*operands), free(*operands))


def is_near(one: int, other: int) -> bool:
    """Return whether two places of a grid of four by four are neighbours."""
    is_row = abs(one - other) == 1 and one // 4 == other // 4
    return 0 <= other < 16 and (is_row or abs(one - other) == 4)
