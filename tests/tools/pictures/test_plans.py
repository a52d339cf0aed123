"""What a plan draws: data that agree with the plan, whatever was compiled."""

from __future__ import annotations

import random
from math import prod
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.pictures.data import Flow, Memory
from nameexpr.runtime.plan.plan import Plan
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate
from tools.pictures.plans import ATTENTION, SHAPES, check, network_of, tree_of


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions_are_drawn_as_they_are_planned(seed: int) -> None:
    case = generate.seeded_case(seed)

    def plan(text: str, *operands: Any, **options: Any) -> Plan:
        return ne.compile(text, **options).plan(*operands)

    check(case.run(plan, wrap=lambda named: wrap(named.array, named.names)))


@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_are_drawn_as_they_are_planned(seed: int) -> None:
    case = formula_generate.seeded_case(seed)

    def plan(text: str, *, sizes: Any = None, outputs: Any = None, **operands: Any) -> Plan:
        return ne.compile(text, sizes=sizes, outputs=outputs).plan(operands=operands)

    check(case.run(plan, wrap=lambda named: wrap(named.array, named.names)))


@pytest.mark.parametrize("seed", range(40))
def test_the_network_has_the_labels_of_the_text(seed: int) -> None:
    rng = random.Random(seed)
    sizes = dict(zip("abcdef", rng.choices(range(1, 5), k=6), strict=True))
    terms = ["".join(rng.choices("abcdef", k=rng.randint(0, 4))) for _ in range(rng.randint(1, 6))]
    result = "".join(label for label in "abcdef" if label in "".join(terms) and rng.random() < 0.4)
    text = ", ".join(" ".join(term) for term in terms) + " -> " + " ".join(result)
    if set(result) < set("".join(terms)):
        text += " : sum"
    plan = ne.compile(text).plan(*(tuple(sizes[label] for label in term) for term in terms))
    legs = {leg.label: leg for leg in network_of(plan).legs}
    assert set(legs) == set("".join(terms))
    for label, leg in legs.items():
        assert leg.ends == tuple(place for place, term in enumerate(terms) for one in term if one == label)
        assert (leg.size, leg.is_open) == (sizes[label], label in result)
    check(plan)


def test_memory_limits_are_drawn_with_loops() -> None:
    plan = ne.compile("N a, N b, N c -> a b c", memory_limit=130_000).plan((100, 20), (100, 20), (100, 20))
    memory = plan.drawing.data.memory
    assert memory.limit == 130_000 > plan.peak_bytes
    assert {moment.depth for moment in memory.moments} == {0, 1}
    inside = [moment.during for moment in memory.moments if moment.depth]
    assert max(inside) == memory.moments[0].during == plan.peak_bytes
    assert any(node.note.startswith("in ") and "blocks of" in node.note for node in tree_of(plan).nodes)
    check(plan)


def test_steps_that_blocks_do_again_have_their_flops_each_time() -> None:
    text, shapes = "c f, d g, e d, c f, f h, h d -> e f g", [(6, 6)] * 6
    plan = ne.compile(text, memory_limit=2246).plan(*shapes)
    assert plan.flops > ne.compile(text).plan(*shapes).flops
    check(plan)


def test_the_timeline_is_what_a_hand_computes() -> None:
    plan = ne.compile("a b, b c, c d -> a d", optimize=[(0, 1), (0, 1)]).plan((2, 3), (3, 4), (4, 5))
    first, second = 2 * 4 * 8, 2 * 5 * 8
    moments = plan.drawing.data.memory.moments
    assert [(one.during, one.after) for one in moments] == [(first, first), (first + second, second)]
    assert [one.title for one in moments] == ["1 dot", "2 dot"]


def test_the_tree_is_the_path() -> None:
    plan = ne.compile("a b, b c, c d -> d a", optimize=[(1, 2), (0, 1)]).plan((2, 3), (3, 4), (4, 5))
    tree = tree_of(plan)
    assert [set(node.sources) for node in tree.nodes] == [set(), set(), set(), {1, 2}, {0, 3}]
    assert [node.flops for node in tree.nodes] == [None, None, None, 2 * 3 * 4 * 5, 2 * 2 * 3 * 5]
    assert [node.bytes for node in tree.nodes] == [48, 96, 160, 120, 80]
    assert tree.nodes[-1].dims == "d=5 a=2"
    assert tree.outputs == (4,)


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_bytes_are_those_of_the_dtype(dtype: str) -> None:
    x = np.ones((4, 5), dtype)
    operand, result = tree_of(
        ne.compile("a b -> a : max" if dtype != "complex128" else "a b -> b a").plan(x)
    ).nodes
    assert operand.bytes == x.nbytes
    assert result.bytes == x.nbytes // (5 if dtype != "complex128" else 1)


def test_what_only_rearranges_has_one_node_for_the_result() -> None:
    nodes = tree_of(ne.compile("(a b) c -> c a b", a=2).plan((6, 5))).nodes
    assert [node.dims for node in nodes] == ["(a=2 b=3) c=5", "c=5 a=2 b=3"]
    assert [node.flops for node in nodes] == [None, 0]


def test_a_reducer_has_a_node_of_its_own() -> None:
    nodes = tree_of(ne.compile("a b, b -> a : max").plan((2, 3), (3,))).nodes
    assert nodes[-1].title == "2 max[b]"
    assert nodes[-1].flops == 6


def test_equal_operands_are_contracted_once() -> None:
    x = np.ones((30, 30))
    plan = ne.compile("a b, b c, c d, d e -> a e").plan(x, x, x, x)
    held = [node for node in tree_of(plan).nodes if node.kind == "held"]
    assert [node.flops for node in held] == [0]
    check(plan)


def test_what_is_bound_is_held() -> None:
    bound = ne.compile("n a, a b, b c -> n c").bind({1: np.ones((30, 40)), 2: np.ones((40, 5))})
    plan = bound.plan((16, 30))
    tree = tree_of(plan)
    assert [node.kind for node in tree.nodes] == ["operand"] * 3 + ["held", "step"]
    assert [node.note for node in tree.nodes[:3]] == ["", "bound", "bound"]
    assert [one.note for one in network_of(plan).tensors] == ["16×30", "30×40, bound", "40×5, bound"]
    check(plan)


def test_a_bound_formula_draws_what_is_left() -> None:
    bound = ne.compile("y[N K] = sum[C](x[N C] * exp(w[C K])) + b[K]").bind(w=np.ones((3, 4)), b=np.zeros(4))
    plan = bound.plan(x=(2, 3))
    notes = {node.title: node.note for node in tree_of(plan).nodes if node.kind != "step"}
    assert notes.pop("x") == ""
    assert set(notes.values()) == {"bound", "computed once"}
    network = plan.drawing.data.network
    assert isinstance(network, Flow)
    assert {node.title: node.note for node in network.nodes if node.kind == "operand"} == {
        "x": "",
        "w": "bound",
        "b": "bound",
    }
    check(plan)


def test_the_network_of_a_formula_is_its_values_as_they_are_written() -> None:
    network = ATTENTION.plan(**SHAPES).drawing.data.network
    assert isinstance(network, Flow)
    values = {node.title: node for node in network.nodes}
    assert set(values) == {
        "q",
        "k",
        "v",
        "sum[d](q * k)",
        "s = · / 8",
        "a = softmax[j](s)",
        "y = sum[j](a * v)",
    }
    assert values["y = sum[j](a * v)"].dims == "e=7 i=5"
    (output,) = network.outputs
    assert network.nodes[output].title == "y = sum[j](a * v)"
    for node in network.nodes:
        for part in node.dims.split():
            assert part in {"i=5", "j=6", "d=8", "e=7"}


def test_several_outputs_are_all_marked() -> None:
    plan = ne.compile("a = x[N] + 1; b = a * 2; c = b - 3", outputs=("a", "c")).plan(x=(3,))
    network = plan.drawing.data.network
    assert isinstance(network, Flow)
    assert [network.nodes[number].title for number in network.outputs] == ["a = x + 1", "c = b - 3"]
    check(plan)


LOSS = "h[N H] = tanh(sum[C](x[N C] * w[C H])); mean[N H](h ** 2)"
STEP_SHAPES = {"x": (10, 3), "w": (3, 4)}


def derived(flow: Flow) -> dict[str, bool]:
    return {node.title: node.is_derivative for node in flow.nodes if node.kind == "step"}


def test_what_only_derivatives_need_is_marked() -> None:
    plan = ne.value_and_grad(LOSS, "w").plan(**STEP_SHAPES)
    check(plan)
    network, tree = plan.drawing.data.network, tree_of(plan)
    assert isinstance(network, Flow)
    values = derived(network)
    assert not values["h = tanh"] and not values["sum[C](x * w)"] and not values["value = mean[N H](h * h)"]
    assert values["1 - ·"] and values["sum[N](x * ·)"] and values["d_w = · * 0.05"]
    assert not any(node.is_derivative for node in (*network.nodes, *tree.nodes) if node.kind == "operand")
    forward = ne.compile(LOSS).plan(**STEP_SHAPES)
    plain = [one.title.split(" ", 1)[1] for one in tree_of(forward).nodes if one.kind == "step"]
    steps = [node for node in tree.nodes if node.kind == "step"]
    assert [node.title.split(" ", 1)[1] for node in steps if not node.is_derivative] == plain
    assert sum(node.is_derivative for node in steps) == len(steps) - len(plain) > 0
    assert not any(node.is_derivative for node in tree_of(forward).nodes)


def test_gradients_alone_and_values_computed_from_them_are_marked_in_the_network() -> None:
    network = ne.grad(LOSS, "w").plan(**STEP_SHAPES).drawing.data.network
    assert isinstance(network, Flow)
    assert not derived(network)["h = tanh"] and any(derived(network).values())
    text = "y = sum[C](w[C] ** 3); g[C] = grad(y, w[C]); new[C] = w - g; z = y + 1"
    network = ne.compile(text, outputs=("new", "z")).plan(w=(3,)).drawing.data.network
    assert isinstance(network, Flow)
    marks = derived(network)
    assert marks["new = w - g"] and not marks["z = y + 1"] and not marks["y = sum[C](w * ·)"]


def test_a_function_of_gradients_draws_its_plan() -> None:
    step = ne.value_and_grad(LOSS, "w")
    for kind in ("network", "tree", "memory"):
        assert step.draw(kind, **STEP_SHAPES) == step.plan(**STEP_SHAPES).draw(kind)  # type: ignore[arg-type]
    assert step.bind(x=np.ones((10, 3))).draw(operands={"w": (3, 4)}).count("-derivative") > 1
    with pytest.raises(ne.NameExprError, match="NE625"):
        step.draw("web", **STEP_SHAPES)  # type: ignore[arg-type]
    with pytest.raises(ne.NameExprError, match="NE521"):
        step.draw("tree", x=(10, 3))


def test_statements_that_no_output_needs_are_left_out() -> None:
    network = ne.compile("a = exp(x[N]); b = x + 1").plan(x=(3,)).drawing.data.network
    assert isinstance(network, Flow)
    assert [node.title for node in network.nodes] == ["x", "b = x + 1"]


def test_the_bytes_of_a_formula_are_those_of_its_values() -> None:
    plan = ATTENTION.plan(**SHAPES)
    sizes = {node.title: node.bytes for node in tree_of(plan).nodes}
    assert {name: sizes[name] for name in SHAPES} == {k: 8 * prod(v) for k, v in SHAPES.items()}
    assert tree_of(plan).nodes[tree_of(plan).outputs[0]].bytes == 5 * 7 * 8


def test_the_timeline_of_nothing_is_empty() -> None:
    memory: Memory = ne.compile("a b -> a b").plan((2, 3)).drawing.data.memory
    assert (memory.moments, memory.peak) == ((), 0)
    check(ne.compile("a b -> a b").plan((2, 3)))
    check(ne.compile("a b, b -> a").plan((0, 3), (3,)))


FORMULA = """
a[N h T S] = softmax[S](sum[d](q[N h T d] * k[N h S d]) / sqrt(size[d]))
m = mean[S](a)
n[N h T S] = where(a > 0.5, exp(a - m) * 2, abs(a))
c = cumsum[T](max[S](n))
u = logsumexp[h](c)
"""


def test_steps_are_named_by_what_they_do_and_views_are_folded_into_their_readers() -> None:
    plan = ne.compile(FORMULA).plan(q=(2, 4, 128, 16), k=(2, 4, 128, 16))
    titles = [node.title.partition(" ")[2] for node in tree_of(plan).nodes if node.kind == "step"]
    assert {"· / 4", "softmax[S]", "cumsum[T]", "logsumexp[h]"} <= set(titles)
    assert "max[S](where(· > 0.5, exp(· - ·) * 2, abs(·)))" in titles
    assert not {"transpose", "reshape", "pointwise", "alongaxes", "fused"} & set(titles)
    assert [moment.title for moment in plan.drawing.data.memory.moments][3] == "4 softmax[S]"
    check(plan)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("y = tanh(x[i j])", "tanh(x)"),
        ("y = -x[i j]", "-x"),
        ("y = x[i j] + 2", "x + 2"),
        ("y = 3 / x[i j]", "3 / x"),
        ("y = max[j](x[i j])", "max[j](x)"),
        ("y = std[i j](x[i j])", "std[i j](x)"),
        ("y = sort[i](x[i j])", "sort[i](x)"),
        ("y = maximum(x[i j], 0)", "maximum(x, 0)"),
        ("y = where(x[i j] > 0, 1, x)", "where(·, 1, x)"),
    ],
)
def test_titles_are_written_as_formulas_are(text: str, title: str) -> None:
    nodes = tree_of(ne.compile(text).plan(x=(4, 5))).nodes
    assert [node.title.partition(" ")[2] for node in nodes if node.kind == "step"][-1] == title


def test_a_view_that_comes_out_gives_its_dims_to_what_it_is_a_view_of() -> None:
    network = ne.compile("y[j i] = exp(x[i j])").plan(x=(2, 3)).drawing.data.network
    assert isinstance(network, Flow)
    assert [(node.title, node.dims) for node in network.nodes] == [
        ("x", "i=2 j=3"),
        ("y = exp(x)", "j=3 i=2"),
    ]


def test_a_view_of_an_operand_or_of_a_value_with_other_readers_stays() -> None:
    network = ne.compile("y[j i] = x[i j]").plan(x=(2, 3)).drawing.data.network
    assert isinstance(network, Flow)
    assert [(node.title, node.sources) for node in network.nodes][1:] == [("reordered", (0,))]
    plan = ne.compile("a = exp(x[i j]); b[j i] = a; c = a + 1", outputs=("b", "c")).plan(x=(2, 3))
    for flow in (plan.drawing.data.network, tree_of(plan)):
        assert isinstance(flow, Flow)
        assert len(set(flow.outputs)) == 2
        dims = [flow.nodes[output].dims for output in flow.outputs]
        assert dims[0] == "j=3 i=2"
        (exponential,) = (node for node in flow.nodes if "exp(x)" in node.title)
        assert exponential.dims == "i=2 j=3", "it is read in this order"
    check(plan)
