"""Pointwise functions of Dask arrays for NamedTensors, by the operator's name: `UNARY` and `BINARY`.

Each block is computed by NumPy's function for the operator. The dtype of the result is that of one element,
before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from nameexpr.backends.numpy import pointwise
from nameexpr.backends.numpy.arrays import default_float, is_bfloat16

Kernel = Callable[..., Any]
_OF_FLOATS = frozenset({*pointwise.FLOATS, "div", "atan2", "hypot"})
"""Operators that convert integers and bools to the default float dtype, which workers do not know."""


def blockwise(function: Kernel, *operands: Any, name: str, **options: Any) -> Any:
    """Return the result of a function for each block of arrays that broadcast, and for numbers."""
    shapes = [one.shape for one in operands if isinstance(one, da.Array)]
    ndim = len(np.broadcast_shapes(*shapes))
    samples = [np.ones(1, one.dtype) if isinstance(one, da.Array) else one for one in operands]
    dtype = np.asarray(function(*samples, **options)).dtype
    pairs = [
        each
        for one in operands
        for each in (one, tuple(range(one.ndim))[::-1] if isinstance(one, da.Array) else None)
    ]
    options = {"function": function, "options": options, "dtype_of_block": dtype}
    return da.blockwise(
        _block,
        tuple(range(ndim))[::-1],
        *pairs,
        token=f"nameexpr-{name}",
        dtype=dtype,
        meta=np.empty((0,) * ndim, dtype),
        **options,
    )


def _block(*operands: Any, function: Kernel, options: dict[str, Any], dtype_of_block: Any) -> Any:
    return np.asarray(function(*operands, **options)).astype(dtype_of_block, copy=False)


def _unary(x: Any, *, verb: str) -> Any:
    return pointwise.UNARY[verb](np.asarray(x))


def _binary(a: Any, b: Any, *, verb: str) -> Any:
    return pointwise.BINARY[verb](a, b)


def _of_one(verb: str, x: Any) -> Any:
    return blockwise(_unary, _floating(x) if verb in _OF_FLOATS else x, name=verb, verb=verb)


def _of_two(verb: str, a: Any, b: Any) -> Any:
    if verb in _OF_FLOATS and _is_whole(a) and _is_whole(b):
        a, b = _floating(a), _floating(b)
    if type(a) is float or type(b) is float:
        a, b = _next_to(a, b), _next_to(b, a)
    return blockwise(_binary, a, b, name=verb, verb=verb)


def _is_whole(x: Any) -> bool:
    return x.dtype.kind in "iub" if isinstance(x, da.Array) else isinstance(x, int)


def _floating(x: Any) -> Any:
    """Return integers and bools as the default floats, and other arrays unchanged."""
    if not isinstance(x, da.Array):
        return float(x)
    return x.astype(default_float()) if x.dtype.kind in "iub" else x


def _next_to(x: Any, other: Any) -> Any:
    """Return a Python float, or the array that is combined with one, in the dtype that NumPy tensors have."""
    if type(x) is float:
        return other.dtype.type(x) if is_bfloat16(other.dtype) else x
    return _floating(x) if default_float() != np.float64 else x


UNARY: Mapping[str, Kernel] = {verb: partial(_of_one, verb) for verb in pointwise.UNARY}
BINARY: Mapping[str, Kernel] = {verb: partial(_of_two, verb) for verb in pointwise.BINARY}


def rounded(x: Any, decimals: int) -> Any:
    """Return the elements rounded to a number of decimals, bools unchanged."""
    return x if x.dtype == bool else blockwise(np.round, x, name="round", decimals=decimals)


def clamp(x: Any, low: Any, high: Any) -> Any:
    """Return the elements limited to the bounds."""
    x = x if low is None else BINARY["maximum"](x, low)
    return x if high is None else BINARY["minimum"](x, high)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return the elements of a where the condition is true, and of b elsewhere."""
    if not any(isinstance(one, da.Array) for one in (condition, a, b)):
        return np.where(condition, a, b)
    return blockwise(np.where, *map(_lazy, (condition, a, b)), name="where")


def _lazy(x: Any) -> Any:
    return da.from_array(x, chunks=-1) if isinstance(x, np.ndarray) and x.ndim else x
