"""An array-API library as one that texts run on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from nameexpr.backends.array_api.code import statements
from nameexpr.backends.array_api.promotion import Promotion
from nameexpr.backends.dispatch import library_name, not_numbers
from nameexpr.backends.library import Library
from nameexpr.backends.numpy.promotion import fold_numbers
from nameexpr.backends.portable.target import PORTABLE
from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.errors import Diagnostic, error

MODULES = ("functions", "moving", "reductions", "scattering")
"""The modules of this package that generated code calls."""


def library_for(operands: Sequence[Any]) -> Library:
    """Return the library for the namespace of the first operand that has one."""
    arrays: list[Any] = [getattr(operand, "_data", operand) for operand in operands]
    kinds: list[Any] = list(map(type, arrays))
    number = next(number for number, kind in enumerate(kinds) if library_name(kind) == "array_api")
    return _library(arrays[number].__array_namespace__())


@cache
def _library(namespace: Any) -> Library:
    promotion = Promotion(namespace)
    name = namespace.__name__.removesuffix("._namespace")

    def product_dtype(operands: Sequence[Any]) -> str | None:
        named = [WEAK.get(_kind_of(one)) or dtype_name(one.dtype) for one in operands]
        try:
            return promotion.promoted(named)
        except TypeError:
            return None

    def dtype_name(dtype: Any) -> str:
        return _name_of(dtype, promotion, name)

    def as_array(value: Any, like: Any) -> Any:
        if not isinstance(value, np.generic):
            return value
        dtype = getattr(namespace, value.dtype.name, None)
        if dtype is None:
            raise not_numbers(value, "float(x)")
        return namespace.asarray(value.item(), dtype=dtype, device=like.device)

    return Library(
        name=name,
        target=PORTABLE,
        arithmetic=Arithmetic(promotion.dtype_of, fold_numbers, promotion.reduced, promotion.promoted),
        dtype_name=dtype_name,
        product_dtype=product_dtype,
        statements=lambda program, shapes, dtypes: statements(program, shapes, dtypes, promotion, name),
        resolve=lambda module, function: _resolved(namespace, name, module, function),
        guard=guard,
        from_number=lambda value, dtype, like: namespace.asarray(
            value, dtype=getattr(namespace, dtype), device=like.device
        ),
        as_array=as_array,
        finish=lambda function, text: function,
        fault=fault,
        as_numpy=as_numpy,
        copied=lambda array: namespace.asarray(array, copy=True),
        imports={
            "xp": f"import {name} as xp",
            **{module: f"from nameexpr.backends.array_api import {module}" for module in MODULES},
        },
    )


def _kind_of(operand: Any) -> type:
    """Return the class of a number, or that given as the dtype of an operand."""
    dtype = getattr(operand, "dtype", None)
    return dtype if isinstance(dtype, type) and dtype in WEAK else type(operand)


def _name_of(dtype: Any, promotion: Promotion, library: str) -> str:
    """Return the name of a dtype of the library (NE505 for one that the standard does not have)."""
    found = promotion.names.get(dtype)
    if found is None:
        message = f"elements of dtype {dtype} are not in the array API standard"
        raise error(Diagnostic("NE505", message, hint=f"convert them to a dtype of {library} first"))
    return found


def _resolved(namespace: Any, library: str, module: str, name: str) -> Any:
    """Return the function for a module and a name in generated code (NE529 if the library lacks it)."""
    if module != "xp":
        found = getattr(import_module(f"nameexpr.backends.array_api.{module}"), name, None)
    else:
        found = getattr(namespace, name, None)
    if found is None:
        raise error(Diagnostic("NE529", f"{library} has no {name}", hint="convert the operands to NumPy"))
    return found


def as_numpy(array: Any) -> Any:
    """Return the NumPy array of an array, copied from its device if needed."""
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return np.from_dlpack(array, device="cpu", copy=True)


def guard(name: str, array: Any, suffix: str, constants: dict[str, Any], has_shapes: bool) -> str:
    """Return the condition that an array is of the same class, dtype and shape (or number of dims)."""
    constants |= {f"T{suffix}": type(array), f"d{suffix}": array.dtype, f"s{suffix}": array.shape}
    shape = f"{name}.shape == s{suffix}" if has_shapes else f"{name}.ndim == {array.ndim}"
    return f"type({name}) is T{suffix} and {name}.dtype == d{suffix} and {shape}"


def fault(wrong: Exception) -> str | None:
    """Return the reason for an error of the library; None for other exceptions."""
    is_ours = isinstance(wrong, RuntimeError | ValueError | TypeError | IndexError | ArithmeticError)
    return str(wrong).splitlines()[0][:160] if is_ours and str(wrong) else None
