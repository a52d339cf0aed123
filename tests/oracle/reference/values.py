"""Values of the formula reference: arrays whose axes have labels, with a bound on how far a route may be off.

Floats are computed in float64 whatever their dtype is; the dtype is NumPy's and is kept beside. `error`
bounds the rounding of an implementation that computes in that dtype. Inputs that are off by so much give a
result that is off by so much (each function is tried at both ends), and each operation adds its own rounding.
Small dyadic numbers are exact and stay so. A bound of infinity says that the answer hangs on a rounding:
`floor` at an integer, a comparison of equals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.reference.rounding import at_a_jump, distance, doubled, exact, unit
from oracle.reference.text import Refused

EXACT = {
    *("* / + - u- u+ // % abs maximum minimum clip relu where square sqrt floor ceil round trunc".split()),  # noqa: SIM905
    *("sign real imag conj reciprocal copysign remainder floor_divide".split()),  # noqa: SIM905
}
COMPARED = {"==", "!=", "<", "<=", ">", ">="}


@dataclass(frozen=True)
class Value:
    """An array with a label for each axis.

    Attributes
    ----------
    array
        Integers and bools as they are, or widened; other numbers in double precision.
    labels
        One for each axis.
    dtype
        What NumPy's rules give.
    error
        A bound for each cell.
    number
        The Python number that this is, if it is a constant: it adapts to other dtypes.
    """

    array: np.ndarray[Any, Any]
    labels: tuple[str, ...]
    dtype: np.dtype[Any]
    error: np.ndarray[Any, Any]
    number: Any = None


def inexact(dtype: np.dtype[Any]) -> bool:
    """Whether this dtype rounds."""
    return dtype.kind in "fc"


def from_array(array: Any, labels: Sequence[str]) -> Value:
    """An operand."""
    array = np.asarray(array)
    if array.dtype.kind not in "biufc":
        raise Refused("dtype", str(array.dtype))
    held = doubled(array) if inexact(array.dtype) else array
    return Value(held, tuple(labels), array.dtype, np.zeros(array.shape))


def from_number(number: Any) -> Value:
    """A constant."""
    array = np.asarray(number)
    return Value(array, (), array.dtype, np.zeros(()), number)


def laid_out(value: Value, labels: Sequence[str]) -> Value:
    """The same value with these labels, of which some may be new and then have size one."""
    order = [value.labels.index(label) for label in labels if label in value.labels]
    sizes = [value.array.shape[value.labels.index(label)] if label in value.labels else 1 for label in labels]
    arrays = [array.transpose(order).reshape(sizes) for array in (value.array, value.error)]
    return Value(arrays[0], tuple(labels), value.dtype, arrays[1], value.number)


def union(values: Sequence[Value]) -> tuple[str, ...]:
    """All labels of some values."""
    return tuple(dict.fromkeys(label for value in values for label in value.labels))


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
    "%": np.remainder, "**": np.power, "u-": np.negative, "u+": np.positive, "~": np.invert,
    "&": np.bitwise_and, "|": np.bitwise_or,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
    "abs": np.abs, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power, "conj": np.conjugate,
    "round": np.round, "where": np.where, "int": lambda x: np.trunc(x).astype("int64"),
    "relu": lambda x: np.maximum(x, 0),
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: np.vectorize(lambda y: 0.5 * y * math.erfc(-y / math.sqrt(2)), otypes="d")(x),
    "softplus": lambda x: np.logaddexp(x, 0.0),
    "erf": np.vectorize(math.erf, otypes="d"),
    "erfc": np.vectorize(math.erfc, otypes="d"),
}  # fmt: skip
LIKE_EXP = {"sigmoid", "silu", "gelu", "softplus", "erf", "erfc"}


def function_of(name: str) -> Callable[..., Any]:
    """The NumPy function of a name, or our definition."""
    return FUNCTIONS.get(name) or getattr(np, name)


def pointwise(name: str, args: Sequence[Value], *, widening: bool = False) -> Value:
    """Apply a function cell by cell, broadcasting by label.

    Parameters
    ----------
    name
        A function or the sign of an operator.
    args
        Its arguments.
    widening
        Whether this is part of a product that is summed.
    """
    if all(arg.number is not None for arg in args):
        return folded(name, args)
    if name == "where":
        args = [pointwise("!=", [args[0], from_number(0)]), *args[1:]]
    dtype = promote(name, args, widening=widening)
    if name == "where" and dtype.kind in "iu":  # NumPy wraps
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not all(low <= arg.number <= high for arg in args[1:] if arg.number is not None):
            raise Refused("dtype", f"a number as {dtype}")
    labels = union(args)
    args = [laid_out(arg, labels) for arg in args]
    try:
        shape = np.broadcast_shapes(*(arg.array.shape for arg in args))
        if any(inexact(arg.dtype) and arg.number is None for arg in args) or inexact(dtype):
            array, error = rounded(name, args, shape, dtype, widening=widening)
        else:
            array, error = whole(name, args, wide(dtype) if widening else None), np.zeros(shape)
            for arg in args:
                error = error + np.where(arg.error > 0, np.inf, 0)
    except (ValueError, TypeError, OverflowError) as reason:
        raise Refused("pointwise", str(reason)) from reason
    return Value(np.broadcast_to(array, shape), labels, dtype, np.broadcast_to(error, shape))


def folded(name: str, args: Sequence[Value]) -> Value:
    """A function of constants: a constant, off by what its floats are."""
    value = from_number(fold(name, [arg.number for arg in args]))
    if not inexact(value.dtype):
        return value
    _, error = rounded(name, args, (), value.dtype)
    return Value(value.array, (), value.dtype, np.asarray(error), value.number)


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What a product is computed in that is summed."""
    if dtype.kind in "bi":
        return np.dtype("int64")
    if dtype.kind == "u":
        return np.dtype("uint64")
    return np.dtype("float32") if dtype == np.float16 else dtype


def promote(name: str, args: Sequence[Value], *, widening: bool) -> np.dtype[Any]:
    """The dtype that NumPy's rules give, or a refusal where it has none."""
    probes = [np.empty(0, arg.dtype) if arg.number is None else arg.number for arg in args]
    if widening:
        probes = [type(probe)(1) if isinstance(probe, int) else probe for probe in probes]
    if name in LIKE_EXP and any(np.asarray(probe).dtype.kind == "c" for probe in probes):
        raise Refused("dtype", f"{name} of complex numbers")
    if name == "where" and isinstance(args[0].number, bool | int | float):
        probes[0] = np.empty(0, bool)
    function = np.exp if name in LIKE_EXP else function_of(name)
    if name == "clip":  # np.maximum of two Python scalars would be of a fixed dtype
        return np.result_type(*probes)
    try:
        return np.dtype(np.asarray(function(*probes)).dtype)
    except (TypeError, ValueError, OverflowError) as reason:
        raise Refused("dtype", str(reason)) from reason


def whole(name: str, args: Sequence[Value], dtype: np.dtype[Any] | None) -> Any:
    """Apply a function to integers and bools, in their own dtypes or in one wide dtype."""
    if name == "clip":
        dtype = np.result_type(*(arg.dtype if arg.number is None else arg.number for arg in args))
    if dtype is None:
        return function_of(name)(*(arg.array if arg.number is None else arg.number for arg in args))
    given = [arg.array.astype(dtype) if arg.number is None else dtype.type(arg.number) for arg in args]
    return function_of(name)(*given)


def rounded(
    name: str, args: Sequence[Value], shape: tuple[int, ...], dtype: np.dtype[Any], *, widening: bool = False
) -> tuple[Any, Any]:
    """Apply a function in double precision, and bound what rounding in the dtype may change."""
    computed = wide(dtype) if widening and name != "/" else dtype  # a quotient is a factor of its own
    pairs = [settled(arg, args, computed) for arg in args]
    arrays, errors = [array for array, _ in pairs], [off for _, off in pairs]
    function = function_of(name)
    result = np.asarray(function(*arrays))
    error = np.zeros(shape)
    for at, off in enumerate(errors):
        error = error + shaken(function, arrays, at, off, result)
    if name in COMPARED:
        reach = errors[0] + errors[1]
        error = np.where((np.abs(doubled(arrays[0]) - doubled(arrays[1])) <= reach) & (reach > 0), np.inf, 0)
    if not inexact(dtype):
        error = np.where(error > 0, np.inf, 0)
    else:
        sure = exact(arrays, result, computed) & (error == 0) if name in EXACT else np.zeros(shape, bool)
        if name == "abs" and arrays[0].dtype.kind == "c":
            sure = np.zeros(shape, bool)  # hypot may be off by a rounding where the answer is a whole number
        if name == "/" and widening:  # a product of reciprocals will do
            sure = sure & (np.abs(np.frexp(np.abs(arrays[1]))[0]) == 0.5)
        error = np.where(sure, error, error + unit(result, computed))
        error = error + (unit(arrays[0], computed) if name == "gelu" else 0)  # 1 + erf(x) will do
    is_computed = [inexact(arg.dtype) and arg.number is None for arg in args]
    error = np.where(at_a_jump(name, is_computed, arrays, errors, result), np.inf, error)
    for arg in args:
        error = np.where(np.isinf(arg.error), np.inf, error)
    return result, error


def settled(arg: Value, args: Sequence[Value], computed: np.dtype[Any]) -> tuple[Any, Any]:
    """An argument as the function gets it, with its error: constants take the precision of the others."""
    if arg.number is None:
        return arg.array if arg.array.dtype.kind == "b" else doubled(arg.array), arg.error
    if isinstance(arg.number, bool | int):
        return arg.number if isinstance(arg.number, bool) else float(arg.number), arg.error
    common = np.result_type(*(other.dtype for other in args if other.number is None), arg.number)
    kept = doubled(common.type(arg.number))
    if np.array_equal(kept, arg.number, equal_nan=True):
        return kept, arg.error
    if inexact(computed):
        kept = doubled(np.result_type(common, computed).type(arg.number))
    return kept, arg.error + unit(kept, common)


def shaken(function: Callable[..., Any], arrays: list[Any], at: int, error: Any, result: Any) -> Any:
    """How much the result changes when one argument is off by its error."""
    step = np.where(np.isfinite(error), error, 0)
    if not np.any(step > 0) or np.asarray(arrays[at]).dtype.kind == "b":
        return np.zeros(result.shape)
    change = np.zeros(result.shape)
    for way in (1, -1, 1j, -1j) if np.asarray(arrays[at]).dtype.kind == "c" else (1, -1):
        moved = np.asarray(function(*arrays[:at], arrays[at] + way * step, *arrays[at + 1 :]))
        change = np.maximum(change, distance(moved, result))
    return change


def fold(name: str, numbers: Sequence[Any]) -> Any:
    """A function of constants, as Python computes it but that floats divide and overflow as IEEE says."""
    if name in ("**", "pow") and all(type(number) is int for number in numbers) and numbers[1] < 0:
        numbers = [float(numbers[0]), numbers[1]]
    try:
        found = np.asarray(function_of(name)(*numbers))
        if found.dtype == np.float16:  # of bools: a constant is in double precision
            found = np.asarray(function_of(name)(*map(float, numbers)))
        return found.item()
    except (TypeError, ValueError, OverflowError) as reason:
        raise Refused("constant", str(reason)) from reason
