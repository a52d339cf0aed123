"""Derivatives that are not one gradient: Hessians, gradients of each sample, a Hessian times a vector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.gradients.base import Arrays, Drawn, Functions, GradientWorkload, normal
from benchmarks.gradients.workloads import layers

LOGISTIC = """
loss = sum[N](softplus(sum[C](x[N C] * w[C])))
h[C D] = grad(grad(loss, w[C]), w[D])
"""
FACTORS = """
loss = mean[I J]((sum[R](u[I R] * v[J R]) - t[I J]) ** 2)
h[I R I' R'] = grad(grad(loss, u[I R]), u[I' R'])
"""
TANH = """
y[N] = sum[H](tanh(sum[C](x[N C] * w[C H])) * v[H])
loss = mean[N]((y - t[N]) ** 2)
h[C H C' H'] = grad(grad(loss, w[C H]), w[C' H'])
"""
PER_SAMPLE = """
h[N H] = relu(sum[C](x[N C] * w[C H]) + b[H])
s[N K] = sum[H](h * v[H K]) + c[K]
l[N] = -sum[K](log_softmax[K](s) * (index[K] == label[N]))
dw[N C H] = grad(l, w[C H])
db[N H] = grad(l, b[H])
dv[N H K] = grad(l, v[H K])
dc[N K] = grad(l, c[K])
"""
PRODUCT = """
y[N K] = sum[H](tanh(sum[C](x[N C] * w[C H]) + b[H]) * v[H K])
loss = mean[N K]((y - t[N K]) ** 2)
hv[C H] = grad(sum[C H](grad(loss, w[C H]) * d[C H]), w[C H])
"""


def logistic(f: Functions, o: Arrays) -> Any:
    return f.hessian(lambda w: f.softplus(o["x"] @ w).sum(), o["w"])


def factors(f: Functions, o: Arrays) -> Any:
    return f.hessian(lambda u: ((u @ o["v"].T - o["t"]) ** 2).mean(), o["u"])


def tanh(f: Functions, o: Arrays) -> Any:
    return f.hessian(lambda w: ((f.np.tanh(o["x"] @ w) @ o["v"] - o["t"]) ** 2).mean(), o["w"])


def per_sample(f: Functions, o: Arrays) -> Any:
    def loss(parameters: Any, x: Any, label: Any) -> Any:
        w, b, v, c = parameters
        s = f.relu(x @ w + b) @ v + c
        return f.cross_entropy(s[None], label[None])

    return f.per_sample(loss, tuple(o[name] for name in "wbvc"), o["x"], o["label"])


def product(f: Functions, o: Arrays) -> Any:
    def loss(w: Any) -> Any:
        return ((f.np.tanh(o["x"] @ w + o["b"]) @ o["v"] - o["t"]) ** 2).mean()

    def slope(w: Any) -> Any:
        return (f.gradient(loss, w) * o["d"]).sum()

    return f.gradient(slope, o["w"])


def _two_layers(rng: np.random.Generator) -> Arrays:
    found = layers(64, 100, 80, 10)(rng)
    return {name: found[name] for name in ("x", "w", "b", "v", "c", "label")}


def _scaled(drawn: Drawn, *names: str) -> Drawn:
    """Return operands of which some are divided by the root of their first size."""

    def draw(rng: np.random.Generator) -> Arrays:
        found = drawn(rng)
        return {
            name: x / x.dtype.type(math.sqrt(x.shape[0])) if name in names else x for name, x in found.items()
        }

    return draw


def _logistic(rows: int, columns: int) -> Drawn:
    return _scaled(normal("float64", x=(rows, columns), w=(columns,)), "w")


RESULTS = {PER_SAMPLE: ("dw", "db", "dv", "dc")}
U, NET = (40, 12), (200, 20)
WORKLOADS = tuple(
    GradientWorkload("second", name, text, "", drawn, by_hand, outputs=RESULTS.get(text, ()))
    for name, text, drawn, by_hand in (
        ("Hessian, logistic 100", LOGISTIC, _logistic(2000, 100), logistic),
        ("Hessian, logistic 300", LOGISTIC, _logistic(5000, 300), logistic),
        ("Hessian, factors", FACTORS, normal("float64", u=U, v=(50, 12), t=(40, 50)), factors),
        ("Hessian, tanh", TANH, normal("float64", x=NET, w=(20, 10), v=(10,), t=(200,)), tanh),
        ("per sample", PER_SAMPLE, _two_layers, per_sample),
        (
            "Hessian times vector",
            PRODUCT,
            _scaled(
                normal(
                    "float32", x=(256, 400), w=(400, 256), b=(256,), v=(256, 10), t=(256, 10), d=(400, 256)
                ),
                *"wv",
            ),
            product,
        ),
    )
)
