"""Rules for derivatives as functions: the texts of `nameexpr.compiler.gradient.rules`, translated to Python.

A *factory* takes the arrays of a call, and returns the function from the gradient of the result to that of an
argument. That function is a closure, which holds the arrays that its rule reads, and no others.

>>> square = factory("square", "g * 2 * a", "ay")
>>> square(np.array([1.0, 3.0]), np.array([1.0, 9.0]))(np.array([1.0, 1.0]))
array([2., 6.])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from nameexpr.backends.numpy import special
from nameexpr.backends.numpy.arrays import NARROW, is_narrow
from nameexpr.compiler.gradient.rules import parsed
from nameexpr.syntax import ast

Vjp = Callable[[Any], Any]
"""The function from the gradient of a result to that of an argument."""
Factory = Callable[..., Vjp]

_UFUNCS = "sqrt sin cos sinh cosh exp log floor trunc sign conj real abs copysign"


def _sigmoid(x: Any) -> Any:
    return special.sigmoid(np.asarray(x))


def _erfc(x: Any) -> Any:
    return special.erfc(np.asarray(x))


def _trigamma(x: Any) -> Any:
    return special.trigamma(np.asarray(x))


def _mean(x: Any, axis: Any) -> Any:
    whole = np.add.reduce(x, axis=axis, keepdims=True)
    return whole / (x.size / whole.size) if whole.size else whole


FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in _UFUNCS.split()},
    "where": np.where,
    "sigmoid": _sigmoid,
    "erfc": _erfc,
    "trigamma": _trigamma,
    "inf": np.inf,
    "along_sum": lambda x, axis: np.add.reduce(x, axis=axis, keepdims=True),
    "along_mean": _mean,
    "along_cumsum": lambda x, axis: np.add.accumulate(x, axis=axis),
    "along_max": lambda x, axis: np.maximum.reduce(x, axis=axis, keepdims=True),
    "along_min": lambda x, axis: np.minimum.reduce(x, axis=axis, keepdims=True),
    "along_prod": lambda x, axis: np.multiply.reduce(x, axis=axis, keepdims=True),
    "along_cumprod": lambda x, axis: np.multiply.accumulate(x, axis=axis),
    "along_flip": np.flip,
}
"""The functions of the rules, and those along dims, which the translation calls by these names."""


@cache
def factory(name: str, rule: str, arguments: str, *, is_complex: bool = False) -> Factory:
    """Return the factory of a rule, which takes arrays in the order of these one-letter names.

    A rule for real numbers holds for complex ones as `conj(rule(conj(g)))`.
    """
    value = python(parsed(rule))
    conjugated = ["    g = conj(g)"] if is_complex else []
    lines = [
        f"def make({', '.join(arguments)}):",
        "  def vjp(g):",
        *conjugated,
        f"    return conj({value})" if is_complex else f"    return {value}",
        "  return vjp",
    ]
    scope = dict(FUNCTIONS)
    exec(compile("\n".join(lines), f"<derivative of {name}>", "exec"), scope)  # noqa: S102  our own table
    made: Factory = scope["make"]
    return made


def wide(array: Any) -> Any:
    """Return narrow floats in float32, in which their gradients are computed; numbers unchanged."""
    if type(array) is np.ndarray and array.itemsize == NARROW and is_narrow(array.dtype):
        return array.astype(np.float32)
    return array


def python(node: Any) -> str:
    """Return the Python expression for the syntax tree of a rule."""
    match node:
        case ast.Number(value):
            return repr(value)
        case ast.Use(name):
            return name
        case ast.Unary(operator, value):
            return f"({operator}{python(value)})"
        case ast.Binary(operator, left, right):
            return f"({python(left)} {operator} {python(right)})"
        case ast.Call(function, arguments):
            return f"{function}({', '.join(map(python, arguments))})"
        case ast.CallAlong(function, _, arguments):
            return f"along_{function}({', '.join(map(python, arguments))}, R)"
    raise TypeError(type(node).__name__)
