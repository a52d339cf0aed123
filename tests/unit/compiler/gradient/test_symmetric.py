"""Symmetric sums of products: half of them is computed, from one array."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(12)
X, W, T = GENERATOR.normal(size=(600, 50)), GENERATOR.normal(size=50) / 7, GENERATOR.normal(size=600)


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def is_half(text: str, **operands: np.ndarray) -> bool:
    """Return whether the last product of matrices is of an array and its transpose."""
    code = ne.compile(text).plan(**operands).code
    return "sqrt" in code


SIGMOID = 1 / (1 + np.exp(-X @ W))
LOSSES = {
    "softplus(z)": SIGMOID * (1 - SIGMOID),
    "z ** 2": 2 + 0 * T,
    "-(z ** 2)": -2 + 0 * T,
    "exp(z)": np.exp(X @ W),
    "z ** 4": 12 * (X @ W) ** 2,
    "z ** 3": 6 * X @ W,
    "t[N] * z ** 2": 2 * T,
    "log(cosh(z))": 1 - np.tanh(X @ W) ** 2,
}


@pytest.mark.parametrize(("loss", "curvature"), LOSSES.items())
def test_hessians_of_linear_models(loss: str, curvature: np.ndarray) -> None:
    text = f"z[N] = sum[C](x[N C] * w[C]); loss = sum[N]({loss}); h[A B] = grad(grad(loss, w[A]), w[B])"
    operands = {"x": X, "w": W, **({"t": T} if "t[" in loss else {})}
    found = ne.evaluate(text, **operands)
    np.testing.assert_allclose(found, X.T @ (curvature[:, None] * X), rtol=1e-11, atol=1e-11)
    assert is_half(text, **operands) == (loss in {"softplus(z)", "exp(z)"}), loss


def test_a_symmetric_result_is_exactly_symmetric() -> None:
    text = "loss = sum[N](softplus(sum[C](x[N C] * w[C]))); h[A B] = grad(grad(loss, w[A]), w[B])"
    found = ne.evaluate(text, x=X, w=W)
    np.testing.assert_array_equal(found, found.T)


def test_several_dims_on_each_side() -> None:
    x, w, v = GENERATOR.normal(size=(200, 8)), GENERATOR.normal(size=(8, 6)), GENERATOR.normal(size=6)
    text = """y[N] = sum[H](tanh(sum[C](x[N C] * w[C H])) * v[H])
    loss = sum[N](y ** 2)
    h[C H D G] = grad(grad(loss, w[C H]), w[D G])"""
    found = ne.evaluate(text, x=x, w=w, v=v)
    torch = pytest.importorskip("torch")
    x, w, v = map(torch.tensor, (x, w, v))
    hessian = torch.autograd.functional.hessian
    wanted = hessian(lambda w: ((x @ w).tanh() @ v).square().sum(), w)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-10, atol=1e-10)


def test_nan_and_infinity_stay() -> None:
    x = X.copy()
    x[3, 4] = np.nan
    x[5, 6] = np.inf
    text = "loss = sum[N](exp(sum[C](x[N C] * w[C]))); h[A B] = grad(grad(loss, w[A]), w[B])"
    with np.errstate(all="ignore"):
        found = ne.evaluate(text, x=x, w=W)
        wanted = x.T @ (np.exp(x @ W)[:, None] * x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))


def test_zero_curvature() -> None:
    """Where exp underflows, the square root of 0 is taken, and nothing is nan."""
    text = "loss = sum[N](exp(sum[C](x[N C] * w[C]) - 800)); h[A B] = grad(grad(loss, w[A]), w[B])"
    found = ne.evaluate(text, x=X, w=W)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 1e-300
