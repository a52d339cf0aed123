"""Derivatives of products of many elements, at all orders, with any elements 0."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(31)
ZEROS: list[list[int]] = [[], [1], [1, 3], [0, 1, 3], [0, 1, 2, 3]]


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def operand(zeros: list[int], size: int = 4, dtype: str = "float64") -> np.ndarray:
    found = GENERATOR.normal(size=size).astype(dtype)
    if dtype == "complex128":
        found = found + 1j * GENERATOR.normal(size=size)
    found[zeros] = 0
    return found


def without(x: np.ndarray, places: tuple[int, ...], last: int | None = None) -> float:
    """Return the derivative of the product of the elements up to one by those at some places."""
    last = len(x) - 1 if last is None else last
    if len({*places}) < len(places) or max(places) > last:
        return 0.0
    return np.prod([x[one] for one in range(last + 1) if one not in places])


def tensor(x: np.ndarray, order: int) -> np.ndarray:
    """Return all derivatives of some order of the product of all elements."""
    places = product(range(len(x)), repeat=order)
    return np.array([without(x, one) for one in places]).reshape((len(x),) * order)


@pytest.mark.parametrize("zeros", ZEROS, ids=str)
def test_products(zeros: list[int]) -> None:
    x, text = operand(zeros), "y = prod[N](x[N]); "
    calls = ["grad(y, x[N])", "grad(grad(y, x[N]), x[M])", "grad(grad(grad(y, x[N]), x[M]), x[K])"]
    for order, call in enumerate(calls, 1):
        np.testing.assert_allclose(ne.evaluate(text + call, x=x), tensor(x, order), atol=1e-14)


@pytest.mark.parametrize("zeros", ZEROS, ids=str)
def test_running_products(zeros: list[int]) -> None:
    """The third derivative contains that of what is exact at all orders."""
    x, w = operand(zeros), np.array([0.3, -1.2, 0.7, 2.0])
    text = "y = sum[N](w[N] * cumprod[N](x[N])); "
    calls = ["grad(y, x[N])", "grad(grad(y, x[N]), x[M])", "grad(grad(grad(y, x[N]), x[M]), x[K])"]
    for order, call in enumerate(calls, 1):
        places = product(range(4), repeat=order)
        each = [sum(w[last] * without(x, one, last) for last in range(4)) for one in places]
        found = ne.evaluate(text + call, x=x, w=w)
        np.testing.assert_allclose(found, np.reshape(each, (4,) * order), atol=1e-14)


@pytest.mark.parametrize("zeros", ZEROS, ids=str)
def test_complex_numbers(zeros: list[int]) -> None:
    """The gradient is the conjugate of the derivative."""
    x = operand(zeros, dtype="complex128")
    found = ne.evaluate("y = real(prod[N](x[N])); grad(y, x[N])", x=x)
    np.testing.assert_allclose(found, np.conj(tensor(x, 1)), atol=1e-14)
    found = ne.evaluate("y = real(sum[N](cumprod[N](x[N]))); grad(y, x[N])", x=x)
    wanted = [sum(without(x, (one,), last) for last in range(4)) for one in range(4)]
    np.testing.assert_allclose(found, np.conj(wanted), atol=1e-14)


def test_products_over_several_dims() -> None:
    x = GENERATOR.normal(size=(2, 3, 2))
    x[0, 1, 0] = x[1, 2, 1] = x[0, 0, 1] = 0
    found = ne.evaluate("y[C] = prod[A B](x[A B C]); grad(grad(sum[C](y), x[A B C]), x[D E F])", x=x)
    wanted = np.zeros((2, 3, 2, 2, 3, 2))
    for last in range(2):
        wanted[:, :, last, :, :, last] = tensor(x[:, :, last].ravel(), 2).reshape(2, 3, 2, 3)
    np.testing.assert_allclose(found, wanted, atol=1e-14)


def test_a_hessian_times_a_vector_takes_no_pairs() -> None:
    """A thousand million pairs would not fit into memory."""
    x = np.ones(30_000)
    x[[3, 7]] = 0
    text = "y = prod[N](x[N]); g[N] = grad(y, x[N]); grad(sum[N](g * v[N]), x[M])"
    found = ne.evaluate(text, x=x, v=np.arange(30_000.0))
    assert {one: found[one] for one in np.flatnonzero(found)} == {3: 7.0, 7: 3.0}


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_elements(size: int) -> None:
    x = np.full(size, 3.0)
    text = "y = prod[N](x[N]); z = sum[N](cumprod[N](x[N])); grad(grad(y + z, x[N]), x[M])"
    wanted = np.zeros((size, size)) if size < 2 else [[0, 2], [2, 0]]
    np.testing.assert_array_equal(ne.evaluate(text, x=x), wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    x = np.array([2, 0, 3], dtype=dtype)
    for value in ("prod[N](x[N])", "sum[N](cumprod[N](x[N]))"):
        text = f"y = real({value}); g[N] = grad(y, x[N])"
        assert ne.evaluate(text, x=x).dtype == dtype
        again = ne.evaluate(f"{text}; grad(real(sum[N](g)), x[M])", x=x)
        assert again.dtype == dtype
        assert again[1] == (5 if "cum" not in value else 6)
