"""Group c: layout changes and pooling, with the result in C order.

Whatever an adapter returns goes through ``np.ascontiguousarray`` inside its time, hand included: a view costs
its copy, a result that is in C order already costs a tenth of a microsecond.
"""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.workloads.base import Workload, normal


def _case(name: str, text: str, shape: tuple[int, ...], *hands, sizes=None, tags=()) -> Workload:
    return Workload(name, "c", text, normal(shape), hands, sizes=sizes or {}, materialise=True, tags=tags)


def _rows(x, height: int):
    """Transpose the last two axes in strips of rows, as NumPy's own copy walks whole columns."""
    out = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    for start in range(0, x.shape[-2], height):
        out[..., start : start + height] = x[..., start : start + height, :].swapaxes(-1, -2)
    return out


def _transposed(x):
    return np.ascontiguousarray(x.swapaxes(-1, -2))


TRANSPOSES = (_transposed, *(functools.partial(_rows, height=height) for height in (8, 16, 32, 64)))


def _each(function):
    """Return the function applied to images as (n, pixels, channels) or (n, channels, pixels)."""

    def last_first(x):
        n, h, w, c = x.shape
        return function(x.reshape(n, h * w, c)).reshape(n, c, h, w)

    def first_last(x):
        n, c, h, w = x.shape
        return function(x.reshape(n, c, h * w)).reshape(n, h, w, c)

    return last_first, first_last


TO_FIRST, TO_LAST = zip(*(_each(function) for function in TRANSPOSES), strict=True)


def _split_heads(x, h: int = 8):
    b, s, hd = x.shape
    return np.ascontiguousarray(x.reshape(b, s, h, hd // h).transpose(0, 2, 1, 3))


def _merge_heads(x):
    b, h, s, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, s, h * d)


def _depth_to_space(x, p: int = 2):
    b, h, w, ppc = x.shape
    c = ppc // (p * p)
    return x.reshape(b, h, w, p, p, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h * p, w * p, c)


def _depth_to_space_in_rows(x, p: int = 2):
    b, h, w, ppc = x.shape
    out = np.empty((b, h, p, w, ppc // p), x.dtype)
    for i in range(p):
        out[:, :, i] = x[..., i * (ppc // p) : (i + 1) * (ppc // p)]
    return out.reshape(b, h * p, w * p, ppc // (p * p))


def _space_to_depth(x, p: int = 2):
    b, h, w, c = x.shape
    rows = x.reshape(b, h // p, p, w // p, p * c)
    return rows.transpose(0, 1, 3, 2, 4).reshape(b, h // p, w // p, p * p * c)


def _patches(x, p: int = 16):
    b, h, w, c = x.shape
    return x.reshape(b, h // p, p, w // p, p * c).transpose(0, 1, 3, 2, 4).reshape(b, -1, p * p * c)


def _shuffle(x, g: int = 4):
    b, c, h, w = x.shape
    return x.reshape(b, g, c // g, h * w).transpose(0, 2, 1, 3).reshape(x.shape)


def _upsample(x, p: int = 2):
    b, h, w, c = x.shape
    out = np.empty((b, h, p, w, p, c), x.dtype)
    out[...] = x[:, :, None, :, None, :]
    return out.reshape(b, h * p, w * p, c)


def _upsample_by_repeat(x, p: int = 2):
    return x.repeat(p, axis=2).repeat(p, axis=1)


def _pool_last(x, combine=np.add):
    """Pool 2x2 windows of (b, h, w, c): rows first, where memory is contiguous."""
    rows = combine(x[:, ::2], x[:, 1::2])
    return combine(rows[:, :, ::2], rows[:, :, 1::2])


def _pool_first(x, combine=np.add):
    """Pool 2x2 windows of (b, c, h, w), rows first."""
    rows = combine(x[..., ::2, :], x[..., 1::2, :])
    return combine(rows[..., ::2], rows[..., 1::2])


def _corners_last(x, combine=np.add):
    """Pool (b, h, w, c) by the four corners of the windows."""
    top = combine(x[:, ::2, ::2], x[:, ::2, 1::2])
    return combine(combine(top, x[:, 1::2, ::2], out=top), x[:, 1::2, 1::2], out=top)


def _corners_first(x, combine=np.add):
    """Pool (b, c, h, w) by the four corners of the windows."""
    return np.moveaxis(_corners_last(np.moveaxis(x, 1, -1), combine), -1, 1)


def _mean(pool, x):
    out = pool(x)
    return np.multiply(out, np.float32(0.25), out=out)


def _window_mean(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).mean(axis=(2, 4))


def _global_mean(x):
    n, c, h, w = x.shape
    return (x.reshape(n * c, h * w) @ np.full(h * w, 1 / (h * w), x.dtype)).reshape(n, c)


def _row_sums(x):
    return x @ np.ones(x.shape[-1], x.dtype)


def _columns_maximum(x):
    """Compare whole columns: as many passes as a row is long."""
    out = np.maximum(x[:, 0], x[:, 1])
    for i in range(2, x.shape[1]):
        np.maximum(out, x[:, i], out=out)
    return out


ONES = np.ones(1000, np.float32)

TRANSPOSED = (
    _case("NHWC to NCHW", "n h w c -> n c h w", (8, 56, 56, 64), *TO_FIRST),
    _case("NCHW to NHWC", "n c h w -> n h w c", (8, 64, 56, 56), *TO_LAST),
    _case("transpose 1024", "i j -> j i", (1024, 1024), *TRANSPOSES, tags=("power of two",)),
    _case("transpose 2048", "i j -> j i", (2048, 2048), *TRANSPOSES, tags=("power of two",)),
    _case("transpose 1000x1500", "i j -> j i", (1000, 1500), *TRANSPOSES),
)

GROUPED = (
    _case("split heads", "b s (h d) -> b h s d", (8, 128, 512), _split_heads, sizes={"h": 8}),
    _case("merge heads", "b h s d -> b s (h d)", (8, 8, 128, 64), _merge_heads),
    _case(
        "depth to space",
        "b h w (p q c) -> b (h p) (w q) c",
        (8, 28, 28, 64),
        _depth_to_space,
        _depth_to_space_in_rows,
        sizes={"p": 2, "q": 2},
    ),
    _case(
        "space to depth",
        "b (h p) (w q) c -> b h w (p q c)",
        (8, 56, 56, 16),
        _space_to_depth,
        sizes={"p": 2, "q": 2},
    ),
    _case(
        "patches",
        "b (h p) (w q) c -> b (h w) (p q c)",
        (8, 128, 128, 3),
        _patches,
        sizes={"p": 16, "q": 16},
    ),
    _case("channel shuffle", "b (g c) h w -> b (c g) h w", (8, 64, 28, 28), _shuffle, sizes={"g": 4}),
    _case(
        "upsample",
        "b h w c -> b (h p) (w q) c",
        (8, 28, 28, 32),
        _upsample,
        _upsample_by_repeat,
        sizes={"p": 2, "q": 2},
    ),
)

REDUCED = (
    _case(
        "mean pool NHWC",
        "b (h p) (w q) c -> b h w c : mean",
        (8, 56, 56, 32),
        functools.partial(_mean, _pool_last),
        functools.partial(_mean, _corners_last),
        _window_mean,
        sizes={"p": 2, "q": 2},
        tags=("pooling",),
    ),
    _case(
        "mean pool NCHW",
        "b c (h p) (w q) -> b c h w : mean",
        (8, 32, 56, 56),
        functools.partial(_mean, _pool_first),
        functools.partial(_mean, _corners_first),
        sizes={"p": 2, "q": 2},
        tags=("pooling",),
    ),
    _case(
        "max pool NCHW",
        "b c (h p) (w q) -> b c h w : max",
        (8, 32, 56, 56),
        functools.partial(_pool_first, combine=np.maximum),
        functools.partial(_corners_first, combine=np.maximum),
        sizes={"p": 2, "q": 2},
        tags=("pooling",),
    ),
    _case(
        "global mean", "n c h w -> n c : mean", (16, 64, 28, 28), _global_mean, lambda x: x.mean(axis=(2, 3))
    ),
    _case("short row sums", "i j -> i : sum", (100000, 3), _row_sums, lambda x: x[:, 0] + x[:, 1] + x[:, 2]),
    _case("row sums", "i j -> i : sum", (2000, 500), _row_sums, lambda x: x.sum(1)),
    _case(
        "middle axis sums",
        "a b c -> a c : sum",
        (64, 100, 64),
        lambda x: np.ones(x.shape[1], x.dtype) @ x,
        lambda x: x.sum(1),
    ),
    _case(
        "row maxima",
        "i j -> i : max",
        (2000, 500),
        lambda x: x.max(1),
        # NumPy's maximum along the last axis is quicker if it is told where to start.
        lambda x: np.maximum.reduce(x, 1, initial=-np.inf),
    ),
    _case("short row maxima", "i j -> i : max", (100000, 4), lambda x: x.max(1), _columns_maximum),
    _case(
        "column sums",
        "i j -> j : sum",
        (1000, 300),
        lambda x: np.ones(len(x), x.dtype) @ x,
        lambda x: x.T.dot(ONES),
        lambda x: x.sum(0),
    ),
)

WORKLOADS = (*TRANSPOSED, *GROUPED, *REDUCED)
