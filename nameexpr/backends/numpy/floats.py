"""Which dtypes are floats, which are narrow ones, and the one that is taken where a float must be invented.

That is float64 as in NumPy, until `set_default_float` says otherwise.

Narrow are float16 and bfloat16. Whatever adds, squares or exponentiates them computes in float32 and rounds
its result once: a sum of ones would end at 2048 or 256, and the square of 300 is no float16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

NARROW = 2
"""Bytes of a narrow float: an array's itemsize is quicker to ask for than its dtype."""

_default: list[np.dtype[Any]] = [np.dtype(np.float64)]


def default_float() -> np.dtype[Any]:
    """Return the dtype of numbers that come from no float array: factories, quotients and roots of ints."""
    return _default[0]


def set_default_float(dtype: np.dtype[Any]) -> None:
    """Make `dtype` the default float dtype of this process."""
    _default[0] = dtype


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether the elements are real floating point numbers; bfloat16's are (its kind is "V")."""
    return dtype.kind == "f" or is_bfloat16(dtype)


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is bfloat16, which the package ml_dtypes adds to NumPy's own."""
    return dtype.kind == "V" and dtype.name == "bfloat16"


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == NARROW and is_float(dtype)


def widened(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return narrow floats in float32, and any other array as it is."""
    return x.astype(np.float32) if x.itemsize == NARROW and is_narrow(x.dtype) else x


def in_float32(kernel: Callable[..., Any], x: npt.NDArray[Any], **options: Any) -> npt.NDArray[Any]:
    """Return what a kernel makes of narrow floats in float32, rounded to their dtype."""
    return np.asarray(kernel(x.astype(np.float32), **options)).astype(x.dtype.type)


def common_dtype(*values: Any) -> np.dtype[Any]:
    """Return NumPy's promotion of dtypes, arrays and numbers, with Python's floats weak beside bfloat16 too.

    Beside a dtype that is not NumPy's own they would be float64.
    """
    dtypes = [getattr(value, "dtype", value) for value in values]
    if any(isinstance(dtype, np.dtype) and is_bfloat16(dtype) for dtype in dtypes):
        values = tuple(value for value in values if type(value) is not float)
    return np.result_type(*values)


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Return whether the elements are real or complex floating point numbers."""
    return dtype.kind in "fc" or is_bfloat16(dtype)


def category(dtype: np.dtype[Any]) -> int:
    """Return 0 for bools, 1 for integers, 2 for floats, 3 for complex numbers, 4 for anything else."""
    return 2 if is_float(dtype) else {"b": 0, "i": 1, "u": 1, "c": 3}.get(dtype.kind, 4)


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in the byte order of this machine, which is that of all that is computed."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def as_float(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of ints or bools in the default float dtype, and any other as it is."""
    return x.astype(_default[0]) if x.dtype.kind in "iub" else x
