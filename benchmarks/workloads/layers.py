"""Group f: a transformer block of 13 statements, and single layers of a few numbers.

By hand the block is written in place; for large arrays also in blocks: attention by head, the two dense
layers by rows. Its error function is SciPy's where that is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from benchmarks.workloads.base import MEMORY, Operands
from benchmarks.workloads.formula_hands import layer_norm, softmax
from benchmarks.workloads.formulas import FormulaWorkload

try:
    from scipy.special import erfc
except ImportError:
    from nameexpr.backends.numpy.special import erfc

BLOCK, SMALL_BLOCK, LAYER = "transformer", "small transformer", "layer"
ROWS = 128
TEXT = """a[B S D] = (x[B S D] - mean[D](x)) / sqrt(var[D](x) + 1e-5) * g[D] + c[D]
q[B H S E] = sum[D](a * wq[D H E])
k[B H S E] = sum[D](a * wk[D H E])
v[B H S E] = sum[D](a * wv[D H E])
s[B H S T] = sum[E](q * k[B H T E]) / sqrt(size[E])
p = softmax[T](where(index[S] >= index[T], s, -inf))
o[B S H E] = sum[T](p * v[B H T E])
y[B S D] = x + sum[H E](o * wo[H E D])
n = (y - mean[D](y)) / sqrt(var[D](y) + 1e-5) * g2[D] + c2[D]
h[B S F] = gelu(sum[D](n * w1[D F]) + b1[F])
f[B S D] = sum[F](h * w2[F D])
z = f + b2[D]
out[B S D] = y + z"""
NAMES = ("x", "g", "c", "wq", "wk", "wv", "wo", "g2", "c2", "w1", "b1", "w2", "b2")


def _operands(batch: int, length: int, width: int, heads: int) -> Callable[[np.random.Generator], Operands]:
    split, wide = (width, heads, width // heads), 4 * width
    shapes = (
        (batch, length, width), (width,), (width,), split, split, split, (*split[1:], width),
        (width,), (width,), (width, wide), (wide,), (wide, width), (width,),
    )  # fmt: skip

    def make(rng: np.random.Generator) -> Operands:
        made = []
        for number, shape in enumerate(shapes):
            scale = width**-0.5 if number and len(shape) > 1 else 1.0
            made.append((rng.standard_normal(shape) * scale).astype(np.float32))
        return tuple(made)

    return make


def gelu(x: Any) -> Any:
    out = erfc(x * x.dtype.type(-(0.5**0.5)))
    out *= x
    out *= 0.5
    return out


def _heads(rows: Any, w: Any, batch: int) -> Any:
    width, heads, inner = w.shape
    return rows.dot(w.reshape(width, width)).reshape(batch, -1, heads, inner)


def _attend(q: Any, k: Any, v: Any) -> Any:
    """Return causal attention of all heads at once; the axes are those of batch, position, head, dim."""
    batch, length, heads, inner = q.shape
    s = np.matmul(q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1))
    s /= inner**0.5
    np.copyto(s, -np.inf, where=np.arange(length)[:, None] < np.arange(length))
    s -= np.maximum.reduce(s, -1, keepdims=True)
    np.exp(s, s)
    s /= np.add.reduce(s, -1, keepdims=True)
    out = np.empty((batch, length, heads, inner), q.dtype)
    np.matmul(s, v.transpose(0, 2, 1, 3), out=out.transpose(0, 2, 1, 3))
    return out


def _attend_by_head(q: Any, k: Any, v: Any) -> Any:
    batch, length, heads, inner = q.shape
    hidden = np.arange(length)[:, None] < np.arange(length)
    out, s = np.empty_like(q), np.empty((length, length), q.dtype)
    for b, h in product(range(batch), range(heads)):
        np.matmul(q[b, :, h], k[b, :, h].T, out=s)
        s /= inner**0.5
        np.copyto(s, -np.inf, where=hidden)
        s -= np.maximum.reduce(s, -1, keepdims=True, initial=-np.inf)
        np.exp(s, s)
        part = np.matmul(s, v[b, :, h], out=out[b, :, h])
        part /= np.add.reduce(s, -1, keepdims=True)
    return out


def _block(rows: int, attend: Callable[..., Any]) -> Callable[..., Any]:
    """Return the block by hand, its dense layers for a number of rows at a time."""

    def hand(x, g, c, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2):
        width = x.shape[-1]
        flat = x.reshape(-1, width)
        a = layer_norm(flat, g, c)
        o = attend(*[_heads(a, w, len(x)) for w in (wq, wk, wv)])
        y = o.reshape(-1, width).dot(wo.reshape(width, width))
        y += flat
        out = np.empty_like(y)
        for start in range(0, len(y), rows):
            part = y[start : start + rows]
            h = layer_norm(part, g2, c2).dot(w1)
            h += b1
            z = np.dot(gelu(h), w2, out=out[start : start + rows])
            z += b2
            z += part
        return out.reshape(x.shape)

    return hand


def plain(x, g, c, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2):
    """Return the block as one writes it first."""

    def norm(x, g, c):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + c

    a, length = norm(x, g, c), x.shape[1]
    q, k, v = (_heads(a.reshape(-1, x.shape[-1]), w, len(x)).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(x.dtype)
    s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = (e / e.sum(-1, keepdims=True)) @ v
    y = x + o.transpose(0, 2, 1, 3).reshape(x.shape) @ wo.reshape(x.shape[-1], -1)
    h = norm(y, g2, c2) @ w1 + b1
    return y + (h * erfc(-h / x.dtype.type(2**0.5)) / 2 @ w2 + b2)


def logsumexp(x: Any) -> Any:
    top = np.maximum.reduce(x, -1, keepdims=True)
    shifted = x - top
    total = np.log(np.add.reduce(np.exp(shifted, shifted), -1))
    total += top[:, 0]
    return total


def dense(x: Any, w: Any, b: Any, u: Any, c: Any) -> Any:
    h = x.dot(w)
    h += b
    np.maximum(h, 0, out=h)
    y = h.dot(u)
    y += c
    return y


def _layer(
    name: str, text: str, inputs: str, hand: Callable[..., Any], *shapes: tuple[int, ...]
) -> FormulaWorkload:
    def make(rng: np.random.Generator) -> Operands:
        return tuple(rng.standard_normal(shape) for shape in shapes)

    size = "x".join(map(str, shapes[0]))
    return FormulaWorkload(f"{name} {size}", "f", text, make, (hand,), tags=(LAYER,), inputs=tuple(inputs))


def _layers(rows: int, width: int) -> tuple[FormulaWorkload, ...]:
    x, one = (rows, width), (width,)
    norm = "y[N C] = (x[N C] - mean[C](x)) / sqrt(var[C](x) + 1e-5) * g[C] + b[C]"
    network = "h = relu(sum[C](x[N C] * w[C H]) + b[H]); y[N K] = sum[H](h * u[H K]) + c[K]"
    return (
        _layer("small softmax", "softmax[C](x[N C])", "x", softmax, x),
        _layer("small layer norm", norm, "xgb", layer_norm, x, one, one),
        _layer("small logsumexp", "logsumexp[C](x[N C])", "x", logsumexp, x),
        _layer("small gelu", "gelu(x[N C])", "x", gelu, x),
        _layer("small dense", network, "xwbuc", dense, x, (width, 16), (16,), (16, 4), (4,)),
    )


def _transformer(name: str, tag: str, hands: tuple[Callable[..., Any], ...], *shape: int) -> FormulaWorkload:
    tags = (tag, MEMORY) if tag == BLOCK else (tag,)
    return FormulaWorkload(name, "f", TEXT, _operands(*shape), hands, tags=tags, inputs=NAMES, naive=plain)


WHOLE = _block(1 << 30, _attend)
WORKLOADS = (
    _transformer("transformer 4 256 256", BLOCK, (_block(ROWS, _attend_by_head), WHOLE), 4, 256, 256, 8),
    _transformer("transformer 2 12 32", SMALL_BLOCK, (WHOLE,), 2, 12, 32, 4),
    *_layers(4, 8),
    *_layers(24, 32),
)
