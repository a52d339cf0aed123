"""Products of derivatives with as few operations as possible, and their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(11)
X, W, V = (GENERATOR.normal(size=shape) for shape in ((40, 30), (30, 20), (20, 3)))
T, D = GENERATOR.normal(size=(40, 3)), GENERATOR.normal(size=(30, 20))
NET = "y[N K] = sum[H](tanh(sum[C](x[N C] * w[C H])) * v[H K]); loss = mean[N K]((y - t[N K]) ** 2)"


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def test_numbers_are_applied_to_small_factors() -> None:
    formula = ne.compile(f"{NET}; g[C H] = grad(loss, w)")
    operands = {"x": X, "w": W, "v": V, "t": T}
    numbers = [
        line
        for line in formula.plan(**operands).code.splitlines()
        if "multiply(" in line and "0.01666" in line
    ]
    assert len(numbers) == 1
    assert "# N K" in numbers[0] or "# H K" in numbers[0]
    h = np.tanh(X @ W)
    wanted = X.T @ ((2 / 120 * (h @ V - T) @ V.T) * (1 - h * h))
    np.testing.assert_allclose(formula(**operands), wanted, rtol=1e-12)


def test_a_product_of_both_directions_keeps_the_order_of_labels() -> None:
    """Transposed arrays take several times as long to multiply."""
    formula = ne.compile(f"{NET}; hv[C H] = grad(sum[C H](grad(loss, w[C H]) * d[C H]), w[C H])")
    operands = {"x": X, "w": W, "v": V, "t": T, "d": D}
    code = formula.plan(**operands).code
    assert "# H N" not in code
    step = 1e-6
    gradient = ne.compile(f"{NET}; g[C H] = grad(loss, w)")
    several = [gradient(x=X, w=W + sign * step * D, v=V, t=T) for sign in (1, -1)]
    np.testing.assert_allclose(
        formula(**operands), (several[0] - several[1]) / (2 * step), rtol=1e-5, atol=1e-9
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("g[i] = grad(sum[i](x[i] * x[i] * a * -3 * a / 2), x)", lambda x, a, b: -3 * a * a * x),
        ("g[i j] = grad(-(x[i] ** 3), x[j])", None),
        ("g[i] = -grad(sum[i j](x[i] * (-b[j]) * 2 * x[i]), x)", lambda x, a, b: 4 * b.sum() * x),
        ("p[i j] = x[i] * b[j] * 2; g[i] = grad(sum[i j](p * p), x)", lambda x, a, b: 8 * x * (b**2).sum()),
        ("p[i] = x[i] * a * 2; g[i] = p - grad(sum[i](p * x[i]), x)", lambda x, a, b: -2 * a * x),
        ("g[i] = grad(sum[i](x[i] * 1e300 * a * 1e-300), x) * 1e-200 * 1e-200", lambda x, a, b: 0 * x),
        ("g[i] = grad(sum[i](x[i] * x[i] * 0), x) - grad(sum[i](-x[i] * a), x)", lambda x, a, b: a + 0 * x),
    ],
)  # fmt: skip
def test_products_have_the_right_values(text: str, wanted: Any) -> None:
    x, b, a = GENERATOR.normal(size=5), GENERATOR.normal(size=4), np.array(0.7)
    operands = {
        name: value
        for name, value in (("x", x), ("b", b), ("a", a))
        if f"{name}" in ne.compile(text).operands
    }
    found = ne.evaluate(text, **operands)
    np.testing.assert_allclose(found, np.diag(-3 * x**2) if wanted is None else wanted(x, a, b), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128"])
def test_dtypes_stay(dtype: str) -> None:
    x = GENERATOR.normal(size=(3, 4)).astype(dtype)
    text = "y = real(sum[i j](x[i j] * x[i j] * 3 * (-x[i j]) / 2)); g[i j] = grad(y, x)"
    found = ne.evaluate(text, x=x)
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found, np.conj(-4.5 * x.astype("complex128") ** 2), rtol=1e-2 if dtype == "float16" else 1e-5
    )
