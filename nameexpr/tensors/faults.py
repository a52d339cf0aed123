"""What NumPy refuses, in our words: dtypes without a loop, sizes that do not fit, numbers out of range."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from nameexpr.dims import Dims, dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.pairing import Pairing, check_sizes
from nameexpr.tensors.core import Core

_DTYPE_HINTS = {
    "neg": "logical_not, or ~, turns bools around",
    "sub": "^ or logical_xor tells where two bools differ",
    "frac": "x.float() makes floats of it",
    "bitwise_not": "bits are those of integers and bools: x.to('int64') converts",
}


def explained(verb: str, operands: tuple[Any, ...], fault: Exception) -> NameExprError:
    """Return our error for what NumPy raised when an operator was applied to these operands.

    NE370 for sizes that do not broadcast, NE571 for dtypes, NE574 for negative powers of integers, NE577 for
    a number that the dtype does not hold, NE707 for a result that does not fit into memory.
    """
    if isinstance(fault, MemoryError):
        hint = "the result would be larger than this machine's memory"
        return error(Diagnostic("NE707", f"{verb}: {fault}", hint=hint))
    for left, right in pairwise(operands):
        try:
            check_sizes(_dims(left), _dims(right), Pairing(verb))
        except NameExprError as sizes:
            return sizes
    if "negative integer powers" in str(fault):
        hint = "make floats of it first: x.float(), or give the exponent as a float, -1.0"
        return error(Diagnostic("NE574", f"{verb}: an integer to a negative power is no integer", hint=hint))
    if isinstance(fault, OverflowError):
        return error(Diagnostic("NE577", f"{verb}: {fault}", hint="convert the tensor first: x.to('int64')"))
    return undefined(verb, operands)


def undefined(verb: str, operands: tuple[Any, ...]) -> NameExprError:
    """Return the error for an operator that is not defined for these dtypes (NE571)."""
    kinds = " and ".join(dict.fromkeys(_kind(operand) for operand in operands))
    hint = _DTYPE_HINTS.get(verb, "convert first: x.float(), x.long(), x.to(dtype)")
    if verb.startswith("bitwise"):
        hint = _DTYPE_HINTS["bitwise_not"]
    return error(Diagnostic("NE571", f"{verb} is not defined for {kinds}", hint=hint))


def _kind(operand: Any) -> str:
    if isinstance(operand, Core | np.ndarray | np.generic):
        return str(operand.dtype)
    return f"a Python {type(operand).__name__}"


def _dims(operand: Any) -> Dims:
    if isinstance(operand, Core):
        return operand._dims
    shape = np.shape(operand)
    return dims_of((None,) * len(shape), shape)
