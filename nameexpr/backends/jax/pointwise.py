"""JAX's pointwise functions for NamedTensors, by the operator's name: `UNARY` and `BINARY`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

Kernel = Callable[..., Any]

_SAME = (
    "exp exp2 expm1 log log10 log1p log2 sqrt reciprocal square sin cos tan sinh cosh tanh deg2rad rad2deg "
    "abs sign ceil floor trunc logical_not isnan isinf isfinite round bitwise_not"
)
_INVERSE = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_SIGNS = {"ceil", "floor", "trunc", "round"}
"""Functions that return integers unchanged."""


def _whole(function: Kernel) -> Kernel:
    """Return a function of floats, which returns integers and bools unchanged."""

    def call(x: Any) -> Any:
        return function(x) if jnp.issubdtype(x.dtype, jnp.inexact) else x

    return call


def _neg(x: Any) -> Any:
    if x.dtype == bool:
        raise TypeError("bools have no sign")
    return jnp.negative(x)


def _frac(x: Any) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError("only floats have a fraction")
    return x - jnp.trunc(x)


def _sgn(x: Any) -> Any:
    return x if x.dtype == bool else jnp.sign(x)


def _floats(x: Any) -> Any:
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.result_type(x, 1.0))


def _digamma(x: Any) -> Any:
    """Return the digamma function, which JAX defines as nan at 0."""
    x = _floats(x)
    return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), jax.scipy.special.digamma(x))


UNARY: Mapping[str, Kernel] = {
    **{name: getattr(jnp, name) for name in _SAME.split()},
    **{f"a{name}": getattr(jnp, f"arc{name}") for name in _INVERSE},
    **{name: _whole(getattr(jnp, name)) for name in _SIGNS},
    "digamma": _digamma,
    "erf": lambda x: jax.scipy.special.erf(_floats(x)),
    "erfc": lambda x: jax.scipy.special.erfc(_floats(x)),
    "erfinv": lambda x: jax.scipy.special.erfinv(_floats(x)),
    "frac": _frac,
    "neg": _neg,
    "positive": jnp.positive,
    "reciprocal": lambda x: jnp.reciprocal(_floats(x)),
    "relu": lambda x: jnp.maximum(x, jnp.zeros((), x.dtype)),
    "rsqrt": lambda x: jax.lax.rsqrt(_floats(x)),
    "sgn": _sgn,
    "sigmoid": lambda x: jax.nn.sigmoid(_floats(x)),
}


def _sub(a: Any, b: Any) -> Any:
    if jnp.issubdtype(jnp.result_type(a, b), jnp.bool_):
        raise TypeError("bools cannot be subtracted")
    return jnp.subtract(a, b)


def _pow(a: Any, b: Any) -> Any:
    is_whole = jnp.issubdtype(jnp.result_type(a), jnp.integer)
    if is_whole and isinstance(b, int) and b < 0:
        raise ValueError("an integer to a negative power")
    return jnp.power(a, b)


def _truncated(a: Any, b: Any) -> Any:
    both = jnp.promote_types(jnp.result_type(a, b), jnp.int8)
    if jnp.issubdtype(both, jnp.integer):
        a, b = jnp.broadcast_arrays(jnp.asarray(a, both), jnp.asarray(b, both))
        return jax.lax.div(a, b)
    return jnp.trunc(jnp.divide(a, b))


_OF_TWO = {
    "add": jnp.add,
    "atan2": jnp.arctan2,
    "bitwise_left_shift": jnp.left_shift,
    "bitwise_right_shift": jnp.right_shift,
    "div": jnp.true_divide,
    "eq": jnp.equal,
    "ge": jnp.greater_equal,
    "gt": jnp.greater,
    "le": jnp.less_equal,
    "lt": jnp.less,
    "mul": jnp.multiply,
    "ne": jnp.not_equal,
    "pow": _pow,
    "sub": _sub,
    "truncated_div": _truncated,
}
_SAME_OF_TWO = (
    "bitwise_and bitwise_or bitwise_xor floor_divide hypot logical_and logical_or logical_xor maximum "
    "minimum remainder"
)
BINARY: Mapping[str, Kernel] = {
    **_OF_TWO,  # type: ignore[dict-item]
    **{name: getattr(jnp, name) for name in _SAME_OF_TWO.split()},
}
