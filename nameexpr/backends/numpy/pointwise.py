"""Kernels of the pointwise operators, by the operator's name: `UNARY` and `BINARY`.

A kernel takes arrays (a binary one also Python scalars) and `out`, an array of the result's shape and dtype
or None, and follows NumPy in values and promotion. Three rules are PyTorch's:

- a function whose results are real numbers converts ints and bools to the default float dtype, where NumPy
  chooses a float by the size of the integer;
- rounding and signs keep ints and bools;
- outside a function's domain the value is nan or inf without a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from nameexpr.backends.numpy import special
from nameexpr.backends.numpy.arrays import Array, as_float, default_float, is_float, is_narrow
from nameexpr.ops import POINTWISE

Kernel: TypeAlias = Callable[..., Any]


def _quiet(kernel: Kernel) -> Kernel:
    """Return the kernel without NumPy's warnings about infinities and nans."""

    @np.errstate(all="ignore")
    def quiet(*operands: Any, out: Array | None = None) -> Any:
        return kernel(*operands, out=out)

    return quiet


def _floating(kernel: Kernel) -> Kernel:
    """Return the quiet kernel, which converts ints and bools to the default float dtype."""

    @np.errstate(all="ignore")
    def floating(x: Array, out: Array | None = None) -> Any:
        return kernel(x if x.dtype.kind in "fc" else as_float(x), out=out)

    return floating


def _whole(ufunc: np.ufunc) -> Kernel:
    """Return the kernel that keeps ints and bools, as a copy."""

    def whole(x: Array, out: Array | None = None) -> Any:
        return ufunc(x, out=out) if x.dtype.kind not in "iub" else x.copy()

    return whole


def _sign(x: Array, out: Array | None = None) -> Any:
    return np.sign(x, out=out) if x.dtype.kind != "b" else x.copy()


def _rsqrt(x: Array, out: Array | None = None) -> Any:
    return np.reciprocal(np.sqrt(x), out=out)


def _frac(x: Array, out: Array | None = None) -> Any:
    if not is_float(x.dtype):
        raise TypeError(f"{x.dtype} has no fractions")
    return np.subtract(x, np.trunc(x), out=out)


def _relu(x: Array, out: Array | None = None) -> Any:
    return np.maximum(x, x.dtype.type(0), out=out)


def _of_floats(ufunc: np.ufunc) -> Kernel:
    """Return the quiet binary kernel that converts ints and bools to the default float dtype."""

    @np.errstate(all="ignore")
    def of_floats(a: Any, b: Any, out: Array | None = None) -> Any:
        if _is_whole(a) and _is_whole(b):
            a, b = np.asarray(a, default_float()), np.asarray(b, default_float())
        return ufunc(a, b, out=out)

    return of_floats


def _is_whole(x: Any) -> bool:
    return x.dtype.kind in "iub" if isinstance(x, np.ndarray) else isinstance(x, int)


def _truncated_div(a: Any, b: Any, out: Array | None = None) -> Any:
    """Return the quotient rounded towards 0: of integers exactly, without an intermediate float."""
    if _is_whole(a) and _is_whole(b):
        return np.floor_divide(np.subtract(a, np.fmod(a, b)), b, out=out)
    quotient = np.true_divide(a, b)
    if is_narrow(quotient.dtype):  # rounding may have reached the next whole number
        return np.trunc(np.true_divide(a, b, dtype=np.float32)).astype(quotient.dtype)
    return np.trunc(quotient, out=out)


_UFUNCS = {row.name: getattr(np, row.kernel) for row in POINTWISE.values() if row.form == "ufunc"}
_OF_ONE = {name: ufunc for name, ufunc in _UFUNCS.items() if ufunc.nin == 1}
"""NumPy's functions of one number, by their names, which formulas also use."""

FLOATS: Mapping[str, Kernel] = {
    **{name: ufunc for name, ufunc in _OF_ONE.items() if POINTWISE[name].dtype == "float"},
    "deg2rad": np.deg2rad,
    "digamma": special.digamma,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "rad2deg": np.rad2deg,
    "reciprocal": np.reciprocal,
    "rsqrt": _rsqrt,
    "sigmoid": special.sigmoid,
}
"""Functions whose results are real or complex numbers for any argument."""

UNARY: Mapping[str, Kernel] = {
    **_OF_ONE,
    **{name: _floating(kernel) for name, kernel in FLOATS.items()},
    **{name: _whole(ufunc) for name, ufunc in _OF_ONE.items() if name in ("ceil", "floor", "trunc")},
    "bitwise_not": np.invert,
    "frac": _quiet(_frac),
    "neg": np.negative,
    "positive": np.positive,
    "relu": _relu,
    "round": _whole(np.rint),
    "sgn": _sign,
    "sign": _sign,
}

BINARY: Mapping[str, Kernel] = {
    **{name: ufunc for name, ufunc in _UFUNCS.items() if ufunc.nin == 2},  # noqa: PLR2004
    **{name: _quiet(_UFUNCS[name]) for name in ("floor_divide", "pow", "remainder")},
    "add": np.add,
    "atan2": _of_floats(np.arctan2),
    "bitwise_and": np.bitwise_and,
    "bitwise_left_shift": np.left_shift,
    "bitwise_or": np.bitwise_or,
    "bitwise_right_shift": np.right_shift,
    "bitwise_xor": np.bitwise_xor,
    "div": _of_floats(np.true_divide),
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "hypot": _of_floats(np.hypot),
    "le": np.less_equal,
    "lt": np.less,
    "mul": np.multiply,
    "ne": np.not_equal,
    "sub": np.subtract,
    "truncated_div": _quiet(_truncated_div),
}

KEEPS_DTYPE = frozenset(
    {*FLOATS, "abs", "positive", "relu", "round", "sgn", "sign", "square", "trunc", "ceil", "floor"}
    | {"frac", "add", "sub", "mul", "div", "pow", "atan2", "hypot", "maximum", "minimum", "remainder"}
    | {"floor_divide"}
)
"""Operators that keep the dtype of floats, so that they can write over an operand.

Not `neg`: NumPy (2.2 to 2.4) negates strided arrays in place incorrectly.
"""
