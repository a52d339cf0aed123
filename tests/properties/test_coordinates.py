"""Labels after texts and NumPy functions: see `conformance.permuting`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from conformance.permuting import wrong_labels

RNG = np.random.default_rng(0)


def made(names: str, *sizes: int) -> ne.NamedTensor:
    return ne.tensor(RNG.random(sizes or (3,) * len(names.split())), names=names)


X, V, W = made("N M"), made("N"), made("M K")
EXPRESSIONS: dict[str, list[ne.NamedTensor]] = {
    "N M -> M N": [X],
    "N M, N -> N M": [X, V],
    "N M, M K -> N K": [X, W],
    "... -> ...": [X],
    "N ... -> ... N": [made("N M K")],
    "b... K -> K b...": [made("N M K")],
    "_ M -> M : sum": [X],
    "N=M M=N -> N M": [X],
    "N=a M=b -> b a": [X],
    "N=a M -> a M": [X],
    "N C -> (N C)": [made("N C", 3, 4)],
    "N (a=2 b) -> N b a": [made("N C", 3, 4)],
    "N M -> N : max": [X],
    "N, M -> N M": [V, made("M")],
    "N M -> N 1 M": [X],
    "N 1 -> N": [made("N M", 3, 1)],
    "N M -> M=N N=M": [X],
}
FORMULAS = [
    "y[M N] = x[N M] + v[N]",
    "a[N M] = x[N M]; y[N M] = a[M N]",
    "a[N M] = x[N M]; y[N] = sum[M](a[M N])",
    "a[p...] = x[p...]; a[M N]",
    "a[N=3 M] = x[N M]; a[N M]",
    "c[N] = sum[M](x[N M]); y[M] = c[M]",
    "sort[M](x[N M]) + x",
    "b[N M] = flip[M](x[N M]); y[N M] = b[N M] + x[N M]",
    "softmax[N](x[N M])",
    "y[M N] = x[N=M M=N]",
    "d[N P] = sum[M](x[N M] * x[N=P M])",
    "x - mean[M](x[N M])",
    "where(x > 0.5, x, v[N])",
    "argsort[M](x[N M])",
    "y[N (1 + 1)] = x[N M@0], sort[N](x[N M@1])",
    "y[N (M + K)] = x[N M], x[N M=K]",
    "y[(1 + N) M] = 0, x[N M]",
    "x[N (1 + M)]",
    "x[(N=2 + _) M]",
    "x[N M@(size[M] - 1 - m)]",
    "x[N M@((M + 1) % size[M])]",
    "x[_@M M]",
    "x[_@k M@0] * v[N=k]",
    "x[N M@(m + 1)] - x[N M@m]",
    "x[N M@(argsort[M](x[N M]))]",
    "h[(1 + N) M] = 0, h[_@N M] + x[N M]; h[(1 + N) M]",
    "h[(1 + N) M] = 0, h[_@N M] + x[N M]; h[_@0 M]",
]
Y = made("N M")
FUNCTIONS: list[Callable[..., Any]] = [
    lambda x, y: np.sort(x, axis="M"),
    lambda x, y: np.argpartition(x, 1, axis=0),
    lambda x, y: np.flip(x),
    lambda x, y: np.flipud(x),
    lambda x, y: np.roll(x, 1, axis="N"),
    lambda x, y: np.repeat(x, 2, axis="N"),
    lambda x, y: np.delete(x, 0, axis="M"),
    lambda x, y: np.take(x, [2, 2, 0], axis="N"),
    lambda x, y: np.take_along_axis(x, np.zeros((3, 3), int), axis="N"),
    lambda x, y: np.split(x, 3, axis="N"),
    lambda x, y: np.concatenate([x, y], axis="M"),
    lambda x, y: np.vstack([x, y]),
    lambda x, y: np.hstack([x, y]),
    lambda x, y: np.stack([x, y], axis=1),
    lambda x, y: np.dot(x, y.rename(N="K").T),
    lambda x, y: np.inner(x, y.rename(N="K")),
    lambda x, y: np.tensordot(x, y.rename(N="K"), (["M"], ["M"])),
    lambda x, y: np.outer(x[:, 0], y[0]),
    lambda x, y: np.matmul(x, y.T.rename(N="K")),
    lambda x, y: np.add.outer(x, y[0, 0]),
    lambda x, y: np.hypot(x, y),
    lambda x, y: np.where(x > y, x, y),
    lambda x, y: np.moveaxis(x, "N", -1),
    lambda x, y: np.expand_dims(x, 0),
    lambda x, y: np.quantile(x, [0.2, 0.7], axis="M"),
    lambda x, y: np.average(x, axis="M", weights=y),
    lambda x, y: np.swapaxes(x, "N", "M"),
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_labels_after_expressions(text: str) -> None:
    operands = EXPRESSIONS[text]
    assert not list(wrong_labels(lambda *given: ne.einsum(text, *given), operands))


@pytest.mark.parametrize("text", FORMULAS)
def test_labels_after_formulas(text: str) -> None:
    operands = {"x": X, "v": V} if "v[" in text else {"x": X}

    def call(*given: ne.NamedTensor) -> Any:
        return ne.evaluate(text, operands=dict(zip(operands, given, strict=True)))

    assert not list(wrong_labels(call, list(operands.values())))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_labels_after_functions_of_numpy(function: Callable[..., Any]) -> None:
    assert not list(wrong_labels(function, [X, Y]))
