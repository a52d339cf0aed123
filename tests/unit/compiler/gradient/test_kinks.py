"""What gradients are where there is none: at kinks, at poles, and in branches that are not taken."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

INF, NAN = np.inf, np.nan
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def gradient(value: str, *points: float) -> np.ndarray:
    found = ne.evaluate(f"y = {value}; g[N] = grad(y, x[N])", x=np.array(points, dtype=float))
    return np.asarray(found)


@pytest.mark.parametrize(
    ("value", "points", "wanted"),
    [
        ("sum[N](abs(x[N]))", [0], [0]),
        ("sum[N](relu(x[N]))", [0, 1], [0, 1]),
        ("sum[N](x[N] ** x[N])", [0], [0]),
        ("sum[N](maximum(x[N], 0))", [0, 1, -1], [0.5, 1, 0]),
        ("sum[N](minimum(x[N], 0))", [0, 1, -1], [0.5, 0, 1]),
        ("max[N](x[N])", [2, 1, 2], [0.5, 0, 0.5]),
        ("min[N](x[N])", [1, 1, 2], [0.5, 0.5, 0]),
        ("sum[N](clip(x[N], 0, 1))", [0, 1, 2], [1, 1, 0]),
        ("norm[N](x[N])", [0, 0], [0, 0]),
        ("std[N](x[N])", [2, 2], [0, 0]),
        ("sum[N](atan2(x[N], 0 * x[N]))", [0], [0]),
        ("sum[N](copysign(x[N], -1))", [0, 2], [0, -1]),
        ("sum[N](hypot(x[N], 0))", [0, 2], [0, 1]),
        ("median[N](x[N])", [4, 1, 3, 2], [0, 0, 0.5, 0.5]),
        ("median[N](x[N])", [4, 1, 3], [0, 0, 1]),
        ("prod[N](x[N])", [2, 0, 3], [0, 6, 0]),
        ("prod[N](x[N])", [2, 0, 0], [0, 0, 0]),
        ("sum[N](cumprod[N](x[N]))", [2, 0, 3, 0, 5], [1, 8, 0, 0, 0]),
        ("median[N](x[N])", [2, NAN, 3], [NAN, NAN, NAN]),
        ("sum[N](sqrt(x[N]))", [0], [INF]),
        ("sum[N](1 / x[N])", [0], [-INF]),
        ("sum[N](log(x[N]))", [0], [INF]),
        ("sum[N](acos(x[N]))", [1], [-INF]),
        ("sum[N](x[N] ** 0.5)", [0, 4], [INF, 0.25]),
        ("sum[N](x[N] ** 0)", [0, 4], [0, 0]),
        ("sum[N](x[N] ** 1)", [0, 4], [1, 1]),
        ("sum[N](x[N] ** 3.0)", [0, 2], [0, 12]),
        ("max[N](x[N])", [NAN, 1], [NAN, NAN]),
    ],
)
def test_at_kinks_and_poles(value: str, points: list[float], wanted: list[float]) -> None:
    np.testing.assert_allclose(gradient(value, *points), wanted)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("where(x[N] > 0, sqrt(x) * log(x), x)", [1, 1, 1, np.log(4) / 4 + 0.5]),
        ("where(x[N] > 0, log(x), 0)", [0, 0, 1, 0.25]),
        ("where(x[N] <= 0, 0, log(x))", [0, 0, 1, 0.25]),
        ("where(x[N] > 0, 1 / x, x ** 2)", [-2, 0, -1, -0.0625]),
        ("where(x[N] > 0, where(x > 1, sqrt(x - 1), log(x)), 0)", [0, 0, 1, 0.5 / np.sqrt(3)]),
        ("where(x[N] > 0, sqrt(x), sqrt(1 - x))", [-0.5 / np.sqrt(2), -0.5, 0.5, 0.25]),
        ("where(x[N] > 0, x ** 0.5 + 1 / x, 0)", [0, 0, -0.5, 0.25 - 0.0625]),
        ("where(x[N] > 0, 2, 3) * x", [3, 3, 2, 2]),
        ("where(x[N] > 0, x, x)", [1, 1, 1, 1]),
        ("where(x[N], x, 2 * x)", [1, 2, 1, 1]),
        ("exp(where(x[N] > 0, log(x), 0)) * x", [1, 1, 2, 8]),
    ],
)
def test_a_branch_that_is_not_taken_does_not_matter(value: str, wanted: list[float]) -> None:
    np.testing.assert_allclose(gradient(f"sum[N]({value})", -1, 0, 1, 4), wanted)


def test_a_branch_with_fewer_dims_is_summed_where_it_is_taken() -> None:
    x, w = np.array([-1.0, 0.0, 2.0]), np.array(0.0)
    found = ne.evaluate("y = sum[N](where(x[N] != 0, w / x, 0)); grad(y, w)", x=x, w=w)
    assert found == pytest.approx(-0.5)


@pytest.mark.parametrize("condition", ["x[N] > 0", "(x[N] > 0) & (t[K] > 0)"])
def test_a_branch_with_more_dims_does_not_matter_where_it_is_not_taken(condition: str) -> None:
    """What the branch has in fewer dims is nan there, and its derivative infinite."""
    text = f"y = sum[N K](where({condition}, sqrt(x[N]) * t[K], x[N] * t[K])); grad(y, x[N])"
    x, t = np.array([-1.0, 0.0, 4.0]), np.array([1.0, 2.0])
    np.testing.assert_allclose(ne.evaluate(text, x=x, t=t), [3, 3, 0.75])


def test_reductions_of_no_elements() -> None:
    x, w = np.zeros((2, 0)), np.array(1.0)
    for reducer in ("sum", "median", "prod", "norm", "logsumexp"):
        found = ne.evaluate(f"y = sum[N]({reducer}[C](x[N C] * w)); grad(y, w)", x=x, w=w)
        assert found == 0


def test_the_direction_of_steepest_ascent() -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    np.testing.assert_allclose(ne.evaluate("y = sum[N](abs(z[N]) ** 2); grad(y, z)", z=z), 2 * z)
    np.testing.assert_allclose(ne.evaluate("y = sum[N](real(z[N] * z[N])); grad(y, z)", z=z), np.conj(2 * z))
