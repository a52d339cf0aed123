"""Sums and maxima by other calls than NumPy's reductions: their values, and how far off rounding may be."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(11)


def whats(text: str, *operands: object, **options: object) -> list[str]:
    return [step.what for step in ne.compile(text, **options).plan(*operands).steps]


def test_each_way_to_add_up_is_taken_where_it_is_meant() -> None:
    assert "dot" in whats("i j -> i : sum", RNG.random((5000, 3)))
    assert "matmul" in whats("a b c -> a c : sum", RNG.random((64, 100, 64)))
    assert "slices" in whats("i j -> i : sum", RNG.integers(0, 9, (5000, 3)))
    assert "slices" in whats("b (h p) (w q) -> b h w : max", RNG.random((8, 64, 64)), p=2, q=2)
    assert "einsum" in whats("i j -> i : sum", RNG.integers(0, 9, (500, 30)))
    assert whats("i j -> i : max", RNG.random((50, 3000))) == ["reduce"]
    assert whats("i -> : sum", RNG.random(5003)) == ["sum"]  # no block divides a prime


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("length", [3, 100, 256, 257, 1000, 1024, 5003, 30_000, 250_000])
def test_sums_along_memory_are_as_exact_as_pairwise_ones(length: int, dtype: str) -> None:
    """NumPy adds blocks of 128 cells in 8 lanes, then these in pairs: some 20 + log2(n / 128) roundings."""
    rows = max(2, 40_000 // length)
    x = (RNG.random((rows, length)) + 0.5).astype(dtype)
    found = ne.einsum("i j -> i : sum", x)
    assert found.dtype == x.dtype
    exact = np.array([math.fsum(row) for row in x.astype("f8")])
    bound = (80 + 2 * math.log2(length)) * np.finfo(dtype).eps
    assert np.all(abs(found.astype("f8") - exact) <= bound * exact)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_across_memory_are_no_worse_than_one_after_the_other(dtype: str) -> None:
    x = (RNG.random((4000, 30)) + 0.5).astype(dtype)
    exact = np.array([math.fsum(column) for column in x.T.astype("f8")])
    for text, view in (("i j -> j : sum", x), ("j i -> j : sum", x.T)):
        error = abs(ne.einsum(text, view).astype("f8") - exact) / exact
        assert error.max() <= 4000 * np.finfo(dtype).eps / 2


def test_nan_and_infinity_come_through_every_way() -> None:
    for shape in ((5000, 3), (60, 1024)):
        x = RNG.random(shape)
        x[1, 1], x[2, 0] = np.nan, np.inf
        for text in ("i j -> i : sum", "i j -> j : sum", "i j -> i : max", "i j -> i : mean"):
            reducer = {"sum": np.sum, "max": np.max, "mean": np.mean}[text.split()[-1]]
            expected = reducer(x, axis=1 if "-> i" in text else 0)
            np.testing.assert_allclose(ne.einsum(text, x), expected, rtol=1e-12)


def test_narrow_integers_are_widened_before_they_are_added() -> None:
    x = np.full((3000, 3), 200, dtype=np.uint8)
    assert ne.einsum("i j -> i : sum", x).dtype == np.uint64
    assert np.all(ne.einsum("i j -> i : sum", x) == 600)
    wrapped = np.full((3000, 3), 2**62, dtype=np.int64)
    np.testing.assert_array_equal(ne.einsum("i j -> i : sum", wrapped), wrapped.sum(axis=1))


def test_whether_any_product_of_bools_is_true_goes_by_counts() -> None:
    x, y = RNG.random((60, 50)) < 0.05, RNG.random((50, 70)) < 0.05
    found = ne.einsum("i j, j k -> i k : any", x, y)
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, (x[:, :, None] & y).any(axis=1))
    assert "dot" in whats("i j, j k -> i k : any", x, y)
    huge = np.broadcast_to(True, (3, 2**13))
    assert ne.einsum("i a, i b, i c, i d -> i : any", huge, huge, huge, huge).all()  # 2**52 of each
    last = np.zeros((3, 1), dtype=bool)
    last[1] = True
    text = ", ".join(f"i x{number}" for number in range(10)) + ", i y -> i : any"
    found = ne.einsum(text, *[huge] * 10, last)  # 2**130 is not a float32
    np.testing.assert_array_equal(found, [False, True, False])


def test_integers_too_large_for_floats_are_multiplied_exactly() -> None:
    x = RNG.integers(-(2**62), 2**62, (40, 30))
    y = RNG.integers(-(2**62), 2**62, (30, 50))
    np.testing.assert_array_equal(ne.einsum("i j, j k -> i k", x, y), x @ y)
    unsigned = x.astype(np.uint64), y.astype(np.uint64)
    np.testing.assert_array_equal(ne.einsum("i j, j k -> i k", *unsigned), unsigned[0] @ unsigned[1])


@pytest.mark.parametrize(
    "text", ["i j, j k -> i k", "j i, k j -> k i", "b i j, b j k -> b i k", "i j, k j -> i k"]
)
@pytest.mark.parametrize("real", ["f4", "f8", "i4"])
def test_real_times_complex_is_computed_in_reals(text: str, real: str) -> None:
    sizes = dict(zip("ijkb", (40, 48, 56, 3), strict=True))
    terms = text.partition("->")[0].split(",")
    values = [RNG.integers(-9, 9, [sizes[label] for label in term.split()]).astype(real) for term in terms]
    for place in (0, 1):
        operands = list(values)
        operands[place] = (values[place] + 2j * values[place]).astype("c8" if real == "f4" else "c16")
        found = ne.einsum(text, *operands)
        expected = np.einsum(text.replace(" ", ""), *operands)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert "asreal" in whats(text, *operands)


@pytest.mark.parametrize("text", ["a b, a b ->", "a b, b a ->", "a b, a b -> : mean"])
def test_long_inner_products_of_float32_are_as_accurate_as_sums(text: str) -> None:
    one, other = np.full((2048, 1024), 0.1, np.float32), np.full((2048, 1024), 0.7, np.float32)
    found = ne.einsum(text, one, other.T if "b a" in text else other)
    wanted = float(one[0, 0]) * float(other[0, 0]) * (1 if "mean" in text else one.size)
    assert abs(float(found) / wanted - 1) < 4e-6  # BLAS is off by 1e-5 or more
    prime = one.reshape(-1)[:131101]  # no block divides it
    wanted = (prime.astype(float) ** 2).sum()
    assert abs(float(ne.einsum("a, a ->", prime, prime.copy())) / wanted - 1) < 1e-4


def test_slices_of_the_slowest_axis_are_combined_first() -> None:
    x = RNG.random((8, 64, 64, 3))
    text = "b (h p) (w q) c -> b h w c : max"
    for operand, axes in ((x, "(2, 4)"), (x.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3), "(4, 2)")):
        (step,) = [step for step in ne.compile(text, p=2, q=2).plan(operand).steps if step.what == "slices"]
        assert axes in step.call
        expected = x.reshape(8, 32, 2, 32, 2, 3).max((2, 4))
        np.testing.assert_array_equal(ne.einsum(text, operand, p=2, q=2), expected)


def test_a_mean_is_divided_where_its_sum_is() -> None:
    x = RNG.random((50, 400))
    assert "out=" in ne.compile("i j -> i : mean").plan(x).steps[-1].call
    total, mean, again = ne.evaluate(
        "s[i] = sum[j](x[i j]); m[i] = mean[j](x[i j]); d[i] = s[i] - m[i]", x=x, outputs=["s", "m", "d"]
    )
    np.testing.assert_allclose(total, x.sum(1))
    np.testing.assert_allclose(mean, x.mean(1))
    np.testing.assert_allclose(again, x.sum(1) - x.mean(1))
    row = x[:1].copy()
    np.testing.assert_allclose(ne.einsum("i j -> j : mean", row), row[0])
    np.testing.assert_array_equal(row, x[:1])  # a sum of one element is the element itself, not a copy


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "c8", "c16"])
def test_a_mean_of_a_power_of_two_is_multiplied_with_the_same_bits(dtype: str) -> None:
    x = (RNG.standard_normal((300, 64)) * 1e-3).astype(dtype)
    if dtype in {"f4", "f8"}:
        x[0] = np.finfo(dtype).smallest_subnormal  # type: ignore[arg-type]
        x[1] = np.finfo(dtype).max / 64  # type: ignore[arg-type]
    if dtype[0] == "c":
        x[2, 3] = complex(np.inf, 1)
    for text, divided in (("i j -> i : mean", 64), ("(i k) j -> i : mean", 3 * 64)):
        with np.errstate(all="ignore"):
            mean, total = (
                ne.einsum(f"{text[:-4]}{reducer}", x, i=300 * 64 // divided) for reducer in ("mean", "sum")
            )
            wide = total.astype("f4") if dtype == "f2" else total
            expected = (wide / divided).astype(mean.dtype)
        if dtype != "f2":  # whose sum is rounded before it is divided here
            assert mean.tobytes() == expected.tobytes()
        np.testing.assert_allclose(mean, expected, rtol=1e-2)
    calls = [step.call for step in ne.compile("i j -> i : mean").plan(x).steps]
    assert any("multiply" in call for call in calls) == (dtype not in {"c8", "c16"})
