"""Sizes of labels that several statements share do not depend on the order of the statements."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

X = np.arange(10.0) ** 2
W = np.array([2.0, -1.0, 0.5])


def _two_shifts() -> list[float]:
    return [X[t + 1] + X[t + 2] for t in range(8)]


def _stride_and_shift() -> list[float]:
    return [X[2 * t] * X[t + 4] for t in range(5)]


def _padded_window() -> list[float]:
    padded = [0.0, *X, 0.0]
    return [sum(padded[t + d] * W[d] for d in range(3)) + X[t + 4] for t in range(6)]


def _outer() -> list[list[float]]:
    return [[X[t + 1] + X[t + s] for s in range(4)] for t in range(7)]


TEXTS: list[tuple[list[str], str, dict[str, Any], Any]] = [
    (["z[t] = x[_@(t+1)]", "y[N] = x[N]"], "z[t] + y[_@(t+2)]", {}, _two_shifts()),
    (["a[t] = x[_@(2*t)]", "b[t] = x[_@(t+4)]"], "a * b", {}, _stride_and_shift()),
    (
        ["p[(1 + N + 1)] = x[N]", "b[t] = x[_@(t+4)]"],
        "sum[d](p[_@(t+d)] * w[d]) + b[t]",
        {},
        _padded_window(),
    ),
    (["y[N] = x[N]", "z[t] = x[_@(t+1)]"], "z[t] + y[_@(t+s)]", {"sizes": {"s": 4}}, _outer()),
]


@pytest.mark.parametrize(("statements", "last", "sizes", "expected"), TEXTS, ids=[row[1] for row in TEXTS])
def test_sizes_do_not_depend_on_the_order_of_statements(
    statements: list[str], last: str, sizes: Any, expected: Any
) -> None:
    for order in permutations(statements):
        text = "; ".join([*order, last])
        found = ne.evaluate(text, x=X, **({"w": W} if "w[" in text else {}), **sizes)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "text",
    [
        "y[N] = x[N]; z[a b] = y[_@a] + x[_@(a + b)]; m[b] = y[_@b]; sum[b](z[a b] + m[b])",
        "y[N] = x[N]; m[b] = y[_@b]; z[a b] = y[_@a] + x[_@(a + b)]; sum[b](z[a b] + m[b])",
    ],
)
def test_labels_that_together_leave_a_dim_are_refused_in_any_order(text: str) -> None:
    with pytest.raises(ne.SizeError, match=r"NE317.*\n.*x\[_@\(a \+ b\)\]") as caught:
        ne.evaluate(text, x=X)
    assert "^^^^^^^^^" in str(caught.value)


def test_a_window_without_cells_in_a_later_statement_is_marked() -> None:
    with pytest.raises(ne.SizeError, match="the window t\\+9 does not fit: the dim of y is 6") as caught:
        ne.evaluate("y[s] = x[_@(s+4)]; z[t] = x[_@(t+1)]; z[t] + y[_@(t+9)]", x=X)
    assert "^^^^^^^" in str(caught.value)


def test_factors_of_operands_wait_for_dims_under_dots_of_statements() -> None:
    v = np.arange(6.0)
    text = "y[... a] = x[... a]; z[n k] = y[2@0 n]; sum[n k](z[n k] * v[(n k)])"
    expected = [X[n] * v[2 * n + k] for n in range(3) for k in range(2)]
    found = ne.evaluate(text, x=np.stack([X[:3], X[3:6]]), v=v)
    np.testing.assert_array_equal(found, sum(expected))


def test_ways_to_combine_dims_wait_for_sizes_of_statements() -> None:
    text = "y[s] = x[s]; sum[k](y[c] * v[(c k)])"
    v = np.arange(20.0)
    expected = [X[c] * (v[2 * c] + v[2 * c + 1]) for c in range(10)]
    np.testing.assert_array_equal(ne.evaluate(text, x=X, v=v), expected)
