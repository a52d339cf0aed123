"""Group n: `NamedTensor`, where every operator and method also has names to keep.

A workload is the call as a user writes it, beside the same computation on bare arrays and in xarray. On 4x4
arrays the call is all the time, so what names cost shows as microseconds over hand; on 1000x1000 nothing of
them should show. Each call is made into a lambda of its operands, hand's too, so that no side has a Python
frame that another has not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.workloads.base import Operands, Workload

POINTWISE, METHOD, LARGE = "pointwise", "method", "large"

# The letters of a call and the names of their dims; m is a mask, u an array without names.
NAMES = {"x": "N C", "y": "N C", "c": "C", "w": "C F", "m": "N C", "f": "F", "u": None}


@dataclass(frozen=True)
class NamedWorkload(Workload):
    """A call on named tensors: ``text`` as nameexpr has it, ``xarray`` as that has it, or empty."""

    letters: str = "x"
    xarray: str = ""

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of each operand as one string, None for an array without."""
        return tuple(NAMES[letter] for letter in self.letters)


def function_of(text: str, letters: str, **space: Any) -> Callable[..., Any]:
    """Return the function of the operands that a call describes."""
    return eval(f"lambda {', '.join(letters)}: {text}", {"iadd": operator.iadd, "np": np, **space})


def _operands(letters: str, size: int) -> Callable[[np.random.Generator], Operands]:
    def make(rng: np.random.Generator) -> Operands:
        return tuple(_operand(rng, letter, size) for letter in letters)

    return make


def _operand(rng: np.random.Generator, letter: str, size: int) -> Any:
    shape = {"c": (size,), "f": (size * size,)}.get(letter, (size, size))
    array = rng.standard_normal(shape)
    return array > 0 if letter == "m" else array


def _case(
    tag: str, text: str, *hands: str | Callable[..., Any], letters="x", xarray="", name="", size=4
) -> NamedWorkload:
    return NamedWorkload(
        name or text,
        "n",
        text,
        _operands(letters, size),
        tuple(function_of(hand, letters) if isinstance(hand, str) else hand for hand in hands),
        is_in_place="iadd" in text,
        tags=(tag,),
        letters=letters,
        xarray=xarray,
    )


def _large(text: str, *hands: str | Callable[..., Any], name="", **given: str) -> NamedWorkload:
    return _case(LARGE, text, *hands, name=name or f"large {text}", size=1000, **given)


def _softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _softmax_in_one_buffer(x):
    # NumPy's maximum along the last axis is quicker if it is told where to start.
    e = x - np.maximum.reduce(x, 1, keepdims=True, initial=-np.inf)
    np.exp(e, e)
    e /= np.add.reduce(e, 1, keepdims=True)
    return e


def _filled(x, m):
    out = x.copy()
    np.putmask(out, m, 0.0)
    return out


def _median(x):
    """Return the lower median of each row and where it stands."""
    place = (x.shape[1] - 1) // 2
    at = np.argpartition(x, place, 1)[:, place]
    return x[np.arange(len(x)), at], at


def _median_sought(x):
    place = (x.shape[1] - 1) // 2
    values = np.partition(x, place, 1)[:, place]
    return values, (x == values[:, None]).argmax(1)


SOFTMAX = "(lambda e: e / e.sum('C'))(np.exp(x - x.max('C')))"
HALVES = "(x.isel(C=slice(0, 2)), x.isel(C=slice(2, None)))"
UNFLATTENED = "f.unflatten('F', (('N', 4), ('C', 4)))"

WORKLOADS = (
    _case(POINTWISE, "x + y", "x + y", letters="xy", xarray="x + y"),
    _case(POINTWISE, "x + c", "x + c", letters="xc", xarray="x + c"),
    _case(POINTWISE, "x * 2.0", "x * 2.0", "np.multiply(x, 2.0)", xarray="x * 2.0"),
    _case(POINTWISE, "x.exp()", "np.exp(x)", xarray="np.exp(x)"),
    _case(POINTWISE, "-x", "-x", xarray="-x"),
    _case(POINTWISE, "x > y", "x > y", letters="xy", xarray="x > y"),
    _case(
        POINTWISE,
        "iadd(x, y)",
        "iadd(x, y)",
        "np.add(x, y, x)",
        letters="xy",
        xarray="iadd(x, y)",
        name="x += y",
    ),
    _case(METHOD, "x.sum('C')", "x.sum(1)", "np.add.reduce(x, 1)", xarray="x.sum('C')"),
    _case(METHOD, "x.mean('C')", "x.mean(1)", "np.add.reduce(x, 1) / x.shape[1]", xarray="x.mean('C')"),
    _case(METHOD, "x.softmax('C')", _softmax, _softmax_in_one_buffer, xarray=SOFTMAX),
    # By hand there is nothing to rename: a new array over the same memory is the least there can be.
    _case(METHOD, "x.rename(N='B')", "x.view()", "x[:]", xarray="x.rename(N='B')"),
    _case(METHOD, "u.refine_names('N', 'C')", "u.view()", "u[:]", letters="u"),
    _case(METHOD, "x.align_to('C', 'N')", "x.T", "x.transpose()", xarray="x.transpose('C', 'N')"),
    _case(METHOD, "x.transpose('N', 'C')", "x.T", "x.transpose()", xarray="x.transpose('C', 'N')"),
    _case(METHOD, "x.flatten(['N', 'C'], 'F')", "x.reshape(16)", "x.ravel()", xarray="x.stack(F=('N', 'C'))"),
    _case(METHOD, UNFLATTENED, "f.reshape(4, 4)", letters="f", name="f.unflatten('F', ...)"),
    _case(METHOD, "x.select('C', 1)", "x[:, 1]", xarray="x.isel(C=1)"),
    _case(METHOD, "x[0]", "x[0]", xarray="x[0]"),
    _case(METHOD, "x.narrow('C', 1, 2)", "x[:, 1:3]", xarray="x.isel(C=slice(1, 3))"),
    _case(METHOD, "x.split(2, 'C')", "(x[:, :2], x[:, 2:])", xarray=HALVES),
    _case(
        METHOD,
        "ne.cat((x, y), 'N')",
        "np.concatenate((x, y))",
        letters="xy",
        xarray="xr.concat((x, y), 'N')",
    ),
    _case(METHOD, "x.matmul(w)", "x.dot(w)", "x @ w", letters="xw", xarray="x.dot(w, 'C')"),
    _case(
        METHOD,
        "x.masked_fill(m, 0.0)",
        "np.where(m, 0.0, x)",
        _filled,
        letters="xm",
        xarray="x.where(~m, 0.0)",
    ),
    _case(METHOD, "x.max('C')", "(x.max(1), x.argmax(1))", xarray="(x.max('C'), x.argmax('C'))"),
    _case(METHOD, "x.to(ne.float32)", "x.astype(np.float32)", xarray="x.astype(np.float32)"),
    _case(METHOD, "np.add(x, y)", "np.add(x, y)", letters="xy", xarray="np.add(x, y)"),
    _case(METHOD, "np.sum(x, axis='C')", "np.sum(x, axis=1)"),
    _large("x + y", "x + y", letters="xy", xarray="x + y"),
    _large("iadd(x, y)", "iadd(x, y)", letters="xy", xarray="iadd(x, y)", name="large x += y"),
    _large("x.sum('C')", "x.sum(1)", "x.dot(np.ones(x.shape[1]))", xarray="x.sum('C')"),
    _large("x.softmax('C')", _softmax, _softmax_in_one_buffer, xarray=SOFTMAX),
    _large("x.median('C')", _median, _median_sought),
)
