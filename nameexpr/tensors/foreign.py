"""Arrays of other libraries as data of tensors: with names and coordinates, or an error in our words."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.dispatch import library_name
from nameexpr.backends.numpy.foreign import Foreign, Refusal, classes_within, reader_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.remembered import TRACERS
from nameexpr.tensors.by_option import KEPT, library_of_option, makers
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import mixed
from nameexpr.tensors.ops import RECORDED

_NUMBERS = frozenset({int, float, complex, bool, list, tuple})


def foreign(data: object) -> Foreign | None:
    """Return the contents of an array of another library, and None for any other object.

    NE412 and NE654 for one that would lose something, NE653 for a list of such arrays.
    """
    if type(data) in _NUMBERS and not isinstance(data, list | tuple):
        return None
    if isinstance(data, list | tuple):
        for kind in classes_within(data) - _NUMBERS:
            if issubclass(kind, Core) or reader_of(kind) is not None:
                hint = "stack([x, y], name='...') joins them along a new dim"
                message = f"the data is a list of {kind.__name__}s, not one array"
                raise error(Diagnostic("NE653", message, hint=hint))
        return None
    if library_of(type(data)):
        raise mixed("tensor", np.empty(0), data)
    reader = reader_of(type(data))
    found = None if reader is None else reader(data)
    if isinstance(found, Refusal):
        raise error(
            Diagnostic("NE412" if found.is_name else "NE654", f"the data {found.message}", hint=found.hint)
        )
    return found


def is_foreign(data: object) -> bool:
    """Return whether the class of an object is that of another library's arrays."""
    return reader_of(type(data)) is not None or library_of(type(data)) is not None


def library_of(kind: type) -> str | None:
    """Return the name of the library, other than NumPy, whose arrays a NamedTensor keeps as they are."""
    lookup = library_name.__wrapped__ if TRACERS and TRACERS[0]() else library_name
    name = lookup(kind)
    return name if name in KEPT else None


def library_for(data: object, dtype: object, device: object) -> str | None:
    """Return the library, other than NumPy, of the data, the dtype or the device of a new tensor."""
    kernels = data._kernels if isinstance(data, Core) else None
    if kernels is not None and kernels is not RECORDED:
        return kernels.LIBRARY  # type: ignore[no-any-return]
    return library_of(type(data)) or library_of_option(dtype) or library_of_option(device)


def of_library(*operands: Any) -> Any:
    """Return the first operand that is of a library other than NumPy, as a tensor; None if none is."""
    for operand in operands:
        if isinstance(operand, Core):
            if operand._kernels is not None and operand._kernels is not RECORDED:
                return operand
        elif type(operand) is not np.ndarray and type(operand) not in _PLAIN and library_of(type(operand)):
            return makers().made(library_of(type(operand)), operand, None, None)
    return None


_PLAIN = frozenset({*_NUMBERS, str, type(None)})
