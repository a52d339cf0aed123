"""Errors of NumPy, translated: dtypes without a loop, sizes that do not fit, numbers out of range."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np

from nameexpr.dims import Dims, Names, dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import ShownCall, Verbatim, fault, shown
from nameexpr.rules.pairing import Pairing, check_sizes
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import RECORDED, MeetsRecorded, exhausted

_TO_FLOATS = "x.float() or x.double() converts"
_DTYPE_HINTS = {
    "neg": "logical_not, or ~, negates bools",
    "sub": "^ or logical_xor shows where two bools differ",
    "softmax": f"{_TO_FLOATS}; or softmax(dim, dtype='float64')",
    "log_softmax": f"{_TO_FLOATS}; or log_softmax(dim, dtype='float64')",
    **dict.fromkeys(("frac", "bernoulli", "normal", "log_normal", "mean", "std", "var"), _TO_FLOATS),
    **dict.fromkeys(("uniform", "exponential", "cauchy"), _TO_FLOATS),
}


def explained(verb: str, operands: tuple[Any, ...], fault: Exception) -> NameExprError:
    """Return our error for an exception of NumPy when an operator was applied to these operands.

    NE370 for sizes that do not broadcast, NE571 for dtypes, NE574 for negative powers of integers, NE577 for
    a number that the dtype cannot hold, NE707 for a result that does not fit into memory.
    """
    if isinstance(fault, MemoryError):
        return exhausted(verb, fault)
    pairing = Pairing(verb, moves="right" if verb.endswith("_") else "both")
    for left, right in pairwise(operands):
        try:
            check_sizes(_dims(left), _dims(right), pairing)
        except NameExprError as sizes:
            return sizes
    if "negative integer powers" in str(fault):
        hint = "convert it to floats first: x.float(), or give the exponent as a float, -1.0"
        return error(
            Diagnostic("NE574", f"{verb}: an integer to a negative power is not an integer", hint=hint)
        )
    if isinstance(fault, OverflowError) or "NaN to integer" in str(fault):
        dtype = next((operand.dtype for operand in operands if isinstance(operand, Core | np.ndarray)), None)
        numbers = (operand for operand in operands if isinstance(operand, int | float | np.generic))
        return not_held(verb, next(numbers, None), dtype)
    return undefined(verb, operands)


def not_held(verb: str, number: Any, dtype: np.dtype[Any] | None, wider: str = "x.to({!r})") -> NameExprError:
    """Return the error for a number that a dtype cannot hold (NE577); `wider` is the call that gives another
    dtype.
    """
    value = number.item() if isinstance(number, np.ndarray | np.generic) else number
    message = f"{verb}: {dtype or 'the dtype'} cannot hold {'a number' if value is None else shown(value)}"
    int64, float64 = wider.format("int64"), wider.format("float64")
    if isinstance(value, float) and not math.isfinite(value):
        hint = f"integers have no nan and no inf; {float64} has them"
    elif not isinstance(value, int | float) or abs(value) > sys.float_info.max:
        hint = ""
    else:
        hint = f"{int64} holds it" if -(2**63) <= value < 2**63 else f"{float64} holds it, rounded"
    return error(Diagnostic("NE577", message, hint=hint))


def undefined(verb: str, operands: tuple[Any, ...]) -> NameExprError:
    """Return the error for an operator that is not defined for these dtypes (NE571)."""
    kinds = " and ".join(dict.fromkeys(_kind(operand) for operand in operands))
    hint = _DTYPE_HINTS.get(verb.rstrip("_"), "convert first: x.float(), x.long(), x.to(dtype)")
    if verb.startswith("bitwise"):
        hint = "bitwise functions take integers and bools: x.to('int64') converts"
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    arrays += [each._data for each in operands if isinstance(each, Core) and each._kernels is None]
    if any(array.dtype.kind in "OUS" for array in arrays):
        hint = "x.to('float64') converts, if the elements are numbers"
    return error(Diagnostic("NE571", f"{verb} is not defined for {kinds}", hint=hint))


def mixed(verb: str, own: Any, other: Any) -> Exception:
    """Return the error for operands of two libraries (NE507): none is moved to the other silently.

    For an operand that is recorded, return what makes the call be repeated on the tape.
    """
    if getattr(other, "_kernels", None) is RECORDED:
        return MeetsRecorded()
    from nameexpr.backends.dispatch import mixture  # imported here: few calls fail

    arrays = [getattr(each, "_data", each) for each in (own, other)]
    return mixture(arrays, titles=["the left operand", "the right one"], verb=f"{verb}: ")


def unordered(verb: str) -> NameExprError:
    """Return the error for complex numbers in an operation that needs an order (NE571)."""
    hint = "x.abs() gives magnitudes; from_numpy(x.numpy().real, x.names) the real parts"
    return error(Diagnostic("NE571", f"{verb}: complex numbers have no order", hint=hint))


def respelt(fault: NameExprError, kernel: str, verb: str) -> NameExprError:
    """Return an error of a kernel as one of the operator that uses it."""
    told = (each._replace(message=each.message.replace(kernel, verb, 1)) for each in fault.diagnostics)
    return type(fault)(*told)


def has_complex(left: Core, right: Any) -> bool:
    """Return whether an operand is complex, so that the operands have no order."""
    if left._data.dtype.kind == "c":
        return True
    if isinstance(right, Core):
        return right._data.dtype.kind == "c"
    try:
        return type(right) not in _REAL and np.iscomplexobj(right)
    except ValueError:
        return False  # ragged lists, which are rejected elsewhere


_REAL = frozenset({int, float, bool})


def wrong_kind(verb: str, option: str, wanted: str, value: object) -> NameExprError:
    """Return the error for an option of the wrong type (NE677)."""
    return error(Diagnostic("NE677", f"{verb}: {option} is {wanted}, not {shown(value)}"))


def _kind(operand: Any) -> str:
    if isinstance(operand, Core | np.ndarray | np.generic):
        return str(operand.dtype)
    return f"a Python {type(operand).__name__}"


def _dims(operand: Any) -> Dims:
    if isinstance(operand, Core):
        return operand._dims
    shape = np.shape(operand)
    return dims_of((None,) * len(shape), shape)


def not_recorded(verb: str) -> NameExprError:
    """Return the error for what needs a tensor that is recorded (NE696)."""
    message = f"{verb}: the tensor does not require a gradient, nor does what it was computed from"
    hint = (
        "x.requires_grad_() before the computation; nothing is recorded in ne.no_grad(), nor after detach()"
    )
    return error(Diagnostic("NE696", message, hint=hint))


def not_one(size: int, verb: str, shape: tuple[int, ...], names: Names | None = None) -> NameExprError:
    """Return the error for a number requested from a tensor without exactly one element (NE382)."""
    message = f"{verb}: a tensor with {size} elements is not a single number"
    dims = dims_of((None,) * len(shape) if names is None else names, shape)
    call = ShownCall("item", (), (dims,)) if verb == "item" else ShownCall(verb, (Verbatim("x"),), (dims,))
    hint = "tolist() gives all elements, isel or x[...] picks one" if size else "tolist() gives all elements"
    return fault("NE382", message, call, hint=hint)
