"""Arithmetic of numbers in formulas, with exact integers.

Other numbers follow IEEE 754: 1 / 0 is inf, so is 7 // 0, and 7 % 0 is nan.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nameexpr.errors import NO_FLOAT, NotHeldError

Number = int | float | complex
BITS = 4096
"""The number of bits of the largest integer that arithmetic accepts or returns."""
_KINDS = (bool, int, float, complex)


def fold(function: Callable[..., Any], *numbers: Number) -> Any:
    """Return a pointwise function of numbers as a Python scalar, which is weak as they are.

    Raises
    ------
    NotHeldError
        If an integer has more than `BITS` bits, or is converted to a float that float64 cannot hold.
    """
    name = function.__name__
    if name == "where":
        return _chosen(*numbers)
    kinds = set(map(type, numbers))
    if name in _COMPARISONS and complex not in kinds:
        return _COMPARISONS[name](*numbers)
    if int in kinds and kinds <= {int, bool} and name in _OF_INTEGERS:
        result = _exact(name, numbers)
        if result is not NotImplemented:
            return result
    return _rounded(function, [as_float(number) if type(number) is int else number for number in numbers])


def _chosen(condition: Number, x: Number, y: Number) -> Number:
    """Return one of two numbers in the wider kind of both."""
    kind = max(type(x), type(y), key=_KINDS.index)
    chosen = x if condition else y
    if type(chosen) is int and kind is not int:
        chosen = as_float(chosen)
    return kind(chosen)  # type: ignore[arg-type]


def _exact(name: str, numbers: tuple[Number, ...]) -> Any:
    """Return a function of integers; NotImplemented if the result is not an integer."""
    integers = [int(number) for number in numbers]  # type: ignore[arg-type]
    if max(number.bit_length() for number in integers) > BITS:
        raise too_large()
    try:
        result = _OF_INTEGERS[name](*integers)
    except ZeroDivisionError:
        return NotImplemented
    if type(result) is int and result.bit_length() > BITS:
        raise too_large()
    return result


def _rounded(function: Callable[..., Any], numbers: list[Any]) -> Any:
    """Return NumPy's result; that of bools is not a narrow number either."""
    with np.errstate(all="ignore"):
        result = np.asarray(function(*numbers))
        if result.dtype == np.int8:
            return fold(function, *map(int, numbers))
        if result.dtype == np.float16:
            result = np.asarray(function(*map(float, numbers)))
    return result.item()


def as_float(number: int) -> float:
    """Return an integer as a float, or raise an error if float64 cannot hold it."""
    try:
        return float(number)
    except OverflowError:
        raise NotHeldError(f"float64 cannot hold {_shown(number)}", NO_FLOAT) from None


def integer(number: Number) -> Number:
    """Return an integer, or raise an error for any other number."""
    if type(number) is not int:
        hint = "make one of the numbers a float, such as 2.0, to compute in floats"
        raise NotHeldError(f"integers give {_shown(number)}, which is not an integer", hint)
    return number


def _shown(number: Number) -> str:
    from nameexpr.rules.calls import shown  # imported here, as it is for errors alone

    return shown(number)


def as_array(number: int) -> np.ndarray[Any, Any]:
    """Return an integer as an array of int64, else of uint64, else of float64."""
    array = np.asarray(number)
    return array if array.dtype != object else np.asarray(as_float(number))


def too_large() -> NotHeldError:
    """Return the error for an integer that is too long to be computed."""
    hint = "write it with floats, such as 2.0 ** 5000, or take logarithms"
    return NotHeldError(f"an integer would have more than {BITS:,} bits", hint)


def _power(base: int, exponent: int) -> Any:
    """Return the power of an integer, if it is an integer and not too long to be computed."""
    if exponent < 0:
        return NotImplemented
    if (abs(base).bit_length() - 1) * exponent > BITS:
        raise too_large()
    return base**exponent


def _quotient(x: int, y: int) -> float:
    try:
        return x / y
    except OverflowError:
        raise NotHeldError("float64 cannot hold the quotient", NO_FLOAT) from None


def _fmod(x: int, y: int) -> int:
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def _reciprocal(x: int) -> int:
    return 1 // x if x > 0 else -(1 // -x)


_COMPARISONS: Mapping[str, Callable[..., bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
_OF_INTEGERS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _quotient,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": _power,
    "fmod": _fmod,
    "reciprocal": _reciprocal,
    "negative": operator.neg,
    "invert": operator.invert,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "absolute": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "square": lambda x: x * x,
    "maximum": max,
    "minimum": min,
    "relu": lambda x: max(x, 0),
    "clip": lambda x, low, high: min(max(x, low), high),
    "imag": lambda x: 0,
    **dict.fromkeys(
        ("integer", "positive", "conjugate", "real", "floor", "ceil", "trunc", "round"), operator.pos
    ),
}
"""Functions of integers that return integers, except for `/`."""
