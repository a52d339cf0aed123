"""A program as its users write it: `mypy --strict` and pyright find no error in it. Never executed.

`assert_type` pins what they infer of each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import nameexpr as ne
from nameexpr import NamedTensor

Floats = npt.NDArray[np.float64]
ATTENTION = "p[B h Q K] = softmax[K](sum[d](q[B Q h d] * k[B K h d]) / sqrt(size[d]))"
project = ne.compile("batch chan, chan out -> batch out")
attend = ne.compile(ATTENTION)


def load(path: Path) -> tuple[Floats, Floats]:
    with np.load(path) as stored:
        samples: Floats = stored["samples"]
        weights: Floats = stored["weights"]
    ne.check("batch chan, chan out", samples, weights)
    return samples, weights


def expressions(x: Floats, w: npt.NDArray[np.float32], t: NamedTensor) -> None:
    assert_type(ne.einsum("a b, b c -> a c", x, w), npt.NDArray[Any])
    assert_type(ne.einsum("a b -> b", x, reduce="mean"), npt.NDArray[Any])
    assert_type(ne.einsum("a b -> b", x, reduce=lambda array, axis: array.max(axis)), npt.NDArray[Any])
    assert_type(ne.einsum("a (h d) -> a h d", x, h=4, dtype="float32", order="C"), npt.NDArray[Any])
    assert_type(ne.einsum("a, b -> a b", [1, 2, 3], np.float64(2)), npt.NDArray[Any])
    assert_type(ne.einsum("a b, -> a b", [[1.0, 2.0], [3.0, 4.0]], 2), npt.NDArray[Any])
    assert_type(ne.einsum("a b, b c -> a c", t, w), NamedTensor)
    assert_type(ne.einsum("a b, b c -> a c", x, t), NamedTensor)
    assert_type(ne.einsum("a, b, c, d, e -> a b c d e", x, x, x, x, t), NamedTensor)
    assert_type(ne.einsum("a b, a b -> a b", *[x, x]), npt.NDArray[Any])
    assert_type(ne.einsum("a b, a b -> a b", *[t, t]), NamedTensor)
    assert_type(ne.einsum("a b -> b a", x, out=x), Floats)
    assert_type(ne.einsum("a b -> b a", x, out=t), NamedTensor)


def formulas(q: Floats, k: Floats, t: NamedTensor, names: list[str]) -> None:
    assert_type(ne.evaluate(ATTENTION, q=q, k=k), npt.NDArray[Any])
    assert_type(ne.evaluate(ATTENTION, q=t, k=k), NamedTensor)
    assert_type(ne.evaluate("y = x + bias", x=q, bias=1.5, dtype=np.float32), npt.NDArray[Any])
    assert_type(ne.evaluate("y = 2 * x", operands={"x": t}), NamedTensor)
    assert_type(ne.evaluate("y = 2 * x", operands={"x": q}), npt.NDArray[Any])
    outputs = ne.evaluate("m[C] = mean[N](x[N C]); c = x[N C] - m[C]", outputs=names, x=q)
    assert_type(outputs, tuple[npt.NDArray[Any], ...])
    mean, centred = ne.evaluate("m[C] = mean[N](x[N C]); c = x[N C] - m[C]", outputs=["m", "c"], x=t)
    assert_type(mean, NamedTensor)
    assert_type(centred.names, tuple[str | None, ...])


def compiled(q: Floats, k: Floats, w: Floats, t: NamedTensor) -> None:
    assert_type(attend(q=q, k=k), npt.NDArray[Any])
    assert_type(attend(q=t, k=k), NamedTensor)
    assert_type(project(q, w), npt.NDArray[Any])
    assert_type(project(q, t), NamedTensor)
    assert_type(project(q, w, out=q), Floats)
    assert_type(attend(operands={"q": q, "k": k}), npt.NDArray[Any])
    layer = project.bind({1: w})
    assert_type(layer(q), npt.NDArray[Any])
    scores = attend.bind(k=k)
    assert_type(scores(q=q), npt.NDArray[Any])
    plan = attend.plan(q=(2, 5, 4, 8), k=(2, 7, 4, 8))
    assert_type(plan.flops, int)
    assert_type(project.plan((2, 3), (3, 4)).code, str)
    assert_type(attend.text, str)
    assert_type(attend.code, str)
    assert_type(project.signature.inputs, tuple[str, ...])
    pair = ne.compile("m[C] = mean[N](x[N C]); c = x[N C] - m[C]", outputs=("m", "c"))
    mean, centred = pair(x=q)
    assert_type(mean, npt.NDArray[Any])
    assert_type(centred, npt.NDArray[Any])
    assert_type(ne.explain(ATTENTION, q=(2, 5, 4, 8), k=(2, 7, 4, 8)), str)


@dataclass(frozen=True)
class Layer:
    """A linear layer with a nonlinearity, kept compiled."""

    weight: NamedTensor
    bias: NamedTensor
    apply: ne.Compiled = field(default=ne.compile("y[N K] = maximum(sum[C](x[N C] * w[C K]) + b[K], 0)"))

    def __call__(self, x: NamedTensor) -> NamedTensor:
        return self.apply(x=x, w=self.weight, b=self.bias)


def forward(layers: Sequence[Layer], x: NamedTensor) -> NamedTensor:
    for layer in layers:
        x = layer(x)
    return x


def tensors(x: Floats) -> NamedTensor:
    t = ne.tensor(x, names="N C")
    assert_type(ne.from_numpy(x, names=("N", "C")), NamedTensor)
    assert_type(x * t, NamedTensor)
    assert_type(x + t, NamedTensor)
    assert_type(x @ t, NamedTensor)
    assert_type(2 * t - x / t, NamedTensor)
    assert_type(t == x, NamedTensor)
    assert_type(t > 0.5, NamedTensor)
    assert_type(-(t**2), NamedTensor)
    assert_type(t.sum("C", keepdim=True), NamedTensor)
    assert_type(t.softmax("C").log(), NamedTensor)
    assert_type(t.align_to("C", ...), NamedTensor)
    assert_type(t.rename(N="batch"), NamedTensor)
    assert_type(t[0, 1:], NamedTensor)
    assert_type(t[..., None], NamedTensor)
    assert_type(t[t > 0], NamedTensor)
    assert_type(t.max(), NamedTensor)
    largest, where = t.max("C")
    assert_type(largest, NamedTensor)
    assert_type(where, NamedTensor)
    values, indices = t.topk(2, "C")
    assert_type(values + indices, NamedTensor)
    assert_type(t.median("N").values, NamedTensor)
    assert_type(t.max(axis="C").indices, NamedTensor)
    assert_type(t.max(x), NamedTensor)
    assert_type(ne.max(t), NamedTensor)
    assert_type(ne.max(t, "C").values, NamedTensor)
    assert_type(ne.sort(t, "C").indices, NamedTensor)
    assert_type(t.split(2, "N")[0], NamedTensor)
    assert_type(t.stride(), tuple[int, ...])
    assert_type(t.stride("N"), int)
    assert_type([row.sum() for row in t], list[NamedTensor])
    assert_type(len(t), int)
    assert_type(float(t.sum()), float)
    assert_type(t.flatten(["N", "C"], "cells"), NamedTensor)
    assert_type(ne.where(t > 0, t, 0.0), NamedTensor)
    assert_type(ne.cat([t, t], "N"), NamedTensor)
    assert_type(np.asarray(t), npt.NDArray[Any])
    t += x
    t[0] = 1.0
    return t


def pipeline(path: Path, steps: Sequence[Callable[[NamedTensor], NamedTensor]]) -> Floats:
    samples, weights = load(path)
    x = ne.tensor(samples, names="N C")
    for step in steps:
        x = step(x)
    try:
        scores = ne.einsum("N C, C K -> N K", x, weights)
    except ne.NameExprError as wrong:
        print(wrong.code, wrong.hint, [operand.shape for operand in wrong.operands])
        raise
    result: Floats = np.exp(scores.numpy())
    return result
