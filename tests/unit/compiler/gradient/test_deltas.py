"""Jacobians, Hessians and third derivatives, compared with PyTorch's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")
GENERATOR = np.random.default_rng(3)
X, W = GENERATOR.normal(size=(5, 3)), GENERATOR.normal(size=3)
V = GENERATOR.normal(size=(3, 2))
SQUARE = GENERATOR.normal(size=(3, 3))
Function = Callable[[Any], Any]
GIVEN = {"x": torch.tensor(X), "w": torch.tensor(W), "v": torch.tensor(V), "u": torch.tensor(SQUARE)}
x, w, v, u = GIVEN.values()


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def found(text: str) -> Any:
    arrays = {"x": X, "w": W, "v": V, "u": SQUARE}
    return ne.evaluate(
        text, **{name: array for name, array in arrays.items() if re.search(rf"\b{name}\[", text)}
    )


@pytest.mark.parametrize(
    ("text", "by", "function"),
    [
        ("y = tanh(sum[C](x[N C] * v[C K])); j[N K D L] = grad(y, v[D L])", v, lambda v: torch.tanh(x @ v)),
        (
            "y[N] = sum[K](sum[C](x[N C] * v[C K]) ** 2); j[N C K] = grad(y, v)",
            v,
            lambda v: ((x @ v) ** 2).sum(1),
        ),
        (
            "y[(N K)] = exp(sum[C](x[N C] * v[C K])); j[(N K) D L] = grad(y, v[D L])",
            v,
            lambda v: (x @ v).exp().flatten(),
        ),
        (
            "y = softmax[K](sum[C](x[N C] * v[C K])); j[N K M C] = grad(y, x[M C])",
            x,
            lambda x: (x @ v).softmax(1),
        ),
        ("y = log_softmax[C](w[C]); j[C D] = grad(y, w[D])", w, lambda w: w.log_softmax(0)),
        ("y[N] = w[N] * sum[N](w[N] ** 2); j[N M] = grad(y, w[M])", w, lambda w: w * (w**2).sum()),
        ("y[N] = w[N] ** 2; j[N M] = grad(y, w[M])", w, lambda w: w**2),
        ("y[N] = w[N]; j[N M] = grad(y, w[M])", w, lambda w: w * 1),
        ("y[N] = 3 - w[N] / 2; j[M N] = grad(y, w[M])", w, lambda w: 3 - w / 2),
        (
            "y[N] = where(w[N] > 0, exp(w[N]), w[N] ** 2); j[N M] = grad(y, w[M])",
            w,
            lambda w: torch.where(w > 0, w.exp(), w**2),
        ),
        ("y[N] = cumsum[N](w[N] ** 2); j[N M] = grad(y, w[M])", w, lambda w: (w**2).cumsum(0)),
        ("y[N] = flip[N](w[N] ** 2); j[N M] = grad(y, w[M])", w, lambda w: (w**2).flip(0)),
        ("y[N M] = w[N] * w[M]; j[N M K] = grad(y, w[K])", w, lambda w: w[:, None] * w[None]),
        (
            "y[i j] = sum[c]((x[i c] - x[j c]) ** 2); j[i j k c] = grad(y, x[k c])",
            x,
            lambda x: ((x[:, None] - x[None]) ** 2).sum(-1),
        ),
        ("y[N] = max[C](x[N C]); j[N M C] = grad(y, x[M C])", x, lambda x: x.amax(1)),
        ("y[N] = prod[C](x[N C]); j[N M C] = grad(y, x[M C])", x, lambda x: x.prod(1)),
        ("y[N] = std[C](x[N C]); j[N M C] = grad(y, x[M C])", x, lambda x: x.std(1, unbiased=False)),
        ("y[C] = u[C C] ** 2; j[C A B] = grad(y, u[A B])", u, lambda u: torch.diagonal(u) ** 2),
        ("y[C D] = u[C D] * u[D C]; j[C D A B] = grad(y, u[A B])", u, lambda u: u * u.T),
        ("y[C C] = w[C] ** 2; j[C D A] = grad(y[C D], w[A])", w, lambda w: torch.diag(w**2)),
        ("y = real(w[N] * 2); j[N M] = grad(y, w[M])", w, lambda w: w * 2),
    ],
)
def test_jacobians(text: str, by: Any, function: Function) -> None:
    wanted = torch.func.jacrev(function)(by).numpy()
    np.testing.assert_allclose(found(text), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "by", "function"),
    [
        (
            "sum[N](softplus(sum[C](x[N C] * w[C])))",
            "w[A] w[B]",
            lambda w: torch.nn.functional.softplus(x @ w).sum(),
        ),
        ("logsumexp[N](w[N])", "w[A] w[B]", lambda w: w.logsumexp(0)),
        (
            "norm[N](w[N]) + var[N](w[N]) + max[N](w[N] ** 2)",
            "w[A] w[B]",
            lambda w: w.norm() + w.var(unbiased=False) + (w**2).max(),
        ),
        (
            "sum[i j](w[i] ** 2 * w[j] ** 3 * sin(w[i] * w[j]))",
            "w[A] w[B]",
            lambda w: (torch.outer(w**2, w**3) * torch.sin(torch.outer(w, w))).sum(),
        ),
        ("sum[i j](w[i] ** 2 * w[j] ** 3)", "w[A] w[B]", lambda w: (w**2).sum() * (w**3).sum()),
        (
            "sum[i](hypot(w[i], w[i] ** 2) + atan2(w[i], 2))",
            "w[A] w[B]",
            lambda w: (torch.sqrt(w**2 + w**4) + torch.arctan(w / 2)).sum(),
        ),
        ("sum[i](abs(w[i]) ** w[i])", "w[A] w[B]", lambda w: (w.abs() ** w).sum()),
        (
            "sum[N K](tanh(sum[C](x[N C] * v[C K])) ** 2)",
            "v[A B] v[D E]",
            lambda v: (torch.tanh(x @ v) ** 2).sum(),
        ),
    ],
)
def test_hessians(loss: str, by: str, function: Function) -> None:
    first, second = by.split("] ")
    name = by[0]
    hessian = found(f"y = {loss}; grad(grad(y, {first}]), {second})")
    wanted = torch.func.jacrev(torch.func.jacrev(function))(GIVEN[name]).numpy()
    np.testing.assert_allclose(hessian, wanted, atol=1e-11)
    flat = hessian.reshape(GIVEN[name].numel(), -1)
    np.testing.assert_allclose(flat, flat.T, atol=1e-12)


def test_third_derivatives() -> None:
    text = "y = sum[i](w[i] ** 5) + sum[i](w[i]) ** 3; grad(grad(grad(y, w[A]), w[B]), w[D])"
    wanted = torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(lambda w: (w**5).sum() + w.sum() ** 3)))(w)
    np.testing.assert_allclose(found(text), wanted.numpy(), atol=1e-12)


def test_a_jacobian_by_a_statement() -> None:
    def rows(h: Any) -> Any:
        return (h.exp() * h).sum(1)

    for head, use in (("h[N C]", "h[M C]"), ("h[C N]", "h[C M]")):
        text = f"{head} = x[N C] ** 2; y[N] = sum[C](exp(h) * h); j[N M C] = grad(y, {use})"
        np.testing.assert_allclose(found(text), torch.func.jacrev(rows)(x**2).numpy(), atol=1e-12)


def test_a_jacobian_of_an_inner_label_of_the_same_name() -> None:
    text = "y[N] = w[N] * sum[N](sin(w[N])) + sum[M](w[M] ** 2); j[N A] = grad(y, w[A])"
    wanted = torch.func.jacrev(lambda w: w * w.sin().sum() + (w**2).sum())(w)
    np.testing.assert_allclose(found(text), wanted.numpy(), atol=1e-12)


def test_dtypes_of_jacobians() -> None:
    for dtype in ("float32", "float64", "complex128"):
        array = W.astype(dtype)
        made = ne.evaluate("y[N] = real(w[N]) * 2; j[N M] = grad(y, w[M])", w=array)
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, 2 * np.eye(3))


def test_a_jacobian_has_all_dims_of_the_value() -> None:
    """Also those along which it is constant."""
    found = ne.evaluate("y[N K] = a[N K] + b[K]; grad(y, b[M])", a=np.ones((3, 4)), b=np.ones(4))
    np.testing.assert_array_equal(found, np.broadcast_to(np.eye(4), (3, 4, 4)))
    found = ne.evaluate("y[N K] = a[N K] + e; sum[N](grad(y, e))", a=np.ones((3, 4)), e=1.0)
    np.testing.assert_array_equal(found, np.full(4, 3.0))


def test_a_sum_with_a_delta_is_two_contractions() -> None:
    text = """
    y[N] = sum[H](tanh(sum[C](x[N C] * w[C H])) * v[H])
    h[C H C' H'] = grad(grad(mean[N]((y - t[N]) ** 2), w[C H]), w[C' H'])
    """
    shapes = {"x": (20, 6), "w": (6, 5), "v": (5,), "t": (20,)}
    given = {name: np.random.default_rng(0).standard_normal(shape) for name, shape in shapes.items()}
    compiled = ne.compile(text)
    hidden, x, v = np.tanh(given["x"] @ given["w"]), given["x"], given["v"]
    slope = 1 - hidden**2
    inner = np.einsum("nh,h,nc->nch", slope, v, x)
    wanted = 2 * np.einsum("nch,nde->chde", inner, inner)
    bend = -4 * (hidden @ v - given["t"])[:, None] * v * hidden * slope
    wanted += np.einsum("nh,nc,nd,he->chde", bend, x, x, np.eye(5))
    np.testing.assert_allclose(compiled(**given), wanted / 20, rtol=1e-11, atol=1e-13)
    # No value has the dims N H C H'.
    assert max(step.bytes for step in compiled.plan(**given).steps) <= 8 * (6 * 5) ** 2


@pytest.mark.parametrize(
    "by",
    [
        "h[C D] = grad(grad(loss, w[C]), w[D])",
        "h[A B] = grad(grad(loss, w[A]), w[B])",
        "g[A] = grad(loss, w[A]); h[A C] = grad(g, w[C])",
        "g[A] = grad(loss, w[A]) / 2; h[A B] = grad(2 * g + sum[C](0 * w[C]), w[B])",
    ],
)
def test_labels_of_a_hessian_do_not_change_how_it_is_computed(by: str) -> None:
    compiled = ne.compile(f"z[N] = sum[C](x[N C] * w[C]); loss = sum[N](softplus(z)); {by}", outputs=("h",))
    p = 1 / (1 + np.exp(-X @ W))
    np.testing.assert_allclose(compiled(x=X, w=W)[0], (X.T * p * (1 - p)) @ X, rtol=1e-12)
    assert not re.search(r"arange|where", compiled.code)


def test_a_hessian_by_an_operand_that_is_also_transposed() -> None:
    text = "y = sum[C D](exp(u[C D] * u[D C]) * u[C D]); grad(grad(y, u[D C]), u[C' D'])"
    wanted = torch.func.jacrev(torch.func.jacrev(lambda u: ((u * u.T).exp() * u).sum()))(u).numpy()
    np.testing.assert_allclose(found(text), wanted, atol=1e-11)
