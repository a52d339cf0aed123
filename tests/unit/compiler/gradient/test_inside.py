"""Derivatives inside of the steps of recurrences: against loops in Python, and PyTorch's autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nameexpr as ne

torch = pytest.importorskip("torch")
GENERATOR = np.random.default_rng(18)
X, Y, W = GENERATOR.normal(size=(6, 3)), GENERATOR.normal(size=6), GENERATOR.normal(size=3)
STEPS = 4
SQUARES = "mean[N]((sum[D](x[N D] * w[_@T D]) - y[N]) ** 2)"
Row = Any


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def rows(start: Row, step: Callable[[Row], Row], count: int = STEPS) -> np.ndarray:
    """Return a start, and what each step makes of the row before."""
    found = [start]
    for _ in range(count):
        found.append(step(found[-1]))
    return np.stack([np.asarray(one) for one in found])


def slope(value: Callable[[Any], Any], at: np.ndarray) -> np.ndarray:
    point = torch.tensor(at, requires_grad=True)
    return torch.autograd.grad(value(point), point)[0].numpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradient_descent(dtype: str) -> None:
    text = f"w[(1 + T) C] = 0, w[_@T C] - 0.1 * grad({SQUARES}, w[_@T C])"
    found = ne.evaluate(text, x=X.astype(dtype), y=Y.astype(dtype), sizes={"T": STEPS, "C": 3})
    wanted = rows(np.zeros(3), lambda w: w - 0.2 * X.T @ (X @ w - Y) / 6)
    assert found.dtype == dtype
    assert_allclose(found, wanted, rtol=1e-12 if dtype == "float64" else 1e-5)


def test_momentum_by_the_row_of_another_statement() -> None:
    text = """
        p[T N] = sum[C](x[N C] * w[_@T C])
        loss[T] = mean[N](tanh(p[T N] - y[N]) ** 2)
        v[(1 + T) C] = 0, 0.9 * v[_@T C] - 0.1 * grad(loss[T], w[_@T C])
        w[(1 + T) C] = a[C], w[_@T C] + v[_@(T + 1) C]
    """
    found = ne.evaluate(text, x=X, y=Y, a=W, sizes={"T": STEPS})

    def step(both: np.ndarray) -> np.ndarray:
        g = slope(lambda w: (torch.tanh(torch.tensor(X) @ w - torch.tensor(Y)) ** 2).mean(), both[1])
        v = 0.9 * both[0] - 0.1 * g
        return np.stack([v, both[1] + v])

    assert_allclose(found, rows(np.stack([W * 0, W]), step)[:, 1], rtol=1e-12)


def test_what_the_step_has_computed_counts_as_an_operand() -> None:
    text = """
        u[T C] = w[_@T C] + 0.9 * v[_@T C]
        loss[T] = sum[C](sin(u[T C]) * w[_@T C]) + sum[C](v[_@T C] ** 2)
        v[(1 + T) C] = 0, 0.9 * v[_@T C] - 0.1 * grad(loss[T], u[T C])
        w[(1 + T) C] = a[C], w[_@T C] + v[_@(T + 1) C]
    """
    found = ne.evaluate(text, a=W, sizes={"T": STEPS})

    def step(both: np.ndarray) -> np.ndarray:
        u = both[1] + 0.9 * both[0]
        v = 0.9 * both[0] - 0.1 * np.cos(u) * both[1]
        return np.stack([v, both[1] + v])

    assert_allclose(found, rows(np.stack([W * 0, W]), step)[:, 1], rtol=1e-12)


def test_rows_of_other_steps_are_constant() -> None:
    text = """
        e[T] = sum[C](h[_@(T + 1) C] ** 2 + h[_@T C])
        s[T] = sum[C](sin(h[_@T C] * h[_@(T + 1) C]))
        h[(2 + T) C] = 0.5, h[_@T C] + 0.1 * grad(s[T], h[_@T C]) - 0.1 * grad(e[T], h[_@(T + 1) C])
    """
    wanted = [np.full(2, 0.5)] * 2
    for _ in range(STEPS):
        a, b = wanted[-2:]
        wanted.append(a + 0.1 * b * np.cos(a * b) - 0.2 * b)
    assert_allclose(ne.evaluate(text, sizes={"T": STEPS, "C": 2}), wanted, rtol=1e-12)


def test_newtons_method_for_a_system() -> None:
    text = """
        f[T i] = where(index[i] == 0, sum[j](z[_@T j] ** 2) - 4, prod[j](z[_@T j]) - 1)
        m[T i j] = grad(f[T i], z[_@T j])
        det[T] = m[T i@0 j@0] * m[T i@1 j@1] - m[T i@0 j@1] * m[T i@1 j@0]
        z[(1 + T) i] = a[i], z[_@T i] - (m[T i@(1 - i) j@(1 - i)] * f[T i]
            - m[T i@i j@(1 - i)] * f[T i@(1 - i)]) / det[T]
    """
    found = ne.evaluate(text, a=np.array([2.0, 0.3]), sizes={"T": 6})

    def step(z: np.ndarray) -> np.ndarray:
        jacobian = np.array([2 * z, z[::-1]])
        return z - np.linalg.solve(jacobian, np.array([z @ z - 4, z.prod() - 1]))

    assert_allclose(found, rows(np.array([2.0, 0.3]), step, 6), rtol=1e-9)


def test_second_derivatives() -> None:
    text = """
        e[T] = sum[i](z[_@T i] ** 4) + prod[i](z[_@T i])
        h[T i j] = grad(grad(e[T], z[_@T i]), z[_@T j])
        z[(1 + T) i] = a[i], z[_@T i] - 0.01 * sum[j](h[T i j] * (1 + index[j]))
    """

    def step(z: np.ndarray) -> np.ndarray:
        others = np.array([[0, z[2], z[1]], [z[2], 0, z[0]], [z[1], z[0], 0]])
        return z - 0.01 * (np.diag(12 * z**2) + others) @ [1, 2, 3]

    assert_allclose(ne.evaluate(text, a=W, sizes={"T": STEPS}), rows(W, step), rtol=1e-12)


def test_rows_that_are_read_at_positions() -> None:
    ids, table = np.array([2, 0, 1, 2]), np.arange(6.0).reshape(3, 2)
    text = "w[(1+T) V D] = e[V D], w[_@T V D] - 0.1 * grad(sum[D]((w[_@T V@ids[T] D] - 1) ** 2), w[_@T V D])"
    count = iter(ids)

    def step(w: np.ndarray) -> np.ndarray:
        w, place = w.copy(), next(count)
        w[place] -= 0.2 * (w[place] - 1)
        return w

    assert_allclose(ne.evaluate(text, e=table, ids=ids), rows(table, step), rtol=1e-12)


def test_windows_of_a_row() -> None:
    text = """w[(1 + T) C] = a[C], w[_@T C] - 0.1 * grad(
        sum[i]((w[_@T C@(i + 1)] - w[_@T C@i]) ** 2 * k[i]), w[_@T C])"""
    start = np.array([1.0, 3.0, 2.0, 5.0])
    found = ne.evaluate(text, a=start, k=np.ones(3), sizes={"T": STEPS})
    wanted = rows(start, lambda w: w - 0.1 * slope(lambda q: (torch.diff(q) ** 2).sum(), w))
    assert_allclose(found, wanted, rtol=1e-12)


def test_complex_rows() -> None:
    text = """z[(1 + T) C] = a[C], z[_@T C] - 0.1 * grad(
        sum[C](abs(z[_@T C]) ** 2 * k[C]) + real(prod[C](z[_@T C])), z[_@T C])"""
    start, k = np.array([1 + 2j, 0.5j]), np.array([1.0, 2.0])
    found = ne.evaluate(text, a=start, k=k, sizes={"T": STEPS})

    def value(z: Any) -> Any:
        return (z.abs() ** 2 * torch.tensor(k)).sum() + z.prod().real

    assert_allclose(found, rows(start, lambda z: z - 0.1 * slope(value, z)), rtol=1e-12)


def test_by_a_diagonal_of_a_row() -> None:
    slopes = "grad(sum[i j](m[_@T i j] ** 3), m[_@T k k])"
    text = f"m[(1 + T) i j] = a[i j], m[_@T i j] - sum[k](b[i j k] * {slopes})"
    start, b = GENERATOR.normal(size=(2, 2)) / 4, GENERATOR.normal(size=(2, 2, 2)) / 4
    wanted = rows(start, lambda m: m - b @ (3 * np.diagonal(m) ** 2))
    assert_allclose(ne.evaluate(text, a=start, b=b, sizes={"T": STEPS}), wanted, rtol=1e-12)


def test_steps_with_derivatives_are_differentiated() -> None:
    text = f"""
        e[T] = mean[N](tanh(sum[D](x[N D] * w[_@T D]) - y[N]) ** 2)
        w[(1 + T) C] = a[C], w[_@T C] - rate * grad(e[T], w[_@T C])
        final = mean[N]((sum[C](x[N C] * w[_@({STEPS}) C]) - y[N]) ** 2)
    """
    loss, found = ne.value_and_grad(text, "a rate x", sizes={"T": STEPS})(x=X, y=Y, a=W, rate=0.1)
    a, rate, x = (torch.tensor(one, dtype=torch.double, requires_grad=True) for one in (W, 0.1, X))
    w, y = a, torch.tensor(Y)
    for _ in range(STEPS):
        inner = (torch.tanh(x @ w - y) ** 2).mean()
        w = w - rate * torch.autograd.grad(inner, w, create_graph=True)[0]
    value = ((x @ w - y) ** 2).mean()
    assert_allclose(loss, value.item(), rtol=1e-12)
    for name, wanted in zip(("a", "rate", "x"), torch.autograd.grad(value, (a, rate, x)), strict=True):
        assert_allclose(found[name], wanted, rtol=1e-10, err_msg=name)


def test_by_operands_where_no_row_is_read() -> None:
    text = "y = w ** 2; h[(1 + T)] = grad(y, w), h[_@T] + grad(y, w) * x[T]"
    assert_allclose(ne.evaluate(text, x=np.ones(3), w=2.0), [4, 8, 12, 16])


@pytest.mark.parametrize("start", ["0", "0.0", "k"])
def test_rows_of_integers_become_floats_first(start: str) -> None:
    text = f"w[(1 + T)] = {start}, w[_@T] - 0.25 * grad((w[_@T] - 3) ** 2, w[_@T])"
    given = {"k": 0} if start == "k" else {}
    found = ne.evaluate(text, sizes={"T": 2}, **given)
    assert found.dtype == "float64"
    assert_allclose(found, [0.0, 1.5, 2.25])


def test_steps_that_are_whole_numbers_have_no_derivatives() -> None:
    text = "w[(1 + T)] = 0, w[_@T] + int(grad(w[_@T] ** 2, w[_@T]))"
    with pytest.raises(ne.NameExprError, match=r"NE533\]: 'w' is int64"):
        ne.evaluate(text, sizes={"T": 2})


def test_operands_that_only_constant_slopes_depend_on() -> None:
    text = """
        u[T C] = 0.5 * h[_@T C] + x[T C]
        e[T] = sum[C](u[T C] * (index[C] + 1))
        h[(1 + T) C] = a[C], 0.5 * h[_@T C] - 0.2 * grad(e[T], u[T C])
        l = sum[i C](h[i C] ** 2)
    """
    with pytest.raises(ne.NameExprError, match=r"NE532\]: l does not depend on 'x'"):
        ne.grad(text, "x a")(x=np.ones((2, 3)), a=W)
    found = ne.grad(text, "a")(x=np.ones((2, 3)), a=W)["a"]
    drift = -0.2 * np.arange(1.0, 4.0)
    last = W / 2 + drift
    assert_allclose(found, 2 * W + last + (last / 2 + drift) / 2, rtol=1e-12)


def test_what_a_step_reads_twice_is_one_input() -> None:
    text = """
        e[T] = sum[C]((sum[i](m[C i] * h[_@T i]) * sin(h[_@T _@k[C]]) + h[_@T C] ** 2) * (index[C] + 1))
        h[(1 + T) C] = a[C], 0.5 * h[_@T C] - 0.2 * grad(e[T], h[_@T C])
        l = sum[t C](h[t C] * cos(index[t] + index[C]))
    """
    m, k = GENERATOR.normal(size=(3, 3)) / 2, np.array([0, 2, 2])
    found = ne.grad(text, "m", sizes={"T": 3})(m=m, k=k, a=W)["m"]
    known, h = torch.tensor(m, requires_grad=True), torch.tensor(W)
    weights = torch.arange(3, dtype=torch.double)
    total = (h * torch.cos(weights)).sum()
    for step in range(3):
        row = h.requires_grad_() if step == 0 else h
        e = (((known @ row) * torch.sin(row[k]) + row**2) * (weights + 1)).sum()
        h = 0.5 * row - 0.2 * torch.autograd.grad(e, row, create_graph=True)[0]
        total = total + (h * torch.cos(weights + step + 1)).sum()
    assert_allclose(found, torch.autograd.grad(total, known)[0], rtol=1e-10)
