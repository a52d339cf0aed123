"""Gradients of recurrences: those that PyTorch's autograd finds of the loop written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")
TEXT = """
    i[T H] = sigmoid(sum[D](x[T D] * wi[D H]) + sum[G](h[_@T G] * ui[G H]))
    f[T H] = sigmoid(sum[D](x[T D] * wf[D H]) + sum[G](h[_@T G] * uf[G H]))
    c[(1 + T) H] = 0, f[T H] * c[_@T H] + i[T H] * tanh(sum[D](x[T D] * wc[D H]) + b[H])
    h[(1 + T) H] = s[H], tanh(c[_@(T + 1) H]) * f[T H]
    loss = sum[n H](h[n H] ** 2 * (1 + index[n]))
"""
SHAPES = {
    "wi": (2, 3),
    "wf": (2, 3),
    "wc": (2, 3),
    "ui": (3, 3),
    "uf": (3, 3),
    "b": (3,),
    "s": (3,),
    "x": (6, 2),
}


def by_hand(x: Any, wi: Any, wf: Any, wc: Any, ui: Any, uf: Any, b: Any, s: Any) -> Any:
    c, h, loss = torch.zeros(3, dtype=torch.float64), s, (s**2).sum()
    for step, row in enumerate(x, 2):
        i, f = torch.sigmoid(row @ wi + h @ ui), torch.sigmoid(row @ wf + h @ uf)
        c = f * c + i * torch.tanh(row @ wc + b)
        h = torch.tanh(c) * f
        loss = loss + step * (h**2).sum()
    return loss


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_gradients_are_those_of_the_loop(library: str) -> None:
    generator = np.random.default_rng(1)
    given = {name: generator.normal(size=shape) for name, shape in SHAPES.items()}
    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in given.items()}
    wanted = by_hand(**tensors)
    wanted.backward()
    passed = given if library == "numpy" else {name: torch.tensor(array) for name, array in given.items()}
    loss, gradients = ne.value_and_grad(TEXT, " ".join(SHAPES))(**passed)
    np.testing.assert_allclose(np.asarray(loss), wanted.detach().numpy(), rtol=1e-13)
    for name, found in gradients.items():
        np.testing.assert_allclose(np.asarray(found), tensors[name].grad.numpy(), rtol=1e-11, atol=1e-13)
