"""The derivatives of pointwise operators, from the table of the compiler, and those that only tensors have.

>>> y = ne.tensor([0.0, 1.0], names="N").requires_grad_().tanh()
>>> y.grad_fn
<tanh>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nameexpr.compiler.gradient.rules import AS_IT_IS, POINTWISE
from nameexpr.compiler.gradient.rules import COMPLEX as COMPLEX_RULES
from nameexpr.tensors.tape.texts import Factory, Vjp, factory

OWN: Mapping[str, tuple[str, ...]] = {
    "rsqrt": ("g * y * y * y / -2",),
    "erfinv": ("g * exp(y * y) * 0.8862269254527581",),
    "digamma": ("g * trigamma(a)",),
    "frac": ("g",),
    "deg2rad": ("g * 0.017453292519943295",),
    "rad2deg": ("g * 57.29577951308232",),
}
"""The rules of functions that formulas lack."""
SPELT = {
    "add": "+.",
    "sub": "-.",
    "mul": "*.",
    "div": "/.",
    "neg": ".-",
    "positive": ".+",
    "sgn": "sign",
    "truncated_div": "//.",
}
"""How the table of the compiler spells operators."""
_ONE = (
    "exp exp2 expm1 log log10 log1p log2 sqrt rsqrt reciprocal square sigmoid erf erfc erfinv digamma "
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh deg2rad rad2deg abs neg positive sign "
    "sgn ceil floor trunc frac relu round"
)
_TWO = "add sub mul div pow atan2 remainder hypot maximum minimum floor_divide truncated_div"
ONE = frozenset(_ONE.split())
"""Operators of one operand that have a derivative, perhaps 0."""
TWO = frozenset(_TWO.split())
"""Operators of two operands that have one."""


def zero(gradient: Any) -> Any:
    """Return the gradient of a function that is constant between jumps."""
    return np.zeros_like(gradient)


def no_array(*arrays: Any) -> Vjp:
    """Return the function `zero`, in the place of a factory."""
    return zero


def same(gradient: Any) -> Any:
    """Return the gradient of an operator that passes it on."""
    return gradient


def _passes_on(*arrays: Any) -> Vjp:
    return same


class _Factories(dict[str, tuple[Factory, ...]]):
    """By operator the factory for each argument, made on demand, which takes all arguments and the result."""

    def __init__(self, *, is_complex: bool) -> None:
        self.is_complex = is_complex

    def __missing__(self, verb: str) -> tuple[Factory, ...]:
        key, count = SPELT.get(verb, verb), 1 if verb in ONE else 2
        rules = (
            OWN.get(verb) or (COMPLEX_RULES.get(key) if self.is_complex else None) or POINTWISE.get(key, ())
        )
        is_conjugated = self.is_complex and key not in AS_IT_IS
        arguments = "ab"[:count] + "y"
        made = tuple([_factory(verb, rule, arguments, is_conjugated) for rule in rules or ("",) * count])
        self[verb] = made
        return made


REAL, COMPLEX = _Factories(is_complex=False), _Factories(is_complex=True)


def _factory(verb: str, rule: str, arguments: str, is_complex: bool) -> Factory:
    if rule == "g":
        return _passes_on
    return factory(verb, rule, arguments, is_complex=is_complex) if rule else no_array


def slope_of_power(base: Any, exponent: complex) -> Vjp:
    """Return the function for a base whose exponent is a number."""
    if exponent == 2:  # noqa: PLR2004
        return factory("pow", "g * 2 * a", "a", is_complex=base.dtype.kind == "c")(base)
    if exponent == 0:
        return zero
    rule = "g * p * a ** q"
    is_complex = base.dtype.kind == "c" or isinstance(exponent, complex)
    return factory("pow", rule, "apq", is_complex=is_complex)(base, exponent, exponent - 1)
