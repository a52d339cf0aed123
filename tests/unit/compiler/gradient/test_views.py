"""Gradients of operands and statements that are seen through terms: their dims, names, dtypes and sums."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(11)
X, W = GENERATOR.normal(size=(4, 3)), GENERATOR.normal(size=3)
SQUARE = GENERATOR.normal(size=(3, 3))
CUBE = GENERATOR.normal(size=(2, 3, 3))


def test_two_views_of_one_operand_add_up() -> None:
    found = ne.evaluate("y = sum[i j c]((x[i c] - x[j c]) ** 2 * index[i]); grad(y, x[k d])", x=X)
    rows = np.arange(4.0)
    wanted = 2 * ((X[:, None] - X[None]) * (rows[:, None, None] + rows[None, :, None])).sum(1)
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("term", ["C C", "C D", "D C"])
def test_a_diagonal_and_all_of_an_operand(term: str) -> None:
    text = f"y = sum[C](u[C C] ** 2) + sum[C D](u[C D] ** 3); grad(y, u[{term}])"
    wanted = 3 * SQUARE**2 + np.diag(2 * np.diag(SQUARE))
    if term == "C C":
        wanted = np.diag(wanted)
    np.testing.assert_allclose(ne.evaluate(text, u=SQUARE), wanted)


@pytest.mark.parametrize("term", ["a b", "a a", "b a"])
def test_a_statement_that_has_a_dim_twice_counts_as_an_operand(term: str) -> None:
    text = "y[C C] = v[C] ** 2; z = sum[a b](y[a b] ** 2 * u[a b]) + sum[a](y[a a] ** 3)"
    value = np.diag(W**2)
    wanted = 2 * value * SQUARE + np.diag(3 * W**4)
    gradient = "g[a] = grad(z, y[a a])" if term == "a a" else f"g[{term}] = grad(z, y[a b])"
    text = f"{text}; {gradient}; d[C] = grad(z, v[C])"
    found, by_operand = ne.evaluate(text, outputs=("g", "d"), v=W, u=SQUARE)
    np.testing.assert_allclose(by_operand, np.diag(wanted) * 2 * W)
    np.testing.assert_allclose(found, {"a b": wanted, "b a": wanted.T, "a a": np.diag(wanted)}[term])


def test_a_jacobian_by_a_statement_that_has_a_dim_twice() -> None:
    text = "y[C C] = v[C]; z[a] = sum[b](y[a b] ** 2 * u[a b] + y[b a]); grad(z, y[i j])"
    wanted = np.zeros((3, 3, 3))
    for a in range(3):
        wanted[a, a] += 2 * np.diag(W)[a] * SQUARE[a]
        wanted[a, :, a] += 1
    np.testing.assert_allclose(ne.evaluate(text, v=W, u=SQUARE), wanted)


def test_two_diagonals_that_no_term_sees_whole() -> None:
    text = "y = sum[C D](u[C D D] ** 2); g[A D] = grad(y, u[A D D]); h[A B E] = grad(y, u[A B E])"
    diagonal, whole = ne.evaluate(text, u=CUBE, outputs=("g", "h"))
    wanted = 2 * np.einsum("add->ad", CUBE)
    np.testing.assert_allclose(diagonal, wanted)
    np.testing.assert_allclose(whole, np.einsum("ad,de->ade", wanted, np.eye(3)))


def test_groups_are_split_and_merged() -> None:
    x, w = GENERATOR.normal(size=(4, 6)), GENERATOR.normal(size=(2, 3))
    text = "y = sum[N h d](x[N (h d)] * w[h d] * x[N (h d)]); g[N (h d)] = grad(y, x[N (h d)])"
    np.testing.assert_allclose(ne.evaluate(text, x=x, w=w), 2 * x * w.reshape(-1))
    np.testing.assert_allclose(ne.evaluate(f"{text}; grad(y, w)", x=x, w=w), (x**2).sum(0).reshape(2, 3))


def test_dims_under_dots_broadcast() -> None:
    bias = GENERATOR.normal(size=(1, 3))
    text = "y = sum[...]((x[...] + b[...]) ** 2); grad(y, b[...])"
    found = ne.evaluate(text, x=ne.tensor(X), b=ne.tensor(bias))
    np.testing.assert_allclose(np.asarray(found), (2 * (X + bias)).sum(0, keepdims=True))
    np.testing.assert_allclose(ne.evaluate("y = sum[...](b[...] ** 3); grad(y, b)", b=bias), 3 * bias**2)


def test_packs() -> None:
    x, w = GENERATOR.normal(size=(2, 4, 3)), GENERATOR.normal(size=(3, 2))
    text = "y = sum[batch... K](sum[C](x[batch... C] * w[C K]) ** 2); g[batch... C] = grad(y, x)"
    np.testing.assert_allclose(ne.evaluate(text, x=x, w=w), 2 * x @ w @ w.T)


def test_a_constant_gradient_has_all_dims_and_the_dtype() -> None:
    for dtype in ("float16", "float32", "float64", "complex64"):
        x = X.astype(dtype)
        found = ne.evaluate("y = real(sum[N C](x[N C])); g[C] = sum[N](grad(y, x))", x=x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, 4)


def test_names_are_those_of_the_term() -> None:
    x, w = ne.tensor(X, names="N C"), ne.tensor(W, names="C")
    text = "loss = sum[N](sum[C](x * w) ** 2); g = grad(loss, w)"
    found = ne.evaluate(text, x=x, w=w)
    assert found.names == ("C",)
    np.testing.assert_allclose(found.numpy(), 2 * (X @ W) @ X)
    assert ne.evaluate("loss = sum[N](sum[C](x * w) ** 2); g = grad(loss, w[C=D])", x=x, w=w).names == ("D",)


def test_sizes_of_one() -> None:
    x = GENERATOR.normal(size=(4, 1))
    found = ne.evaluate("y = sum[N](x[N 1] ** 2); g[N 1] = grad(y, x)", x=x)
    np.testing.assert_allclose(found, 2 * x)


def test_empty_operands() -> None:
    found = ne.evaluate("y = sum[N C](x[N C] * w[C]); grad(y, w)", x=np.ones((0, 3)), w=W)
    np.testing.assert_array_equal(found, np.zeros(3))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("h[N] = x[N] ** 2; y = sum[N](h ** 2 + x ** 2)", 2 * W**2),
        ("h = x[N] ** 2; y = sum[N](h ** 2 + x ** 2)", 2 * W**2),
        ("h[N] = x[N] ** 2; y = sum[N](h[N] ** 2 * h[N]) + sum[M](h[M])", 3 * W**4 + 1),
        ("h[N] = 2 * x[N]; k[N] = 2 * x[N]; y = sum[N](h * k)", 2 * W),
        ("h[N] = x[N]; y = sum[N](h * x[N])", W),
        ("h[N] = x[N]; y = sum[N](h)", np.ones(3)),
    ],
)
def test_a_statement_counts_like_an_operand(text: str, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(ne.evaluate(f"{text}; grad(y, h)", x=W), wanted)
    term = ne.evaluate(f"{text}; grad(y, h)", x=W)
    np.testing.assert_allclose(term, wanted)


def test_a_statement_with_a_repeated_dim_has_the_gradient_of_each_element() -> None:
    text = "h[N K=2] = x[N] ** 2; y = sum[N K](h * (1 + index[K]) * x[N]); grad(y, h)"
    np.testing.assert_allclose(ne.evaluate(text, x=W), np.outer(W, [1, 2]))


def test_a_statement_seen_through_another_term() -> None:
    text = "h[C N] = x[N C] ** 2; y = sum[A B](h[A B] ** 2); g[P Q] = grad(y, h[Q P])"
    np.testing.assert_allclose(ne.evaluate(text, x=X), 2 * X**2)


def test_gradients_of_several_values_and_of_gradients() -> None:
    text = """
        y = sum[N](tanh(sum[C](x[N C] * w[C])))
        z = y ** 2
        gy[C] = grad(y, w)
        gz[C] = grad(z, w)
        gx[N C] = grad(z, x)
        penalty = sum[N C](gx ** 2)
        gp[C] = grad(penalty, w)
    """
    torch = pytest.importorskip("torch")
    x, w = (torch.tensor(one, requires_grad=True) for one in (X, W))
    y = torch.tanh(x @ w).sum()
    wanted_y, wanted_z = (torch.autograd.grad(one, w, retain_graph=True)[0] for one in (y, y**2))
    (grad_x,) = torch.autograd.grad(y**2, x, create_graph=True)
    (wanted_p,) = torch.autograd.grad((grad_x**2).sum(), w)
    found = ne.evaluate(text, x=X, w=W, outputs=("gy", "gz", "gp", "gx"))
    for one, wanted in zip(found, (wanted_y, wanted_z, wanted_p, grad_x), strict=True):
        np.testing.assert_allclose(one, wanted.detach().numpy(), rtol=1e-12)


def test_operands_that_are_numbers() -> None:
    assert ne.evaluate("y = sum[N](x[N] * s) ** 2; grad(y, s)", x=W, s=2.0) == pytest.approx(4 * W.sum() ** 2)
    assert ne.evaluate("y = s * s; h = y * y; grad(h, y)", s=3.0) == 18


def test_what_is_computed_in_another_dtype_has_that_gradient() -> None:
    found = ne.evaluate("y = sum[N](x[N] ** 2); g[N] = grad(y, x)", x=W, dtype="float32")
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, 2 * W, rtol=1e-6)
