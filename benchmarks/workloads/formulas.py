"""Group f: whole computations as one text, beside the best NumPy one can write for them.

Large ones show time and memory, 4x4 ones what a call costs. As in group n each call is made into a lambda of
its operands, so that no side has a Python frame that another has not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.workloads import formula_hands as by_hand
from benchmarks.workloads.base import LIMITED, MEMORY, Workload, normal

ATTENTION, DISTANCES, MIN_PLUS, SAME, CALL = "attention", "distances", "min plus", "same", "call"


@dataclass(frozen=True)
class FormulaWorkload(Workload):
    """A formula: ``inputs`` are its operands in order, the rest the same for peers, or empty.

    ``expression`` is for `ne.einsum`; ``numexpr`` is evaluated with the operands that ``views`` makes. A cell
    may be off by so much of the largest cell, because most of these take differences.
    """

    inputs: tuple[str, ...] = ()
    naive: Callable[..., Any] | None = None
    numexpr: str = ""
    views: Callable[..., tuple[Any, ...]] | None = None
    expression: str = ""
    is_by_cell: bool = False


def called(call: str, inputs: tuple[str, ...], **space: Any) -> Callable[..., Any]:
    """Return a lambda of the operands that makes this call."""
    return eval(f"lambda {', '.join(inputs)}: {call}", space)


def _case(name: str, text: str, inputs: str, make, *hands, tags=(), **given: Any) -> FormulaWorkload:
    """Return a workload; operands are made from shapes in float64 or by a function of a generator."""
    make = make if callable(make) else normal(*make, dtype=np.float64)
    return FormulaWorkload(name, "f", text, make, hands, tags=tags, inputs=tuple(inputs), **given)


ATTEND = """s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
p = softmax[K](where(index[Q] >= index[K], s, -inf))
o[B Q (H D)] = sum[K](p * v[B H K D])"""


def _attention(name: str, *shape: int, dtype: Any = np.float64, tags=(ATTENTION, MEMORY)) -> FormulaWorkload:
    hands = (by_hand.attention, by_hand.attention_by_head)
    make = normal(shape, shape, shape, dtype=dtype)
    return _case(name, ATTEND, "qkv", make, *hands, tags=tags, naive=by_hand.attention_naive)


def _min_plus(name: str, size: int, *hands, **given: Any) -> FormulaWorkload:
    shapes = ((size, size),) * 2
    return _case(
        name,
        "min[k](a[i k] + b[k j])",
        "ab",
        shapes,
        by_hand.min_plus,
        by_hand.min_plus_wide,
        *hands,
        **given,
    )


def _mixture(rng: np.random.Generator) -> tuple[Any, ...]:
    return *normal((10_000, 8), (16, 8), dtype=np.float64)(rng), rng.random((16, 8)) + 0.5, rng.random(16)


def _masses(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random(100_000), rng.standard_normal((100_000, 3))


SQUARE, TINY = (1000, 1000), (4, 4)
CHAIN = "sqrt(x[i j] ** 2 + y[i j] ** 2) * exp(-abs(x) / 2) + tanh(x) * y - log1p(x ** 2)"
CHAIN_NUMEXPR = "sqrt(x ** 2 + y ** 2) * exp(-abs(x) / 2) + tanh(x) * y - log1p(x ** 2)"
LAYER_NORM = "y[N C] = (x[N C] - mean[C](x)) / sqrt(var[C](x) + 1e-5) * g[C] + b[C]"
BATCH_NORM = "m = mean[N](x[N C]); v = var[N](x); y[N C] = (x - m) / sqrt(v + 1e-5)"
NETWORK = "h = gelu(sum[C](x[N C] * w[C H]) + b[H]); y[N K] = sum[H](h * u[H K]) + c[K]"
MIXTURE = "sum[N](logsumexp[K](log(w[K]) - sum[D]((x[N D] - m[K D]) ** 2 / v[K D]) / 2 - sum[D](log(v)) / 2))"
INERTIA = "sum[N](m[N] * sum[c](r[N c] ** 2)) * (index[a] == index[b]) - sum[N](m * r[N a] * r[N b])"
PRODUCT, EXPRESSION = "y[A C] = sum[B](x[A B] * w[B C])", "A B, B C -> A C"
DENSE = ((1000, 64), (64, 256), (256,), (256, 10), (10,))

LARGE = (
    _attention("attention 2 4 64 32", 2, 4, 64, 32),
    _attention("attention 2 8 256 64", 2, 8, 256, 64),
    _attention("attention 2 8 256 64 float32", 2, 8, 256, 64, dtype=np.float32),
    _attention("attention 1 8 1024 64 float32", 1, 8, 1024, 64, dtype=np.float32),
    _case(
        "pairwise distances",
        "sum[D]((x[i D] - y[j D]) ** 2)",
        "xy",
        ((1000, 64), (1000, 64)),
        by_hand.distances,
        by_hand.distances_vecdot,
        tags=(DISTANCES, MEMORY),
        naive=lambda x, y: ((x[:, None] - y) ** 2).sum(2),
        numexpr="sum((x - y) ** 2, axis=2)",
        views=lambda x, y: (x[:, None], y),
    ),
    # n = 1000 is asked for; numexpr takes seconds there, and is shown at 300.
    _min_plus("min plus 1000", 1000, tags=(MIN_PLUS, MEMORY)),
    _min_plus(
        "min plus 300",
        300,
        by_hand.min_plus_by_row,
        tags=(MEMORY,),
        naive=lambda a, b: (a[:, :, None] + b).min(1),
        numexpr="min(a + b, axis=1)",
        views=lambda a, b: (a[:, :, None], b),
    ),
    _case(
        "chain",
        CHAIN,
        "xy",
        (SQUARE, SQUARE),
        by_hand.chain,
        tags=(MEMORY,),
        naive=by_hand.chain_naive,
        numexpr=CHAIN_NUMEXPR,
    ),
    _case("softmax", "softmax[j](x[i j])", "x", (SQUARE,), by_hand.softmax, naive=by_hand.softmax_naive),
    _case(
        "layer norm",
        LAYER_NORM,
        "xgb",
        (SQUARE, (1000,), (1000,)),
        by_hand.layer_norm,
        by_hand.layer_norm_blocked,
        tags=(MEMORY,),
        naive=by_hand.layer_norm_naive,
    ),
    _case("batch norm", BATCH_NORM, "x", (SQUARE,), by_hand.batch_norm, naive=by_hand.batch_norm_naive),
    _case(
        "mean",
        "mean[N](x[N C])",
        "x",
        (SQUARE,),
        lambda x: np.add.reduce(x, 0) / len(x),
        lambda x: x.T.dot(np.ones(len(x))) / len(x),
    ),
    _case("variance", "var[N](x[N C])", "x", (SQUARE,), by_hand.variance, lambda x: x.var(0)),
    _case(
        "two layers with gelu",
        NETWORK,
        "xwbuc",
        normal(*DENSE),
        by_hand.network,
        by_hand.network_naive,
    ),
    _case(
        "mixture",
        MIXTURE,
        "xmvw",
        _mixture,
        by_hand.mixture,
        tags=(LIMITED,),
        naive=by_hand.mixture_naive,
    ),
    _case("inertia", INERTIA, "mr", _masses, by_hand.inertia, naive=by_hand.inertia_naive),
    _case(
        "sum of squares",
        "sum[i j](x[i j] ** 2)",
        "x",
        (SQUARE,),
        lambda x: np.vdot(x, x),
        naive=lambda x: (x**2).sum(),
        numexpr="sum(x ** 2)",
    ),
    _case("product", PRODUCT, "xw", ((256, 256),) * 2, np.matmul, tags=(SAME,), expression=EXPRESSION),
)
SMALL = (
    _attention("4x4 attention", 1, 1, 4, 4, tags=(CALL,)),
    _case(
        "4x4 x + y", "x[i j] + y[i j]", "xy", (TINY,) * 2, lambda x, y: x + y, tags=(CALL,), numexpr="x + y"
    ),
    _case(
        "4x4 x * 2 + 1",
        "x[i j] * 2 + 1",
        "x",
        (TINY,),
        lambda x: x * 2 + 1,
        tags=(CALL,),
        numexpr="x * 2 + 1",
    ),
    _case("4x4 sum", "sum[j](x[i j])", "x", (TINY,), lambda x: np.add.reduce(x, 1), tags=(CALL,)),
    _case(
        "4x4 product",
        PRODUCT,
        "xw",
        (TINY,) * 2,
        lambda x, w: x.dot(w),
        tags=(CALL, SAME),
        expression=EXPRESSION,
    ),
    _case("4x4 softmax", "softmax[j](x[i j])", "x", (TINY,), by_hand.softmax, tags=(CALL,)),
    _case(
        "4x4 chain",
        CHAIN,
        "xy",
        (TINY,) * 2,
        by_hand.chain_naive,
        by_hand.chain,
        tags=(CALL,),
        naive=by_hand.chain_naive,
        numexpr=CHAIN_NUMEXPR,
    ),
)
WORKLOADS = (*LARGE, *SMALL)
