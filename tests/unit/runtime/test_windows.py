"""Dims that are read at positions: values compared with loops, results as views or memory of their own."""

import tracemalloc
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.lowering.builder import Builder

Sizes = Mapping[str, int]
DTYPES = ["float64", "float32", "float16", "int64", "int8", "uint8", "bool", "complex128"]


def made(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> np.ndarray[Any, Any]:
    """Return an array of small numbers, so that sums are exact in all dtypes."""
    return np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)


def layouts(x: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return equal arrays in different memory."""
    wide = np.zeros([2 * size for size in x.shape], x.dtype)
    every = tuple(slice(None, None, 2) for _ in x.shape)
    wide[every] = x
    back = tuple(slice(None, None, -1) for _ in x.shape)
    return {
        "rows": x,
        "swapped": x.astype(x.dtype.newbyteorder()),
        "columns": np.asfortranarray(x),
        "strided": wide[every],
        "backwards": x[back].copy()[back],
    }


def windows_of(x: np.ndarray[Any, Any], count: int, stride: int = 1, apart: int = 1) -> np.ndarray[Any, Any]:
    """Return x at `stride * t + apart * d` along its first axis, for d < count, element by element."""
    cells = (len(x) - 1 - apart * (count - 1)) // stride + 1
    return np.stack(
        [np.stack([x[stride * t + apart * d] for d in range(count)]) for t in range(max(cells, 0))]
    )


REDUCERS = ["sum", "max", "min", "any", "all", "prod", "mean", "median", "std", "count_nonzero"]
ORDERED = {"max", "min", "median"}


@pytest.mark.parametrize(
    ("reducer", "dtype"),
    [pair for pair in product(REDUCERS, DTYPES) if not (pair[0] in ORDERED and pair[1] == "complex128")],
)
def test_reductions_over_a_window_equal_those_of_its_copies(reducer: str, dtype: str) -> None:
    x = made((9, 4), dtype)
    for own in layouts(x).values():
        for stride, apart, count in product((1, 2), (1, 3), (1, 2, 3)):
            text = f"{reducer}[d](x[_@({stride}*t+{apart}*d) c])"
            copies = windows_of(x, count, stride, apart)
            got = ne.evaluate(text, x=own, sizes={"d": count})
            want = ne.evaluate(f"{reducer}[d](w[t d c])", w=copies)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128", "bool"])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolution_equals_loops(dtype: str, stride: int) -> None:
    image, kernel = made((2, 8, 7, 3), dtype), made((3, 2, 3, 4), dtype, 1)
    rows, columns = (8 - 3) // stride + 1, (7 - 2) // stride + 1
    want = np.zeros((2, rows, columns, 4), complex)
    for h, w in product(range(rows), range(columns)):
        patch = image[:, h * stride : h * stride + 3, w * stride : w * stride + 2]
        want[:, h, w] = np.einsum("nabc,abck->nk", patch.astype(complex), kernel.astype(complex))
    text = f"N H@({stride}*h+a) W@({stride}*w+b) C, a b C K -> N h w K"
    formula = f"sum[a b C](x[N H@({stride}*h+a) W@({stride}*w+b) C] * k[a b C K])"
    for one in layouts(image).values():
        for other in layouts(kernel).values():
            np.testing.assert_array_equal(ne.einsum(text, one, other), want)
            np.testing.assert_array_equal(ne.evaluate(formula, x=one, k=other), want)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("X@(i+j) -> i j", {"j": 2}), ("X@(i+j) -> j i", {"j": 3}), ("X@(i+j) -> (i j)", {"j": 2})],
)
def test_results_that_overlap_are_memory_of_their_own(text: str, sizes: Sizes) -> None:
    x = np.arange(8.0)
    result = ne.einsum(text, x, sizes=sizes)
    result[(0,) * result.ndim] = 100
    assert (result == 100).sum() == 1
    assert not np.shares_memory(result, x)


def test_results_whose_positions_only_interleave_are_views() -> None:
    x = np.arange(8.0)
    result = ne.einsum("X@(3*i-2*j+2) -> j i", x, j=2)
    np.testing.assert_array_equal(result, [[2, 5], [0, 3]])
    assert np.shares_memory(result, x)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("X@(2*i) -> i", np.s_[::2]),
        ("X@(7-i) -> i", np.s_[::-1]),
        ("X@(i+3) -> i", np.s_[3:]),
        ("(1 + T) -> T", np.s_[1:]),
        ("(T + 2) -> T", np.s_[:-2]),
        ("X@3 ->", np.s_[3, ...]),
        ("X@(6-3*i) -> i", np.s_[6::-3]),
    ],
)
def test_slices_strides_and_reversals_are_views(text: str, want: Any) -> None:
    x = np.arange(8.0)
    result = ne.einsum(text, x)
    np.testing.assert_array_equal(result, x[want])
    assert np.shares_memory(result, x)


def test_a_window_of_a_computed_value_is_no_view_of_itself() -> None:
    x = np.arange(6.0)
    result = ne.evaluate("y[T] = x[T] + 1; y[_@(i+j)]", x=x, sizes={"j": 2})
    result[0, 1] = 50
    assert result[1, 0] == 2


def test_nothing_is_written_over_what_a_window_shows() -> None:
    x = np.arange(70.0)
    got = ne.evaluate("y[T] = x[T] * 2; exp(y[_@(i+j)] / 100)", x=x, sizes={"j": 3})
    np.testing.assert_allclose(got, np.exp(windows_of(2 * x, 3) / 100))
    got[0, 1] = -1
    assert (got == -1).sum() == 1


@pytest.mark.parametrize("limit", [6_500, 7_500, 12_000, 20_000, 10**7])
def test_a_memory_limit_keeps_the_values(limit: int) -> None:
    image, kernel = made((2, 12, 11, 3)), made((3, 2, 3, 4))
    text = "N H@(h+a) W@(w+b) C, a b C K -> N h w K"
    formula = "sum[a b C](x[N H@(h+a) W@(w+b) C] * k[a b C K])"
    want = np.zeros((2, 10, 10, 4))
    for h, w in product(range(10), range(10)):
        want[:, h, w] = np.einsum("nabc,abck->nk", image[:, h : h + 3, w : w + 2], kernel)
    for got in (
        lambda: ne.einsum(text, image, kernel, memory_limit=limit),
        lambda: ne.evaluate(formula, x=image, k=kernel, memory_limit=limit),
    ):
        try:
            np.testing.assert_allclose(got(), want)
        except ne.LimitError:
            assert limit < 8_000


@pytest.mark.parametrize("bound", [0, 1])
def test_a_bound_operand_can_be_a_window(bound: int) -> None:
    x, w = made((9, 3)), made((4, 3, 2))
    want = np.einsum("tdc,dck->tk", windows_of(x, 4), w)
    compiled = ne.compile("T@(t+d) c, d c k -> t k").bind({bound: (x, w)[bound]})
    for _ in range(2):
        np.testing.assert_array_equal(compiled((w, x)[bound]), want)


def test_out_takes_a_window() -> None:
    x, out = np.arange(7.0), np.empty((5, 3))
    ne.einsum("X@(i+j) -> i j", x, j=3, out=out)
    np.testing.assert_array_equal(out, windows_of(x, 3))
    ne.einsum("X@(6-i) -> i", x, out=x)
    np.testing.assert_array_equal(x, np.arange(7.0)[::-1])


def test_equal_operands_may_be_read_differently() -> None:
    x = made((7, 7))
    got = ne.einsum("A@(i+1) b, b c, c d, d E@(2*m) -> i m", x, x, x, x)
    np.testing.assert_array_equal(got, (x[1:] @ x @ x @ x)[:, ::2])


def test_sizes_of_positions_are_among_those_that_check_answers() -> None:
    sizes = ne.check("N H@(2*h+dh)", np.zeros((2, 9)), dh=3)
    assert dict(sizes) == {"N": 2, "H": 9, "h": 4, "dh": 3}


@pytest.mark.parametrize("size", [1, 2, 3])
def test_windows_as_long_as_the_dim_and_labels_of_one(size: int) -> None:
    x = made((3, 2))
    np.testing.assert_array_equal(
        ne.evaluate("sum[d](x[_@(t+d) c])", x=x, sizes={"d": size}), windows_of(x, size).sum(1)
    )
    assert ne.evaluate("x[_@(t+d) c]", x=np.zeros((3, 0)), sizes={"d": size}).shape == (4 - size, size, 0)


@pytest.mark.parametrize("reducer", ["sum", "max", "min", "prod", "mean", "any", "all"])
@pytest.mark.parametrize("shape", [(300,), (90, 40), (40, 90), (5, 60, 33)])
@pytest.mark.parametrize(("stride", "apart", "count"), [(1, 1, 12), (2, 1, 5), (3, -2, 3), (-1, 1, 4)])
def test_large_windows_equal_their_copies(
    reducer: str, shape: tuple[int, ...], stride: int, apart: int, count: int
) -> None:
    """Along every axis, in every layout."""
    labels = list("ijk"[: len(shape)])
    x = np.random.default_rng(1).integers(1, 3, shape)
    for axis, size in enumerate(shape):
        reach = abs(apart) * (count - 1)
        cells = (size - 1 - reach) // abs(stride) + 1
        offset = (reach if apart < 0 else 0) + (abs(stride) * (cells - 1) if stride < 0 else 0)
        if cells < 1:
            continue
        place = f"_@({stride}*t + {apart}*d + {offset})"
        text = f"{reducer}[d](x[{' '.join([*labels[:axis], place, *labels[axis + 1 :]])}])"
        whole = f"{reducer}[d](w[{' '.join([*labels[:axis], 't d', *labels[axis + 1 :]])}])"
        places = [[stride * t + apart * d + offset for d in range(count)] for t in range(cells)]
        for own in layouts(x).values():
            want = ne.evaluate(whole, w=np.take(own, places, axis))
            got = ne.evaluate(text, x=own, sizes={"d": count, "t": cells})
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want)


def test_infinities_and_nans_stay_in_their_windows() -> None:
    x = np.ones(5000)
    x[100], x[200], x[300] = np.inf, np.nan, -np.inf
    for reducer in ("sum", "max", "min", "mean"):
        got = ne.evaluate(f"{reducer}[d](x[_@(t+d)])", x=x, sizes={"d": 50})
        want = getattr(np, reducer)(np.lib.stride_tricks.sliding_window_view(x, 50), axis=1)
        np.testing.assert_array_equal(got, want)


def test_sums_of_integers_are_exact() -> None:
    x = np.full(2000, 2**40, np.int64)
    x[::3] += 1
    got = ne.evaluate("sum[d](x[_@(t+d)])", x=x, sizes={"d": 300})
    np.testing.assert_array_equal(got, np.lib.stride_tricks.sliding_window_view(x, 300).sum(1))


def check_peak(compiled: Any, call: str, **operands: np.ndarray[Any, Any]) -> None:
    """Check that a plan calls a function, and knows how much memory it takes."""
    plan = compiled.plan(**operands)
    assert any(step.what == "window" and call in step.call for step in plan.steps)
    compiled(**operands)
    tracemalloc.start()
    compiled(**operands)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(peak - plan.peak_bytes) < 20_000 + plan.peak_bytes // 50


@pytest.mark.parametrize("text", ["sum[d](x[_@(t+d)])", "max[d](x[_@(2*t+d)])", "mean[d c](x[_@(t+d) c])"])
def test_plans_say_how_windows_are_reduced_and_what_that_takes(text: str) -> None:
    x = np.ones((200_000, 3) if "c" in text else 200_000)
    compiled = ne.compile(text, sizes={"d": 90})
    check_peak(compiled, "rolling", x=x)


@pytest.mark.parametrize(("stride", "channels"), [(1, 16), (2, 16), (1, 3), (2, 128)])
def test_convolutions_take_two_mebibytes_besides_their_result(stride: int, channels: int) -> None:
    image, kernel = np.ones((4, 90, 91, channels), np.float32), np.ones((3, 3, channels, 64), np.float32)
    place = f"N H@({stride}*h+a) W@({stride}*w+b) C"
    compiled = ne.compile(f"y[N h w K] = sum[a b C](x[{place}] * k[a b C K])")
    check_peak(compiled, "multiplied", x=image, k=kernel)
    assert compiled.plan(x=image, k=kernel).peak_bytes <= compiled(x=image, k=kernel).nbytes + 2**21
    turned = ne.compile("y[N K h w] = sum[a b C](x[N C H@(h+a) W@(w+b)] * k[K C a b])")
    operands = np.moveaxis(image, 3, 1).copy(), np.moveaxis(kernel, (2, 3), (1, 0)).copy()
    check_peak(turned, "multiplied", x=operands[0], k=operands[1])


@pytest.mark.parametrize("weights", ["a b", "a b C"])
def test_filters_take_one_block_besides_their_result(weights: str) -> None:
    image = np.ones((300, 290, 3), np.float32)
    kernel = np.ones([{"a": 3, "b": 5, "C": 3}[label] for label in weights.split()], np.float32)
    compiled = ne.compile(f"sum[a b](x[_@(h+a) _@(w+b) C] * k[{weights}])")
    check_peak(compiled, "weighed", x=image, k=kernel)


@pytest.mark.parametrize("text", ["T (3@1 h d) -> T h d", "T ((3 h)@(h2+2) d) -> T h2 d"])
def test_a_factor_of_a_group_can_be_read_at_positions(text: str) -> None:
    x = made((4, 12))
    got = ne.einsum(text, x, h=2, **({"h2": 2} if "h2" in text else {}))
    want = x.reshape(4, 3, 2, 2)[:, 1] if "h2" not in text else x.reshape(4, 6, 2)[:, 2:4]
    np.testing.assert_array_equal(got, want)
    assert np.shares_memory(got, x)
    formula = f"x[{text.partition(' -> ')[0]}]"
    np.testing.assert_array_equal(
        ne.evaluate(formula, x=x, sizes={"h": 2} | ({"h2": 2} if "h2" in text else {})), want
    )


@pytest.mark.parametrize(("count", "stride"), [(2, 2), (3, 1), (40, 1)])
def test_windows_of_two_dims_are_reduced_in_one_step(count: int, stride: int) -> None:
    x = np.random.default_rng(2).normal(size=(2, 200, 190, 3))
    sizes = {"a": count, "b": count}
    compiled = ne.compile(f"max[a b](x[N _@({stride}*h+a) _@({stride}*w+b) C])", sizes=sizes)
    every = np.lib.stride_tricks.sliding_window_view(x, (count, count), (1, 2))[:, ::stride, ::stride]
    np.testing.assert_array_equal(compiled(x=x), every.max((-2, -1)))
    check_peak(compiled, "rolling", x=x)
    assert [step.what for step in compiled.plan(x=x).steps] == ["window"]


@pytest.mark.parametrize("shape", [(60, 120, 3), (120, 60, 3), (40, 300, 16)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_filters_of_each_channel_equal_those_of_copies(shape: tuple[int, int, int], dtype: str) -> None:
    """Weights of few channels are repeated, so that they have runs as long as the image."""
    image, kernel = made(shape, dtype), made((3, 2, shape[2]), dtype, 1)
    every = np.lib.stride_tricks.sliding_window_view(image, (3, 2), (0, 1))
    want = np.einsum("hwcab,abc->hwc", every, kernel)
    for own in layouts(image).values():
        got = ne.evaluate("sum[a b](x[_@(h+a) _@(w+b) C] * k[a b C])", x=own, k=kernel)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("layout", ["n c T", "n T c", "c n T"])
def test_windows_of_several_channels_and_images_are_weighed(
    layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way of computing it is taken in turn."""
    x, k = made((2, 3, 9), seed=1), made((3, 4), seed=2)
    axes = [["n", "c", "T"].index(name) for name in layout.split()]
    expected = [
        [np.correlate(row, weights, "valid") for row, weights in zip(one, k, strict=True)] for one in x
    ]
    text = f"{layout.replace('T', '_@(t + d)')}, c d -> {layout.replace('T', 't')}"
    for rank in range(8):
        ne.cache_clear()
        monkeypatch.setattr(Builder, "choose", lambda _, found, rank=rank: found[min(rank, len(found) - 1)])
        got = ne.einsum(text, x.transpose(axes), k)
        np.testing.assert_array_equal(got, np.transpose(expected, axes))
    ne.cache_clear()
