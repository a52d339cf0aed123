"""Gradients of what is combined by label: maxima, minima and products of the rows of each label."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from unit.compiler.gradient.test_functions import check

GENERATOR = np.random.default_rng(41)
LABELS, WEIGHTS = GENERATOR.integers(0, 44, 200), GENERATOR.normal(size=40)
ROWS = GENERATOR.permutation(400).reshape(200, 2) * 0.01 - 1.7


def by_label(reducer: str, empty: str, value: str = "r[N D]") -> str:
    """Return a formula whose labels are some of 40 and whose weights count where a label has rows."""
    return (
        f"z[K=40 D] = {reducer}[N](where(l[N] == index[K], {value}, {empty}));"
        "y = sum[K D](where(abs(z) < 1e4, z, 0) * u[K] ** 2)"
    )


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(("reducer", "empty"), [("max", "-inf"), ("min", "inf"), ("prod", "1"), ("sum", "0")])
def test_gradients_are_slopes(reducer: str, empty: str) -> None:
    """Rows whose labels are not among the 40 have none; a value that all rows share has the sum of theirs."""
    given = {"l": LABELS, "u": WEIGHTS}
    check(by_label(reducer, empty), given | {"r": ROWS + 0.0013}, "r[N D]", 1e-6)
    check(by_label(reducer, empty, "s[D]"), given | {"s": np.array([0.4, -1.3])}, "s[D]", 1e-6)


def test_ties_share() -> None:
    rows = np.round(ROWS)
    wanted = np.zeros_like(rows)
    for label in range(40):
        for dim in range(2):
            (own,) = np.nonzero(label == LABELS)
            if len(own):
                best = own[rows[own, dim] == rows[own, dim].max()]
                wanted[best, dim] = WEIGHTS[label] ** 2 / len(best)
    text = f"{by_label('max', '-inf')}; grad(y, r[N D])"
    np.testing.assert_allclose(ne.evaluate(text, l=LABELS, r=rows, u=WEIGHTS), wanted)


def products(rows: np.ndarray, again: np.ndarray | None = None) -> np.ndarray:
    """Return the gradient of the weighted products; times a vector its derivative."""
    found = np.zeros_like(rows)
    for one, dim in np.ndindex(rows.shape):
        others = [row for row in np.flatnonzero(LABELS[one] == LABELS) if row != one]
        if LABELS[one] < 40:
            rest = np.prod(rows[others, dim])
            if again is not None:
                pairs = [(row, [third for third in others if third != row]) for row in others]
                rest = sum(again[row, dim] * np.prod(rows[left, dim]) for row, left in pairs)
            found[one, dim] = WEIGHTS[LABELS[one]] ** 2 * rest
    return found


@pytest.mark.parametrize("zeros", [0, 1, 40])
def test_products_with_zeros(zeros: int) -> None:
    rows, vector = ROWS + 0.0013, GENERATOR.normal(size=ROWS.shape)
    rows[:zeros, 0] = 0
    given = {"l": LABELS, "r": rows, "u": WEIGHTS}
    text = f"{by_label('prod', '1')}; g[N D] = grad(y, r[N D])"
    np.testing.assert_allclose(ne.evaluate(text, **given), products(rows), atol=1e-13)
    found = ne.evaluate(f"{text}; grad(sum[N D](g * v[N D]), r[N D])", **given, v=vector)
    np.testing.assert_allclose(found, products(rows, vector), atol=1e-13)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dtypes(dtype: str) -> None:
    for reducer, empty in (("max", "-inf"), ("prod", "1")):
        given = {"l": LABELS, "r": ROWS.astype(dtype), "u": WEIGHTS.astype(dtype)}
        assert ne.evaluate(f"{by_label(reducer, empty)}; grad(y, r[N D])", **given).dtype == dtype
