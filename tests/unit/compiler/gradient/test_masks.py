"""Masks of `where`: what they leave out has the gradient 0, whatever its value is, and no warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nameexpr as ne

A, X = np.array([0.0, 1.0, -1.0, 4.0]), np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, np.inf], [0.5, 0.25]])
TAKEN = np.array([True, False, False, True])
VALUES = [
    "sum[C](x[N C] ** 2)",
    "sum[C](x[N C] * w[C])",
    "sum[C](tanh(sum[D](x[N D] * v[D C])) * w[C])",
    "mean[C](log(x[N C]) * w[C])",
    "prod[C](x[N C] * w[C])",
    "max[C](x[N C] * w[C])",
    "norm[C](x[N C] - w[C])",
    "std[C](x[N C] * w[C])",
    "logsumexp[C](x[N C] * w[C])",
    "sum[C](softmax[C](x[N C] * w[C]) * index[C])",
    "sum[C](cumsum[C](x[N C] * w[C]) ** 2)",
    "sum[C](sort[C](x[N C] * w[C]) * index[C])",
    "sum[C D](x[N C] * v[C D] * x[N D])",
]
OPERANDS = {"x": "x[N C]", "w": "w[C]", "v": "v[C D]"}


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", VALUES)
def test_masks_go_through_reductions(value: str) -> None:
    given = {"x": X, "w": np.array([0.5, 0.75]), "v": np.array([[1.0, 0.5], [-0.25, 2.0]])}
    used = [name for name in OPERANDS if f"{name}[" in value]
    text = f"y = sum[N](where(isnan(f[N]), 0, {value})); "
    for name in used:
        own = {one: given[one] for one in used}
        found = ne.evaluate(f"{text} grad(y, {OPERANDS[name]})", f=np.where(TAKEN, 1.0, np.nan), **own)
        some = {**own, "x": X[TAKEN]}
        wanted = ne.evaluate(f"y = sum[N]({value}); grad(y, {OPERANDS[name]})", **some)
        assert np.isfinite(wanted).all()
        if name == "x":
            assert_allclose(found[TAKEN], wanted, rtol=1e-12)
            assert not found[~TAKEN].any(), name
        else:
            assert_allclose(found, wanted, rtol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_value_in_two_branches_is_masked_where_neither_is_taken() -> None:
    text = "s[N] = sqrt(a[N]); y = sum[N](where(a[N] > 0, s, 0) + where(a[N] > 1, s, 0)); grad(y, a[N])"
    assert_allclose(ne.evaluate(text, a=A), [0, 0.5, 0, 0.5])
    text = "s[N] = sqrt(a[N]); y = sum[N](where(a[N] > 0, s, 0)) + s[N@3]; grad(y, a[N])"
    assert_allclose(ne.evaluate(text, a=A)[[1, 3]], [0.5, 0.5])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_condition_for_all_elements() -> None:
    text = "y = where(sum[N](a[N]) > 100, sum[N](sqrt(a[N])), sum[N](a[N])); grad(y, a[N])"
    assert_allclose(ne.evaluate(text, a=A), [1, 1, 1, 1])


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("where(a[N] > 0, sqrt(a), 0)", [0, 0.5, 0.25]),
        ("where(a[N] > 0, a ** 0.5, 0)", [0, 0.5, 0.25]),
        ("where(a[N] > 0, a ** a, 0)", [0, 1, 256 * (1 + np.log(4))]),
        ("where(a[N] == 1, acos(a / 2), 0)", [0, -1 / np.sqrt(3), 0]),
        ("where(a[N] > 1, acosh(a + 1 - 1), 0)", [0, 0, 1 / np.sqrt(15)]),
        ("where(a[N] < 4, atanh(a / 2 - a / 4), 0)", [0.25, 0.25 / (1 - 1 / 16), 0]),
        ("where(a[N] > 0, sqrt(sqrt(a)), 0)", [0, 0.25, 1 / 8 / np.sqrt(2)]),
    ],
)
def test_what_is_left_out_is_computed_without_warnings(value: str, wanted: list[float]) -> None:
    a = np.array([0.0, 1.0, 4.0])
    with warnings.catch_warnings(), np.errstate(invalid="ignore" if "acos(" in value else "warn"):
        warnings.simplefilter("error")
        assert_allclose(ne.evaluate(f"y = sum[N]({value}); grad(y, a[N])", a=a), wanted)
