"""The ten formulas whose value and gradients are timed: networks, statistics, contractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gradients.base import Arrays, Drawn, Functions, GradientWorkload, normal

MLP = """
h[N H] = relu(sum[C](x[N C] * w[C H]) + b[H])
k[N G] = relu(sum[H](h * v[H G]) + c[G])
s[N K] = sum[G](k * u[G K]) + d[K]
loss = -mean[N](sum[K](log_softmax[K](s) * (index[K] == label[N])))
"""
ATTENTION = """
q[B T H D] = sum[C](x[B T C] * wq[C H D])
k[B T H D] = sum[C](x[B T C] * wk[C H D])
v[B T H D] = sum[C](x[B T C] * wv[C H D])
s[B H T S] = sum[D](q * k[B S H D]) / sqrt(size[D])
p[B H T S] = softmax[S](where(index[S] <= index[T], s, -inf))
y[B T V] = sum[H D](sum[S](p * v[B S H D]) * wo[H D V])
loss = -mean[B T](sum[V](log_softmax[V](y) * (index[V] == label[B T])))
"""
LAYER_NORM = """
c[N C] = x[N C] - mean[C](x[N C])
y[N C] = c / sqrt(mean[C](c ** 2) + 1e-5) * w[C] + b[C]
loss = mean[N C]((y - t[N C]) ** 2)
"""
MIXTURE = """
z[N K D] = sum[C](u[K C D] * (x[N C] - m[K C]))
p[N K] = log_softmax[K](a[K]) + sum[C](log(abs(u[K C C]))) - 0.5 * sum[D](z ** 2)
loss = -mean[N](logsumexp[K](p))
"""
KERNEL = """
d[I J] = sum[D]((x[I D] - y[J D]) ** 2)
f[I] = sum[J](exp(-d / (2 * s ** 2)) * a[J])
loss = mean[I]((f - t[I]) ** 2)
"""
POINTWISE = "loss = sum[N](sin(x[N]) * exp(-y[N] ** 2) + tanh(x[N] * y[N]) / (1 + x[N] ** 2))"
LOGISTIC = """
z[N] = sum[C](x[N C] * w[C]) + b
loss = mean[N](softplus(z) - t[N] * z) + 0.05 * sum[C](w[C] ** 2)
"""
TUCKER = """
y[I J K] = sum[A B C](g[A B C] * u[I A] * v[J B] * w[K C])
loss = mean[I J K]((y - t[I J K]) ** 2)
"""


def layers(rows: int, *sizes: int) -> Drawn:
    """Return a function that draws the operands of a network with layers of these sizes."""

    def draw(rng: np.random.Generator) -> Arrays:
        made = {"x": rng.standard_normal((rows, sizes[0])), "label": rng.integers(0, sizes[-1], rows)}
        for weight, bias, before, after in zip("wvu", "bcd", sizes, sizes[1:], strict=False):
            made[weight] = rng.standard_normal((before, after)) / math.sqrt(before)
            made[bias] = 0.1 * rng.standard_normal(after)
        return {name: x if name == "label" else x.astype("float32") for name, x in made.items()}

    return draw


def mlp(f: Functions, o: Arrays) -> Any:
    h = f.relu(o["x"] @ o["w"] + o["b"])
    k = f.relu(h @ o["v"] + o["c"])
    return f.cross_entropy(k @ o["u"] + o["d"], o["label"])


def sequences(batch: int, tokens: int, heads: int = 8, width: int = 32, words: int = 64) -> Drawn:
    """Return a function that draws the operands of a layer of attention."""

    def draw(rng: np.random.Generator) -> Arrays:
        inner = heads * width
        made = {name: rng.standard_normal((inner, heads, width)) / 16 for name in ("wq", "wk", "wv")}
        made |= {"wo": rng.standard_normal((heads, width, words)) / 16}
        made |= {"x": rng.standard_normal((batch, tokens, inner))}
        label = rng.integers(0, words, (batch, tokens))
        return {**{name: x.astype("float32") for name, x in made.items()}, "label": label}

    return draw


def _attention(weigh: Callable[[Functions, Any, Any, Any], Any]) -> Callable[[Functions, Arrays], Any]:
    def loss(f: Functions, o: Arrays) -> Any:
        q, k, v = (f.np.einsum("btc,chd->bhtd", o["x"], o[name]) for name in ("wq", "wk", "wv"))
        y = f.np.einsum("bhtd,hdv->btv", weigh(f, q, k, v), o["wo"])
        return f.cross_entropy(y.reshape(-1, y.shape[-1]), o["label"].reshape(-1))

    return loss


def _weighed(f: Functions, q: Any, k: Any, v: Any) -> Any:
    s = f.np.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
    index = f.np.arange(q.shape[2])
    s = f.np.where(index[None] <= index[:, None], s, -math.inf)
    return f.np.einsum("bhts,bhsd->bhtd", f.softmax(s), v)


def _flash(f: Functions, q: Any, k: Any, v: Any) -> Any:
    return f.np.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def layer_norm(f: Functions, o: Arrays) -> Any:
    c = o["x"] - o["x"].mean(-1, keepdims=True)
    y = c / f.np.sqrt((c**2).mean(-1, keepdims=True) + 1e-5) * o["w"] + o["b"]
    return ((y - o["t"]) ** 2).mean()


def _fused_layer_norm(f: Functions, o: Arrays) -> Any:
    y = f.np.nn.functional.layer_norm(o["x"], o["w"].shape, o["w"], o["b"])
    return ((y - o["t"]) ** 2).mean()


def _clusters(rng: np.random.Generator) -> Arrays:
    made = {"x": rng.standard_normal((12288, 3)), "m": rng.standard_normal((16, 3)), "a": np.zeros(16)}
    return made | {"u": np.eye(3) + 0.3 * rng.standard_normal((16, 3, 3))}


def mixture(f: Functions, o: Arrays) -> Any:
    z = f.np.einsum("kcd,nkc->nkd", o["u"], o["x"][:, None] - o["m"])
    scale = f.np.log(f.np.abs(f.np.einsum("kcc->kc", o["u"]))).sum(-1)
    return -f.logsumexp(f.log_softmax(o["a"]) + scale - 0.5 * (z**2).sum(-1)).mean()


def _points(rng: np.random.Generator) -> Arrays:
    made = {name: rng.standard_normal((1500, 32)) for name in "xy"}
    return made | {"a": rng.standard_normal(1500), "t": rng.standard_normal(1500), "s": np.array(4.0)}


def kernel(f: Functions, o: Arrays) -> Any:
    d = ((o["x"][:, None] - o["y"]) ** 2).sum(-1)
    return ((f.np.exp(-d / (2 * o["s"] ** 2)) @ o["a"] - o["t"]) ** 2).mean()


def pointwise(f: Functions, o: Arrays) -> Any:
    x, y = o["x"], o["y"]
    return (f.np.sin(x) * f.np.exp(-(y**2)) + f.np.tanh(x * y) / (1 + x**2)).sum()


def _observations(rng: np.random.Generator) -> Arrays:
    return {
        "x": rng.standard_normal((20000, 100)),
        "w": 0.1 * rng.standard_normal(100),
        "b": np.array(0.1),
        "t": rng.integers(0, 2, 20000).astype(float),
    }


def logistic(f: Functions, o: Arrays) -> Any:
    z = o["x"] @ o["w"] + o["b"]
    return (f.softplus(z) - o["t"] * z).mean() + 0.05 * (o["w"] ** 2).sum()


def tucker(f: Functions, o: Arrays) -> Any:
    path = [(0, 1), (2, 4), (3, 5)]
    y = f.contract("abc,ia,jb,kc->ijk", [o["g"], o["u"], o["v"], o["w"]], path)
    return ((y - o["t"]) ** 2).mean()


FACTORS = normal("float64", g=(12,) * 3, u=(60, 12), v=(60, 12), w=(60, 12), t=(60,) * 3)
CHAIN = normal("float64", x=(10**6,), y=(10**6,))
ROWS = normal("float32", x=(4096, 512), t=(4096, 512), w=(512,), b=(512,))
ATTENTION_WRT = "wq wk wv wo"
WORKLOADS = tuple(
    GradientWorkload("ten", *rest)
    for rest in (
        ("MLP 512", MLP, "w b v c u d", layers(512, 784, 512, 512, 10), mlp),
        ("MLP 32", MLP, "w b v c u d", layers(32, 20, 30, 30, 10), mlp),
        (
            "attention T256",
            ATTENTION,
            ATTENTION_WRT,
            sequences(4, 256),
            _attention(_weighed),
            _attention(_flash),
        ),
        (
            "attention T1024",
            ATTENTION,
            ATTENTION_WRT,
            sequences(1, 1024),
            _attention(_weighed),
            _attention(_flash),
        ),
        ("layer norm", LAYER_NORM, "x w b", ROWS, layer_norm, _fused_layer_norm),
        ("mixture", MIXTURE, "m u a", _clusters, mixture),
        ("kernel", KERNEL, "y a s", _points, kernel),
        ("pointwise", POINTWISE, "x y", CHAIN, pointwise),
        ("logistic", LOGISTIC, "w b", _observations, logistic),
        ("Tucker", TUCKER, "g u v w", FACTORS, tucker),
    )
)
