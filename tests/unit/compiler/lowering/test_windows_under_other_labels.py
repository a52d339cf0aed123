"""Windows that a later statement reads under other labels, in contractions that cast them."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize("dtype", ["float32", "int64", "float64"])
def test_products(dtype: str) -> None:
    x, k = np.arange(7).astype(dtype), np.random.default_rng(0).normal(size=(3, 5))
    found = ne.evaluate("s[T d=3] = x[_@(T + d)]; y[M] = sum[c](s[M c] * k[c M])", x=x, k=k)
    np.testing.assert_allclose(found, [(x[row : row + 3] * k[:, row]).sum() for row in range(5)])


def test_sums_and_maxima() -> None:
    x = np.random.default_rng(1).normal(size=5000)
    windows = np.lib.stride_tricks.sliding_window_view(x, 40)
    for reducer in ("sum", "max", "mean"):
        text = f"s[T d=40] = x[_@(T + d)]; y[M] = {reducer}[c](s[M c])"
        np.testing.assert_allclose(ne.evaluate(text, x=x), getattr(windows, reducer)(axis=1))
