"""Group a: 4x4 arrays, where the call itself is all the time.

The hands are the bare callables where there is one (``np.ndarray.dot``), so that they carry no Python frame.
"""

from __future__ import annotations

import operator

import numpy as np

from benchmarks.workloads.base import Workload, normal

SQUARE, VECTOR, CUBE = (4, 4), (4,), (4, 4, 4)
ONES = np.ones(4)


def _tiny(name: str, text: str, shapes: tuple[tuple[int, ...], ...], *hands, sizes=None, tags=()) -> Workload:
    make = normal(*shapes, dtype=np.float64)
    return Workload(name, "a", text, make, hands, sizes=sizes or {}, tags=tags)


WORKLOADS = (
    _tiny("tiny matmul", "i j, j k -> i k", (SQUARE, SQUARE), np.ndarray.dot, operator.matmul),
    _tiny("tiny matvec", "i j, j -> i", (SQUARE, VECTOR), np.ndarray.dot, operator.matmul),
    _tiny("tiny batched matmul", "b i j, b j k -> b i k", (CUBE, CUBE), operator.matmul, np.matmul),
    _tiny("tiny transpose", "i j -> j i", (SQUARE,), np.ndarray.transpose, tags=("rearrange",)),
    _tiny(
        "tiny permute",
        "a b c -> c a b",
        (CUBE,),
        operator.methodcaller("transpose", 2, 0, 1),
        tags=("rearrange",),
    ),
    _tiny("tiny flatten", "i j -> (i j)", (SQUARE,), np.ndarray.ravel, tags=("rearrange",)),
    _tiny(
        "tiny unflatten",
        "(i j) -> i j",
        ((16,),),
        lambda x: x.reshape(4, 4),
        sizes={"i": 4},
        tags=("rearrange",),
    ),
    _tiny("tiny scale", "i j, j -> i j", (SQUARE, VECTOR), operator.mul, np.multiply),
    _tiny("tiny dot", "i, i ->", (VECTOR, VECTOR), np.ndarray.dot, operator.matmul, np.vdot),
    _tiny(
        "tiny outer",
        "i, j -> i j",
        (VECTOR, VECTOR),
        np.multiply.outer,
        lambda a, b: a[:, None] * b,
        np.outer,
    ),
    _tiny("tiny trace", "i i ->", (SQUARE,), np.ndarray.trace, lambda x: x.ravel()[::5].sum()),
    _tiny("tiny sum", "i j -> : sum", (SQUARE,), np.ndarray.sum, lambda x: np.add.reduce(x, None)),
    _tiny(
        "tiny row sums",
        "i j -> i : sum",
        (SQUARE,),
        lambda x: np.add.reduce(x, 1),
        lambda x: x.dot(ONES),
    ),
    _tiny(
        "tiny row maxima", "i j -> i : max", (SQUARE,), lambda x: np.maximum.reduce(x, 1), lambda x: x.max(1)
    ),
    _tiny("tiny hadamard", "i j, i j -> i j", (SQUARE, SQUARE), operator.mul, np.multiply),
    _tiny("tiny bilinear", "i, i j, j ->", (VECTOR, SQUARE, VECTOR), lambda x, a, y: x.dot(a).dot(y)),
    _tiny("tiny chain", "i j, j k, k l -> i l", (SQUARE,) * 3, lambda a, b, c: a.dot(b).dot(c)),
)
