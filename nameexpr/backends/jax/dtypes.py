"""The dtypes of JAX: its promotion, and the dtypes that it has with and without 64 bits.

>>> canonical("float64"), promoted(("int32", "float16"))
('float32', 'float16')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from nameexpr.backends.jax.calls import function_of, reducer_of
from nameexpr.backends.jax.widths import canonical, has_64_bits
from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy.numbers import fold
from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, WEAK, Dtypes, choose_dtypes, needs_narrowing
from nameexpr.ops import ALONG, FUNCTIONS, KERNELS

Answer = TypeVar("Answer")
_NUMBERS = {"b": True, "i": 1, "u": 1, "f": 1.0, "V": 1.0, "c": 1j}
"""A number for each kind of dtype; that of bfloat16 is V."""
TAKES = {row.kernel: row.takes for row in (*FUNCTIONS.values(), *ALONG.values())}
"""The kinds of numbers that each kernel is defined for."""
_ONE: dict[str, Any] = {dtype: type_(1) for type_, dtype in WEAK.items()}


class Weak(NamedTuple):
    """The dtype of an array that is promoted as a number, because it was created from one."""

    dtype: Any

    @property
    def name(self) -> str:
        """The name of the dtype."""
        return str(self.dtype.name)

    def __str__(self) -> str:
        return f"{self.name} (weak)"


def array_dtype(array: Any) -> Any:
    """Return the dtype of an array."""
    return Weak(array.dtype) if getattr(array, "weak_type", False) else array.dtype


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype; "" for one that is only moved, as that of random keys."""
    name = getattr(dtype, "name", str(dtype))
    return canonical(name) if name in ITEM_BYTES or jnp.issubdtype(dtype, jnp.number) else ""


def _promoted_as(one: Any) -> Any:
    """Return what is promoted as an operand: the name of its dtype, or a number."""
    if type(one) in WEAK:
        return one
    dtype = array_dtype(one if hasattr(one, "dtype") else np.asarray(one))
    return _NUMBERS[dtype.dtype.kind] if isinstance(dtype, Weak) else dtype_name(dtype)


def _by_width(answer: Callable[..., Answer]) -> Callable[..., Answer]:
    """Return a function that remembers its answers, separately with and without 64 bits."""

    @lru_cache(maxsize=4096)
    def remembered(_: bool, *arguments: Any) -> Answer:
        return answer(*arguments)

    @wraps(answer)
    def asked(*arguments: Any) -> Answer:
        return remembered(has_64_bits(), *arguments)

    return asked


def _sample(dtype: str) -> Any:
    return _ONE[dtype] if dtype in _ONE else jax.ShapeDtypeStruct((1,), canonical(dtype))  # type: ignore[no-untyped-call]


def _result(function: Callable[..., Any], dtypes: Sequence[str]) -> str:
    """Return the dtype of a function's result, without running it."""
    samples = [_sample(dtype) for dtype in dtypes]
    shapes = [one for one in samples if isinstance(one, jax.ShapeDtypeStruct)]

    def run(*arrays: Any) -> Any:
        rest = iter(arrays)
        return function(*[next(rest) if isinstance(one, jax.ShapeDtypeStruct) else one for one in samples])

    return str(jax.eval_shape(run, *shapes).dtype.name)


@_by_width
def dtype_of(kernel: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a pointwise function for these dtypes; TypeError if there is none."""
    if all(dtype in _ONE for dtype in dtypes):
        return WEAK[type(fold_numbers(kernel, [_ONE[dtype] for dtype in dtypes]))]
    axes = (0,) if kernel in ALONG else ()
    function = function_of(kernel)
    if "c" not in TAKES[kernel] and any("complex" in dtype for dtype in dtypes):
        raise TypeError(f"{kernel} is not defined for complex numbers")
    return _result(lambda *values: function(*values, *axes), dtypes)


def fold_numbers(kernel: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
    """Return the result of a kernel for numbers, as Python and NumPy compute it."""
    result: int | float | complex = fold(getattr(formulas if kernel in KERNELS else np, kernel), *numbers)
    return result


@_by_width
def promoted(dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of arrays of these dtypes."""
    return str(jnp.result_type(*[_ONE.get(dtype, canonical(dtype)) for dtype in dtypes]).name)


@_by_width
def reduced(reducer: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of arrays of these dtypes after a reduction."""
    chosen = choose(dtypes, promoted(dtypes), reducer)
    if reducer in {"sum", "mean"}:
        return chosen.result
    made = _result(lambda x: reducer_of(reducer)(x, 0), [chosen.compute])
    return chosen.result if needs_narrowing(reducer, chosen) else made


def choose(dtypes: tuple[str, ...], product: str, reducer: str | None, **how: bool) -> Dtypes:
    """Return the dtypes of an expression, as NumPy's, of the width that JAX has now."""
    chosen = choose_dtypes(dtypes, product, reducer, **how)
    return Dtypes(chosen.operands, canonical(chosen.compute), canonical(chosen.result))


def product_dtype(operands: Sequence[Any]) -> str | None:
    """Return the name of the dtype of a product of operands; None if there is none."""
    dtypes = list(map(_promoted_as, operands))
    try:
        return dtype_name(jnp.result_type(*dtypes)) if all(dtype != "" for dtype in dtypes) else None
    except ValueError:  # those of 4 bits are promoted with no others
        return None


ARITHMETIC = Arithmetic(dtype_of, fold_numbers, reduced, promoted, choose)
"""The rules of JAX's promotion for the compiler."""
