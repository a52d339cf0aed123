"""JAX as a library that texts run on: one traced function for each text; JAX keeps its executables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nameexpr.backends.dispatch import is_foreign, not_numbers
from nameexpr.backends.jax.calls import CALLS, resolve
from nameexpr.backends.jax.checks import collecting, first_wrong
from nameexpr.backends.jax.dtypes import ARITHMETIC, array_dtype, dtype_name, product_dtype
from nameexpr.backends.jax.recurrences import recurrence_statements
from nameexpr.backends.jax.widths import canonical, has_64_bits
from nameexpr.backends.library import Library, Tracing
from nameexpr.backends.numpy.codegen.statements import Statement, Value
from nameexpr.backends.portable.code import statements_of
from nameexpr.backends.portable.target import PORTABLE
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.program import Instruction, Program
from nameexpr.records import replace

SCOPE = 80
"""The most characters of a text in the names of its operations."""
HINT = 64
"""The size that is assumed for one that is a symbol, to choose the order of contractions."""
TARGET = replace(PORTABLE, native=frozenset({"contraction"}))


def statements(program: Program, shapes: Sequence[tuple[int, ...]], _: Sequence[str] = ()) -> list[Statement]:
    """Return the statements of a program."""
    return statements_of(program, shapes, CALLS, "jax", {"recurrence": _recurrence})


def _recurrence(
    instruction: Instruction, _: Sequence[tuple[int, ...]], names: Sequence[str], target: str
) -> list[Statement]:
    return recurrence_statements(instruction, target, names, _call, canonical)


def _call(instruction: Instruction, shapes: Sequence[tuple[int, ...]], names: Sequence[str]) -> Value:
    return CALLS[instruction.primitive](instruction, shapes, *names)


def guard(name: str, array: Any, suffix: str, constants: dict[str, Any], has_shapes: bool) -> str:
    """Return the condition that an array is of the same class, and of the same dtype and shape if it has to
    be.
    """
    constants[f"T{suffix}"] = type(array)
    parts = [f"type({name}) is T{suffix}"]
    if has_shapes:
        constants |= {f"d{suffix}": array.dtype, f"s{suffix}": array.shape}
        parts += [f"{name}.dtype == d{suffix}", f"{name}.shape == s{suffix}"]
    return " and ".join(parts)


def from_number(value: Any, dtype: str, like: Any) -> Any:
    """Return a number as an array without dims."""
    return jnp.asarray(value, canonical(dtype))


def as_array(value: Any, like: Any) -> Any:
    """Return an operand as it is; a sequence as an array of NumPy (NE503 for anything else)."""
    if isinstance(value, jax.Array):
        return value
    way = "jnp.asarray(x)"
    if isinstance(value, np.ma.MaskedArray):
        raise not_numbers(value, "jnp.asarray(x.filled(0))")
    if isinstance(value, list | tuple) and is_foreign(map(type, value)):
        raise not_numbers(value, "jnp.stack(x), if its elements are arrays of JAX")
    try:
        found = np.asarray(value)
    except ValueError as reason:
        raise not_numbers(value, way) from reason
    if found.dtype.name not in ITEM_BYTES:
        raise not_numbers(value, way)
    return value if isinstance(value, np.generic) else found


def fault(wrong: Exception) -> str | None:
    """Return the reason for an error of JAX; None for other exceptions."""
    is_ours = isinstance(wrong, RuntimeError | ValueError | TypeError | IndexError | OverflowError)
    return str(wrong).splitlines()[0][:160] if is_ours else None


def compiled(function: Callable[..., Any], text: str) -> Callable[..., Any]:
    """Return a function that JAX compiles; its operations have the text as their scope in profiles."""

    def run(*arrays: Any) -> Any:
        with jax.named_scope(" ".join(text.split())[:SCOPE]):
            return function(*arrays)

    return jax.jit(run, inline=True)


def checked(function: Callable[..., Any], text: str) -> Callable[..., Any]:
    """Return a function that JAX compiles, which returns the checks of its values as well."""

    def run(*arrays: Any) -> Any:
        with collecting() as found:
            result = function(*arrays)
        return result, tuple(found)

    return compiled(run, text)


def is_known(array: Any) -> bool:
    """Return whether an array has values: not while it is traced."""
    return not isinstance(array, jax.core.Tracer)


def as_numpy(array: Any) -> Any:
    """Return an array as one of NumPy; zeros for one that has no values."""
    return np.asarray(array) if is_known(array) else np.zeros(array.shape, dtype_name(array.dtype))


def is_unknown(wrong: Exception) -> bool:
    """Return whether an exception means that a value or a size is needed that is not known while tracing."""
    errors = jax.errors.JAXTypeError, jax.errors.JAXIndexError
    return isinstance(wrong, errors) or type(wrong).__name__ == "InconclusiveDimensionOperation"


LIBRARY = Library(
    name="jax",
    target=TARGET,
    arithmetic=ARITHMETIC,
    dtype_name=dtype_name,
    product_dtype=product_dtype,
    statements=statements,
    resolve=resolve,
    guard=guard,
    from_number=from_number,
    as_array=as_array,
    finish=lambda function, text: function,
    fault=fault,
    dtype_of=array_dtype,
    as_numpy=as_numpy,
    is_foldable=is_known,
    size_hint=lambda size: HINT,
    is_kept=is_known,
    imports={
        "jnp": "import jax.numpy as jnp",
        "jax": "import jax",
        "lax": "from jax import lax",
        "np": "import numpy as np",
        "checks": "from nameexpr.backends.jax import checks",
        "formulas": "from nameexpr.backends.numpy import formulas",
        "kernels": "from nameexpr.backends.jax import kernels",
    },
    tracing=Tracing(compiled, checked, first_wrong, has_64_bits, is_known, is_unknown),
    now=jax.ensure_compile_time_eval,
)


def library_for(operands: Sequence[Any]) -> Library:
    """Return the library for some operands."""
    return LIBRARY
