"""Dtypes by NumPy's and PyTorch's names, and the default for floats.

`nameexpr.float32` is `numpy.float32`, and so on; `nameexpr.long` is int64, `nameexpr.half` float16.

>>> ne.zeros(2, dtype=ne.half).dtype
dtype('float16')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import default_float, is_float, set_default_float
from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.arguments import as_dtype
from nameexpr.tensors.ops import checked

bool = bool_ = np.bool_
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
short, int, long = np.int16, np.int32, np.int64
half, float, double = np.float16, np.float32, np.float64

_TYPES = {
    "bool": "BoolTensor",
    "uint8": "ByteTensor",
    "int8": "CharTensor",
    "int16": "ShortTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
    "float16": "HalfTensor",
    "bfloat16": "BFloat16Tensor",
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
}


@checked
def set_default_dtype(dtype: Any) -> None:
    """Set the dtype of floats that do not come from float arrays.

    These are the elements of factories and random fills, and results such as quotients and roots of integers.
    It is float64 at first, as in NumPy; float32 gives PyTorch's behaviour.

    Raises
    ------
    OptionError
        NE655 if it is not a floating dtype.

    Notes
    -----
    `torch.set_default_dtype`. It applies to the whole process, including all threads.

    Examples
    --------
    >>> set_default_dtype("float32")
    >>> ne.tensor([1, 2]).sqrt().dtype
    dtype('float32')
    >>> set_default_dtype("float64")
    """
    wanted = as_dtype(dtype)
    if wanted is None or not is_float(wanted):
        message = f"the default dtype must be a floating one, not {shown(dtype)}"
        raise error(Diagnostic("NE655", message, hint="float32 or float64"))
    set_default_float(wanted)


@checked
def get_default_dtype() -> np.dtype[Any]:
    """Return the dtype of floats that do not come from float arrays: see `set_default_dtype`.

    >>> get_default_dtype()
    dtype('float64')
    """
    return default_float()


def tensor_type(name: str) -> str:
    """Return PyTorch's name for tensors of a dtype: "FloatTensor"."""
    return _TYPES.get(name, f"{name.capitalize()}Tensor")


def of_tensor_type(name: str) -> str:
    """Return the name of the dtype of a type such as "torch.FloatTensor" (NE655)."""
    wanted = name.rpartition(".")[2]
    for dtype, known in _TYPES.items():
        if known == wanted:
            return dtype
    hint = did_you_mean(wanted, _TYPES.values()) or "'nameexpr.FloatTensor' is one"
    raise error(Diagnostic("NE655", f"{name!r} is not a type of tensor", hint=hint))
