"""Pieces of code on a namespace `xp` of the array API standard."""

from __future__ import annotations

from math import isfinite, isnan

from nameexpr.backends.numpy.codegen.statements import Callee, Invocation, Joined, Value
from nameexpr.compiler.ir.dtypes import KIND_OF, WeakDtype

Number = int | float | complex


def xp(name: str) -> Callee:
    """Return a function, or a dtype, of the namespace."""
    return Callee("xp", name)


def ours(name: str, module: str = "functions") -> Callee:
    """Return a function of a module of `nameexpr.backends.array_api`."""
    return Callee(module, name)


def cast(name: Value, dtype: str, wanted: str) -> Value:
    """Return a value of a dtype, converted to another one."""
    if dtype == wanted:
        return name
    if wanted == "bool" and KIND_OF.get(dtype) == "complex":  # which the standard does not convert
        return Joined(("(", name, " != 0)"))
    return xp("astype")(name, xp(wanted))


def converted(number: Number, dtype: str) -> Number:
    """Return a number in the kind of a dtype."""
    kinds = {"bool": bool, "int": int, "float": float, "complex": complex}
    kind = kinds[KIND_OF.get(dtype, "float").removeprefix("u")]
    return number if type(number) is kind else kind(number)


def literal(number: Number) -> Value:
    """Return a number as code."""
    if isinstance(number, complex):
        return Invocation("complex", (literal(number.real), literal(number.imag)), {})
    if isinstance(number, float) and not isfinite(number):
        return xp("nan") if isnan(number) else Joined(("-" if number < 0 else "", xp("inf")))
    return repr(number)


def as_kind(name: str, dtype: WeakDtype, wanted: str) -> Value:
    """Return a number that is an operand, in the kind of a dtype."""
    kind = KIND_OF.get(wanted, "float").removeprefix("u")
    return name if kind == dtype.kind else Invocation(kind, (name,), {})


def full(number: Value, dtype: str, device: str | None) -> Value:
    """Return an array without dims of a number."""
    return xp("asarray")(number, dtype=xp(dtype), device=device)
