"""Group b, second half: products with vectors, pointwise products, and three or four operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.base import LIMITED, Workload, by_einsum, normal


def _case(
    name: str, text: str, shapes: tuple[tuple[int, ...], ...], *hands, tags=(), dtype: Any = np.float32
):
    return Workload(name, "b", text, normal(*shapes, dtype=dtype), hands, tags=tags)


def _bilinear(x, w, y):
    return np.einsum("kbj,bj->bk", x @ w, y)


def _bilinear_batched(x, w, y):
    return np.matmul((x @ w).transpose(1, 0, 2), y[:, :, None])[..., 0]


def _bilinear_outer(x, w, y):
    pairs = (x[:, :, None] * y[:, None, :]).reshape(len(x), -1)
    return pairs @ w.reshape(len(w), -1).T


def _mttkrp_pairs(x, b, c):
    return x.reshape(len(x), -1) @ (b[:, None] * c).reshape(-1, b.shape[1])


def _mttkrp_steps(x, b, c):
    return np.einsum("ijr,jr->ir", (x.reshape(-1, x.shape[2]) @ c).reshape(*x.shape[:2], -1), b)


def _tucker(core, u, v, w):
    step = (core.reshape(-1, core.shape[2]) @ w).reshape(*core.shape[:2], -1)
    step = np.matmul(v.T, step)
    return (u.T @ step.reshape(len(step), -1)).reshape(-1, *step.shape[1:])


IMAGES = (16, 64, 28, 28)

VECTORS = (
    _case("matvec", "i j, j -> i", ((1024, 1024), (1024,)), lambda a, x: a.dot(x)),
    _case("vecmat", "i, i j -> j", ((1024,), (1024, 1024)), lambda x, a: x.dot(a)),
    _case(
        "batched matvec",
        "b i j, b j -> b i",
        ((256, 64, 64), (256, 64)),
        by_einsum("bij,bj->bi"),
        lambda a, x: np.matmul(a, x[..., None])[..., 0],
    ),
    _case("quadratic form", "i, i j, j ->", ((512,), (512, 512), (512,)), lambda x, a, y: x.dot(a.dot(y))),
    _case(
        "outer",
        "i, j -> i j",
        ((600,), (700,)),
        np.multiply.outer,
        by_einsum("i,j->ij"),
        lambda x, y: x[:, None].dot(y[None]),
    ),
    _case(
        "batched outer",
        "b i, b j -> b i j",
        ((200, 40), (200, 50)),
        lambda x, y: x[:, :, None] * y[:, None, :],
        by_einsum("bi,bj->bij"),
        lambda x, y: np.matmul(x[:, :, None], y[:, None, :]),
    ),
    _case(
        "hadamard and sum",
        "i j, i j ->",
        ((500, 600), (500, 600)),
        lambda x, y: x.ravel().dot(y.ravel()),
        by_einsum("ij,ij->"),
    ),
    _case("row dots", "i j, i j -> i", ((2000, 64), (2000, 64)), by_einsum("ij,ij->i"), np.vecdot),
    _case(
        "batched dots",
        "b h d, b h d -> b h",
        ((64, 16, 64), (64, 16, 64)),
        by_einsum("bhd,bhd->bh"),
        np.vecdot,
    ),
    _case(
        "channel scale",
        "N C H W, C -> N C H W",
        (IMAGES, (64,)),
        lambda x, s: x * s[:, None, None],
        by_einsum("nchw,c->nchw"),
    ),
    _case(
        "channel scale, permuted",
        "N C H W, C -> N H W C",
        (IMAGES, (64,)),
        lambda x, s: (x * s[:, None, None]).transpose(0, 2, 3, 1),
        lambda x, s: np.einsum("nchw,c->nchw", x, s).transpose(0, 2, 3, 1),
    ),
    _case(
        "scale both sides",
        "i, i j, j -> i j",
        ((500,), (500, 600), (600,)),
        lambda x, a, y: x[:, None] * a * y,
        lambda x, a, y: np.multiply(out := x[:, None] * a, y, out=out),
        lambda x, a, y: x[:, None] * y * a,
    ),
)

SEVERAL = (
    _case(
        "chain, left first",
        "i j, j k, k l -> i l",
        ((8, 256), (256, 300), (300, 256)),
        lambda a, b, c: (a @ b) @ c,
        tags=("chain",),
    ),
    _case(
        "chain, right first",
        "i j, j k, k l -> i l",
        ((256, 300), (300, 256), (256, 8)),
        lambda a, b, c: a @ (b @ c),
        tags=("chain",),
    ),
    _case(
        "chain of four",
        "i j, j k, k l, l m -> i m",
        ((200, 30), (30, 300), (300, 20), (20, 250)),
        lambda a, b, c, d: (a @ (b @ c)) @ d,
        lambda a, b, c, d: a @ ((b @ c) @ d),
    ),
    _case(
        "bilinear",
        "b i, k i j, b j -> b k",
        ((64, 64), (32, 64, 64), (64, 64)),
        _bilinear,
        _bilinear_outer,
        _bilinear_batched,
        tags=(LIMITED,),
    ),
    _case(
        "mttkrp",
        "i j k, j r, k r -> i r",
        ((64, 48, 48), (48, 16), (48, 16)),
        _mttkrp_pairs,
        _mttkrp_steps,
        tags=(LIMITED,),
        dtype=np.float64,
    ),
    _case(
        "tucker",
        "a b c, a i, b j, c k -> i j k",
        ((12, 12, 12), (12, 24), (12, 24), (12, 24)),
        _tucker,
        dtype=np.float64,
    ),
    _case(
        "weighted gram",
        "n i, n, n j -> i j",
        ((2000, 64), (2000,), (2000, 64)),
        lambda x, w, y: (x * w[:, None]).T @ y,
        lambda x, w, y: x.T @ (y * w[:, None]),
    ),
    _case(
        "3x3 batch last",
        "i j b, j k b -> i k b",
        ((3, 3, 50000), (3, 3, 50000)),
        by_einsum("ijb,jkb->ikb"),
        dtype=np.float64,
    ),
)

WORKLOADS = (*VECTORS, *SEVERAL)
