"""`memory_limit=`: the same results in less memory, or a refusal that says what needs how much."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from oracle.reference.expressions import einsum as by_nested_loops

pytestmark = pytest.mark.slow

PYTHON = 200_000
"""Bytes of Python's own objects, and of the buffers of NumPy's iterator."""
LETTERS = "abcdefgh"
REDUCERS = ("max", "min", "prod", "any", "all", "sum", "mean", "var", "median", "argmax", "norm")


def random_case(seed: int) -> tuple[str, list[Any], np.random.Generator]:
    """Return an expression with several operands, mostly products, with operands in any order in memory."""
    rng = np.random.default_rng(seed)
    labels = LETTERS[: rng.integers(3, 8)]
    sizes = {label: int(rng.choice([1, 2, 3, 5, 7, 8, 11])) for label in labels}
    terms = [rng.permutation(list(labels))[: rng.integers(1, 4)] for _ in range(rng.integers(1, 6))]
    used = sorted({label for term in terms for label in term})
    kept = [str(label) for label in rng.permutation(used) if rng.random() < 0.4]
    dropped = [label for label in used if label not in kept]
    lone = any(sum(label in term for term in terms) == 1 for label in dropped)
    asked = dropped and (lone or rng.random() < 0.4)
    reducer = f" : {rng.choice(REDUCERS)}" if asked else ""
    result = " ".join(kept) + (" z=3" if rng.random() < 0.1 else "")
    result = f"({result})" if len(kept) > 1 and rng.random() < 0.2 else result
    text = ", ".join(" ".join(term) for term in terms) + f" -> {result}{reducer}"
    dtype = rng.choice(["float64", "float32", "int64", "int8", "uint8", "bool"])
    operands = []
    for term in terms:
        order = rng.permutation(len(term))
        cells = rng.random([sizes[term[axis]] for axis in order]) * 4 - (0 if dtype[0] in "ub" else 2)
        operands.append(cells.astype(dtype).transpose(np.argsort(order)))
    return text, operands, rng


@np.errstate(over="ignore", invalid="ignore")  # long products, in another order
@pytest.mark.parametrize("share", [2, 4, 8])
def test_results_under_a_limit_are_those_without_one(share: int) -> None:
    fitting = 0
    for seed in range(150):
        text, operands, _ = random_case(seed)
        free = ne.compile(text)
        limit = free.plan(*operands).peak_bytes // share
        want = free(*operands)
        if text.endswith("prod") and want.dtype.kind == "f" and not np.isfinite(want).all():
            continue  # whether a long product overflows depends on its order
        limited = ne.compile(text, memory_limit=limit)
        try:
            plan = limited.plan(*operands)
        except ne.LimitError:
            continue
        fitting += 1
        got = limited(*operands)
        assert plan.peak_bytes <= limit
        assert (got.dtype, got.shape) == (want.dtype, want.shape), text
        if want.dtype.kind in "iub":
            assert_array_equal(got, want, text)
        else:
            most = float(np.abs(want[np.isfinite(want)]).max(initial=0))
            tolerance = 1e-4 if want.dtype == np.float32 else 1e-9
            assert_allclose(got, want, rtol=tolerance, atol=tolerance * most, err_msg=text)
    assert fitting > 20


@np.errstate(over="ignore")
@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_results_under_a_limit_are_those_of_nested_loops(seed: int) -> None:
    text, operands, _ = random_case(seed)
    if max(map(np.size, operands)) > 200 or np.prod([*map(np.size, operands)]) > 1e6:
        operands = [one[tuple(slice(0, 2) for _ in one.shape)] for one in operands]
    peak = ne.compile(text).plan(*operands).peak_bytes
    want = by_nested_loops(text, *operands)
    for share in (1.3, 2, 4):
        try:
            got = ne.einsum(text, *operands, memory_limit=int(peak / share))
        except ne.LimitError:
            continue
        assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=1e-4, atol=1e-4, err_msg=text)


NETWORKS = {
    "an outer product under a maximum": ("q d, k d -> q : max", [(800, 8), (700, 8)]),
    "a chain": ("a b, b c, c d, d e -> a e", [(50, 300), (300, 400), (400, 300), (300, 50)]),
    "a ring": ("a b x, b c x, c d x, d a x -> x", [(23, 23, 29)] * 4),
    "a product that is reduced": (
        "i j, k l, i k m, j l n -> m n",
        [(40, 40), (40, 40), (40, 40, 3), (40, 40, 3)],
    ),
    "three vectors' worth": ("i r, j r, k r, i j k -> r", [(50, 40), (50, 40), (50, 40), (50, 50, 50)]),
    "a grid": (
        "a b, b c d, c e, a f g, d f h i, e h j, g k, i k l, j l ->",
        [(14,) * count for count in (2, 3, 2, 3, 4, 3, 2, 3, 2)],
    ),
    "a cube": (
        "a b c, a d e, b f g, c h i, d f j, e h k, g i l, j k l ->",
        [(13,) * 3] * 8,
    ),
    "a dense graph": (
        "a b c d, a e f g, b e h i, c f h j, d g i j -> ",
        [(11,) * 4] * 5,
    ),
    "sums of one operand each": ("a b x, b c y -> a c : sum", [(60, 300, 20), (300, 60, 20)]),
    "a mean": ("a b, b c, c d -> a d : mean", [(30, 500), (500, 600), (600, 30)]),
}  # fmt: skip


@pytest.mark.parametrize("title", NETWORKS)
def test_a_quarter_of_the_peak_costs_at_most_twice_the_flops(title: str) -> None:
    text, shapes = NETWORKS[title]
    rng = np.random.default_rng(1)
    operands = [rng.random(shape) for shape in shapes]
    free = ne.compile(text)
    plan = free.plan(*operands)
    limit = plan.peak_bytes // 4
    limited = ne.compile(text, memory_limit=limit)
    thrifty = limited.plan(*operands)
    assert thrifty.flops <= 2 * plan.flops
    assert_allclose(limited(*operands), free(*operands), rtol=1e-9)
    tracemalloc.start()
    limited(*operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured <= limit + PYTHON
    assert measured / 1.1 - PYTHON <= thrifty.peak_bytes <= limit


ATTENTION = """
    s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
    p = softmax[K](where(index[Q] >= index[K], s, -inf))
    o[B Q (H D)] = sum[K](p * v[B H K D])
"""
MATRICES = {"x": (300, 20), "y": (200, 20)}
FORMULAS: dict[str, tuple[str, dict[str, tuple[int, ...]], tuple[int, ...]]] = {
    "attention": (ATTENTION, dict.fromkeys("qkv", (2, 4, 128, 16)), (2, 4)),
    "distances": ("max[j](sqrt(sum[d]((x[i d] - y[j d]) ** 2)))", MATRICES, (4, 20)),
    "a softmax under a sum": (
        "sum[j](softmax[j](x[i j] * 2) * w[j])",
        {"x": (300, 400), "w": (400,)},
        (4, 20),
    ),
    "a mean of a mean": ("m = mean[i](tanh(sum[d](x[i d] * y[j d]))); mean[j](exp(m))", MATRICES, (4, 20)),
    "a value for two sums": (
        "e = exp(-sum[d](x[i d] * y[j d])); a[i] = max[j](e); b[j] = sum[i](e * z[i]); max[i](a) + max[j](b)",
        {**MATRICES, "z": (300,)},
        (4, 20),
    ),
    "a chain in one term": (
        "sum[b c](a[i b] * b[b c] * c[c j]) + 1",
        {"a": (50, 300), "b": (300, 400), "c": (400, 50)},
        (2, 4),
    ),
    "a ring in one term": (
        "exp(sum[a b c d](p[a b x] * q[b c x] * r[c d x] * s[d a x]) / 1000)",
        dict.fromkeys("pqrs", (23, 23, 29)),
        (4, 12),
    ),
    "another name for a dim": (
        "t[i j] = x[i j] * 2 + 1; s[a b] = sum[c](t[a c] * t[b c]); max[b](s)",
        {"x": (300, 200)},
        (2,),
    ),
    "running sums": ("sum[i](cumsum[j](x[i j] * x) / 3)", {"x": (300, 200)}, (4, 20)),
}


@pytest.mark.parametrize("title", FORMULAS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_formula_under_a_limit_gives_what_it_gives_without_one(title: str, dtype: str) -> None:
    text, shapes, shares = FORMULAS[title]
    rng = np.random.default_rng(1)
    operands = {name: (rng.random(shape) - 0.5).astype(dtype) for name, shape in shapes.items()}
    free = ne.compile(text)
    peak, want = free.plan(**operands).peak_bytes, free(**operands)
    for share in shares:
        limited = ne.compile(text, memory_limit=peak // share)
        plan = limited.plan(**operands)
        assert plan.flops == sum(step.flops for step in plan.steps)
        assert any(step.what.endswith("looped") for step in plan.steps)
        got = limited(**operands)
        tracemalloc.start()
        limited(**operands)
        measured = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert measured / 1.1 - PYTHON <= plan.peak_bytes <= peak // share
        assert measured <= peak // share + PYTHON
        assert got.dtype == want.dtype
        tolerance = 1e-4 if dtype == "float32" else 1e-9
        assert_allclose(got, want, rtol=tolerance, atol=tolerance * float(np.abs(want).max()))


def test_results_of_several_statements_are_held_against_one_limit() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((300, 20)), rng.random((200, 20))
    text = "s = exp(-sum[d](x[i d] * y[j d])); a[i] = sum[j](s); b[j] = max[i](s)"
    whole = ne.compile(text, outputs=("b", "a"))
    want = whole(x=x, y=y)
    limit = whole.plan(x=x, y=y).peak_bytes // 8
    got = ne.evaluate(text, outputs=("b", "a"), x=x, y=y, memory_limit=limit)
    assert_allclose(got[0], want[0], rtol=1e-9)
    assert_allclose(got[1], want[1], rtol=1e-9)
    with pytest.raises(ne.LimitError) as caught:
        ne.evaluate(text, outputs=("s", "a"), x=x, y=y, memory_limit=100_000)
    assert "the results alone take 482,400 bytes, and memory_limit is 100,000" in str(caught.value)


def test_the_code_of_a_formula_with_loops_runs_when_pasted() -> None:
    rng = np.random.default_rng(1)
    q, k, v = rng.random((3, 2, 4, 128, 16))
    plan = ne.compile(ATTENTION, memory_limit=200_000).plan(q=q, k=k, v=v)
    space: dict[str, Any] = {}
    exec(plan.code, space)
    assert_allclose(space["compute"](q, k, v), ne.evaluate(ATTENTION, q=q, k=k, v=v), rtol=1e-9)
    assert all(draw.startswith("<svg") for draw in (plan.draw("tree"), plan.draw("memory")))


def test_what_a_bound_formula_computes_in_loops_stays_below_the_limit() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((300, 20)), rng.random((200, 20))
    text = "max[j](sqrt(sum[d]((x[i d] - y[j d]) ** 2)))"
    run = ne.compile(text, memory_limit=200_000).bind(y=y)
    assert run.plan(x=x).peak_bytes <= 200_000
    assert_allclose(run(x=x), ne.evaluate(text, x=x, y=y), rtol=1e-9)


def test_a_refusal_of_a_formula_says_what_blocks_can_do_and_its_advice_is_right() -> None:
    text, x, y = "t = exp(-x[i] * y[j]); t + sum[i](t)", np.ones(300), np.ones(200)
    with pytest.raises(ne.LimitError) as caught:
        ne.evaluate(text, x=x, y=y, memory_limit=400_000)
    assert "the result alone takes 480,000 bytes, and memory_limit is 400,000" in str(caught.value)
    found = re.search("raise the limit to ([0-9,]+)(.*), or make 'i' at most ([0-9,]+)", caught.value.hint)
    assert found is not None
    limit, size = (int(found[group].replace(",", "")) for group in (1, 3))
    ne.evaluate(text, x=x, y=y, memory_limit=limit)
    ne.evaluate(text, x=x[:size], y=y, memory_limit=400_000)


def test_a_limit_that_is_kept_anyway_changes_nothing() -> None:
    x, y = np.ones((30, 40)), np.ones((40, 50))
    plan = ne.compile("a b, b c -> a c").plan(x, y)
    assert ne.compile("a b, b c -> a c", memory_limit=plan.peak_bytes).plan(x, y).code == plan.code


def test_the_code_of_a_plan_with_loops_runs_when_pasted() -> None:
    text, shapes = NETWORKS["a cube"]
    rng = np.random.default_rng(1)
    operands = [rng.random(shape) for shape in shapes]
    peak = ne.compile(text).plan(*operands).peak_bytes
    limited = ne.compile(text, memory_limit=peak // 4)
    space: dict[str, Any] = {}
    exec(limited.plan(*operands).code, space)
    assert "for j0 in range(0, 1" in limited.plan(*operands).code
    assert_array_equal(space["compute"](*operands), limited(*operands))


def test_the_table_of_a_plan_shows_the_loop_and_what_is_in_it() -> None:
    plan = ne.compile("query d, key d -> query : max", memory_limit=300_000).plan((900, 8), (1000, 8))
    kinds = [step.what for step in plan.steps]
    assert kinds[0] == "looped" and kinds[1].startswith("  ")
    assert any(step.call.endswith("along query") for step in plan.steps if step.what.endswith("looped"))
    assert (
        plan.flops
        == sum(step.flops for step in plan.steps)
        == ne.compile(plan.text).plan((900, 8), (1000, 8)).flops
    )


def test_steps_that_lack_the_label_of_a_loop_are_counted_once_for_each_block() -> None:
    text, shapes = NETWORKS["a cube"]
    peak = ne.compile(text).plan(*shapes).peak_bytes
    for share in (4, 16, 30):
        plan = ne.compile(text, memory_limit=peak // share).plan(*shapes)
        assert plan.flops == sum(step.flops for step in plan.steps) >= ne.compile(text).plan(*shapes).flops


def test_a_callable_is_applied_to_blocks_of_what_is_kept() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.random((60, 70)), rng.random((60, 80))
    seen: list[int] = []

    def spread(array: Any, axis: int) -> Any:
        seen.append(array.size)
        return array.max(axis=axis) - array.min(axis=axis)

    want = ne.einsum("a b, a c -> a", x, y, reduce=spread)
    got = ne.einsum("a b, a c -> a", x, y, reduce=spread, memory_limit=want.nbytes * 200)
    assert_array_equal(got, want)
    assert len(seen) > 2 and sum(seen[1:]) == seen[0]


def test_names_go_through_loops() -> None:
    rng = np.random.default_rng(3)
    one = ne.from_numpy(rng.random((300, 9)), ("query", "d"))
    other = ne.from_numpy(rng.random((200, 9)), ("key", "d"))
    text = "query d, key d -> query : max"
    got = ne.einsum(text, one, other, memory_limit=50_000)
    assert got.names == ("query",)
    assert_array_equal(got.data, ne.einsum(text, one, other).data)


def test_a_result_in_row_major_order_is_one_with_loops_too() -> None:
    x, y, z = np.ones((60, 70)), np.ones((70, 500)), np.ones((500, 40))
    text = "a b, b c, c d -> d a"
    peak = ne.compile(text, optimize=[(0, 1), (0, 1)], order="C").plan(x, y, z).peak_bytes
    got = ne.einsum(text, x, y, z, optimize=[(0, 1), (0, 1)], order="C", memory_limit=peak // 4)
    assert got.flags.c_contiguous
    assert_allclose(got, np.einsum("ab,bc,cd->da", x, y, z))


def refusal(*given: Any, **options: Any) -> ne.LimitError:
    tracemalloc.start()
    try:
        with pytest.raises(ne.LimitError) as caught:
            ne.einsum(*given, **options)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.code == "NE709"
    return caught.value


def test_what_does_not_fit_is_refused_before_anything_is_allocated() -> None:
    vector = np.broadcast_to(np.float64(1), (100_000,))
    fault = refusal("query, key -> query key", vector, vector, memory_limit=10**6)
    shown = str(fault)
    assert "the result alone takes 80,000,000,000 bytes, and memory_limit is 1,000,000" in shown
    assert "query key  (100000, 100000)   80,000,000,000 bytes" in shown


def test_a_refusal_says_what_blocks_can_do_and_its_advice_is_right() -> None:
    one = np.ones((300, 40))
    text = "query d, key d -> query key"
    fault = refusal(text, one, one, memory_limit=500_000)
    assert "make 'query' at most 208 (here 300)" in fault.hint
    ne.einsum(text, one[:208], one, memory_limit=500_000)
    refusal(text, one[:209], one, memory_limit=500_000)
    assert "at most 207 (here 300)" in refusal(text, one, one, memory_limit=498_000).hint
    assert "raise the limit to 720,000" in fault.hint and "dtype='float32'" in fault.hint
    ne.einsum(text, one, one, memory_limit=720_000)
    ne.einsum(text, one, one, memory_limit=500_000, dtype="float32")


def test_other_sizes_are_held_against_the_limit_too() -> None:
    run = ne.compile("a b, b c -> a c", memory_limit=10_000)
    run(np.ones((10, 20)), np.ones((20, 30)))
    with pytest.raises(ne.LimitError):
        run(np.ones((100, 20)), np.ones((20, 300)))


def test_a_formula_that_does_not_fit_lists_its_largest_arrays() -> None:
    with pytest.raises(ne.LimitError) as caught:
        ne.evaluate("exp(x[N M]) * 2", x=np.ones((300, 200)), memory_limit=1000)
    assert "N M  (300, 200)   480,000 bytes" in str(caught.value)


@pytest.mark.parametrize("text", ["a b, b c, c d -> a d", "n a, n b, n c -> a b c"])
def test_a_limit_that_is_just_what_a_program_needs_keeps_that_program(text: str) -> None:
    shapes = [(40, 40)] * (text.count(",") + 1)
    whole = ne.compile(text).plan(*shapes).peak_bytes
    assert ne.compile(text, memory_limit=whole).plan(*shapes).code == ne.compile(text).plan(*shapes).code
    sliced = ne.compile(text, memory_limit=int(whole * 0.9)).plan(*shapes)
    assert sliced.peak_bytes <= int(whole * 0.9)
    assert ne.compile(text, memory_limit=sliced.peak_bytes).plan(*shapes).peak_bytes == sliced.peak_bytes
