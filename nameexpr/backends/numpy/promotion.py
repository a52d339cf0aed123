"""Answers to the dtype questions of the formula compiler: found by applying the functions to one element.

Python scalars are weak, and so is a function of them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import number_name
from nameexpr.backends.numpy.codegen.statements import callee_of
from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.dtypes import WEAK, choose_dtypes, needs_narrowing
from nameexpr.ops import ALONG, KERNELS, REDUCTIONS

_ONE: dict[str, Any] = {dtype: type_(1) for type_, dtype in WEAK.items()}

_ALIKE = dict.fromkeys(("erf", "erfc", "gelu"), "sigmoid")
"""Kernels that load SciPy, and one of the same dtypes that does not."""


def function_of(kernel: str) -> Any:
    """Return a kernel of NumPy, or of this package."""
    if kernel not in KERNELS and kernel not in ALONG:
        return getattr(np, kernel)
    from nameexpr.backends.numpy import formulas

    return getattr(formulas, kernel)


def fold_numbers(kernel: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
    """Return the result of a kernel for numbers, as a number."""
    from nameexpr.backends.numpy.numbers import fold

    result: int | float | complex = fold(function_of(kernel), *numbers)
    return result


@lru_cache(maxsize=4096)
def dtype_of(kernel: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a pointwise function for these dtypes; TypeError if there is none."""
    alike = _ALIKE.get(kernel, kernel)
    with np.errstate(all="ignore"):
        if all(dtype in _ONE for dtype in dtypes):
            return WEAK[type(fold_numbers(alike, [_ONE[dtype] for dtype in dtypes]))]
        along = (0,) if kernel in ALONG else ()
        samples = [_ONE[dtype] if dtype in _ONE else np.ones(1, dtype) for dtype in dtypes]
        result = np.asarray(function_of(alike)(*samples, *along))
    if result.dtype.kind not in "biufc":
        raise TypeError(f"{callee_of(kernel)} gives {result.dtype}")
    return number_name(result.dtype)


@lru_cache(maxsize=4096)
def promoted(dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of arrays of these dtypes."""
    return number_name(np.result_type(*(_ONE.get(dtype) or np.dtype(dtype) for dtype in dtypes)))


@lru_cache(maxsize=4096)
def reduced(reducer: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of arrays of these dtypes after a reduction."""
    product = promoted(dtypes)
    chosen = choose_dtypes(dtypes, product, reducer)
    if reducer in {"sum", "mean"}:
        return chosen.result
    sample = np.ones(1, chosen.compute)
    combine = REDUCTIONS[reducer].combine
    if combine:
        made = np.asarray(getattr(np, combine).reduce(sample, axis=0))
    else:
        from nameexpr.backends.numpy import kernels

        made = np.asarray(getattr(kernels, reducer)(sample, 0))
    return chosen.result if needs_narrowing(reducer, chosen) else number_name(made.dtype)


ARITHMETIC = Arithmetic(dtype_of, fold_numbers, reduced, promoted)
"""The rules of NumPy's promotion for the compiler."""
