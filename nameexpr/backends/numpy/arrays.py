"""Dtypes, and the conversion of operands to arrays: anything that NumPy accepts as an array, unless its
meaning would be lost.

If a float dtype must be chosen it is float64 as in NumPy, or the one given to `set_default_float`. The narrow
dtypes are float16 and bfloat16: functions that add, square or exponentiate them compute in float32 and round
the result once, because a sum of ones would end at 2048 or 256, and the square of 300 is not a float16.

Masked arrays and `matrix` are rejected, because their mask or their rules would be lost silently; so are a
list of arrays (was each meant to be an operand?), text, and what NumPy can only convert to an opaque object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from nameexpr.errors import Diagnostic, Mark, error

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]

NARROW = 2
"""The bytes of a narrow float: an array's itemsize is faster to read than its dtype."""

_default: list[np.dtype[Any]] = [np.dtype(np.float64)]


def default_float() -> np.dtype[Any]:
    """Return the dtype of floats that do not come from float arrays: factories, quotients and roots
    of ints.
    """
    return _default[0]


def set_default_float(dtype: np.dtype[Any]) -> None:
    """Make `dtype` the default float dtype of this process."""
    _default[0] = dtype


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether the elements are real floating point numbers, including bfloat16 (whose kind is "V")."""
    return dtype.kind == "f" or is_bfloat16(dtype)


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is bfloat16, which the package ml_dtypes adds to NumPy."""
    return dtype.kind == "V" and dtype.name == "bfloat16"


def is_finite(x: Array) -> bool:
    """Return whether all elements of floats are finite: `argmax` and `argmin` take less than other passes."""
    return not x.size or (isfinite(x.item(x.argmax())) and isfinite(x.item(x.argmin())))


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == NARROW and is_float(dtype)


def widened(x: Array) -> Array:
    """Return narrow floats in float32, and any other array unchanged."""
    return x.astype(np.float32) if x.itemsize == NARROW and is_narrow(x.dtype) else x


def in_float32(kernel: Callable[..., Any], x: Array, **options: Any) -> Array:
    """Return the result of a kernel computed in float32, rounded to the array's narrow dtype."""
    return np.asarray(kernel(x.astype(np.float32), **options)).astype(x.dtype.type)


def in_float64(kernel: Callable[..., Any], x: Array, **options: Any) -> Array:
    """Return the result of a kernel computed in float64, rounded to the default float dtype."""
    return np.asarray(kernel(x.astype(np.float64), **options)).astype(_default[0], copy=False)


def common_dtype(*values: Any) -> np.dtype[Any]:
    """Return NumPy's promotion of dtypes, arrays and numbers; Python floats are weak for bfloat16, too.

    With a dtype that NumPy does not define they would become float64.
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
    """Return a dtype in the byte order of this machine, which all results have."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def as_float(x: Array) -> Array:
    """Return an array of ints or bools in the default float dtype, and any other unchanged."""
    return x.astype(_default[0]) if x.dtype.kind in "iub" else x


NUMBERS = (bool, int, float, complex)


def as_operand(value: Any, key: int | str, text: str, marks: tuple[Mark, ...] = ()) -> Array:
    """Return the operand as a base-class array, without a copy if it already is an array.

    Parameters
    ----------
    value : object
        The operand.
    key : int or str
        Its position, or its name in a formula.
    text : str
        The expression or the formula.
    marks : tuple of Mark
        The marks in the text that an error shows.

    Raises
    ------
    OperandError
        If it cannot be an operand.
    """
    if type(value) is np.ndarray:
        return value
    who = f"'{key}'" if isinstance(key, str) else f"operand {key}"
    fault = _refused(value, is_named=isinstance(key, str))
    if fault is not None:
        message, hint = fault
        raise error(Diagnostic("NE503", f"{who} {message}", text, marks, hint=hint))
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as reason:
        message = f"{who} is not an array: NumPy cannot convert this {type(value).__name__}"
        hint = "give an array, a NamedTensor, a number, or nested lists of equal lengths"
        raise error(Diagnostic("NE503", message, text, marks, hint=hint)) from reason
    if array.dtype == object and array.ndim == 0:
        message = f"{who} is not an array but {_article(type(value).__name__)}"
        raise error(Diagnostic("NE503", message, text, marks, hint=ANYTHING))
    return array


ANYTHING = "give an array, a NamedTensor or a number"


def _refused(value: Any, *, is_named: bool) -> tuple[str, str] | None:
    """Return (description, suggestion) for a value that would lose its meaning as an array."""
    from nameexpr.backends.numpy.foreign import Refusal, classes_within, read, reader_of

    found = read(value)
    if isinstance(found, Refusal):
        return found.message, found.hint
    if isinstance(value, str | bytes):
        hint = ANYTHING if is_named else "the expression comes first, then one array for each term"
        return "is text, not an array", hint
    if isinstance(value, list | tuple) and any(
        issubclass(kind, np.ndarray) or hasattr(kind, "_names") or reader_of(kind)
        for kind in classes_within(value)
    ):
        hint = "give each array as an operand of its own, with a star: einsum(text, *arrays); "
        hint += "or stack them: numpy.stack(arrays)"
        if is_named:
            hint = "give one array; numpy.stack(arrays) makes one of several"
        return f"is a {type(value).__name__} of {len(value)} arrays", hint
    if isinstance(value, dict | set | frozenset) or value is None:
        return f"is {_article(type(value).__name__)}, not an array", ANYTHING
    return None


def _article(name: str) -> str:
    return "None" if name == "NoneType" else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def weak_numbers(
    values: Sequence[Any], arrays: list[Array | None], text: str, wanted: np.dtype[Any] | None
) -> list[Array]:
    """Return the arrays with each Python number, given as None so far, in the dtype of NumPy's promotion.

    Python numbers take part in promotion by their kind alone, as in NumPy 2 (NEP 50); with `dtype=`, they are
    promoted with that dtype.

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
                f"operand {position}, the number {_short(value)}, does not fit into the dtype of the others"
            )
            hint = "pass it as a NumPy scalar of the dtype to compute in, such as numpy.int64(...)"
            raise error(Diagnostic("NE504", message, text, hint=hint)) from reason
    return filled


def _short(value: Any) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python does not print ints of more than 4,300 digits
        return "given"
    return shown if len(shown) < 40 else shown[:36] + "..."  # noqa: PLR2004


def promoted(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """Return the dtype of products, or None if these dtypes have no common one."""
    first = dtypes[0]
    if all(dtype is first for dtype in dtypes):
        return first
    try:
        return np.result_type(*dtypes)
    except TypeError:
        return None


@lru_cache(maxsize=256)
def number_name(dtype: np.dtype[Any] | None) -> str:
    """Return the name of a numeric dtype, or "" for a dtype that is never cast: NumPy recreates names."""
    if dtype is None or not (dtype.kind in "biufc" or is_bfloat16(dtype)):
        return ""
    if dtype.char in "gG":
        return "longdouble" if dtype.char == "g" else "clongdouble"
    return dtype.name


def beside_float(a: Any, b: Any) -> tuple[Any, Any]:
    """Return an array and a Python float, which is weak: where NumPy would choose another dtype for both,
    integers and bools become the default dtype, and the number becomes bfloat16.
    """
    number, array = (a, b) if type(a) is float else (b, a)
    if array.dtype.kind in "iub" and default_float() != np.float64:
        array = array.astype(default_float())
    if array.dtype.kind == "V" and is_bfloat16(array.dtype):
        number = array.dtype.type(number)
    return (number, array) if type(a) is float else (array, number)


def each(function: Callable[[float], float], x: Array) -> Array:
    """Return a function of the standard library of each float64 of a row."""
    # The memoryview yields Python floats one by one: half the time of np.frompyfunc, without an array of
    # objects.
    return np.fromiter(map(function, x.data), np.float64, x.size)
