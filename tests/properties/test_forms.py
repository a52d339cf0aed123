"""Programs with parts, positions and recurrences that people write, compared with NumPy and with loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose

import nameexpr as ne

RNG = np.random.default_rng(7)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def softmax(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def pad(x: Any, width: int = 1) -> Any:
    return np.pad(x, ((0, 0), (width, width), (width, width), (0, 0)))


def conv(x: Any, k: Any, stride: int = 1) -> Any:
    windows = sliding_window_view(x, k.shape[:2], (1, 2))[:, ::stride, ::stride]
    return np.einsum("nhwcij,ijck->nhwk", windows, k)


def rotary(x: Any, angle: Any) -> Any:
    a, b = np.split(x, 2, -1)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.concatenate([a * c - b * s, a * s + b * c], -1)


def life(x: Any) -> Any:
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    return sum(np.roll(x, (-i, -j), (0, 1)) for i, j in around)


def viterbi(p: Any, a: Any, b: Any) -> Any:
    rows = [p]
    for row in b:
        rows.append((rows[-1][:, None] + a).max(0) + row)
    return np.array(rows)


def filtered(x: Any) -> Any:
    rows = [0.0, 0.0]
    for value in x:
        rows.append(0.5 * rows[-1] - 0.25 * rows[-2] + value)
    return np.array(rows)


def scatter(label: Any, x: Any, count: int) -> Any:
    made = np.zeros((count, *x.shape[1:]))
    np.add.at(made, label, x)
    return made


X, K, TAPS = normal(2, 9, 8, 3), normal(3, 3, 3, 4), normal(3)
LINE, TABLE, IDS = normal(12), normal(20, 5), RNG.integers(0, 20, (3, 4))
LOGITS, CLASSES = normal(6, 5), RNG.integers(0, 5, 6)
EDGES = {"src": RNG.integers(0, 6, 15), "dst": RNG.integers(0, 6, 15), "h": normal(6, 3)}

PROGRAMS: dict[str, tuple[str, dict[str, Any], dict[str, int], Callable[..., Any]]] = {
    # parts
    "cache": (
        "k[B (past + new) D] = cache[B past D], key[B new D]",
        {"cache": normal(2, 3, 4), "key": normal(2, 1, 4)},
        {},
        lambda cache, key: np.concatenate([cache, key], 1),
    ),
    "class token": (
        "t[B (1 + P) D] = cls[D], patch[B P D] + pos[P D]",
        {"cls": normal(4), "patch": normal(2, 3, 4), "pos": normal(3, 4)},
        {},
        lambda cls, patch, pos: np.concatenate([np.broadcast_to(cls, (2, 1, 4)), patch + pos], 1),
    ),
    "padding": ("p[N (1 + H + 1) (1 + W + 1) C] = x[N H W C]", {"x": X}, {}, lambda x: pad(x)),
    "block diagonal": (
        "m[(a + b) (c + d)] = p[a c], 0, 0, q[b d]",
        {"p": normal(2, 3), "q": normal(1, 2)},
        {},
        lambda p, q: np.block([[p, np.zeros((2, 2))], [np.zeros((1, 3)), q]]),
    ),
    "block matrix": (
        "m[(a + b) (c + d)] = p[a c], 1, 2, q[b d]",
        {"p": normal(2, 3), "q": normal(1, 2)},
        {},
        lambda p, q: np.block([[p, np.ones((2, 2))], [np.full((1, 3), 2.0), q]]),
    ),
    "rotation": (
        "R[N (1 + 1) (1 + 1)] = cos(t[N]), -sin(t), sin(t), cos(t)",
        {"t": normal(4)},
        {},
        lambda t: np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]).transpose(2, 0, 1),
    ),
    "rotary": (
        """a = x[T h (d=3 + _)]
        b[T h d] = x[T h (_ + d=3)]
        y[T h (d + d)] = a * cos(w[T d]) - b * sin(w[T d]), a * sin(w[T d]) + b * cos(w[T d])""",
        {"x": normal(4, 2, 6), "w": normal(4, 3)},
        {},
        lambda x, w: rotary(x, w),
    ),
    "differences": ("x[(1 + T)] - x[(T + 1)]", {"x": LINE}, {}, lambda x: np.diff(x)),
    # positions that follow from sizes
    "shifted differences": ("x[_@(t+1)] - x[_@t]", {"x": LINE}, {}, lambda x: np.diff(x)),
    "constant index": ("qkv[T 3@1 h d]", {"qkv": normal(4, 3, 2, 5)}, {}, lambda qkv: qkv[:, 1]),
    "reversal": ("x[N C@(size[C]-1-c)]", {"x": normal(3, 4)}, {}, lambda x: x[:, ::-1]),
    "convolution": ("sum[i j C](x[N _@(h+i) _@(w+j) C] * k[i j C K])", {"x": X, "k": K}, {}, conv),
    "strided and padded": (
        "p[N (1 + H + 1) (1 + W + 1) C] = x[N H W C]; sum[i j C](p[N _@(2*h+i) _@(2*w+j) C] * k[i j C K])",
        {"x": X, "k": K},
        {},
        lambda x, k: conv(pad(x), k, 2),
    ),
    "max pooling": (
        "max[i j](x[N H@(2*h+i) W@(2*w+j) C])",
        {"x": X},
        {"i": 2, "j": 2},
        lambda x: sliding_window_view(x, (2, 2), (1, 2))[:, ::2, ::2].max((-1, -2)),
    ),
    "dilation": (
        "p[(4 + T)] = x[T]; sum[d](p[_@(T+2*d)] * w[d])",
        {"x": LINE, "w": TAPS},
        {},
        lambda x, w: np.array(
            [sum(w[d] * np.pad(x, (4, 0))[t + 2 * d] for d in range(3)) for t in range(len(x))]
        ),
    ),
    "local attention": (
        """p[(2 + T + 2) D] = k[T D]
        s[T j] = sum[D](q[T D] * p[_@(T+j) D])
        softmax[j](s)""",
        {"q": normal(6, 4), "k": normal(6, 4)},
        {"j": 5},
        lambda q, k: softmax(
            np.array([[q[t] @ np.pad(k, ((2, 2), (0, 0)))[t + j] for j in range(5)] for t in range(6)])
        ),
    ),
    "relative bias": (
        "s[h q k] + bias[h R@(q-k+size[k]-1)]",
        {"s": normal(2, 4, 3), "bias": normal(2, 6)},
        {},
        lambda s, bias: s + bias[:, np.arange(4)[:, None] - np.arange(3) + 2],
    ),
    "life": (
        "sum[i j](where((index[i] == 1) & (index[j] == 1), 0, "
        "x[H@((H+i-1) % size[H]) W@((W+j-1) % size[W])]))",
        {"x": RNG.integers(0, 2, (5, 6))},
        {"i": 3, "j": 3},
        life,
    ),
    "clamped blur": (
        "sum[d](x[X@(clip(X+d-1, 0, size[X]-1))]) / 3",
        {"x": LINE},
        {"d": 3},
        lambda x: sliding_window_view(np.pad(x, 1, mode="edge"), 3).mean(-1),
    ),
    "moving median": (
        "median[d](x[_@(t+d)])",
        {"x": LINE},
        {"d": 4},
        lambda x: np.median(sliding_window_view(x, 4), -1),
    ),
    # positions from data
    "embedding": ("table[V@ids[B T] D]", {"table": TABLE, "ids": IDS}, {}, lambda table, ids: table[ids]),
    "cross entropy": (
        "p[N K] = log_softmax[K](z[N K]); -mean[N](p[N K@label[N]])",
        {"z": LOGITS, "label": CLASSES},
        {},
        lambda z, label: -np.log(softmax(z))[np.arange(6), label].mean(),
    ),
    "gather of torch": (
        "x[B T@i[B K] D]",
        {"x": normal(2, 5, 3), "i": RNG.integers(0, 5, (2, 4))},
        {},
        lambda x, i: np.take_along_axis(x, i[:, :, None], 1),
    ),
    "two positions": (
        "x[A@i[N] B@j[N]]",
        {"x": normal(4, 5), "i": RNG.integers(0, 4, 7), "j": RNG.integers(0, 5, 7)},
        {},
        lambda x, i, j: x[i, j],
    ),
    "sort by key": (
        "order[C] = argsort[C](key[C]); x[N C@order[C']]",
        {"key": normal(5), "x": normal(3, 5)},
        {},
        lambda key, x: x[:, np.argsort(key)],
    ),
    "top two": (
        "order[N C] = argsort[C](-s[N C]); s[N C@order[N (k=2 + _)]]",
        {"s": LOGITS},
        {},
        lambda s: -np.sort(-s, 1)[:, :2],
    ),
    "interpolation": (
        """lo[N] = int(floor(p[N]))
        f[N] = p - lo
        (1 - f) * g[X@lo[N] C] + f * g[X@(lo[N]+1) C]""",
        {"p": RNG.random(6) * 3, "g": normal(5, 2)},
        {},
        lambda p, g: np.stack([np.interp(p, np.arange(5), column) for column in g.T], 1),
    ),
    "segment sum": (
        "sum[N](where(label[N] == index[K], x[N D], 0))",
        {"label": CLASSES, "x": LOGITS},
        {"K": 5},
        lambda label, x: scatter(label, x, 5),
    ),
    "sparse product": (
        "y[i] = sum[z](where(row[z] == index[i], value[z] * x[j@col[z]], 0))",
        {
            "row": RNG.integers(0, 4, 9),
            "col": RNG.integers(0, 5, 9),
            "value": normal(9),
            "x": normal(5),
        },
        {"i": 4},
        lambda row, col, value, x: scatter(row, value * x[col], 4),
    ),
    "mean of neighbours": (
        "to = dst[e] == index[v]; sum[e](where(to, h[_@src[e] D], 0)) / maximum(sum[e](to), 1)",
        EDGES,
        {"v": 6},
        lambda src, dst, h: scatter(dst, h[src], 6) / np.maximum(np.bincount(dst, minlength=6), 1)[:, None],
    ),
    # recurrences
    "moving average": (
        "m[(1 + T)] = 0, 0.9 * m[_@T] + 0.1 * x[T]",
        {"x": LINE},
        {},
        lambda x: np.array([sum(0.1 * 0.9 ** (t - 1 - s) * x[s] for s in range(t)) for t in range(13)]),
    ),
    "filter": (
        "y[(2 + T)] = 0, 0.5 * y[_@(T+1)] - 0.25 * y[_@T] + x[T]",
        {"x": LINE},
        {},
        filtered,
    ),
    "viterbi": (
        "v[(1 + T) j] = p[j], max[i](v[_@T i] + a[i j]) + b[T j]",
        {"p": normal(4), "a": normal(4, 4), "b": normal(6, 4)},
        {},
        viterbi,
    ),
}


@pytest.mark.parametrize("title", PROGRAMS)
@pytest.mark.parametrize("layout", ["C", "F", "named"])
def test_a_program_has_the_values_of_numpy(title: str, layout: str) -> None:
    text, operands, sizes, expected = PROGRAMS[title]
    given = dict(operands)
    if layout == "F":
        given = {name: np.asfortranarray(array) for name, array in operands.items()}
    elif layout == "named":
        given = {name: ne.tensor(array) for name, array in operands.items()}
    found = np.asarray(ne.evaluate(text, **given, **({"sizes": sizes} if sizes else {})))
    wanted = expected(**operands)
    if found.shape != wanted.shape:  # the dims of a value without a left side are in the order of the text
        found = found.T
    assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_program_is_spelt_the_same_when_it_is_read_again(title: str) -> None:
    from nameexpr.syntax.parser.formula import parse_formula
    from nameexpr.syntax.unparse import unparse_formula

    tree = parse_formula(PROGRAMS[title][0])
    assert parse_formula(unparse_formula(tree)) == tree


@pytest.mark.parametrize("title", PROGRAMS)
def test_the_code_of_a_program_runs_alone(title: str) -> None:
    text, operands, sizes, _ = PROGRAMS[title]
    run = ne.compile(text, sizes=sizes or None)
    plan = run.plan(**operands)
    scope: dict[str, Any] = {}
    exec(plan.code, scope)
    order = {name: operands[name] for name in run.operands}
    assert_allclose(scope["compute"](*order.values()), run(**operands), rtol=1e-13)
    assert plan.draw("network").startswith("<svg")
