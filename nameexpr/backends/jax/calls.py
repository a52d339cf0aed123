"""One instruction as a call of JAX, in terms of the shapes and the names of its sources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from math import isfinite, isnan
from operator import attrgetter
from typing import Any

from nameexpr.backends.jax.widths import canonical
from nameexpr.backends.numpy.codegen.calls import axes_text, window_ranges
from nameexpr.backends.numpy.codegen.statements import (
    Callee,
    Invocation,
    Joined,
    Value,
    callee_of,
    indexed,
    method,
    quoted,
)
from nameexpr.backends.portable.code import Calls
from nameexpr.compiler.ir.program import Instruction

Shape = tuple[int, ...]
MODULES = {
    "checks": "nameexpr.backends.jax.checks",
    "formulas": "nameexpr.backends.numpy.formulas",  # of numbers
    "jax": "jax",
    "jnp": "jax.numpy",
    "kernels": "nameexpr.backends.jax.kernels",
    "lax": "jax.lax",
    "np": "numpy",
}
"""The modules of generated code, by the names that it has for them."""
FOREIGN = {
    "erf": Callee("jax", "scipy.special.erf"),
    "erfc": Callee("jax", "scipy.special.erfc"),
    "relu": Callee("jax", "nn.relu"),
    "sigmoid": Callee("jax", "scipy.special.expit"),
    "softplus": Callee("jax", "nn.softplus"),
    "flip": Callee("jnp", "flip"),
    "sort": Callee("jnp", "sort"),
    "argsort": Callee("jnp", "argsort"),
}
"""Functions that are outside `jax.numpy`."""
OWN = frozenset(
    {"cummax", "cummin", "cumprod", "cumsum", "gelu", "log_softmax", "reciprocal", "silu", "softmax"}
) | {"to_int"}
"""Functions that are not a single call of JAX."""
OWN_REDUCERS = frozenset({"argmax", "argmin", "logsumexp", "median", "norm"})


@cache
def resolve(module: str, name: str) -> Any:
    """Return the function for a name in generated code."""
    return attrgetter(name)(import_module(MODULES[module]))


def function_of(kernel: str) -> Any:
    """Return the function that computes a kernel."""
    callee = _callee(kernel)
    return resolve(callee.module, callee.name)


def reducer_of(reducer: str) -> Any:
    """Return the function that computes a reducer, of an array and axes."""
    callee = _reducer(reducer)
    return resolve(callee.module, callee.name)


def literal(number: object) -> Value:
    """Return a number as source."""
    if isinstance(number, complex):
        return Invocation("complex", (literal(number.real), literal(number.imag)), {})
    if isinstance(number, float) and not isfinite(number):
        return f'float("{"nan" if isnan(number) else number}")'
    return repr(number)


def _jnp(name: str) -> Callee:
    return Callee("jnp", name)


def _ours(name: str) -> Callee:
    return Callee("kernels", name)


def _callee(kernel: str) -> Callee:
    return _ours(kernel) if kernel in OWN else FOREIGN.get(kernel) or _jnp(kernel)


def _reducer(reducer: str) -> Callee:
    return _ours(reducer) if reducer in OWN_REDUCERS else _jnp(reducer)


def _dtype(dtype: str) -> str | None:
    """Return a dtype as source, of the width that JAX has now; None for none."""
    return quoted(canonical(dtype)) if dtype else None


def filled(instruction: Instruction, sources: Sequence[str]) -> list[Value]:
    """Return the arguments of a function: its sources, and its numbers between them."""
    arrays = iter(sources)
    return [next(arrays) if number is None else literal(number) for number in instruction.constants]


def _pointwise(instruction: Instruction, _: Sequence[Shape], *sources: str) -> Value:
    arguments, kernel = filled(instruction, sources), instruction.function
    if instruction.is_weak:
        return Callee("formulas", "fold")(callee_of(kernel), *arguments)
    if kernel in {"as_array", "asarray", instruction.dtype}:
        return _jnp("asarray")(*arguments, _dtype(instruction.dtype) or "None")
    return _callee(kernel)(*arguments)


def _along(instruction: Instruction, _: Sequence[Shape], source: str) -> Value:
    return _callee(instruction.function)(source, axes_text(instruction.axes))


def _transpose(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    return f"{x}.T" if instruction.axes == (1, 0) else method(x, "transpose", str(instruction.axes))


def _sum(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    return _jnp("sum")(x, axes_text(instruction.axes), dtype=_dtype(instruction.dtype))


def _reduce(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    of_bools = instruction.function in {"any", "all"}  # JAX ignores imaginary parts
    array = method(x, "astype", quoted("bool")) if of_bools else x
    return _reducer(instruction.function)(array, axes_text(instruction.axes))


def _multiply(instruction: Instruction, _: Sequence[Shape], x: str, y: str) -> Value:
    dtype = _dtype(instruction.dtype)
    factors = [x, y] if dtype is None else [method(one, "astype", dtype) for one in (x, y)]
    return _jnp("multiply")(*factors)


def contracted(letters: Sequence[Shape]) -> tuple[tuple[Shape, ...], ...]:
    """Return the axes of a pair that `lax.dot_general` sums over, and those that both have in the result.

    >>> contracted([(0, 1, 2), (0, 2, 3), (0, 1, 3)])
    (((2,), (1,)), ((0,), (0,)))
    """
    left, right, result = letters
    batch = [letter for letter in result if letter in left and letter in right]
    summed = [letter for letter in left if letter in right and letter not in result]
    rest = [letter for letter in (*left, *right) if letter not in {*batch, *summed}]
    assert [*batch, *rest] == [*result], f"a product has the axes {[*batch, *rest]}, not {result}"
    return tuple([
        tuple([tuple(map(own.index, group)) for own in (left, right)]) for group in (summed, batch)
    ])  # fmt: skip


def _einsum(instruction: Instruction, _: Sequence[Shape], x: str, y: str) -> Value:
    axes = str(contracted(instruction.letters))
    return Callee("lax", "dot_general")(x, y, axes, preferred_element_type=_dtype(instruction.dtype))


def _window(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    ranges = window_ranges(instruction)
    if ranges is not None:
        return indexed(x, ranges)
    window = map(str, (instruction.axes, instruction.letters, instruction.shape))
    return _ours("windows")(x, *window)


def _take(instruction: Instruction, _: Sequence[Shape], x: str, *positions: str) -> Value:
    if not instruction.function:
        return _jnp("take")(x, *positions, axes_text(instruction.axes))
    return Invocation(Joined((f"{x}.at[{', '.join(positions)}].get",)), (), {"mode": quoted("fill")})


def _scatter(instruction: Instruction, _: Sequence[Shape], at: str, *rows: str) -> Value:
    name = {"by_columns": "sum", "by_rows": "sum"}.get(instruction.function, instruction.function)
    size, (empty,) = str(instruction.shape[0]), instruction.constants
    if name == "count":
        return Callee("jnp", "bincount")(at, length=size)
    return _ours("combined")(quoted(name), at, *(rows or ("None",)), size, literal(empty))


def _full(instruction: Instruction, _: Sequence[Shape]) -> Value:
    (value,) = instruction.constants
    return _jnp("full")(str(instruction.shape), literal(value), dtype=_dtype(instruction.dtype))


def _join(instruction: Instruction, _: Sequence[Shape], *sources: str) -> Value:
    pieces = str(tuple([(piece.starts, piece.lengths, piece.split) for piece in instruction.pieces]))
    dtype = _dtype(instruction.dtype) or "None"
    return _ours("joined")(str(instruction.shape), dtype, pieces, *filled(instruction, sources))


CALLS: Calls = {
    "along_axes": _along,
    "apply": lambda _, __, x: _ours("apply")("reduce", x),
    "arange": lambda instruction, _: _jnp("arange")(str(instruction.shape[0])),
    "bins": lambda instruction, _, *given: _ours("bins")(
        str(instruction.constants), str(instruction.shape), *given
    ),
    "cast": lambda instruction, _, x: method(x, "astype", _dtype(instruction.dtype) or ""),
    "concatenate": _join,
    "constant": lambda instruction, _: _jnp("asarray")(literal(instruction.constants[0])),
    "copy": lambda _, __, x: x,
    "diagonal": lambda instruction, _, x: _ours("diagonal")(x, str(instruction.letters[0])),
    "divide": lambda instruction, _, x: f"{x} / {instruction.constants[0]}",
    "einsum": _einsum,
    "embed": lambda instruction, _, x: _ours("embed")(x, str(instruction.shape), str(instruction.letters[1])),
    "full": _full,
    "inside": lambda instruction, _, x: Callee("checks", "inside")(x, *map(str, instruction.constants)),
    "item": lambda instruction, _, x: f"{x}[{instruction.axes[0]}]",
    "multiply": _multiply,
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": lambda instruction, _, x: _jnp("broadcast_to")(x, str(instruction.shape)),
    "reshape": lambda instruction, _, x: method(x, "reshape", str(instruction.shape)),
    "scatter": _scatter,
    "sum": _sum,
    "take": _take,
    "transpose": _transpose,
    "window": _window,
}
"""The code of each instruction, from the instruction, the shapes of its sources, and their names."""
