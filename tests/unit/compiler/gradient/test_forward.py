"""Forward mode, chosen for values with more elements than what they are differentiated by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.gradient import derivative

GENERATOR = np.random.default_rng(61)
GIVEN: dict[str, np.ndarray] = {
    "a": np.array(0.4),
    "s": np.array([0.4, -1.3]),
    "x": GENERATOR.normal(size=5),
    "z": np.array([2.0, 0, 3, 0, 5]),
    "t": GENERATOR.normal(size=7),
    "u": GENERATOR.normal(size=(7, 5)),
    "w": GENERATOR.normal(size=(5, 3)),
    "q": GENERATOR.normal(size=(5, 5)),
    "i": np.array([1, 1, 3, 0, 2, 2, 6, 5, 5]),
    "l": GENERATOR.integers(0, 44, 200),
    "r": GENERATOR.normal(size=(200, 2)),
}
Z = "z[N K] = sum[C](u[N C] * w[C K])"
PLACED = "z[K=40 D] = {}[N](where(l[N] == index[K], r[N D] * s[D], {}))"
KEPT = "y[K D] = where(abs(z) < 1e4, z, 0) * (1 + index[K])"
RNN = "h[(1 + T)] = a[], tanh(a * h[_@T] + t[T])"
PENDULUM = "p[(1 + T)] = a[], p[_@T] + h[_@T] / 9; h[(1 + T)] = 1, h[_@T] - sin(p[_@(T+1)] * a) / 9 + t[T]"
LAYER = "h[(1 + T) H] = x[H], tanh(sum[G](q[G H] * h[_@T G]) + u[T H])"
TEXTS = [
    "y[N] = softmax[N](a * t[N]); grad(y, a[])",
    "y[N] = a * exp(-a * t[N]) + floor(a * t[N]); grad(y, a[])",
    *(
        f"{Z}; y = {name}[N](z ** 2 + 1); grad(y, w[D L])"
        for name in ("softmax", "log_softmax", "cumsum", "cumprod")
    ),
    *(f"{Z}; y = {name}[N](z); grad(y, w[D L])" for name in ("sort", "cummax", "cummin", "flip")),
    *(f"y[N K] = {name}[C](u[N C] * w[C K]); grad(y, w[D L])" for name in ("max", "min", "median", "mean")),
    *(
        f"y[N K] = {name}[C](u[N C] * w[C K]); grad(y, w[D L])"
        for name in ("var", "std", "norm", "logsumexp", "prod")
    ),
    f"{Z}; y = (z - mean[N](z)) / std[N](z); grad(y, w[D L])",
    "d[i j] = sqrt(sum[c]((u[i c] - u[j c]) ** 2) + 1); grad(d, u[k e])",
    "y[i] = q[i i] * 2; grad(y, q[k l])",
    "y[i j] = q[i i] * x[j]; grad(y, q[k k])",
    "y[T] = sum[d](t[_@(T + d)] * s[d]); grad(y, t[M])",
    "y[T] = t[_@(6 - T)] ** 2; grad(y, t[M])",
    "y[B] = t[_@i[B]] ** 2; grad(y, t[M])",
    "y[B] = t[(1 + B)] ** 2; grad(y, t[(1 + M)])",
    "h[(a + b)] = x[a], t[b] * 2; y[i] = h[i] ** 2; grad(y, t[M])",
    "h[N] = x[N] ** 2; y[N] = h ** 3 * index[N]; grad(y, h[M])",
    "h[N] = x[N] ** 2; y[N] = h ** 3 * index[N]; grad(y, h[(1 + T)])",
    "h[N] = x[N] ** 2; y[M K] = h[K] ** 3 * h[M]; grad(y, h)",
    "y[N M] = where(x[N] > 0, sqrt(x[N]) * t[M], x[N]); grad(y, x[c])",
    *(
        f"{PLACED.format(*pair)}; {KEPT}; grad(y, s[E])"
        for pair in (("max", "-inf"), ("min", "inf"), ("prod", "1"))
    ),
    *(f"{PLACED.format(name, 0)}; {KEPT}; grad(y, s[E])" for name in ("sum", "mean")),
    f"{RNN}; grad(h[i], a)",
    f"{RNN}; grad(h[i], t[M])",
    "f[(K + n)] = s[K], f[_@n] * a + f[_@(n + 1)] * t[n]; grad(f[i] ** 2, s[M])",
    "f[(K + n)] = s[K], f[_@n] * a + f[_@(n + 1)] * t[n]; grad(f[i] ** 2, a)",
    f"{PENDULUM}; grad(p[i] * h[i], a)",
    f"{PENDULUM}; grad(h[i], t[M])",
    "v[T] = tanh(h[_@T] * a) + t[T]; h[(1 + T)] = 0, h[_@T] / 2 + v[T] ** 2; grad(v[T], a)",
    f"{LAYER}; grad(h[i H], q[A B])",
    f"{LAYER}; grad(h[i H], x[A])",
    "h[(1 + T) i j] = q[i j], h[_@T i i] * h[_@T j i] / 2 + t[T]; grad(h[n i j], q[k l])",
    "y[N] = softmax[N](a * t[N]); g[N] = grad(y, a); grad(g * t[N], a)",
    "y[N] = cumprod[N](a * t[N]) + prod[N](a * t[N]); g[N] = grad(y, a); grad(g * t[N], a)",
    "y[N] = cumprod[N](x[N] * a) * prod[N](x[N]); g[N M] = grad(y, x[M]); grad(g, x[K])",
    f"{RNN}; g[i] = grad(h[i], a); grad(g[i] * 2, a)",
    f"{RNN}; g[i] = grad(h[i], a); grad(g[i] * 2, t[M])",
]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Callable[..., np.ndarray]:
    """Evaluates a text with one mode or the other wherever both are possible."""
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")

    def evaluate(text: str, *, is_forward: bool) -> np.ndarray:
        monkeypatch.setattr(derivative, "goes_forward", lambda *_: is_forward)
        ne.cache_clear()
        names = set(ne.compile(text).operands)
        with np.errstate(invalid="ignore"):
            return np.asarray(ne.evaluate(text, **{name: GIVEN[name] for name in GIVEN if name in names}))

    return evaluate


@pytest.mark.parametrize("text", TEXTS)
def test_both_modes_have_the_same_result(text: str, evaluated: Callable[..., np.ndarray]) -> None:
    found, wanted = (evaluated(text, is_forward=mode) for mode in (True, False))
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12 * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize("value", ["z[N] + 0 * a", "z[N] * a", "z[N] + a - 0.4"])
def test_running_products_with_zeros(value: str, evaluated: Callable[..., np.ndarray]) -> None:
    text = f"y[N] = cumprod[N]({value}); grad(y, a)"
    np.testing.assert_allclose(*(evaluated(text, is_forward=mode) for mode in (True, False)))


@pytest.mark.parametrize(
    ("text", "is_forward"),
    [
        ("y[N] = softmax[N](a * t[N]); grad(y, a)", True),
        ("y = max[N](a * t[N]); grad(y, a)", False),
        ("y[N] = softmax[N](t[N]); grad(y, t[M])", False),
        ("y[N K] = tanh(sum[C](u[N C] * w[C K])); grad(y, w[D L])", False),
        ("y[N K] = cumsum[N](sum[C](u[N C] * w[C K])); grad(y, w[D L])", True),
    ],
)
def test_the_mode_is_chosen_by_size(text: str, is_forward: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reverse mode is as fast where the elements of the value stay apart by themselves."""
    chosen: list[bool] = []

    def goes_forward(*arguments: Any) -> bool:
        chosen.append(derivative_goes_forward(*arguments))
        return chosen[-1]

    derivative_goes_forward = derivative.goes_forward
    monkeypatch.setattr(derivative, "goes_forward", goes_forward)
    ne.cache_clear()
    names = set(ne.compile(text).operands)
    ne.evaluate(text, **{name: GIVEN[name] for name in GIVEN if name in names})
    assert chosen == [is_forward]
