"""The dtypes of PyTorch: their names, kinds and sizes, and which dtype a spelling means.

>>> import torch
>>> kind_of(torch.bfloat16), category(torch.int8), dtype_of("float32"), name_of(torch.bool)
('f', 1, torch.float32, 'bool')
"""

from __future__ import annotations

import numpy as np
import torch

_KINDS = {torch.bool: "b", torch.complex32: "c", torch.complex64: "c", torch.complex128: "c"}
_SYNONYMS = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "long": "int64"}
_ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def kind_of(dtype: torch.dtype) -> str:
    """Return the kind of a dtype in NumPy's letters: b, i, u, f or c."""
    found = _KINDS.get(dtype)
    if found is None:
        found = "f" if dtype.is_floating_point else "i" if dtype.is_signed else "u"
        _KINDS[dtype] = found
    return found


def category(dtype: torch.dtype) -> int:
    """Return 0 for bools, 1 for integers, 2 for floats, 3 for complex numbers."""
    return _ORDER[kind_of(dtype)]


def name_of(dtype: torch.dtype) -> str:
    """Return the name of a dtype without the name of the library."""
    return _NAMES[dtype]


def dtype_of(wanted: object) -> torch.dtype | None:
    """Return the dtype for one of PyTorch's or NumPy's, or a name; None if PyTorch has no such dtype.

    A Python type means what it means to PyTorch: `float` is the default dtype, `int` is int64.
    """
    if isinstance(wanted, torch.dtype):
        return wanted
    if wanted is float:
        return torch.get_default_dtype()
    if wanted is complex:
        return torch.get_default_dtype().to_complex()
    if isinstance(wanted, str):
        wanted = wanted.removeprefix("torch.")
        return _OF_NAMES.get(_SYNONYMS.get(wanted, wanted))
    try:
        return _OF_NAMES.get(np.dtype(wanted).name)  # type: ignore[call-overload]
    except TypeError:
        return None


_OF_NAMES: dict[str, torch.dtype] = {}
for _name in dir(torch):
    _dtype = getattr(torch, _name)
    if isinstance(_dtype, torch.dtype):
        _OF_NAMES[_name] = _dtype
_NAMES = {dtype: str(dtype).partition(".")[2] for dtype in _OF_NAMES.values()}
