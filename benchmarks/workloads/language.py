"""Group l: parts, positions and recurrences, compared with the libraries that people use for them.

Convolutions are compared with PyTorch, windows with pandas and scipy.ndimage, gathers and segments with
NumPy, recurrences with their loop. A library that is not installed is left out; without any, NumPy is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.workloads.base import Operands
from benchmarks.workloads.formulas import FormulaWorkload

CONVOLUTION, WINDOW, FILTER, GATHER, EMBEDDING, SEGMENT, JOIN, STEPS = (
    "convolution", "window", "filter", "gather", "embedding", "segment", "join", "steps",
)  # fmt: skip
Maker = Callable[[np.random.Generator], Operands]


def _case(
    name: str,
    text: str,
    inputs: str,
    make: Maker,
    *hands: Callable[..., Any],
    tag: str,
    sizes: dict[str, int] | None = None,
) -> FormulaWorkload:
    names = tuple(inputs.split())
    return FormulaWorkload(
        name, "l", text, make, hands, sizes=sizes or {}, tags=(tag,), inputs=names, is_by_cell=False
    )


def _of(module: str, *hands: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Return the hands if their module is installed."""
    return hands if find_spec(module) is not None else ()


def _conv_torch(stride: int) -> Callable[..., Any]:
    def hand(x: Any, k: Any) -> Any:
        import torch

        image = torch.from_numpy(x).permute(0, 3, 1, 2)
        kernel = torch.from_numpy(k).permute(3, 2, 0, 1)
        with torch.no_grad():
            return torch.nn.functional.conv2d(image, kernel, stride=stride).permute(0, 2, 3, 1).numpy()

    return hand


def _conv_numpy(stride: int) -> Callable[..., Any]:
    def hand(x: Any, k: Any) -> Any:
        size = k.shape[0]
        windows = sliding_window_view(x, (size, size), (1, 2))[:, ::stride, ::stride]
        return np.tensordot(windows, k.transpose(2, 0, 1, 3), 3)

    return hand


def _convolution(size: int, batch: int, channels: int, out: int, width: int, stride: int) -> FormulaWorkload:
    step = f"{stride}*" if stride > 1 else ""
    text = f"sum[i j C](x[N _@({step}h+i) _@({step}w+j) C] * k[i j C K])"

    def make(rng: np.random.Generator) -> Operands:
        shapes = (batch, size, size, channels), (width, width, channels, out)
        return tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)

    name = f"conv {batch}x{size}x{size}x{channels}->{out} k{width} s{stride}"
    hands = _of("torch", _conv_torch(stride)) or (_conv_numpy(stride),)
    return _case(name, text, "x k", make, *hands, tag=CONVOLUTION)


def _line(rng: np.random.Generator) -> Operands:
    return (rng.standard_normal(1_000_000),)


def _pandas(function: str, width: int) -> Callable[..., Any]:
    def hand(x: Any) -> Any:
        import pandas as pd

        return getattr(pd.Series(x).rolling(width), function)().to_numpy()[width - 1 :]

    return hand


def _ndimage(function: str, width: int) -> Callable[..., Any]:
    def hand(x: Any) -> Any:
        from scipy import ndimage

        if function == "max":
            found = ndimage.maximum_filter1d(x, width)
        else:
            found = ndimage.uniform_filter1d(x, width) * width
        return found[width // 2 : width // 2 + len(x) - width + 1]

    return hand


def _window(function: str, width: int) -> FormulaWorkload:
    hands = (*_of("pandas", _pandas(function, width)), *_of("scipy", _ndimage(function, width)))
    plain = getattr(np, function)
    hands = hands or (lambda x: plain(sliding_window_view(x, width), -1),)
    text = f"{function}[d](x[_@(t+d)])"
    return _case(f"window {function} {width}", text, "x", _line, *hands, tag=WINDOW, sizes={"d": width})


def _filter(width: int) -> FormulaWorkload:
    def make(rng: np.random.Generator) -> Operands:
        return rng.standard_normal((1024, 1024)), rng.standard_normal((width, width))

    def ndimage(x: Any, w: Any) -> Any:
        from scipy import ndimage

        edge = width // 2
        return ndimage.correlate(x, w)[edge : len(x) - edge, edge : len(x) - edge]

    def signal(x: Any, w: Any) -> Any:
        from scipy import signal

        return signal.correlate2d(x, w, "valid")

    hands = _of("scipy", ndimage, signal)
    hands = hands or (lambda x, w: np.tensordot(sliding_window_view(x, (width, width)), w, 2),)
    text = "sum[i j](x[_@(h+i) _@(w+j)] * k[i j])"
    return _case(f"filter 1024 k{width}", text, "x k", make, *hands, tag=FILTER)


def _table(rows: int, columns: int, *count: int) -> Maker:
    def make(rng: np.random.Generator) -> Operands:
        return rng.standard_normal((rows, columns)), rng.integers(0, rows, count)

    return make


def _pairs(rng: np.random.Generator) -> Operands:
    x = rng.standard_normal((1000, 1000))
    return x, *(rng.integers(0, 1000, 100_000) for _ in range(2))


def _batched(rng: np.random.Generator) -> Operands:
    return rng.standard_normal((64, 1000)), rng.integers(0, 1000, (64, 256))


def _groups(count: int, width: int, groups: int) -> Maker:
    def make(rng: np.random.Generator) -> Operands:
        return rng.integers(0, groups, count), rng.standard_normal((count, width))

    return make


def _segment_hands(groups: int) -> Sequence[Callable[..., Any]]:
    def one_hot(label: Any, x: Any) -> Any:
        return (np.arange(groups)[:, None] == label).astype(x.dtype) @ x

    def flat(label: Any, x: Any) -> Any:
        width = x.shape[1]
        places = label[:, None] * width + np.arange(width)
        return np.bincount(places.ravel(), x.ravel(), groups * width).reshape(groups, width)

    def columns(label: Any, x: Any) -> Any:
        return np.stack([np.bincount(label, column, groups) for column in x.T], 1)

    def ordered(label: Any, x: Any) -> Any:
        order = np.argsort(label, kind="stable")
        rows, found = label[order], np.zeros((groups, x.shape[1]))
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        found[rows[starts]] = np.add.reduceat(x[order], starts, 0)
        return found

    return flat, columns, ordered, one_hot


def _segment(count: int, width: int, groups: int) -> FormulaWorkload:
    text = f"sum[N](where(label[N] == index[K={groups}], x[N D], 0))".replace(f"K={groups}", "K")
    hands = _segment_hands(groups)
    if count * groups > 1e8:
        hands = hands[:3]
    name, make = f"segments {count}x{width} into {groups}", _groups(count, width, groups)
    return _case(name, f"y[K D] = {text}", "label x", make, *hands, tag=SEGMENT, sizes={"K": groups})


def _joined(rng: np.random.Generator) -> Operands:
    return tuple(rng.standard_normal((64, size, 128)) for size in (300, 200))


def _join_hand(a: Any, b: Any) -> Any:
    made = np.empty((64, 500, 128))
    np.multiply(a, 2, out=made[:, :300])
    np.exp(b, out=made[:, 300:])
    return made


def _network(rng: np.random.Generator) -> Operands:
    shapes = (256, 32, 64), (64, 128), (128, 128)
    return tuple(rng.standard_normal(shape).astype(np.float32) / 16 for shape in shapes)


def _network_hand(x: Any, w: Any, u: Any) -> Any:
    before = (x.reshape(-1, 64) @ w).reshape(256, 32, 128)
    rows, product = np.empty((257, 32, 128), x.dtype), np.empty((32, 128), x.dtype)
    rows[0] = 0
    for step, row in enumerate(before):
        np.matmul(rows[step], u, out=product)
        np.add(product, row, out=product)
        np.tanh(product, out=rows[step + 1])
    return rows


def _chain(rng: np.random.Generator) -> Operands:
    return rng.standard_normal(50), rng.standard_normal((50, 50)), rng.standard_normal((1000, 50))


def _viterbi_hand(p: Any, a: Any, b: Any) -> Any:
    rows, both = np.empty((1001, 50)), np.empty((50, 50))
    rows[0] = p
    for step, row in enumerate(b):
        np.add(rows[step][:, None], a, out=both)
        np.maximum.reduce(both, axis=0, out=rows[step + 1])
        rows[step + 1] += row
    return rows


RNN = "h[(1 + T) B D] = 0, tanh(sum[C](x[T B C] * w[C D]) + sum[E](h[_@T B E] * u[E D]))"
VITERBI = "v[(1 + T) j] = p[j], max[i](v[_@T i] + a[i j]) + b[T j]"
WORKLOADS = (
    _convolution(58, 8, 64, 64, 3, 1),
    _convolution(30, 8, 128, 128, 3, 1),
    _convolution(16, 8, 256, 256, 3, 1),
    _convolution(230, 1, 3, 64, 7, 2),
    _convolution(28, 8, 128, 256, 1, 2),
    _window("sum", 50),
    _window("sum", 1000),
    _window("max", 50),
    _window("max", 1000),
    _filter(3),
    _filter(7),
    _case(
        "take rows", "t[V@i[N] D]", "t i", _table(5000, 64, 20_000), lambda t, i: np.take(t, i, 0), tag=GATHER
    ),
    _case("take twice", "x[A@i[N] B@j[N]]", "x i j", _pairs, lambda x, i, j: x[i, j], tag=GATHER),
    _case(
        "take along",
        "x[B C@i[B K]]",
        "x i",
        _batched,
        lambda x, i: np.take_along_axis(x, i, 1),
        tag=GATHER,
    ),
    _case("embedding", "t[V@i[B T] D]", "t i", _table(50_000, 64, 32, 128), lambda t, i: t[i], tag=EMBEDDING),
    _segment(100_000, 64, 1000),
    _segment(100_000, 3, 6),
    _segment(60_000, 784, 10),
    _segment(1_000_000, 1, 1000),
    _case(
        "join computed", "y[N (a + b) D] = x[N a D] * 2, exp(z[N b D])", "x z", _joined, _join_hand, tag=JOIN
    ),
    _case("rnn", RNN, "x w u", _network, _network_hand, tag=STEPS),
    _case("viterbi", VITERBI, "p a b", _chain, _viterbi_hand, tag=STEPS),
)
