"""Gradients wherever formulas run: on Dask, with memory limits, in shared code."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

X, W = np.random.default_rng(0).normal(size=(8, 3)), np.array([1.0, -2.0, 0.5])
TEXT = "loss = sum[N](tanh(sum[C](x[N C] * w[C])) ** 2); g[C] = grad(loss, w)"
TANH = np.tanh(X @ W)
WANTED = (2 * TANH * (1 - TANH**2)) @ X


def test_on_dask() -> None:
    chunked = pytest.importorskip("dask.array")
    found = ne.evaluate(TEXT, x=chunked.from_array(X, chunks=(4, 3)), w=chunked.from_array(W))
    np.testing.assert_allclose(found.compute(), WANTED)


def test_with_a_memory_limit() -> None:
    np.testing.assert_allclose(ne.evaluate(TEXT, x=X, w=W, memory_limit=10**6), WANTED)


def test_bound_operands() -> None:
    np.testing.assert_allclose(ne.compile(TEXT).bind(x=X)(w=W), WANTED)


def test_texts_of_the_same_structure_share_code_but_not_names() -> None:
    other = TEXT.replace("loss", "value").replace("x[", "data[").replace("w[", "v[").replace(" w)", " v)")
    np.testing.assert_allclose(ne.evaluate(other, data=X, v=W), WANTED)


def test_a_gradient_costs_nothing_that_is_not_asked_for() -> None:
    text = "a = sum[N C](x[N C] * w[C]) ** 2; g = grad(a, w); h = grad(a, x); y = a"
    alone = ne.compile("y = sum[N C](x[N C] * w[C]) ** 2").plan(x=(8, 3), w=(3,))
    assert len(ne.compile(text).plan(x=(8, 3), w=(3,)).steps) == len(alone.steps)


def test_stop_costs_nothing() -> None:
    code = []
    for text in ("y = sum[N](exp(x[N C]) * 2)", "y = sum[N](stop(exp(stop(x[N C]))) * 2)"):
        formula = ne.compile(text)
        formula(x=X)
        code.append(formula.code.partition("a0:")[2])
    assert code[0] == code[1]
