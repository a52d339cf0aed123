"""Derivatives that are 0 off a diagonal."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(13)
X = GENERATOR.normal(size=(40, 3))


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


EYE = np.eye(40)
TEXTS = {
    "y[i c] = x[i c] ** 2; j[i c k d] = grad(y, x[k d])": 2 * np.einsum("ic,ik,cd->ickd", X, EYE, np.eye(3)),
    "y[i] = sum[c](x[i c] ** 3); j[i k c] = grad(y, x[k c])": 3 * np.einsum("ic,ik->ikc", X**2, EYE),
    "y[i] = sum[c](x[i c] ** 3); j[k c i] = grad(y, x[k c]) + 1": 3 * np.einsum("ic,ik->kci", X**2, EYE) + 1,
    "y = sum[i c](sin(x[i c])); h[i c j d] = grad(grad(y, x[i c]), x[j d])": np.einsum(
        "ic,ij,cd->icjd", -np.sin(X), EYE, np.eye(3)
    ),
    "y = sum[i](sum[c](x[i c]) ** 2); h[i c j d] = grad(grad(y, x[i c]), x[j d])": 2
    * np.einsum("ij,cd->icjd", EYE, np.ones((3, 3))),
    """g[k d] = grad(sum[i c](x[i c]), x[k d])
    y[i k] = where(index[i] == index[k], sum[d](g[i d] * x[i d]), 0)""": np.diag(X.sum(1)),
}


@pytest.mark.parametrize("text", [text for text, wanted in TEXTS.items() if wanted is not None])
def test_values(text: str) -> None:
    np.testing.assert_allclose(ne.evaluate(text, x=X), TEXTS[text], rtol=1e-12, atol=1e-12)


def test_only_the_diagonal_is_computed() -> None:
    code = ne.compile("y[i] = sum[c](x[i c] ** 3); j[i k c] = grad(y, x[k c])").plan(x=X).code
    assert "embed" in code
    assert "where" not in code


def test_small_values_are_chosen_in_one_call() -> None:
    code = ne.compile("y[i] = x[i] ** 2; j[i k] = grad(y, x[k])").plan(x=X[:4, 0]).code
    assert "embed" not in code
