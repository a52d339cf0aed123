"""argsort, cummax, cummin and int equal loops, for all dtypes and layouts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

import numpy as np
import pytest
import xarray as xr

import nameexpr as ne

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(16)
DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64"]


def numbers(dtype: str, *shape: int) -> Array:
    x = RNG.integers(-3, 4, shape)
    if dtype.startswith(("f", "c")):
        made = x.astype(dtype) / 2
        return made + 1j * RNG.integers(0, 2, shape) if dtype.startswith("c") else made
    return (abs(x) if dtype.startswith("u") else x).astype(dtype)


def before(one: Any, other: Any) -> int:
    """-1, 0 or 1: complex numbers by their real parts first."""
    pair = [(value.real, value.imag) if isinstance(value, complex) else value for value in (one, other)]
    return int(pair[0] > pair[1]) - int(pair[0] < pair[1])


def ordered(line: Sequence[Any]) -> list[int]:
    values = [value.item() for value in line]
    return sorted(range(len(values)), key=cmp_to_key(lambda i, j: before(values[i], values[j])))


def largest_so_far(line: Sequence[Any]) -> list[Any]:
    made: list[Any] = []
    for value in line:
        made.append(value if not made or before(value.item(), made[-1].item()) > 0 else made[-1])
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 7), (3, 0), (0, 3), (2, 1)])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::-1, ::-1]])
def test_argsort_is_stable(dtype: str, shape: tuple[int, int], layout: Any) -> None:
    x = layout(numbers(dtype, *shape))
    found = ne.evaluate("argsort[C](x[N C])", x=x)
    assert found.dtype == np.int64
    assert found.shape == shape
    assert [ordered(line) for line in x] == found.tolist()
    assert [ordered(line) for line in x.T] == ne.evaluate("y[C N] = argsort[N](x[N C])", x=x).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 7), (3, 0), (0, 3), (2, 1)])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::-1, ::-1]])
def test_cummax_is_the_largest_so_far(dtype: str, shape: tuple[int, int], layout: Any) -> None:
    x = layout(numbers(dtype, *shape))
    found = ne.evaluate("cummax[C](x[N C])", x=x)
    assert found.dtype == x.dtype
    assert [largest_so_far(line) for line in x] == found.tolist()
    assert not np.shares_memory(found, x)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64"])
def test_cummin_is_the_opposite_of_cummax(dtype: str) -> None:
    x = numbers(dtype, 4, 7)
    found = ne.evaluate("cummin[C](x[N C])", x=x)
    assert [[-value for value in largest_so_far(-line)] for line in x] == found.tolist()
    assert found.dtype == x.dtype


def test_nan_stays_and_is_last() -> None:
    x = np.array([1.0, np.nan, 3.0, -np.inf])
    assert ne.evaluate("argsort[C](x[C])", x=x).tolist() == [3, 0, 2, 1]
    for name in ("cummax", "cummin"):
        found = ne.evaluate(f"{name}[C](x[C])", x=x)
        assert found[0] == 1
        assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
def test_int_leaves_fractions_out(dtype: str) -> None:
    x = numbers(dtype, 3, 4)
    found = ne.evaluate("int(x[N C])", x=x)
    assert found.dtype == np.int64
    assert found.tolist() == [[int(value) for value in line] for line in x.tolist()]


def test_int_of_numbers_is_a_number() -> None:
    x = np.arange(6.0)
    assert ne.evaluate("x[C@(int(2.7))]", x=x) == 2
    assert ne.evaluate("int(k)", k=-2.7) == -2
    assert ne.evaluate("x[C@(int(floor(p[N])))]", x=x, p=np.array([0.5, 4.9])).tolist() == [0, 4]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e19, -1e19, 2.0**63])
@pytest.mark.parametrize("count", [1, 100_000])
def test_int_refuses_what_no_integer_is(value: float, count: int) -> None:
    x = np.ones(count)
    x[-1] = value
    with pytest.raises(ne.OperandError, match=r"int\(\.\.\.\) of"):
        ne.evaluate("2 * int(x[C]) + 1", x=x)


def test_int_of_integers_that_64_bits_do_not_hold_is_refused() -> None:
    with pytest.raises(ne.OperandError, match="18446744073709551615"):
        ne.evaluate("int(x[C])", x=np.array([2**64 - 1], np.uint64))
    with pytest.raises(ne.OperandError, match="complex"):
        ne.evaluate("int(x[C])", x=np.ones(2, complex))


def test_the_largest_are_found_with_argsort_and_parts() -> None:
    s = RNG.standard_normal((5, 9))
    text = "order[N C] = argsort[C](-s[N C])\ns[N C@order[N (k + _)]]"
    found = ne.evaluate(text, s=s, sizes={"k": 3})
    assert found.tolist() == [sorted(line, reverse=True)[:3] for line in s.tolist()]
    ranks = ne.evaluate("order[N C] = argsort[C](s[N C])\nargsort[C](order)", s=s)
    for n, i, j in itertools.product(range(5), range(9), range(9)):
        assert (ranks[n, i] < ranks[n, j]) == (s[n, i] < s[n, j])


def test_positions_from_a_sort_need_no_check() -> None:
    text = "order[N C] = argsort[C](-s[N C])\ns[N C@order[N (k + _)]]"
    plan = ne.compile(text, sizes={"k": 3}).plan(s=np.ones((5, 9)))
    assert "inside(" not in plan.code


def test_coordinates_stay_where_elements_do() -> None:
    x = xr.DataArray([3.0, 1.0, 2.0], dims="C", coords={"C": ["a", "b", "c"]})
    assert list(ne.evaluate("y[C] = cummax[C](x[C])", x=x).to_xarray().coords["C"]) == ["a", "b", "c"]
    assert "C" not in ne.evaluate("y[C] = argsort[C](x[C])", x=x).to_xarray().coords
