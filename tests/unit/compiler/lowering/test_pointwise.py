"""The order of the axes of functions: that of the largest argument, and free for expansions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne

RNG = np.random.default_rng(18)
MASKED = "p[H T S] = softmax[S](where(index[S] <= index[T], s[H T S], -inf))"


def calls(text: str, **operands: Any) -> list[str]:
    return [row.call for row in ne.compile(text).plan(**operands).steps if row.what != "transpose"]


def test_a_mask_is_created_in_the_order_of_what_it_masks() -> None:
    s = RNG.normal(size=(2, 5, 4))
    steps = [row for row in ne.compile(MASKED).plan(s=s).steps if row.what == "transpose"]
    assert not steps
    mask = np.arange(4) <= np.arange(5)[:, None]
    shown = np.where(mask, np.exp(s), 0)
    assert_allclose(ne.evaluate(MASKED, s=s), shown / shown.sum(-1, keepdims=True))


def test_a_mask_in_a_product_has_the_order_of_the_other_factor() -> None:
    text = "y[B] = sum[V](z[B V] * (index[V] == label[B]))"
    z, label = RNG.normal(size=(7, 3)), RNG.integers(0, 3, 7)
    assert_allclose(ne.evaluate(text, z=z, label=label), z[np.arange(7), label])
    assert not [row for row in ne.compile(text).plan(z=z, label=label).steps if row.what == "transpose"]


X, U, INDEX = RNG.normal(size=(6, 6)), RNG.normal(size=6), np.arange(6)
BELOW = np.tri(6, dtype=bool)
ORDERS = {
    "m[S T] = index[S] <= index[T]; y[T S] = where(m, x[T S], 0) + where(m, x[S T], 1)": (
        np.where(BELOW, X, 0) + np.where(BELOW, X.T, 1)
    ),
    "m[S T] = index[S] + index[T]; y[T S] = x[T S] * m; z[S T] = y[T S] + x[T S] ** m": (
        (X * (INDEX[:, None] + INDEX) + X ** (INDEX[:, None] + INDEX)).T
    ),
    "y[T S] = (index[S] + u[T]) * (index[T] - u[S]) * x[T S]": (
        (INDEX + U[:, None]) * (INDEX[:, None] - U) * X
    ),
    "y[T S] = sum[R](where(index[S] < index[R], x[T R], 0)) + 0 * x[T S]": (
        np.where(INDEX[:, None] < INDEX, X[:, None], 0).sum(-1)
    ),
}


@pytest.mark.parametrize("text", ORDERS)
def test_orders_change_no_value(text: str) -> None:
    operands = {"x": X, "u": U} if "u[" in text else {"x": X}
    assert_allclose(ne.evaluate(text, **operands), ORDERS[text])


def test_an_output_keeps_the_order_of_its_term() -> None:
    text = "m[S T] = index[S] <= index[T]; y[T S] = where(m, x[T S], 0)"
    mask, y = ne.evaluate(text, x=X, outputs=["m", "y"])
    assert_array_equal(mask, BELOW.T)
    assert_array_equal(y, np.where(BELOW, X, 0))


def test_the_largest_argument_determines_the_order() -> None:
    text = "y[A B C] = w[C B] * x[A B C]"
    w, x = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3, 4))
    assert_array_equal(ne.evaluate(text, w=w, x=x), w.T * x)
    (step,) = calls(text, w=w, x=x)
    assert step.startswith("np.multiply(")


def test_a_mask_that_a_loop_reads_has_the_order_of_what_it_masks() -> None:
    """All blocks of samples read it, which takes several times as long if it is transposed."""
    text = """s[B H T S] = sum[D](q[B T H D] * k[B S H D]) / 4
    p[B H T S] = softmax[S](where(index[S] <= index[T], s, -inf))
    loss = sum[B T H D](sum[S](p * v[B S H D]) ** 2)"""
    shape = (16, 100, 4, 32)
    plan = ne.value_and_grad(text, "q k v").plan(q=shape, k=shape, v=shape)
    assert "q, k, T S, v ->" in [row.names for row in plan.steps if row.what == "looped"]


def test_a_small_argument_across_a_large_one_is_copied() -> None:
    c, x = RNG.normal(size=(300, 200)), RNG.normal(size=(40, 200, 300))
    formula = ne.compile("y[I J K] = exp(x[I J K]) * sin(c[K J])")
    assert_allclose(formula(c=c, x=x), np.exp(x) * np.sin(c.T), rtol=1e-12)
    text = "u[K J] = cumsum[J](c[K J]); y[I J K] = x[I J K] * u"
    assert_allclose(ne.evaluate(text, c=c, x=x), x * c.cumsum(1).T, rtol=1e-9)
    assert [row for row in ne.compile(text).plan(c=c, x=x).steps if row.what == "copy"]


def test_relu_is_a_maximum_that_writes_over_a_dead_value() -> None:
    x = np.array([[-1.5, 2.0], [np.nan, -0.0]])
    text = "y[a b] = relu(x[a b] + 1)"
    assert "np.maximum(t0, 0, out=t0)" in ne.compile(text).plan(x=x).code
    np.testing.assert_array_equal(ne.evaluate(text, x=x), [[0.0, 3.0], [np.nan, 1.0]])
