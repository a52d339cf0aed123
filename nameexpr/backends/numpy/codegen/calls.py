"""One instruction as a call of NumPy's, in the names of its sources."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, prod

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
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Apply,
    Arange,
    AsComplex,
    AsReal,
    Cast,
    Constant,
    Copy,
    Diagonal,
    Divide,
    Dot,
    Einsum,
    Embed,
    Full,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Ones,
    Pointwise,
    Reduce,
    Repeat,
    Reshape,
    Slices,
    Sum,
    Transpose,
    Vecdot,
)
from nameexpr.ops import REDUCTIONS

LETTERS = string.ascii_letters


def render_call(instruction: Instruction, sources: Sequence[str]) -> Value:
    """Return what computes an instruction which is no loop."""
    return CALLS[type(instruction)](instruction, *sources)


def call_text(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return what an instruction does, as plans say it: its call, or what a loop goes through."""
    match instruction:
        case Fused():
            kernels = dict.fromkeys(step.call for step in instruction.steps)
            return "blocks of " + ", ".join(k if k == "cast" else str(callee_of(k)) for k in kernels)
        case Sliced(_, _, counts, inner):
            return f"{prod(counts)} slices of {len(inner.instructions)} steps"
        case Looped():
            return f"{instruction.count} blocks of {instruction.block} along {shown(instruction.label)}"
        case _:
            return text_of(render_call(instruction, sources))


def render_streamed(instruction: Dot | Matmul, source: str, dtype: str) -> Invocation:
    """Return the product of an array with ones that are never made (`ir.program.streamed`)."""
    is_stack = "True" if isinstance(instruction, Matmul) else None
    return _ours("add_up")(source, quoted(dtype), is_stack=is_stack)


def with_out(call: Invocation, target: Value) -> Invocation:
    """Return a call that writes its result there."""
    return call._replace(options={**call.options, "out": target})


def _ours(name: str) -> Callee:
    return Callee("kernels", name)


def _formulas(name: str) -> Callee:
    return Callee("formulas", name)


def _dtype(dtype: str | None) -> str | None:
    return quoted(dtype) if dtype else None


def axes_text(axes: Sequence[int]) -> str:
    """Return axes as NumPy takes them: one alone, or a tuple."""
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def _last(count: int) -> str:
    return axes_text(range(-count, 0))


def _word(letters: Sequence[int]) -> str:
    return "".join(LETTERS[letter] for letter in letters)


def _full(one: Full) -> Invocation:
    number = literal(one.value) if isfinite(one.value) else f'float("{one.value}")'
    return numpy("full")(str(one.shape), number, dtype=_dtype(one.dtype))


def _pointwise(one: Pointwise, *sources: str) -> Invocation:
    arrays = iter(sources)
    arguments = [
        next(arrays) if constant is None else literal(getattr(constant, "value", constant))
        for constant in one.constants
    ]
    if one.is_weak:
        return _formulas("fold")(callee_of(one.call), *arguments)
    if one.over is None:
        return callee_of(one.call)(*arguments)
    if not one.is_ufunc:
        return _formulas("where_over")(*arguments)
    return callee_of(one.call)(*arguments, out=sources[one.sources.index(one.over)])


def _along(one: AlongAxes, source: str) -> Invocation:
    return _formulas(one.function)(source, axes_text(one.axes), over="True" if one.over else None)


def _transpose(one: Transpose, source: str) -> Value:
    if one.axes == (1, 0):
        return Attribute(source, "T")
    return Attribute(source, "transpose")(str(one.axes))


def _diagonal(one: Diagonal, source: str) -> Invocation:
    if max(one.letters) < len(LETTERS):
        pattern = f"{_word(one.letters)}->{_word(tuple(dict.fromkeys(one.letters)))}"
        return numpy("einsum")(quoted(pattern), source)
    return _ours("diagonal")(source, str(one.letters))


def _copy(one: Copy, source: str) -> Invocation:
    if one.is_large or one.is_lax:
        return Callee("copies", "row_major" if one.is_lax else "contiguous")(source)
    return Attribute(source, "copy")()


def _reduce(one: Reduce, source: str) -> Invocation:
    combine = REDUCTIONS[one.reducer].combine
    if not combine:
        return _ours(one.reducer)(source, _last(one.count))
    return numpy(f"{combine}.reduce")(source, axis=_last(one.count), dtype=_dtype(one.dtype))


def _sum(one: Sum, source: str) -> Invocation:
    return numpy("add.reduce")(source, axis=axes_text(one.axes), dtype=_dtype(one.dtype))


def _slices(one: Slices, source: str) -> Invocation:
    return _ours("slices")(numpy(REDUCTIONS[one.reducer].combine), source, str(one.axes))


def _einsum(one: Einsum, *sources: str) -> Invocation:
    pattern = ",".join(map(_word, one.letters)) + "->" + _word(one.result)
    return numpy("einsum")(quoted(pattern), *sources)


CALLS: Mapping[type, Callable[..., Value]] = {
    AlongAxes: _along,
    Apply: lambda _, x: _ours("apply")("reduce", x),
    Arange: lambda one: numpy("arange")(str(one.size)),
    AsComplex: lambda _, x: _ours("as_complex")(x),
    AsReal: lambda _, x: _ours("as_real")(x),
    Cast: lambda one, x: Attribute(x, "astype")(quoted(one.dtype)),
    Constant: lambda one: numpy("asarray")(literal(one.value)),
    Copy: _copy,
    Diagonal: _diagonal,
    Divide: lambda one, x: numpy("true_divide")(x, str(one.count)),
    Dot: lambda _, x, y: Attribute(x, "dot")(y),
    Einsum: _einsum,
    Embed: lambda one, x: _ours("embed")(x, str(one.shape), str(one.letters)),
    Full: _full,
    IntegerMatmul: lambda one, x, y: _ours("integer_matmul")(x, y, quoted(one.dtype)),
    Matmul: lambda _, x, y: numpy("matmul")(x, y),
    Multiply: lambda one, x, y: numpy("multiply")(x, y, dtype=_dtype(one.dtype)),
    Ones: lambda one: numpy("ones")(str(one.shape), dtype=quoted(one.dtype)),
    Pointwise: _pointwise,
    Reduce: _reduce,
    Repeat: lambda one, x: Callee("copies", "repeated")(x, str(one.shape)),
    Reshape: lambda one, x: Attribute(x, "reshape")(str(one.shape)),
    Slices: _slices,
    Sum: _sum,
    Transpose: _transpose,
    Vecdot: lambda _, x, y: numpy("vecdot")(x, y),
}
"""What computes each instruction, from itself and the names of its sources."""
