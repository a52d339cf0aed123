"""Group b, first half: everything that is one matrix product, alone or batched, in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.base import Operands, Workload, by_einsum, normal


def _case(
    name: str, text: str, shapes: tuple[tuple[int, ...], ...], *hands, tags=(), dtype: Any = np.float32
):
    return Workload(name, "b", text, normal(*shapes, dtype=dtype), hands, tags=tags)


def _swap(x):
    """Return the view with the last two axes exchanged."""
    return x.swapaxes(-1, -2)


def _middle_batch(a, b):
    out = np.empty((a.shape[0], a.shape[1], b.shape[2]), a.dtype)
    np.matmul(a.transpose(1, 0, 2), b.transpose(1, 0, 2), out=out.transpose(1, 0, 2))
    return out


def _last_batch(a, b):
    first = np.matmul(np.ascontiguousarray(a.transpose(2, 0, 1)), np.ascontiguousarray(b.transpose(2, 0, 1)))
    return first.transpose(1, 2, 0)


def _values_into(p, v):
    out = np.empty((p.shape[0], p.shape[2], p.shape[1], v.shape[3]), p.dtype)
    np.matmul(p, v.transpose(0, 2, 1, 3), out=out.transpose(0, 2, 1, 3))
    return out


def _linear(x, w):
    return (x.reshape(-1, x.shape[-1]) @ w).reshape(*x.shape[:-1], w.shape[-1])


def _heads_in(x, w):
    flat = x.reshape(-1, x.shape[-1]) @ w.reshape(w.shape[0], -1)
    return flat.reshape(*x.shape[:2], *w.shape[1:]).transpose(0, 2, 1, 3)


def _heads_out(x, w):
    flat = x.reshape(-1, x.shape[2] * x.shape[3]) @ w.reshape(-1, w.shape[2])
    return flat.reshape(*x.shape[:2], w.shape[2])


def _interleaved(x, y):
    a, c, b, d = x.shape
    left = x.transpose(0, 2, 3, 1).reshape(a * b, d * c)
    right = y.transpose(0, 2, 1, 3).reshape(d * c, -1)
    return (left @ right).reshape(a, b, y.shape[1], y.shape[3])


def _gram(rng: np.random.Generator) -> Operands:
    x = rng.standard_normal((300, 400)).astype(np.float32)
    return x, x


SQUARES = ((256, 256), (256, 256))
HEADS = (4, 128, 8, 64)  # batch, position, head, feature

GEMM = (
    _case("gemm nn", "i j, j k -> i k", SQUARES, lambda a, b: a @ b),
    _case("gemm nt", "i j, k j -> i k", SQUARES, lambda a, b: a @ b.T),
    _case("gemm tn", "j i, j k -> i k", SQUARES, lambda a, b: a.T @ b),
    _case("gemm tt", "j i, k j -> i k", SQUARES, lambda a, b: a.T @ b.T, lambda a, b: (b @ a).T),
    _case(
        "gemm transposed result", "i j, j k -> k i", SQUARES, lambda a, b: (a @ b).T, lambda a, b: b.T @ a.T
    ),
    Workload("gram of one array", "b", "i k, j k -> i j", _gram, (lambda x, y: x @ y.T,)),
    _case(
        "two contracted dims",
        "a b c d, c d e f -> a b e f",
        ((16, 16, 12, 12), (12, 12, 16, 16)),
        lambda x, y: np.tensordot(x, y, 2),
        lambda x, y: (x.reshape(256, 144) @ y.reshape(144, 256)).reshape(16, 16, 16, 16),
    ),
    _case(
        "interleaved dims", "a c b d, d e c f -> a b e f", ((16, 12, 16, 12), (12, 16, 12, 16)), _interleaved
    ),
    _case(
        "linear layer",
        "batch seq inp, inp out -> batch seq out",
        ((8, 64, 256), (256, 128)),
        _linear,
        np.matmul,
    ),
)

SHAPES = (
    _case("gemm small", "i j, j k -> i k", ((32, 32), (32, 32)), np.ndarray.dot, lambda a, b: a @ b),
    _case("gemm long inner", "i k, k j -> i j", ((8, 20000), (20000, 8)), np.ndarray.dot, lambda a, b: a @ b),
    _case(
        "batched with broadcast",
        "b h q d, h d e -> b h q e",
        ((8, 4, 64, 64), (4, 64, 64)),
        np.matmul,
        lambda x, w: (
            np.matmul(x.transpose(1, 0, 2, 3).reshape(4, -1, 64), w)
            .reshape(4, 8, 64, 64)
            .transpose(1, 0, 2, 3)
        ),
    ),
    _case(
        "batched small",
        "b i j, b j k -> b i k",
        ((5000, 4, 4), (5000, 4, 4)),
        np.matmul,
        by_einsum("bij,bjk->bik"),
    ),
)

BATCHED = (
    _case("bmm nn", "b i j, b j k -> b i k", ((32, 64, 64), (32, 64, 64)), np.matmul, tags=("bmm",)),
    _case(
        "bmm nt",
        "b i j, b k j -> b i k",
        ((32, 64, 64), (32, 64, 64)),
        lambda a, b: np.matmul(a, _swap(b)),
        tags=("bmm",),
    ),
    _case(
        "bmm tn",
        "b j i, b j k -> b i k",
        ((32, 64, 64), (32, 64, 64)),
        lambda a, b: np.matmul(_swap(a), b),
        tags=("bmm",),
    ),
    _case(
        "bmm tt",
        "b j i, b k j -> b i k",
        ((32, 64, 64), (32, 64, 64)),
        lambda a, b: np.matmul(_swap(a), _swap(b)),
        lambda a, b: _swap(np.matmul(b, a)),
        tags=("bmm",),
    ),
    _case(
        "bmm batch in the middle",
        "i b j, j b k -> i b k",
        ((64, 32, 64), (64, 32, 64)),
        _middle_batch,
        lambda a, b: np.matmul(a.transpose(1, 0, 2), b.transpose(1, 0, 2)).transpose(1, 0, 2),
        tags=("bmm",),
    ),
    _case(
        "bmm batch last",
        "i j b, j k b -> i k b",
        ((64, 64, 32), (64, 64, 32)),
        _last_batch,
        by_einsum("ijb,jkb->ikb"),
        lambda a, b: np.matmul(a.transpose(2, 0, 1), b.transpose(2, 0, 1)).transpose(1, 2, 0),
        tags=("bmm",),
    ),
    _case(
        "attention scores",
        "b q h d, b k h d -> b h q k",
        (HEADS, HEADS),
        lambda q, k: np.matmul(q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1)),
        tags=("bmm",),
    ),
    _case(
        "attention values",
        "b h q k, b k h d -> b q h d",
        ((4, 8, 128, 128), HEADS),
        _values_into,
        lambda p, v: np.matmul(p, v.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3),
        tags=("bmm",),
    ),
    _case(
        "attention scores, heads first",
        "b h q d, b h k d -> b h q k",
        ((4, 8, 128, 64), (4, 8, 128, 64)),
        lambda q, k: np.matmul(q, _swap(k)),
        tags=("bmm",),
    ),
    _case("attention in", "b s m, m h d -> b h s d", ((4, 64, 256), (256, 8, 32)), _heads_in),
    _case("attention out", "b s h d, h d m -> b s m", ((4, 64, 8, 32), (8, 32, 256)), _heads_out),
)

WORKLOADS = (*GEMM, *SHAPES, *BATCHED)
