"""Loops over blocks of labels: which there can be, what they cost, and what programs come of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.codegen.function import compute
from nameexpr.backends.numpy.codegen.statements import write
from nameexpr.backends.numpy.promotion import ARITHMETIC
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation, Options
from nameexpr.compiler.ir.dtypes import Dtypes
from nameexpr.compiler.ir.nodes import Arrange, Index, Map, Reduction, View
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Collected, Loop, Note, Program
from nameexpr.compiler.pipeline import compile_expression, compile_formula, read, read_formula
from nameexpr.compiler.schedule.limit.expand import expand
from nameexpr.compiler.schedule.limit.loops import (
    BlockLoop,
    Nest,
    candidates,
    measure,
    numbers_in,
    paths_of,
    with_block,
    with_loop,
)
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction, StepTree
from nameexpr.compiler.schedule.limit.ordering import in_least_memory
from nameexpr.compiler.schedule.limit.refusal import resized
from nameexpr.compiler.schedule.limit.regions import more_loops
from nameexpr.compiler.schedule.limit.search import find_nests
from nameexpr.records import replace
from nameexpr.runtime.operands import OperandSpec
from nameexpr.runtime.plan.running import running_of
from nameexpr.runtime.plan.steps import rows_of
from nameexpr.syntax.ast import Expression
from oracle.generate import instructions as ir

RNG = np.random.default_rng(0)


def compiled(
    text: str, *shapes: tuple[int, ...], dtype: str = "float64", compute: str = "float64"
) -> tuple[Compilation[Expression], SingleReduction, StepTree]:
    tree = read(text)
    typed = type_expression(tree, [Operand(shape) for shape in shapes], {})
    dtypes = Dtypes((dtype,) * len(shapes), compute, compute)
    made = compile_expression(tree, typed, dtypes, [None] * len(shapes), Options(TARGET))
    plan = in_least_memory(made.plans[0])
    single = SingleReduction(made.graph, made.outputs[0], made.operands, plan, TARGET)
    return made, single, StepTree(single)


CHAIN = compiled("a b, b c, c d -> a d", (6, 40), (40, 50), (50, 7))
LARGEST = compiled("a b, b c -> a : max", (30, 8), (8, 40))


def every_loop(network: StepTree) -> Iterator[BlockLoop]:
    return candidates(network, (), (), -1)


def nests(network: StepTree, count: int) -> Iterator[Nest]:
    """Return nests of some loops with blocks of any size, picked at random."""
    for _ in range(count):
        nest: Nest = ()
        for _ in range(int(RNG.integers(1, 4))):
            paths = [(), *(path for path, _ in paths_of(nest))]
            path = paths[int(RNG.integers(len(paths)))]
            found = list(candidates(network, nest, path, -1))
            if not found:
                continue
            loop = found[int(RNG.integers(len(found)))]
            nest = with_loop(nest, path, loop)
        for path, loop in list(paths_of(nest)):
            nest = with_block(nest, path, int(RNG.integers(1, network.elements[network.bits[loop.label]])))
        if nest:
            yield nest


TEXTS = {
    "a b, b c, c d -> a d": [(6, 5), (5, 9), (9, 7)],
    "a b c, a d, b e, c f -> d e f": [(5, 6, 7), (5, 3), (6, 4), (7, 3)],
    "a b, c d, a c x, b d y -> y x": [(5, 6), (4, 7), (5, 4, 3), (6, 7, 2)],
    "a b, b c -> a : max": [(7, 5), (5, 6)],
    "a b, b c -> a : median": [(7, 5), (5, 6)],
    "a b, b c, c a -> : prod": [(7, 5), (5, 3), (3, 7)],
    "a b, b c -> c : mean": [(7, 5), (5, 6)],
    "a b, b c, c d -> (d a) z=2": [(6, 5), (5, 9), (9, 7)],
}


@pytest.mark.parametrize("text", TEXTS)
def test_any_nest_gives_what_no_loops_give(text: str) -> None:
    shapes = TEXTS[text]
    made, single, network = compiled(text, *shapes)
    operands = [RNG.random(shape) + 0.5 for shape in shapes]
    want = run(made.program, operands)
    seen = 0
    for nest in nests(network, 40):
        program = lower_loops(single, nest)
        np.testing.assert_allclose(run(program, operands), want, rtol=1e-9, err_msg=str(nest))
        seen += 1
    assert seen > 10


def run(program: Program, operands: list[np.ndarray]) -> np.ndarray:
    from nameexpr.backends.numpy import copies, kernels

    arguments = ", ".join(f"a{number}" for number in range(len(operands)))
    statements = write(compute(program, shapes_of(program)), str, indent="    ")
    lines = [f"def compute({arguments}):", *statements]
    space: dict[str, object] = {"np": np, "kernels": kernels, "copies": copies}
    exec("\n".join(lines), space)
    return space["compute"](*operands)  # type: ignore[operator]


def test_flops_of_a_nest_are_those_of_all_its_blocks() -> None:
    made, single, network = CHAIN
    for nest in nests(network, 30):
        program = lower_loops(single, nest)
        specs = [OperandSpec(shape) for shape in program.operands]
        planned = replace(made, program=program, shapes=shapes_of(program))
        flops = sum(row.step.flops for row in rows_of(running_of(planned, specs, range(len(specs)), None)))
        assert flops == measure(network, nest, 0).flops >= made.plans[0].flops


def test_a_loop_over_what_is_summed_on_the_way_adds_blocks_up() -> None:
    _, single, network = CHAIN
    by_label = {(loop.label, loop.top): loop for loop in every_loop(network)}
    loop = next(one for (label, _), one in by_label.items() if label in "bc")
    program = lower_loops(single, (replace(loop, block=9),))
    (looped,) = [one.loop for one in program.instructions if one.loop]
    (result,) = looped.results
    assert result.place is None and result.combine == "add" and looped.tail is not None


def test_what_is_reduced_is_no_label_to_add_up_over() -> None:
    _, _, network = LARGEST
    end = network.count - 1
    tops = {(loop.label, loop.top) for loop in every_loop(network)}
    assert ("c", end) in tops and ("a", end) in tops and ("b", end) in tops
    median = compiled("a b, b c -> a : median", (30, 8), (8, 40))[2]
    assert {loop.label for loop in every_loop(median) if loop.top == end} == {"a"}
    mean = compiled("a b, b c -> a : var", (30, 8), (8, 40))[2]
    assert {loop.label for loop in every_loop(mean) if loop.top == end} == {"a"}


def test_items_beside_the_label_are_done_once_outside() -> None:
    _, _, network = compiled("a b, b c, c d, d e -> a e", (9, 30), (30, 31), (31, 32), (32, 8))
    for loop in every_loop(network):
        bit, items = network.bits[loop.label], numbers_in(loop.items)
        touching = {number for number, labels in enumerate(network.every) if labels & bit}
        assert touching & set(items) and loop.top == max(items)


def test_the_search_finds_a_nest_wherever_every_single_loop_would_do() -> None:
    for text, shapes in TEXTS.items():
        _, _, network = compiled(text, *shapes)
        start = measure(network, (), 0).peak
        lowest = min([start, *(measure(network, (loop,), 0).peak for loop in every_loop(network))])
        found, least = find_nests(network, lowest)
        assert found and found[0].peak <= lowest
        assert least.peak <= lowest
        assert found == sorted(found, key=lambda one: one.cost)


def test_what_is_added_up_over_blocks_is_bounded_by_all_of_them() -> None:
    """Whether integers may go through float32 depends on how large they can be."""
    shapes = [(50, 40), (40, 7), (7, 50)]
    _, single, network = compiled("a b, b c, c d -> a d", *shapes, dtype="int8", compute="int64")
    loop = next(one for one in every_loop(network) if one.label == "b" and one.items.bit_count() == 1)
    program = lower_loops(single, (loop,))
    operands = [np.full(shape, 127, "int8") for shape in shapes]
    np.testing.assert_array_equal(run(program, operands), 127**3 * 40 * 7)


def test_larger_limits_never_cost_more() -> None:
    _, _, network = CHAIN
    start = measure(network, (), 0).peak
    costs = [found[0].cost for share in (8, 4, 2, 1) if (found := find_nests(network, start // share)[0])]
    assert len(costs) > 1 and costs == sorted(costs, reverse=True)
    assert costs[-1] == measure(network, (), 0).cost


def test_verify_refuses_a_loop_whose_parts_do_not_fit() -> None:
    note = (Note((), "", None),)
    inner = Program(((4, 5),), (ir.add_up(0, (1,)),), note, 1, False)
    tail = Program(((2, 5),), (ir.add_up(0, (1,)),), note, 1, False)
    right = Loop((10,), 4, ((0,),), inner, tail, (Collected(0, "add"),), "a")
    shapes = ((10, 5),)
    assert shapes_of(Program(shapes, (ir.loop((0,), right, "float64"),), note, 1, False))[-1] == (10,)
    for wrong in (
        replace(right, block=5),
        replace(right, tail=None),
        replace(right, cuts=((1,),)),
        replace(right, cuts=((None,),)),
        replace(right, tail=inner),
        replace(right, results=(Collected(None, "add"),)),
        replace(right, sizes=(12,)),
    ):
        with pytest.raises((AssertionError, IndexError)):
            shapes_of(Program(shapes, (ir.loop((0,), wrong, "float64"),), note, 1, False))


def test_sizes_of_values_are_products_of_their_labels() -> None:
    _, _, network = CHAIN
    assert [network.elements[labels] for labels in network.keep] in ([300, 42], [280, 42])
    assert {network.elements[labels] for reads in network.reads for labels in reads} >= {240, 2000, 350}


def formula(text: str, **shapes: tuple[int, ...]) -> Compilation[Scope]:
    operands = {name: Operand(shape) for name, shape in shapes.items()}
    dtypes = dict.fromkeys(shapes, "float64")
    options = (ARITHMETIC, {}, Options(TARGET))
    return compile_formula(read_formula(text), operands, dtypes, [None] * len(shapes), *options)


def test_a_loop_covers_what_carries_its_label_and_reads_the_rest() -> None:
    made = formula("e = exp(x[i] * y[j]); s[i] = sum[j](e); t[i] = s / index[i]; t * 2", x=(30,), y=(40,))
    graph, (output,) = made.graph, made.outputs
    found = {
        (loops[-1].label, type(graph.nodes[loops[-1].tops[0]])): loops[-1]
        for loops in more_loops(graph, [output], ())
    }
    by_row, by_column = found["i", Arrange], found["j", Reduction]
    assert {type(graph.nodes[read]) for read in by_row.reads} == {View, Index}
    assert {graph.labels[read] for read in by_column.reads} == {("i",), ("j",)}
    assert all(loop.block == 1 and not loop.inner for loop in found.values())
    (inner, *_) = more_loops(graph, [output], (by_column,))
    assert by_column in inner or inner[0].inner  # beside the loop, or inside it


def test_a_label_that_a_reducer_takes_is_looped_over_only_if_its_parts_combine() -> None:
    for reducer, labels in {
        "sum": {"i", "j"},
        "max": {"i", "j"},
        "mean": {"i", "j"},
        "median": {"i"},
    }.items():
        made = formula(f"{reducer}[j](exp(x[i j]))", x=(30, 40))
        found = [loop for (loop,) in more_loops(made.graph, made.outputs, ())]
        over = {loop.label for loop in found if not isinstance(made.graph.nodes[loop.tops[0]], Map)}
        assert over == labels


def test_a_contraction_is_expanded_to_the_steps_of_its_plan() -> None:
    made = formula("sum[b c](x[a b] * y[b c] * z[c d]) + 1", x=(9, 8), y=(8, 7), z=(7, 6))
    (number,) = [value for value, node in enumerate(made.graph.nodes) if isinstance(node, Reduction)]
    expanded = expand(made.graph, {number: (made.plans[0], 0)})
    steps = expanded.steps[number]
    assert [set(expanded.graph.labels[step]) for step in steps] == [
        set(step.labels) for step in made.plans[0].steps
    ]
    assert expanded.numbers[number] == steps[-1] and [before for _, before in expanded.plans.values()] == [
        0,
        1,
    ]


def test_the_sizes_of_labels_that_see_one_dim_change_together() -> None:
    made = formula("x[i] * x[j] + y[i]", x=(30,), y=(30,))
    smaller = resized(made.graph, made.operands, "j", 5)
    assert smaller is not None and smaller[1].shapes == ((5,), (5,))
    group = formula("x[i] * y[(i k)]", x=(5,), y=(30,))
    bigger = resized(group.graph, group.operands, "k", 2)
    assert bigger is not None and bigger[1].shapes == ((5,), (10,))


@pytest.mark.parametrize(
    "text", ["a b, b c, c d -> a d", "a b, b c, c d -> : sum", "a b, b c, c d -> b : max"]
)
def test_labels_without_elements_are_not_looped_over(text: str) -> None:
    for sizes in ((0, 40, 50, 30), (40, 0, 50, 30), (30, 40, 0, 50), (30, 40, 50, 0)):
        x, y, z = (np.ones(pair) for pair in pairwise(sizes))
        try:
            limit = ne.compile(text).plan(x, y, z).peak_bytes // 2
            found = ne.einsum(text, x, y, z, memory_limit=limit)
        except (ne.LimitError, ne.SizeError):  # the smallest program needs more; there is no maximum
            continue
        np.testing.assert_array_equal(found, ne.einsum(text, x, y, z))


@pytest.mark.parametrize("empty", "abcdefg")
def test_networks_without_elements_need_no_order_of_their_own(empty: str) -> None:
    text = "d e, d f c, d a e, g d f, b a -> g e a f b : sum"
    sizes = {label: 0 if label == empty else 2 + number % 3 for number, label in enumerate("abcdefg")}
    terms = text.partition(" ->")[0].split(", ")
    operands = [np.ones([sizes[label] for label in term.split()]) for term in terms]
    free = ne.compile(text)
    for share in (1, 2, 3):
        limit = max(1, free.plan(*operands).peak_bytes // share)
        try:
            found = ne.einsum(text, *operands, memory_limit=limit)
        except ne.LimitError:
            continue
        np.testing.assert_array_equal(found, free(*operands))
