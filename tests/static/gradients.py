"""Functions of gradients as programs use them. Checked as `user_code.py` is, never executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, assert_type

import jax
import numpy as np
import numpy.typing as npt
import torch

import nameexpr as ne
from nameexpr import NamedTensor

Array = npt.NDArray[Any]
LOSS = "mean[N]((sum[C](x[N C] * w[C]) + b - y[N]) ** 2)"
step = ne.value_and_grad(LOSS, "w b")


def arrays(x: Array, y: Array, w: Array) -> Array:
    loss, g = step(x=x, y=y, w=w, b=0.0)
    assert_type(loss, Array)
    assert_type(g["w"], Array)
    assert_type(float(g["b"]), float)
    assert_type(ne.grad(LOSS, ["w", "b"])(x=x, y=y, w=w, b=np.float32(2))["b"], Array)
    assert_type(ne.grad("x ** 2", "x")(operands={"x": 3.0})["x"], Array)
    w -= 0.1 * g["w"]
    for name, one in g.items():
        assert_type(name, str)
        assert_type(one, Array)
    return w - scaled(g)["w"]


def scaled(gradients: dict[str, Array]) -> dict[str, Array]:
    return {name: 0.1 * one for name, one in gradients.items()}


def total(gradients: Mapping[str, Array]) -> float:
    return float(sum((one**2).sum() for one in gradients.values()))


def tensors(x: NamedTensor, y: NamedTensor, w: NamedTensor, b: NamedTensor, array: Array) -> NamedTensor:
    loss, g = step(x=x, y=y, w=w, b=b)
    assert_type(loss, NamedTensor)
    assert_type(g["w"], NamedTensor)
    assert_type(ne.grad(LOSS, "w")(x=x, y=y, w=w, b=b)["w"].names, tuple[str | None, ...])
    mixed, both = step(x=x, y=y, w=array, b=0.5)
    assert_type(mixed, NamedTensor)
    assert_type(both["w"], Any)
    return w - 0.1 * g["w"]


def libraries(x: torch.Tensor, w: torch.Tensor, a: jax.Array, c: jax.Array) -> torch.Tensor:
    loss, g = step(x=x, y=x, w=w, b=0.0)
    assert_type(loss, torch.Tensor)
    assert_type(g["w"], torch.Tensor)
    assert_type(ne.grad(LOSS, "w")(x=a, y=a, w=c, b=1.0)["w"], jax.Array)
    return w - g["w"]


@dataclass
class Model:
    """A model with its step, which is compiled once."""

    w: Array
    step: ne.GradientFunction = field(default=step, repr=False)

    def update(self, x: Array, y: Array) -> float:
        loss, g = self.step(x=x, y=y, w=self.w, b=0.0)
        self.w = self.w - 0.1 * g["w"]
        return float(loss)


def described(w: Array) -> str:
    bound = step.bind(b=0.0)
    loss, _ = bound(x=w, y=w, w=w)
    assert_type(loss, Array)
    plan = step.plan(x=(5, 3), y=(5,), w=(3,), b=())
    assert_type(plan.flops, int)
    value, d_w = ne.compile(LOSS).gradient("w")(x=w, y=w, w=w, b=0.0)
    assert_type(value, Array)
    assert_type(d_w, Array)
    assert_type(step.text, str)
    return step.code
