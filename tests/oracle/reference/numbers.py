"""Dtypes and reducers of the reference evaluator, on Python numbers.

Integers are exact and wrapped to their dtype, floats are Python's (64 bits) and rounded to the result's dtype
at the end. Every reducer is its definition over a list of values: the cells along the merged axis.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracle.reference.text import Refused

SUMMING = {"sum", "mean", "prod", "var", "std", "median", "norm", "logsumexp"}
FLOATING = {"mean", "var", "std", "median", "norm", "logsumexp"}
FIXED = {"any": "bool", "all": "bool", "argmax": "int64", "argmin": "int64", "count_nonzero": "int64"}


def product_dtype(operands: Sequence[Any], dtype: Any) -> np.dtype[Any]:
    """The dtype of the product before any widening: NumPy's, or `dtype=` where the operands may be cast to
    it.
    """
    wanted = np.dtype(dtype) if dtype is not None else np.result_type(*map(unweighed, operands))
    for operand in operands:
        if not (fits_weakly(operand, wanted) if is_weak(operand) else fits(operand, wanted)):
            raise Refused("dtype", f"{operand!r} cannot be cast to {wanted}")
    return wanted


def unweighed(operand: Any) -> Any:
    """The operand as `np.result_type` weighs it: Python numbers stay what they are."""
    return operand if is_weak(operand) else np.asarray(operand)


def fits(operand: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an array may be cast to this dtype."""
    return np.can_cast(np.asarray(operand).dtype, dtype, "same_kind")


def fits_weakly(operand: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a Python number is of no wider kind than this dtype, and in its range."""
    kinds = "biufcO"
    if dtype.kind in "iu" and int(operand.real) != convert(int(operand.real), dtype):
        return False
    return kinds.index(np.asarray(operand).dtype.kind) <= kinds.index(dtype.kind)


def is_weak(operand: Any) -> bool:
    """Whether this is a Python number, which adapts to the dtypes of the others."""
    return type(operand) in (bool, int, float, complex)


def widened(product: np.dtype[Any], summing: bool, dtype: Any) -> np.dtype[Any]:
    """The dtype that is multiplied and summed in."""
    if product == np.float16 and (summing or dtype is not None):
        return np.dtype("float32")
    if summing and dtype is None and product.kind in "bi":
        return np.dtype("int64")
    return np.dtype("uint64") if summing and dtype is None and product.kind == "u" else product


def result_dtype(product: np.dtype[Any], summing: bool, reducer: str | None, dtype: Any) -> np.dtype[Any]:
    """The dtype of the result, given the one of the product."""
    if reducer in FIXED:
        return np.dtype(FIXED[reducer])
    if reducer == "logsumexp" and product.kind == "c":
        raise Refused("dtype", "logsumexp of complex numbers")
    if dtype is not None or product.kind == "O":
        return product
    if reducer in FLOATING and product.kind in "biu":
        return np.dtype("float64")
    if reducer in {"var", "std", "norm"} and product.kind == "c":
        return np.empty(0, product).real.dtype
    return product if product == np.float16 else widened(product, summing, None)


def convert(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value as a number of this dtype: bools are ors of bits, integers wrap, the rest is Python's."""
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused("dtype", f"{value} as {dtype}")
        low = int(np.iinfo(dtype).min)
        return (int(value) - low) % (1 << 8 * dtype.itemsize) + low
    if dtype.kind == "f":
        return float(value)
    return complex(value) if dtype.kind == "c" else value


def is_nan(value: Any) -> bool:
    """Whether a number is not a number."""
    return cmath.isnan(value) if isinstance(value, float | complex) else False


def order(value: Any) -> Any:
    """NumPy's order of numbers: complex ones by real part, then imaginary part."""
    return (value.real, value.imag) if isinstance(value, complex) else value


def extreme(cells: list[Any], pick: Callable[..., Any]) -> int:
    """The index of the first largest or smallest value; of the first NaN if there is one."""
    if not cells:
        raise Refused("empty", "the extreme of no elements")
    for at, value in enumerate(cells):
        if is_nan(value):
            return at
    return int(pick(range(len(cells)), key=lambda at: order(cells[at])))


def mean(cells: list[Any]) -> Any:
    """Sum over count."""
    return sum(cells) / len(cells) if cells else math.nan


def square(value: Any) -> Any:
    """The squared magnitude."""
    return abs(value) * abs(value)


def var(cells: list[Any]) -> float:
    """Mean squared distance from the mean."""
    centre = mean(cells)
    return float(mean([square(value - centre) for value in cells]))


def median(cells: list[Any]) -> Any:
    """The mean of the middle two of the sorted values."""
    if not cells or any(map(is_nan, cells)):
        return math.nan
    ranked, half = sorted(cells, key=order), len(cells) // 2
    return mean(ranked[half - 1 : half + 1]) if len(cells) % 2 == 0 else ranked[half]


def logsumexp(cells: list[Any]) -> float:
    """Logarithm of the sum of exponentials."""
    if any(map(is_nan, cells)):
        return math.nan
    top = max(cells, default=-math.inf)
    if math.isinf(top):
        return float(top)
    return float(top + math.log(sum(math.exp(value - top) for value in cells)))


DEFINITIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "mean": mean,
    "prod": math.prod,
    "max": lambda cells: cells[extreme(cells, max)],
    "min": lambda cells: cells[extreme(cells, min)],
    "any": lambda cells: any(bool(value) for value in cells),
    "all": lambda cells: all(bool(value) for value in cells),
    "var": var,
    "std": lambda cells: math.sqrt(var(cells)),
    "median": median,
    "logsumexp": logsumexp,
    "norm": lambda cells: math.sqrt(sum(square(value) for value in cells)),
    "argmax": lambda cells: extreme(cells, max),
    "argmin": lambda cells: extreme(cells, min),
    "count_nonzero": lambda cells: sum(bool(value) for value in cells),
}


def real_or_complex(value: Any, dtype: np.dtype[Any]) -> Any:
    """A reduced value as the result's dtype holds it."""
    if isinstance(value, complex) and dtype.kind != "c":
        raise Refused("dtype", f"{value} as {dtype}")
    return complex(math.nan, math.nan) if dtype.kind == "c" and cmath.isnan(value) else convert(value, dtype)
