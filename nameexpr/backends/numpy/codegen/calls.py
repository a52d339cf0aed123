"""One instruction as a call of NumPy's, in the names of its sources."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from nameexpr.backends.numpy.codegen.statements import (
    Attribute,
    Callee,
    Invocation,
    Value,
    callee_of,
    literal,
    numpy,
    quoted,
    text_of,
)
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.ops import REDUCTIONS

LETTERS = string.ascii_letters


def render_call(instruction: Instruction, sources: Sequence[str]) -> Value:
    """Return what computes an instruction which is no loop."""
    return CALLS[instruction.primitive](instruction, *sources)


def call_text(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return what an instruction does, as plans say it: its call, or what a loop goes through."""
    loop = instruction.loop
    if instruction.primitive == "fused":
        steps = [step.function and str(callee_of(step.function)) for step in instruction.steps]
        return "blocks of " + ", ".join(dict.fromkeys(step or "cast" for step in steps))
    if loop is None:
        return text_of(render_call(instruction, sources))
    if not loop.block:
        return f"{loop.turns} slices of {len(loop.body.instructions)} steps"
    return f"{loop.turns} blocks of {loop.block} along {shown(loop.label)}"


def render_streamed(instruction: Instruction, source: str, dtype: str) -> Invocation:
    """Return the product of an array with ones that are never made (`ir.liveness.never_made`)."""
    is_stack = "True" if instruction.primitive == "matmul" else None
    return _ours("add_up")(source, quoted(dtype), is_stack=is_stack)


def with_out(call: Invocation, target: Value) -> Invocation:
    """Return a call that writes its result there."""
    return call._replace(options={**call.options, "out": target})


def _ours(name: str) -> Callee:
    return Callee("kernels", name)


def _formulas(name: str) -> Callee:
    return Callee("formulas", name)


def _dtype(dtype: str) -> str | None:
    return quoted(dtype) if dtype else None


def axes_text(axes: Sequence[int]) -> str:
    """Return axes as NumPy takes them: one alone, or a tuple."""
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def _word(letters: Sequence[int]) -> str:
    return "".join(LETTERS[letter] for letter in letters)


def filled(instruction: Instruction, sources: Sequence[str]) -> list[Value]:
    """Return the arguments of a pointwise function: its sources, and its numbers between them."""
    arrays = iter(sources)
    return [next(arrays) if number is None else literal(number) for number in instruction.constants]


def _full(one: Instruction) -> Invocation:
    (value,) = one.constants
    assert isinstance(value, int | float)
    number = literal(value) if isfinite(value) else f'float("{value}")'
    return numpy("full")(str(one.shape), number, dtype=_dtype(one.dtype))


def _pointwise(one: Instruction, *sources: str) -> Invocation:
    arguments = filled(one, sources)
    if one.is_weak:
        return _formulas("fold")(callee_of(one.function), *arguments)
    if one.over is None:
        return callee_of(one.function)(*arguments)
    if not one.is_ufunc:
        return _formulas("where_over")(*arguments)
    return callee_of(one.function)(*arguments, out=sources[one.over])


def _along(one: Instruction, source: str) -> Invocation:
    over = None if one.over is None else "True"
    return _formulas(one.function)(source, axes_text(one.axes), over=over)


def _transpose(one: Instruction, source: str) -> Value:
    if one.axes == (1, 0):
        return Attribute(source, "T")
    return Attribute(source, "transpose")(str(one.axes))


def _diagonal(one: Instruction, source: str) -> Invocation:
    letters, result = one.letters
    if max(letters) < len(LETTERS):
        return numpy("einsum")(quoted(f"{_word(letters)}->{_word(result)}"), source)
    return _ours("diagonal")(source, str(letters))


def _copy(one: Instruction, source: str) -> Invocation:
    return Callee("copies", one.function)(source) if one.function else Attribute(source, "copy")()


def _reduce(one: Instruction, source: str) -> Invocation:
    combine, axes = REDUCTIONS[one.function].combine, axes_text(one.axes)
    if not combine:
        return _ours(one.function)(source, axes)
    return numpy(f"{combine}.reduce")(source, axis=axes, dtype=_dtype(one.dtype))


def _sum(one: Instruction, source: str) -> Invocation:
    return numpy("add.reduce")(source, axis=axes_text(one.axes), dtype=_dtype(one.dtype))


def _slices(one: Instruction, source: str) -> Invocation:
    return _ours("slices")(numpy(REDUCTIONS[one.function].combine), source, str(one.axes))


def _einsum(one: Instruction, *sources: str) -> Invocation:
    *letters, result = one.letters
    return numpy("einsum")(quoted(",".join(map(_word, letters)) + "->" + _word(result)), *sources)


CALLS: Mapping[Primitive, Callable[..., Value]] = {
    "along_axes": _along,
    "apply": lambda _, x: _ours("apply")("reduce", x),
    "arange": lambda one: numpy("arange")(str(one.shape[0])),
    "as_complex": lambda _, x: _ours("as_complex")(x),
    "as_real": lambda _, x: _ours("as_real")(x),
    "cast": lambda one, x: Attribute(x, "astype")(quoted(one.dtype)),
    "constant": lambda one: numpy("asarray")(literal(one.constants[0])),
    "copy": _copy,
    "diagonal": _diagonal,
    "divide": lambda one, x: numpy("true_divide")(x, str(one.constants[0])),
    "dot": lambda _, x, y: Attribute(x, "dot")(y),
    "einsum": _einsum,
    "embed": lambda one, x: _ours("embed")(x, str(one.shape), str(one.letters[1])),
    "full": _full,
    "integer_matmul": lambda one, x, y: _ours("integer_matmul")(x, y, quoted(one.dtype)),
    "matmul": lambda _, x, y: numpy("matmul")(x, y),
    "multiply": lambda one, x, y: numpy("multiply")(x, y, dtype=_dtype(one.dtype)),
    "ones": lambda one: numpy("ones")(str(one.shape), dtype=quoted(one.dtype)),
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": lambda one, x: Callee("copies", "repeated")(x, str(one.shape)),
    "reshape": lambda one, x: Attribute(x, "reshape")(str(one.shape)),
    "slices": _slices,
    "sum": _sum,
    "transpose": _transpose,
    "vecdot": lambda _, x, y: numpy("vecdot")(x, y),
}
"""What computes each instruction, from itself and the names of its sources."""
