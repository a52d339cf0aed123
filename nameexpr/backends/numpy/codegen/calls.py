"""One instruction as a NumPy call, in terms of the names of its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from nameexpr.backends.numpy.codegen.statements import (
    Callee,
    Dtype,
    Element,
    Invocation,
    Value,
    callee_of,
    indexed,
    literal,
    method,
    numpy,
    quoted,
    text_of,
)
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.dtypes import exact_reciprocal
from nameexpr.compiler.ir.liveness import REAL, WHERE, is_or_zero
from nameexpr.compiler.ir.program import Instruction, Primitive, Shape
from nameexpr.ops import REDUCTIONS
from nameexpr.records import replace

COMBINING = frozenset({"add", "subtract", "multiply", "true_divide", "maximum", "minimum"})
"""Functions whose arguments have the dtype of their result."""
LEAST = 1e-30
"""Numbers between this one and its reciprocal are normal in float32."""
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def call_text(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return an instruction as plans show it: its call, or the ranges of a loop."""
    loop = instruction.loop
    if instruction.recurrence is not None:
        return f"{instruction.recurrence.length} steps along {shown(instruction.recurrence.label)}"
    if instruction.primitive == "concatenate":
        return f"parts of {text_of(numpy('empty')(str(instruction.shape)))}"
    if instruction.primitive == "fused":
        steps = [step.function and str(callee_of(step.function)) for step in instruction.steps]
        return "blocks of " + ", ".join(dict.fromkeys(step or "cast" for step in steps))
    if loop is None:
        return text_of(CALLS[instruction.primitive](instruction, *sources))
    if not loop.block:
        return f"{loop.turns} slices of {len(loop.body.instructions)} steps"
    again = f", {loop.again} value{'s' * (loop.again > 1)} computed again" if loop.again else ""
    return f"{loop.turns} blocks of {loop.block} along {shown(loop.label)}{again}"


def render_streamed(instruction: Instruction, source: str, dtype: str) -> Invocation:
    """Return the product of an array with ones that are never created (`ir.liveness.never_made`)."""
    is_stack = "True" if instruction.primitive == "matmul" else None
    return _ours("add_up")(source, quoted(dtype), is_stack=is_stack)


def with_out(call: Value, target: Value) -> Invocation:
    """Return a call that writes its result to `target`."""
    assert isinstance(call, Invocation), "what takes an output array is a function"
    return replace(call, options={**call.options, "out": target})


def fresh(shape: Shape, dtype: str, layout: Sequence[int]) -> Value:
    """Return the call that creates an array with its axes in memory in the order of the layout."""
    made = numpy("empty")(str(tuple([shape[axis] for axis in layout])), Dtype(dtype))
    order = tuple(range(len(shape)))
    return made if tuple(layout) == order else method(made, "transpose", str(tuple(map(layout.index, order))))


def _ours(name: str) -> Callee:
    return Callee("kernels", name)


def _formulas(name: str) -> Callee:
    return Callee("formulas", name)


def _dtype(dtype: str) -> Dtype | None:
    return Dtype(dtype) if dtype else None


def axes_text(axes: Sequence[int]) -> str:
    """Return axes as NumPy expects them: a single int, or a tuple."""
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def _word(letters: Sequence[int]) -> str:
    return "".join(LETTERS[letter] for letter in letters)


def filled(instruction: Instruction, sources: Sequence[str]) -> list[Value]:
    """Return the arguments of a pointwise function: its sources, and its numbers between them."""
    arrays = iter(sources)
    return [next(arrays) if number is None else literal(number) for number in instruction.constants]


def scalars(instruction: Instruction, arguments: Sequence[Value]) -> Sequence[Value]:
    """Return the arguments of a function, a number with the dtype of the floats that it is combined with."""
    numbers = [one for one in instruction.constants if one is not None]
    if instruction.function not in COMBINING or instruction.dtype not in REAL or len(numbers) != 1:
        return arguments
    (number,) = numbers
    if not isinstance(number, int | float) or not (number == 0 or LEAST < abs(number) < 1 / LEAST):
        return arguments
    pairs = zip(instruction.constants, arguments, strict=True)
    return [one if own is None else Element(number, instruction.dtype) for own, one in pairs]


def _full(instruction: Instruction) -> Invocation:
    (value,) = instruction.constants
    assert isinstance(value, int | float)
    number = literal(value) if isfinite(value) else f'float("{value}")'
    return numpy("full")(str(instruction.shape), number, dtype=_dtype(instruction.dtype))


def _pointwise(instruction: Instruction, *sources: str) -> Invocation:
    arguments = filled(instruction, sources)
    if instruction.is_weak:
        return _formulas("fold")(callee_of(instruction.function), *arguments)
    if instruction.over is None:
        call = callee_of(instruction.function)(*scalars(instruction, arguments))
        return chosen(instruction, arguments) or call
    if instruction.function == WHERE:
        return _formulas("where_over")(*arguments)
    return callee_of(instruction.function)(*scalars(instruction, arguments), out=sources[instruction.over])


def chosen(instruction: Instruction, arguments: Sequence[Value]) -> Invocation | None:
    """Return the call of a choice between floats and 0; None for any other function."""
    is_chosen = is_or_zero(instruction.function, instruction.constants, instruction.dtype)
    return _formulas("where_or_zero")(*arguments) if is_chosen else None


def _divide(instruction: Instruction, source: str) -> Invocation:
    out, count = None if instruction.over is None else source, instruction.constants[0]
    factor = exact_reciprocal(count, instruction.dtype)
    if factor is not None:
        is_real = instruction.dtype in REAL
        return numpy("multiply")(
            source, Element(factor, instruction.dtype) if is_real else literal(factor), out=out
        )
    return numpy("true_divide")(source, str(count), out=out)


def _along(instruction: Instruction, source: str) -> Invocation:
    out = None if instruction.over is None else source
    return _formulas(instruction.function)(source, axes_text(instruction.axes), out=out)


def _transpose(instruction: Instruction, source: str) -> Value:
    if instruction.axes == (1, 0):
        return f"{source}.T"
    return method(source, "transpose", str(instruction.axes))


def _diagonal(instruction: Instruction, source: str) -> Invocation:
    letters, result = instruction.letters
    if max(letters) < len(LETTERS):
        return numpy("einsum")(quoted(f"{_word(letters)}->{_word(result)}"), source)
    return _ours("diagonal")(source, str(letters))


def _copy(instruction: Instruction, source: str) -> Invocation:
    return Callee("copies", instruction.function)(source) if instruction.function else method(source, "copy")


def _reduce(instruction: Instruction, source: str) -> Invocation:
    combine, axes = REDUCTIONS[instruction.function].combine, axes_text(instruction.axes)
    if not combine:
        return _ours(instruction.function)(source, axes)
    return numpy(f"{combine}.reduce")(source, axis=axes, dtype=_dtype(instruction.dtype))


def _sum(instruction: Instruction, source: str) -> Invocation:
    return numpy("add.reduce")(source, axis=axes_text(instruction.axes), dtype=_dtype(instruction.dtype))


def _slices(instruction: Instruction, source: str) -> Invocation:
    return _ours("slices")(numpy(REDUCTIONS[instruction.function].combine), source, str(instruction.axes))


def _einsum(instruction: Instruction, *sources: str) -> Invocation:
    *letters, result = instruction.letters
    return numpy("einsum")(quoted(",".join(map(_word, letters)) + "->" + _word(result)), *sources)


def _window(instruction: Instruction, source: str) -> Value:
    ranges = window_ranges(instruction)
    if ranges is not None:
        return indexed(source, ranges)
    reads = map(str, (instruction.axes, instruction.letters, instruction.shape))
    return Callee("reading", "windows")(source, *reads)


def window_ranges(instruction: Instruction) -> str | None:
    """Return a window as slices, if each axis is read along one of the result's, in their order."""
    ranges: list[str] = []
    lengths, rows = instruction.shape, instruction.letters
    used = [[axis for axis, step in enumerate(row) if step] for row in rows]
    if [axis for axes in used for axis in axes] != list(range(len(lengths))) or max(map(len, used)) > 1:
        return None
    for offset, row, axes in zip(instruction.axes, rows, used, strict=True):
        ranges.append(_range(offset, row[axes[0]], lengths[axes[0]]) if axes else str(offset))
    if not lengths:
        ranges.append("...")  # a view, where integers alone would return a scalar
    return ", ".join(ranges)


def _windowed(instruction: Instruction, source: str, other: str) -> Invocation:
    view = instruction.axes, instruction.letters, instruction.shape
    name = "multiplied" if instruction.primitive == "window_multiply" else "weighed"
    return Callee("windows", name)(source, other, str(view), str(instruction.kept))


def _rolling(instruction: Instruction, source: str) -> Invocation:
    combine = numpy(REDUCTIONS[instruction.function].combine)
    windows = map(str, (instruction.axes, instruction.letters, instruction.shape))
    return Callee("rolling", "rolling")(combine, source, *windows)


def _take(instruction: Instruction, source: str, *positions: str) -> Value:
    if instruction.function:
        cells = f"{source}[{', '.join(positions)}]"
        return f"{cells}.copy()" if instruction.function == "element" else cells
    return method(source, "take", *positions, axes_text(instruction.axes))


def _scatter(instruction: Instruction, at: str, *rows: str) -> Value:
    method, size, (empty,) = instruction.function, str(instruction.shape[0]), instruction.constants
    if method in {"any", "all"}:
        return Callee("scattering", "flags")(at, *(rows or ["None"]), size, str(method == "all"))
    if method in {"sum", "prod", "max", "min"}:
        assert isinstance(empty, float)
        number = literal(empty) if isfinite(empty) else f'float("{empty}")'
        return Callee("scattering", "combined")(numpy(REDUCTIONS[method].combine), at, *rows, size, number)
    return Callee("scattering", method)(at, *rows, size)


def _range(start: int, step: int, length: int) -> str:
    stop = start + step * length if length else start
    return f"{start}:{stop if stop >= 0 else ''}:{step}" if step != 1 else f"{start}:{stop}"


def _join(instruction: Instruction, *sources: str) -> Invocation:
    pieces = str(tuple([(piece.starts, piece.lengths, piece.split) for piece in instruction.pieces]))
    shape, values = str(instruction.shape), filled(instruction, sources)
    return Callee("joining", "joined")(shape, _dtype(instruction.dtype) or "None", pieces, *values)


CALLS: Mapping[Primitive, Callable[..., Value]] = {
    "along_axes": _along,
    "apply": lambda _, x: _ours("apply")("reduce", x),
    "arange": lambda instruction: numpy("arange")(str(instruction.shape[0])),
    "as_complex": lambda _, x: _ours("as_complex")(x),
    "as_real": lambda _, x: _ours("as_real")(x),
    "bins": lambda instruction, *given: Callee("scattering", "bins")(
        str(instruction.constants), str(instruction.shape), *given
    ),
    "cast": lambda instruction, x: method(x, "astype", Dtype(instruction.dtype)),
    "constant": lambda instruction: numpy("asarray")(literal(instruction.constants[0])),
    "copy": _copy,
    "diagonal": _diagonal,
    "divide": _divide,
    "dot": lambda _, x, y: method(x, "dot", y),
    "einsum": _einsum,
    "embed": lambda instruction, x: _ours("embed")(x, str(instruction.shape), str(instruction.letters[1])),
    "full": _full,
    "concatenate": _join,
    "integer_matmul": lambda instruction, x, y: _ours("integer_matmul")(x, y, quoted(instruction.dtype)),
    "inside": lambda instruction, x: Callee("reading", "inside")(x, *map(str, instruction.constants)),
    "matmul": lambda _, x, y: numpy("matmul")(x, y),
    "item": lambda instruction, x: f"{x}[{instruction.axes[0]}]",
    "output": lambda instruction, x: f"{x}[{instruction.axes[0]}]",
    "multiply": lambda instruction, x, y: numpy("multiply")(x, y, dtype=_dtype(instruction.dtype)),
    "ones": lambda instruction: numpy("ones")(str(instruction.shape), dtype=Dtype(instruction.dtype)),
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": lambda instruction, x: Callee("copies", "repeated")(x, str(instruction.shape)),
    "reshape": lambda instruction, x: (
        method(x, "ravel")
        if instruction.function and len(instruction.shape) == 1
        else method(x, "reshape", str(instruction.shape))
    ),
    "scatter": _scatter,
    "slices": _slices,
    "sum": _sum,
    "take": _take,
    "transpose": _transpose,
    "tiny_matmul": lambda _, x, y: Callee("tiny", "tiny_matmul")(x, y),
    "vecdot": lambda _, x, y: numpy("vecdot")(x, y),
    "window": _window,
    "window_multiply": _windowed,
    "window_reduce": _rolling,
    "window_weigh": _windowed,
}
"""The code of each instruction, from the instruction and the names of its sources."""
