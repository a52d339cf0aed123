"""Gradients of dims in parts and at positions, of sums by label, and of what is sorted."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from unit.compiler.gradient.test_functions import check

GENERATOR = np.random.default_rng(21)
X, W, S = GENERATOR.normal(size=7), GENERATOR.normal(size=3), np.array(2.0)
IMAGE, KERNEL = GENERATOR.normal(size=(6, 5)), GENERATOR.normal(size=(2, 3))
IDS, TABLE = np.array([[0, 2, 2], [5, 1, 0]]), GENERATOR.normal(size=(6, 4))
LABELS, ROWS = GENERATOR.integers(0, 40, 200), GENERATOR.normal(size=(200, 2))
GIVEN = {
    "x": X,
    "w": W,
    "s": S,
    "p": IMAGE,
    "k": KERNEL,
    "i": IDS,
    "t": TABLE,
    "l": LABELS,
    "r": ROWS,
    "u": GENERATOR.normal(size=(3, 2, 4)),
    "q": GENERATOR.integers(0, 4, (6, 3)),
    "m": GENERATOR.normal(size=(5, 5)),
}


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("y = sum[T](x[(1 + T)] ** 2)", "x[N]"),
        ("y = sum[T](x[(T=3 + _)] ** 2)", "x[N]"),
        ("y = sum[a](x[(a=3 + _)] ** 2) + sum[b](x[(_ + b=5)] ** 3 * index[b])", "x[N]"),
        ("y = x[_@2] ** 2", "x[N]"),
        ("y = sum[T](sum[d](x[_@(T + d)] * w[d]) ** 2)", "x[N], w[d]"),
        ("y = sum[T](sum[d](x[_@(2 * T + d)] * w[d]) ** 2)", "x[N], w[d]"),
        ("y = sum[T](x[_@(6 - T)] * x[_@(T)] ** 2 * (index[T] < 5))", "x[N]"),
        ("y = sum[c](m[c _@(size[c] - 1 - c)] ** 2 * index[c])", "m[N M]"),
        ("y = sum[T](x[_@(2 - 2 * T)] ** 2) + sum[a](w[_@(-3 * a)])", "x[N], w[d]"),
        ("y = sum[c d](sum[a b](p[_@(c + a) _@(d + b)] * k[a b]) ** 2)", "p[N M], k"),
        ("y = sum[c](sum[a](p[_@(c + a) _@(c)] * w[a]) ** 2)", "p[N M], w"),
        ("y = sum[B T D](t[_@i[B T] D] ** 2 * (1 + index[T]))", "t[v d]"),
        ("z[D] = sum[B T](t[_@i[B T] D]); y = sum[D](z ** 3)", "t[v d]"),
        ("y = sum[B T](t[_@i[B T] _@(T)] ** 2)", "t[v d]"),
        ("z[B] = sum[T](t[B _@q[B T]] ** 2); y = sum[B](z ** 2)", "t[v d]"),
        ("h[(a + b)] = x[a], 2 * w[b]; y = sum[i](h[i] ** 2 * index[i])", "x, w"),
        ("h[(1 + a)] = 0, x[a]; y = sum[i](h[i] ** 2 * index[i])", "x"),
        ("h[(a + b=2)] = x[a], s[]; y = sum[i](h[i] ** 2 * index[i])", "s, x"),
        ("h[(a + b) D=2] = x[a], w[b] * index[D]; y = sum[i D](h[i D] ** 2 * index[i])", "x, w"),
        ("h[(c d e + b)] = u[c d e], w[b]; y = sum[i](h[i] ** 2 * sqrt(index[i]))", "u, w"),
        ("h[(c d + b)] = p[c d], w[b]; y = sum[i](h[i] ** 2 * sqrt(index[i]))", "p, w"),
        ("j[N] = argsort[N](x[N]); z[N] = x[_@j[N]]; y = sum[N](z * index[N])", "x[N]"),
        ("z[K=40 D] = sum[N](where(l[N] == index[K], r[N D], 0)); y = sum[K D](z ** 2)", "r"),
        ("z[K=40 D] = mean[N](where(l[N] == index[K], r[N D], 0)); y = sum[K D](z ** 2)", "r"),
        ("z[N D] = sum[K](where(l[N] == index[K], r[K D], 0)); y = sum[N D](z ** 2)", "r"),
        ("z[K=9 D] = sum[N](where(l[N] == index[K], r[N D], 0)); y = sum[K D](z ** 2)", "r"),
    ],
)
def test_gradients_are_slopes(text: str, uses: str) -> None:
    given = {name: array for name, array in GIVEN.items() if f"{name}[" in text.replace("max[", "")}
    names = set(ne.compile(text).operands)
    given = {name: array for name, array in given.items() if name in names}
    if "r[K D]" in text:
        given["r"] = ROWS[:40]
    for use in uses.split(", "):
        check(text, given, use, 1e-6)


def test_a_gradient_seen_at_positions_is_read_there() -> None:
    found = ne.evaluate("y = sum[T](x[(1 + T)] ** 2); g[T] = grad(y, x[(1 + T)])", x=X)
    np.testing.assert_allclose(found, 2 * X[1:])


@pytest.mark.parametrize(("use", "places"), [("h[(1 + T)]", [1, 2, 3]), ("h[_@i[K]]", [2, 0, 2])])
def test_derivatives_by_a_part_of_a_statement(use: str, places: list[int]) -> None:
    text, x, wanted = "h[N] = x[N] ** 2; y[N] = h ** 3 * index[N]; ", X[:4], 3 * X[:4] ** 4 * np.arange(4)
    given = {"x": x, "i": np.array([2, 0, 2])} if "i[" in use else {"x": x}
    found = ne.evaluate(f"{text} grad(sum[N](y), {use})", **given)
    np.testing.assert_allclose(found, wanted[places])
    np.testing.assert_allclose(ne.evaluate(f"{text} grad(y, {use})", **given), np.diag(wanted)[:, places])


def test_a_dim_read_backwards_is_read_backwards() -> None:
    step = ne.grad("y = sum[T](x[_@(6 - T)] ** 2 * w[T])", "x")
    np.testing.assert_allclose(step(x=X, w=np.arange(7.0))["x"], 2 * X * np.arange(7)[::-1])
    assert "bincount" not in step.code and "::-1" in step.code


def test_jacobians_of_windows_and_of_sorting() -> None:
    found = ne.evaluate("z[T] = sum[d](x[_@(T + d)] * w[d]); j[T N] = grad(z, x[N])", x=X, w=W)
    np.testing.assert_allclose(found, sum(np.eye(5, 7, d) * W[d] for d in range(3)))
    found = ne.evaluate("z[N] = sort[N](x[N]); j[N M] = grad(z, x[M])", x=X)
    np.testing.assert_array_equal(found, np.eye(7)[np.argsort(X)])


def test_second_derivatives_of_windows() -> None:
    text = "g[N] = grad(sum[T](x[_@(T + 1)] ** 3 * x[_@(T + 0)]), x[N]); y = sum[N](g ** 2)"
    check(text, {"x": X}, "x[N]", 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype: str) -> None:
    text = "y = sum[B T D](real(t[_@i[B T] D])); g[v d] = grad(y, t[v d])"
    found = ne.evaluate(text, t=TABLE.astype(dtype), i=IDS)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[:, 0], [2, 1, 2, 0, 0, 1])


def test_ties_and_nan_of_running_maxima() -> None:
    found = ne.evaluate(
        "y = sum[N](cummax[N](x[N]) * (1 + index[N])); grad(y, x)", x=np.array([1.0, 1, 3, 2])
    )
    np.testing.assert_array_equal(found, [1, 2, 7, 0])
    found = ne.evaluate("y = sum[N](cummax[N](x[N])); grad(y, x)", x=np.array([1.0, np.nan, 3]))
    np.testing.assert_array_equal(found, [1, 2, 0])
