"""From whatever a user has to an array: nested lists, numbers, arrays, anything with `__array__`.

What NumPy refuses, or would take in a way that loses something, is refused here in our own words. The only
device there is is the CPU, where arrays of NumPy are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import default_float, is_float
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.ops import op

_REFUSED = {
    "MaskedArray": (
        "a masked array would lose its mask",
        "fill it, array.filled(value), and keep the mask apart",
    ),
    "matrix": ("np.matrix changes the meaning of * and of indexing", "give np.asarray(matrix)"),
}


def as_array(data: object, dtype: object, *, copy: bool) -> Array:
    """Return `data` as an array that is no subclass, copied if asked or needed.

    Raises
    ------
    OptionError
        NE653 if it cannot be an array of numbers, NE654 for masked arrays and matrices, NE655 for an unknown
        dtype.
    """
    _refuse(data)
    wanted = as_dtype(dtype)
    try:
        array = np.array(data, dtype=wanted) if copy else np.asarray(data, dtype=wanted)
    except (TypeError, ValueError, OverflowError) as fault:
        raise _no_array(data, wanted, fault) from fault
    except MemoryError as fault:
        raise error(Diagnostic("NE707", "the data is larger than this machine's memory")) from fault
    if wanted is None and array.dtype.kind in "OUS" and not hasattr(data, "dtype"):
        raise _no_numbers(data, array.dtype)
    if wanted is None and array.dtype == np.float64 and not hasattr(data, "dtype"):
        return array.astype(default_float(), copy=False)  # Python's floats have no dtype of their own
    return array


def _refuse(data: object) -> None:
    if type(data) is np.ndarray:
        return
    for base in type(data).__mro__:
        if base.__name__ in _REFUSED and base.__module__.partition(".")[0] == "numpy":
            message, hint = _REFUSED[base.__name__]
            raise error(Diagnostic("NE654", message, hint=hint))
    if isinstance(data, list | tuple) and _holds_tensor(data):
        hint = "np.stack([x.numpy(), ...]) gives an array; name its dims with from_numpy"
        raise error(Diagnostic("NE653", "a list of NamedTensors would lose their names", hint=hint))


def _holds_tensor(data: Any) -> bool:
    """Look at the first elements only: a look at all would cost more than making the array."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return isinstance(data, Core)


def as_dtype(dtype: object) -> np.dtype[Any] | None:
    """Return a dtype in any of NumPy's spellings, or "bfloat16", or None for None (NE655)."""
    try:
        return None if dtype is None else np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError) as fault:
        if isinstance(dtype, str) and dtype == "bfloat16":  # which NumPy knows once ml_dtypes is imported
            return bfloat16()
        hint = "dtypes are NumPy's: np.float32, 'int64', bool"
        raise error(Diagnostic("NE655", f"{shown(dtype)} is no dtype", hint=hint)) from fault


def bfloat16() -> np.dtype[Any]:
    """Return the dtype bfloat16 of the package ml_dtypes (NE655 if it is not installed)."""
    try:
        import ml_dtypes
    except ImportError as fault:
        message = "NumPy has no bfloat16; the package ml_dtypes brings it"
        hint = "pip install 'nameexpr[bfloat16]', or use half() or float()"
        raise error(Diagnostic("NE655", message, hint=hint)) from fault
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def unnamed(array: Array) -> Core:
    """Return an array as a tensor whose dims have no names."""
    return Core._wrap(array, (None,) * array.ndim)


def _no_array(data: object, dtype: np.dtype[Any] | None, fault: Exception) -> NameExprError:
    if "inhomogeneous" in str(fault):
        message = "the nested lists do not all have the same length"
        hint = "pad them, or make one tensor of each"
    else:
        wanted = f" of {dtype}" if dtype is not None else ""
        message = f"{shown(data)} does not make an array{wanted}"
        hint = _range_hint(dtype) if isinstance(fault, OverflowError) else "its elements must be numbers"
    return error(Diagnostic("NE653", message, hint=hint))


def plain(number: Any) -> Any:
    """Return a number of NumPy's, or a 0-d array, as one of Python's.

    A dtype of integers refuses a number of Python's that it does not hold, and casts any of NumPy's.
    """
    if not isinstance(number, np.ndarray | np.generic):
        return number
    return float(number) if is_float(number.dtype) else number.item()


def _range_hint(dtype: np.dtype[Any] | None) -> str:
    """Return what a dtype of integers holds."""
    if dtype is None or dtype.kind not in "iu":
        return "a number in it is too large"
    info = np.iinfo(dtype)
    return f"{dtype} holds {info.min} to {info.max}"


def _no_numbers(data: object, dtype: np.dtype[Any]) -> NameExprError:
    what = "text" if dtype.kind in "US" else f"a {type(data).__name__}, of which NumPy makes no numbers"
    hint = "the data comes first, tensor(data, names='N C'); dtype=object takes any objects"
    return error(Diagnostic("NE653", f"the data is {what}", hint=hint))


class Device:
    """Where an array is: `str()` of it is "cpu"."""

    __slots__ = ("type",)

    index = None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name = str(type)
        if name.partition(":")[0] != "cpu" or index not in (None, 0):
            message = f"there is no device {shown(name)}: NumPy's arrays are on the CPU"
            hint = 'leave it out or give "cpu"; x.numpy() is what another library can move to its device'
            raise error(Diagnostic("NE678", message, hint=hint))
        self.type = "cpu"

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return "device('cpu')"

    def __eq__(self, other: object) -> bool:
        return str(other) == self.type

    def __hash__(self) -> int:
        return hash(self.type)


@op("answers")
def device(type: Any = "cpu", index: int | None = None) -> Device:
    """Return the device of that name: "cpu" is the only one.

    Raises
    ------
    OptionError
        NE678, for any other.

    Examples
    --------
    >>> str(device("cpu"))
    'cpu'
    """
    return Device(type, index)


def checked_device(wanted: object) -> None:
    """Raise NE678 unless `wanted` is None or the CPU."""
    if wanted is not None:
        Device(wanted)
