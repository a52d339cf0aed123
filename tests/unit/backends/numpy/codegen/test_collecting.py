"""The results of loops over blocks, written into their places."""

from __future__ import annotations

import re

import numpy as np

import nameexpr as ne

TEXT = "loss = sum[N C](exp(-(x[N C] - mean[C](x[N C])) ** 2) * tanh(x[N C])); g[N C] = grad(loss, x)"


def gradient(x: np.ndarray) -> np.ndarray:
    c = x - x.mean(1, keepdims=True)
    e, t = np.exp(-(c**2)), np.tanh(x)
    d = -2 * c * e * t
    return d - d.mean(1, keepdims=True) + e * (1 - t * t)


def test_functions_write_into_the_places_of_results() -> None:
    x = np.random.default_rng(1).normal(size=(1500, 256))
    formula = ne.compile(TEXT)
    np.testing.assert_allclose(formula(x=x), gradient(x), rtol=1e-9, atol=1e-12)
    code = formula.plan(x=x).code
    assert "for j0 in range" in code
    assert re.search(r"out=t\d+(\[\d+\])?\[j0:j0 \+ \d+\]\)", code)


def test_a_result_that_another_one_needs_is_copied() -> None:
    x = np.random.default_rng(2).normal(size=(1500, 256))
    text = f"{TEXT}; h[N C] = g * 2; s[C] = sum[N](g)"
    found = ne.evaluate(text, outputs=("g", "h", "s"), x=x)
    wanted = gradient(x)
    for one, other in zip(found, (wanted, 2 * wanted, wanted.sum(0)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
