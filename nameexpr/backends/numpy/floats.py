"""Which dtypes are floats, and the one that is taken where a float must be invented.

That is float64 as in NumPy, until `set_default_float` says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_default: list[np.dtype[Any]] = [np.dtype(np.float64)]


def default_float() -> np.dtype[Any]:
    """Return the dtype of numbers that come from no float array: factories, quotients and roots of ints."""
    return _default[0]


def set_default_float(dtype: np.dtype[Any]) -> None:
    """Make `dtype` the default float dtype of this process."""
    _default[0] = dtype


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether the elements are real floating point numbers; bfloat16's are (its kind is "V")."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Return whether the elements are real or complex floating point numbers."""
    return dtype.kind in "fc" or dtype.name == "bfloat16"


def category(dtype: np.dtype[Any]) -> int:
    """Return 0 for bools, 1 for integers, 2 for floats, 3 for complex numbers, 4 for anything else."""
    return 2 if is_float(dtype) else {"b": 0, "i": 1, "u": 1, "c": 3}.get(dtype.kind, 4)


def as_float(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of ints or bools in the default float dtype, and any other as it is."""
    return x.astype(_default[0]) if x.dtype.kind in "iub" else x
