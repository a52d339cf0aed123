"""Texts on recorded tensors: one node each, with the gradients of the tape's own operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(3)
X, W, V = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=3)

Function = Callable[..., Any]
CASES: dict[str, tuple[Function, Function, tuple[Any, ...]]] = {
    "einsum": (
        lambda x, w: ne.einsum("N C, C K -> N K", x, w),
        lambda x, w: x @ w,
        (X, W),
    ),
    "einsum to a number": (
        lambda x, w: ne.einsum("N C, C K -> : sum", x, w),
        lambda x, w: (x @ w).sum(),
        (X, W),
    ),
    "einsum of the same tensor": (
        lambda x: ne.einsum("N C, N C -> N", x, x),
        lambda x: (x * x).sum("C"),
        (X,),
    ),
    "einsum with a reducer": (
        lambda x: ne.einsum("N C -> N : max", x),
        lambda x: x.amax("C"),
        (X,),
    ),
    "einsum with an ellipsis": (
        lambda x, w: ne.einsum("... C, C K -> ... K", x, w),
        lambda x, w: x @ w,
        (X, W),
    ),
    "einsum that repeats": (
        lambda v: ne.einsum("C -> C K=2", v),
        lambda v: ne.stack([v, v], 1, name="K"),
        (V,),
    ),
    "einsum of a transposed result": (
        lambda x: ne.einsum("N C -> C N", x),
        lambda x: x.T,
        (X,),
    ),
    "einsum with a group": (
        lambda w: ne.einsum("C (a b) -> a (b C)", w, a=2),
        lambda w: w.unflatten("K", "a=2 b").permute("a", "b", "C").flatten(["b", "C"], None),
        (W,),
    ),
    "evaluate": (
        lambda x, w: ne.evaluate("y[N K] = tanh(sum[C](x[N C] * w[C K]))", x=x, w=w),
        lambda x, w: (x @ w).tanh(),
        (X, W),
    ),
    "evaluate without a name": (
        lambda x, v: ne.evaluate("exp(x[N C]) * v[C]", x=x, v=v),
        lambda x, v: x.exp() * v,
        (X, V),
    ),
    "evaluate to a number": (
        lambda x, v: ne.evaluate("mean[N](sum[C](x[N C] * v[C]) ** 2)", x=x, v=v),
        lambda x, v: ((x * v).sum("C") ** 2).mean(),
        (X, V),
    ),
    "evaluate several": (
        lambda x, v: sum_of(
            ne.evaluate("a = exp(x[N C])\nb[N] = sum[C](a * v[C])", outputs=("a", "b"), x=x, v=v)
        ),
        lambda x, v: sum_of((x.exp(), (x.exp() * v).sum("C"))),
        (X, V),
    ),
    "evaluate one of several": (
        lambda x, v: ne.evaluate("a = exp(x[N C])\nb[N] = sum[C](a * v[C])", outputs=("a", "b"), x=x, v=v)[1],
        lambda x, v: (x.exp() * v).sum("C"),
        (X, V),
    ),
    "compiled": (
        lambda x, v: ne.compile("y[N] = sum[C](sin(x[N C]) * v[C])").bind(v=v.detach())(x=x) + 0 * v.sum(),
        lambda x, v: (x.sin() * v.detach()).sum("C") + 0 * v.sum(),
        (X, V),
    ),
    "an operand that only has steps": (
        lambda x, v: ne.evaluate("y[N C] = floor(x[N C]) * v[C]", x=x, v=v),
        lambda x, v: x.floor() * v,
        (X, V),
    ),
    "parts": (
        lambda v: ne.evaluate("y[T] = v[(1 + T)] ** 2", v=v).rename(None),
        lambda v: (v[1:] ** 2).rename(None),
        (V,),
    ),
    "a complex number": (
        lambda x: ne.evaluate("sum[N C](x[N C] ** 2)", x=x).abs(),
        lambda x: (x**2).sum().abs(),
        (X + 1j,),
    ),
    "complex": (
        lambda x, v: ne.evaluate("y[N C] = x[N C] ** 2 * v[C]", x=x, v=v).abs(),
        lambda x, v: (x**2 * v).abs(),
        (X + 1j, V),
    ),
}


def sum_of(results: Any) -> Any:
    a, b = results
    return a.sum("C") * b


def leaves(values: tuple[Any, ...]) -> list[Any]:
    names = {(2, 3): "N C", (3, 4): "C K", (3,): "C"}
    return [ne.tensor(each, names=names[each.shape]).requires_grad_() for each in values]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_text_has_the_gradient_of_the_operators(name: str) -> None:
    text, operators, values = CASES[name]
    for _ in range(2):  # the second call finds what the first has compiled
        mine, theirs = leaves(values), leaves(values)
        results = text(*mine), operators(*theirs)
        assert results[0].grad_fn is not None
        np.testing.assert_allclose(results[0].data, results[1].data)
        seed = np.random.default_rng(1).normal(size=results[0].shape)
        for result in results:
            result.backward(seed)
        for leaf, other in zip(mine, theirs, strict=True):
            expected = np.zeros_like(other.data) if other.grad is None else other.grad.numpy()
            found = np.zeros_like(leaf.data) if leaf.grad is None else leaf.grad.numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            assert leaf.grad is None or leaf.grad.names == leaf.names


def test_a_text_is_one_node() -> None:
    (x, w) = leaves((X, W))
    y = ne.evaluate("h[N K] = sum[C](x[N C] * w[C K])\ny[N K] = tanh(h) * h", x=x, w=w)
    assert [node.name for node, _ in y.grad_fn.next_functions] == ["leaf", "leaf"]


def test_nothing_is_recorded_in_no_grad() -> None:
    (x, w) = leaves((X, W))
    with ne.no_grad():
        assert not ne.einsum("N C, C K -> N K", x, w).requires_grad
        assert not ne.evaluate("y[N K] = sum[C](x[N C] * w[C K])", x=x, w=w).requires_grad


def test_a_bound_operand_is_a_constant() -> None:
    (x,) = leaves((X,))
    with pytest.raises(ne.NameExprError, match="NE695"):
        ne.compile("y[N] = sum[C](x[N C])").bind(x=x)


def test_an_operand_that_was_written_to_is_found() -> None:
    (x, w) = leaves((X, W))
    plain = w.detach()
    y = ne.einsum("N C, C K -> N K", x, plain)
    plain += 1
    with pytest.raises(ne.NameExprError, match=r"NE693.*add_.*formula"):
        y.backward(np.ones((2, 4)))


def test_a_recorded_result_is_not_written_into_out() -> None:
    (x, w) = leaves((X, W))
    out = np.zeros((2, 4))
    with pytest.raises(ne.NameExprError, match="NE694"):
        ne.einsum("N C, C K -> N K", x, w, out=out)
    with ne.no_grad():
        ne.einsum("N C, C K -> N K", x, w, out=out)
    np.testing.assert_allclose(out, X @ W)


def test_a_plan_is_for_recorded_tensors_too() -> None:
    (x, w) = leaves((X, W))
    assert ne.compile("N C, C K -> N K").plan(x, w).flops > 0


def test_gradients_of_formulas_are_recorded() -> None:
    (v,) = leaves((V,))
    slope = ne.grad("y = sum[C](v[C] ** 3)", "v")(v=v)["v"]
    slope.sum().backward()
    np.testing.assert_allclose(slope.data, 3 * V**2)
    np.testing.assert_allclose(v.grad.data, 6 * V)
