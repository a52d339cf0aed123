"""`evaluate`: peaks of memory as plans predict them, caches and their guards, threads, interrupts."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.entry import PROGRAMS

RNG = np.random.default_rng(0)


A, B = RNG.random((3, 4)), RNG.random((4, 5))


ATTENTION = """
    s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
    p = softmax[K](where(index[Q] >= index[K], s, -inf))   # causal
    o[B Q (H D)] = sum[K](p * v[B H K D])
"""


MEASURED = {
    "a chain": ("exp(x[i j]) * 2 + sqrt(x)", {"x": (300, 300)}),
    "a blocked chain": ("exp(x[i j]) * 2 + sqrt(x)", {"x": (900, 900)}),
    "distances": ("sum[D]((x[i D] - y[j D]) ** 2)", {"x": (400, 16), "y": (300, 16)}),
    "tropical": ("min[k](x[i k] + y[k j])", {"x": (200, 200), "y": (200, 200)}),
    "a product": ("sum[k](x[i k] * y[k j])", {"x": (400, 300), "y": (300, 400)}),
    "an outer product": ("x[i] * y[j]", {"x": (700,), "y": (600,)}),
    "softmax": ("softmax[j](x[i j] * 2)", {"x": (600, 400)}),
    "two results' worth": ("s = x[i j] + 1; t = s * 2; s - t", {"x": (500, 400)}),
    "logsumexp": ("logsumexp[j](x[i j] + y[j])", {"x": (600, 400), "y": (400,)}),
    "variance": ("var[j](x[i j])", {"x": (600, 400)}),
    "sigmoid": ("sigmoid(x[i j]) + 1", {"x": (300, 300)}),
    "a maximum of a sum": ("max[j](x[i j] + 1)", {"x": (900, 900)}),
    "index": ("where(index[i] >= index[j], x[i j], 0)", {"x": (500, 500)}),
    "attention": (ATTENTION, dict.fromkeys("qkv", (2, 4, 128, 16))),
}


@pytest.mark.parametrize("title", MEASURED)
def test_the_peak_that_a_plan_predicts_is_the_peak_that_is_measured(title: str) -> None:
    text, shapes = MEASURED[title]
    operands = {name: RNG.random(shape) + 0.5 for name, shape in shapes.items()}
    predicted = ne.compile(text).plan(**shapes).peak_bytes
    ne.evaluate(text, **operands)
    tracemalloc.start()
    ne.evaluate(text, **operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured <= 1.3 * predicted + 100_000
    assert predicted <= 1.7 * measured + 300_000  # the planner counts all values of a block as alive


def test_memory_limit_refuses_before_anything_is_allocated() -> None:
    text = "y = x[i] * x[j]"
    x = np.ones(1000)
    needed = ne.compile(text).plan(x=x).peak_bytes
    assert 8_000_000 <= needed <= 8_200_000  # NumPy reads both operands through buffers
    ne.evaluate(text, x=x, memory_limit=needed)
    tracemalloc.start()
    with pytest.raises(ne.LimitError) as caught:
        ne.evaluate(text, x=x, memory_limit=8_000_000 - 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == "NE709" and peak < 1_000_000
    for _ in range(2):  # the cached function of other operands does not let larger ones through
        assert ne.evaluate(text, x=np.ones(10), memory_limit=3000).shape == (10, 10)
        with pytest.raises(ne.LimitError):
            ne.evaluate(text, x=x, memory_limit=3000)
    assert ne.evaluate(text, x=x).shape == (1000, 1000)


def test_strided_operands_give_what_contiguous_ones_give() -> None:
    base = RNG.random((8, 6, 10))
    text = "y[b a] = sum[c](exp(x[a b c]) * w[c])\nz[a b] = max[c](x + w)\nr[a b] = y * z"
    w = RNG.random(20)[::2]
    for view in (
        base,
        base[::-1],
        base[:, ::-1, :],
        base.transpose(2, 1, 0).copy().transpose(2, 1, 0),
        base[:, :, ::-1],
    ):
        expected = np.einsum("abc,c->ab", np.exp(view), w) * (view + w).max(-1)
        assert_allclose(ne.evaluate(text, x=view, w=w), expected, rtol=1e-12)


def test_a_product_under_a_sum_is_widened_and_a_named_one_is_not() -> None:
    a = np.full(4, 100, np.int8)
    assert ne.evaluate("sum[i](a[i] * a[i])", a=a) == 40_000
    assert ne.evaluate("sum[i](a[i] ** 2)", a=a) == 40_000
    assert ne.evaluate("sum[i](square(a[i]))", a=a) == 40_000
    assert ne.evaluate("p = a[i] * a; sum[i](p)", a=a) == int((a * a).sum())
    assert ne.evaluate("sum[i](a[i] * a[i])", a=a).dtype == np.int64
    assert ne.evaluate("max[i](a[i] * a[i])", a=a) == (a * a).max()
    half = np.full(8, 200, np.float16)
    assert ne.evaluate("mean[i](a[i] * a[i])", a=half).dtype == np.float16
    assert ne.evaluate("sum[i](a[i] * a[i]) / 8 / 4", a=half / 20) == 25
    bools = np.ones(300, bool)
    assert ne.evaluate("sum[i](a[i] * a[i])", a=bools) == 300


@pytest.mark.parametrize("text", ["cumsum[i](x[i])", "-cumsum[i](-x[i])"])
def test_running_sums_of_float16_are_those_of_float32(text: str) -> None:
    half = np.full(5000, 0.1, np.float16)
    found = ne.evaluate(text, x=half)
    assert found.dtype == np.float16 and half[0] == np.float16(0.1)
    assert_allclose(found.astype(float), np.arange(1, 5001) * float(half[0]), rtol=2e-3)


def test_running_products_of_float16_are_those_of_float32() -> None:
    half = np.full(5000, 0.999, np.float16)
    expected = float(half[0]) ** np.arange(1, 5001)
    for text in ("cumprod[i](x[i])", "cumprod[i](x[i] + 0)"):
        assert_allclose(ne.evaluate(text, x=half).astype(float), expected, rtol=2e-3, atol=1e-7)


def test_formulas_and_their_functions_are_kept_in_bounded_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    few: Generations[Any, Any] = Generations(10)
    monkeypatch.setattr("nameexpr.runtime.cache.formulas", few)
    for count in range(100):
        assert ne.evaluate(f"x * 2 + {count}", x=1) == 2 + count
    assert 10 <= len(few) <= 20
    for size in range(1, 3 * PROGRAMS):
        assert ne.evaluate("sum[i](x[i])", x=np.ones(size)) == size
    entry = few.get("sum[i](x[i])")
    assert PROGRAMS <= len(entry.programs) <= 2 * PROGRAMS
    assert ne.evaluate("sum[i](x[i])", x=np.ones(1)) == 1
    assert few.get("sum[i](x[i])") is entry


def test_a_formula_is_compiled_once_for_operands_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    from nameexpr.runtime import formula

    compiled: list[object] = []
    original = formula.compile_formula
    monkeypatch.setattr(formula, "compile_formula", lambda *given: compiled.append(given) or original(*given))
    for _ in range(3):
        for x in (A, A.astype(np.float32), A[:2], ne.tensor(A, names="i j"), A[::-1], np.asfortranarray(A)):
            ne.evaluate("once = sum[j](x[i j] * 2) + 1", x=x)
    assert len(compiled) <= 6
    count = len(compiled)
    ne.evaluate("once = sum[j](x[i j] * 2) + 1", x=A + 1)
    assert len(compiled) == count


def test_threads_share_formulas() -> None:
    faults: list[BaseException] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(150):
                n, k = rng.integers(1, 5, 2)
                dtype = rng.choice(["f4", "f8", "i8"])
                x = rng.integers(0, 9, (n, k)).astype(dtype)
                result = ne.evaluate("y[j i] = x[i j] * 2; z = sum[i](y) + 1", x=x)
                assert_array_equal(result, (x * 2).sum(0) + 1)
                assert result.dtype == ((x * 2).sum(0) + 1).dtype
                outer = ne.evaluate("exp(x[i] - x[j]) * a", x=x[:, 0], a=2.0)
                assert_allclose(outer, np.exp(x[:, 0][:, None] - x[:, 0]) * 2, rtol=1e-5)
        except BaseException as fault:  # noqa: BLE001  shown below
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]


def test_floating_point_warnings_are_numpy_s() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ne.evaluate("1.0 / x[i]", x=np.zeros(2))
    with np.errstate(divide="ignore"):
        assert_array_equal(ne.evaluate("1.0 / x[i]", x=np.zeros(2)), [np.inf, np.inf])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ne.evaluate("1.0 / x[i]", x=np.zeros(2))


def test_an_interrupted_call_leaves_the_next_one_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from nameexpr.runtime import formula

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(formula, "compile_formula", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ne.evaluate("once = x[i] + 1", x=np.ones(2))
    assert_array_equal(ne.evaluate("once = x[i] + 1", x=np.ones(2)), [2, 2])


def test_clipping_by_a_bound_that_varies_along_more_dims_takes_what_is_predicted() -> None:
    """The larger of value and bound is smaller than the result then, and both pass through buffers."""
    x = np.ones((74, 53))[:, :47]
    high = np.broadcast_to(np.ones((9, 74, 1)), (9, 74, 47))
    function = ne.compile("u[i b c] = clip(x[b c], pi, high[i b c])")
    function(x=x, high=high)
    tracemalloc.start()
    function(x=x, high=high)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken - 16_384 <= function.plan(x=x, high=high).peak_bytes <= 1.1 * taken
