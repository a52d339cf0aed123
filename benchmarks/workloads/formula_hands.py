"""The formulas of group f by hand: the best in-place or blocked NumPy known for each, beside the plain one.

Where NumPy has no function (the error function) the hand calls nameexpr's kernel, so that only what stands
around it is compared.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from nameexpr.backends.numpy import special


def attention(q, k, v):
    """Return causal attention of all heads at once, in one array of scores."""
    batch, heads, length, width = v.shape
    s = np.matmul(q, k.swapaxes(-1, -2))
    _weigh(s, np.arange(length)[:, None] < np.arange(length), width)
    s /= np.add.reduce(s, -1, keepdims=True)
    out = np.empty((batch, length, heads, width), s.dtype)
    np.matmul(s, v, out=out.transpose(0, 2, 1, 3))
    return out.reshape(batch, length, heads * width)


def attention_by_head(q, k, v):
    """Return the same with the scores of one head at a time, divided by their sums last."""
    batch, heads, length, width = v.shape
    out = np.empty((batch, length, heads, width), q.dtype)
    s = np.empty((length, length), q.dtype)
    hidden = np.arange(length)[:, None] < np.arange(length)
    for b, h in product(range(batch), range(heads)):
        np.matmul(q[b, h], k[b, h].T, out=s)
        _weigh(s, hidden, width)
        o = np.matmul(s, v[b, h], out=out[b, :, h])
        o /= np.add.reduce(s, -1, keepdims=True)
    return out.reshape(batch, length, heads * width)


def _weigh(s, hidden, width):
    """Turn scores into the exponentials of a softmax, in place."""
    s /= width**0.5
    np.copyto(s, -np.inf, where=hidden)
    s -= np.maximum.reduce(s, -1, keepdims=True, initial=-np.inf)
    np.exp(s, s)


def attention_naive(q, k, v):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
    s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    o = (e / e.sum(-1, keepdims=True)) @ v
    return o.transpose(0, 2, 1, 3).reshape(o.shape[0], o.shape[2], -1)


def distances(x, y):
    """Return squared distances, a row in two halves: the differences stay in the second-level cache."""
    out = np.empty((len(x), len(y)), x.dtype)
    for i, j in product(range(len(x)), range(0, len(y), 500)):
        d = y[j : j + 500] - x[i]
        np.einsum("jd,jd->j", d, d, out=out[i, j : j + 500])
    return out


def distances_vecdot(x, y):
    out = np.empty((len(x), len(y)), x.dtype)
    for i, j in product(range(len(x)), range(0, len(y), 500)):
        d = y[j : j + 500] - x[i]
        np.vecdot(d, d, out=out[i, j : j + 500])
    return out


def min_plus(a, b):
    """Return the least sums, 8 rows by 8 columns at a time, with the reduced dim last in memory."""
    c = np.ascontiguousarray(b.T)
    out = np.empty((len(a), len(c)), a.dtype)
    sums = np.empty((8, 8, a.shape[1]), a.dtype)
    for j, i in product(range(0, len(c), 8), range(0, len(a), 8)):
        rows, columns = a[i : i + 8, None], c[j : j + 8]
        part = sums[: len(rows), : len(columns)]
        np.add(rows, columns, out=part)
        np.minimum.reduce(part, 2, out=out[i : i + 8, j : j + 8])
    return out


def min_plus_by_row(a, b):
    """Return the same, a row at a time: good while all of b stays in the cache."""
    return np.stack([(row[:, None] + b).min(0) for row in a])


def min_plus_wide(a, b):
    """Return the same with few rows of a and many columns of b at a time."""
    c = np.ascontiguousarray(b.T)
    out = np.empty((len(a), len(c)), a.dtype)
    for i, j in product(range(0, len(a), 4), range(0, len(c), 27)):
        sums = np.add(a[i : i + 4, None], c[j : j + 27])
        np.minimum.reduce(sums, 2, out=out[i : i + 4, j : j + 27])
    return out


def chain(x, y):
    """Return the chain in blocks of 16 rows, each in a few arrays that are written over."""
    out = np.empty_like(x)
    for i in range(0, len(x), 16):
        _chain_block(x[i : i + 16], y[i : i + 16], out[i : i + 16])
    return out


def _chain_block(x, y, out):
    square = x * x
    np.multiply(y, y, out)
    out += square
    np.sqrt(out, out)
    t = np.abs(x)
    t *= -0.5
    np.exp(t, t)
    out *= t
    np.tanh(x, t)
    t *= y
    out += t
    out -= np.log1p(square, square)


def chain_naive(x, y):
    return np.sqrt(x**2 + y**2) * np.exp(-np.abs(x) / 2) + np.tanh(x) * y - np.log1p(x**2)


def softmax(x):
    # NumPy's maximum along the last axis is quicker if it is told where to start.
    e = x - np.maximum.reduce(x, 1, keepdims=True, initial=-np.inf)
    np.exp(e, e)
    e /= np.add.reduce(e, 1, keepdims=True)
    return e


def softmax_naive(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def layer_norm(x, g, b):
    out = x - x.dot(np.full(x.shape[1], 1 / x.shape[1], x.dtype))[:, None]
    scale = np.einsum("nc,nc->n", out, out)
    scale /= x.shape[1]
    scale += 1e-5
    np.reciprocal(np.sqrt(scale, scale), scale)
    out *= scale[:, None]
    out *= g
    out += b
    return out


def layer_norm_blocked(x, g, b):
    out = np.empty_like(x)
    for i in range(0, len(x), 32):
        out[i : i + 32] = layer_norm(x[i : i + 32], g, b)
    return out


def layer_norm_naive(x, g, b):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b


def batch_norm(x):
    mean = np.full(len(x), 1 / len(x)).dot(x)
    out = x - mean
    scale = np.einsum("nc,nc->c", out, out) / len(x)
    scale += 1e-5
    out /= np.sqrt(scale, scale)
    return out


def batch_norm_naive(x):
    return (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)


def variance(x):
    """Return the variance of each column from blocks of rows, about the mean."""
    mean = np.full(len(x), 1 / len(x)).dot(x)
    total = np.zeros_like(mean)
    for i in range(0, len(x), 32):
        d = x[i : i + 32] - mean
        total += np.einsum("nc,nc->c", d, d)
    return total / len(x)


def network(x, w, b, u, c):
    """Return two layers with gelu between them, the hidden one in blocks of rows."""
    out = np.empty((len(x), u.shape[1]), x.dtype)
    for i in range(0, len(x), 128):
        h = x[i : i + 128].dot(w)
        h += b
        t = special.erfc(h * h.dtype.type(-(0.5**0.5)))
        t *= h
        t *= h.dtype.type(0.5)
        np.dot(t, u, out=out[i : i + 128])
    out += c
    return out


def network_naive(x, w, b, u, c):
    h = x @ w + b
    h = h * special.erfc(h * h.dtype.type(-(0.5**0.5))) / 2
    return h @ u + c


def mixture(x, m, v, w):
    """Return the log-likelihood under a mixture of Gaussians, component by component."""
    logs = np.empty((len(w), len(x)))
    front = np.log(w) - np.log(v).sum(1) / 2
    for k, out in enumerate(logs):
        d = x - m[k]
        np.einsum("nd,nd,d->n", d, d, -0.5 / v[k], out=out)
        out += front[k]
    top = np.maximum.reduce(logs, 0)
    logs -= top
    return np.log(np.add.reduce(np.exp(logs, logs), 0)).sum() + top.sum()


def mixture_naive(x, m, v, w):
    d = ((x[:, None] - m) ** 2 / v).sum(2)
    logs = np.log(w) - d / 2 - np.log(v).sum(1) / 2
    top = logs.max(1, keepdims=True)
    return (top[:, 0] + np.log(np.exp(logs - top).sum(1))).sum()


def inertia(m, r):
    """Return the moments of inertia: the second moments give the trace too."""
    second = (r * m[:, None]).T.dot(r)
    return np.trace(second) * np.eye(r.shape[1]) - second


def inertia_naive(m, r):
    squares = (r**2).sum(1)[:, None, None] * np.eye(r.shape[1])
    return (m[:, None, None] * (squares - r[:, :, None] * r[:, None, :])).sum(0)
