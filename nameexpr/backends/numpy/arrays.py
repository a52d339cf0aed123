"""Operands into arrays: whatever NumPy takes for an array is one, but nothing whose meaning would be lost on
the way.

Masked arrays and `matrix` are refused, for their mask or their rules would vanish in silence; so are a list
of arrays (was each meant to be an operand?), text, and what NumPy can only take for an opaque object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.backends.numpy.floats import common_dtype, is_bfloat16, is_float
from nameexpr.errors import Diagnostic, error

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]

NUMBERS = (bool, int, float, complex)


def as_operand(value: Any, position: int, text: str) -> Array:
    """Return the operand as a base-class array, without a copy where there is an array already.

    Raises
    ------
    OperandError
        If it is nothing that an expression can work on.
    """
    if type(value) is np.ndarray:
        return value
    fault = _refused(value)
    if fault is not None:
        message, hint = fault
        raise error(Diagnostic("NE503", f"operand {position} {message}", text, hint=hint))
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as reason:
        message = f"operand {position} is no array: NumPy cannot convert this {type(value).__name__}"
        hint = "give an array, a NamedTensor, a number, or nested lists of equal lengths"
        raise error(Diagnostic("NE503", message, text, hint=hint)) from reason
    if array.dtype == object and array.ndim == 0:
        message = f"operand {position} is no array but {_article(type(value).__name__)}"
        raise error(Diagnostic("NE503", message, text, hint="give an array, a NamedTensor or a number"))
    return array


def _refused(value: Any) -> tuple[str, str] | None:
    """Return (what it is, what to do) for a value whose meaning an array would lose."""
    if isinstance(value, np.ma.MaskedArray):
        return "is a masked array, whose mask would be lost", "fill it first: x.filled(0)"
    if isinstance(value, np.matrix):
        return "is a numpy.matrix, which always has two dims", "give numpy.asarray(x)"
    if isinstance(value, str | bytes):
        return "is text, not an array", "the expression comes first, then one array for each term"
    if isinstance(value, list | tuple) and any(
        isinstance(one, np.ndarray) or hasattr(one, "_names") for one in value
    ):
        return (
            f"is a {type(value).__name__} of {len(value)} arrays",
            "give each array as an operand of its own, with a star: einsum(text, *arrays); "
            "or stack them: numpy.stack(arrays)",
        )
    if isinstance(value, dict | set | frozenset) or value is None:
        return (
            f"is {_article(type(value).__name__)}, not an array",
            "give an array, a NamedTensor or a number",
        )
    return None


def _article(name: str) -> str:
    return "None" if name == "NoneType" else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def weak_numbers(
    values: Sequence[Any], arrays: list[Array | None], text: str, wanted: np.dtype[Any] | None
) -> list[Array]:
    """Return the arrays with each Python number, given as None so far, in the dtype that NumPy's promotion
    gives it.

    Numbers of Python take part in promotion by their kind alone, as in NumPy 2 (NEP 50); with `dtype=`,
    against that one.

    Raises
    ------
    OperandError
        If an int does not fit that dtype.
    """
    kinds = [value if array is None else array.dtype for value, array in zip(values, arrays, strict=True)]
    filled: list[Array] = []
    for position, (value, array) in enumerate(zip(values, arrays, strict=True)):
        if array is not None:
            filled.append(array)
            continue
        try:
            dtype = common_dtype(*kinds) if wanted is None else np.result_type(value, wanted)
            filled.append(np.asarray(value, dtype if dtype.kind in "biufcO" or is_float(dtype) else None))
        except (OverflowError, TypeError, ValueError) as reason:
            message = (
                f"operand {position}, the number {_short(value)}, has no place in the dtype of the others"
            )
            hint = "give it as a numpy scalar of the dtype to compute in, such as numpy.int64(...)"
            raise error(Diagnostic("NE504", message, text, hint=hint)) from reason
    return filled


def _short(value: Any) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python prints no int of more than 4,300 digits
        return "given"
    return shown if len(shown) < 40 else shown[:36] + "..."  # noqa: PLR2004


def promoted(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """Return the dtype that products have, or None if these dtypes have none in common."""
    first = dtypes[0]
    if all(dtype is first for dtype in dtypes):
        return first
    try:
        return np.result_type(*dtypes)
    except TypeError:
        return None


def number_name(dtype: np.dtype[Any] | None) -> str:
    """Return the name of a dtype of numbers, or "" for one that is never cast."""
    if dtype is None or not (dtype.kind in "biufc" or is_bfloat16(dtype)):
        return ""
    if dtype.char in "gG":
        return "longdouble" if dtype.char == "g" else "clongdouble"
    return dtype.name
