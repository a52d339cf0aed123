"""One instruction as a call of PyTorch, in terms of the names of its sources.

What needs a device is made on `device`, that of the first operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from nameexpr.backends.numpy.codegen.statements import (
    Callee,
    Invocation,
    Joined,
    Statement,
    Value,
    callee_of,
    method,
    quoted,
)
from nameexpr.backends.portable.code import Calls, Several, body_of
from nameexpr.backends.portable.recurrences import recurrence_statements
from nameexpr.backends.portable.values import ValueSpec
from nameexpr.backends.torch.kernels import OPERATORS, OWN, RENAMED, SIGNS
from nameexpr.backends.torch.passes import ACROSS
from nameexpr.compiler.ir.dtypes import KIND_OF
from nameexpr.compiler.ir.program import Instruction, Program

Shape = tuple[int, ...]
Known = Sequence[ValueSpec]
TWO = 2


def torch(name: str) -> Callee:
    """Return a PyTorch function."""
    return Callee("torch", name)


def ours(name: str) -> Callee:
    """Return a function of this package's for tensors."""
    return Callee("functions", name)


def at(name: str) -> Callee:
    """Return a function of this package's that reads or writes at positions."""
    return Callee("places", name)


def literal(number: object) -> Value:
    """Return a number as source; negative ones in brackets, so that operators can be applied to them."""
    if isinstance(number, complex):
        return Invocation("complex", (literal(number.real), literal(number.imag)), {})
    if isinstance(number, float) and not isfinite(number):
        return (
            torch("nan")
            if isnan(number)
            else torch("inf")
            if number > 0
            else Joined(("(-", torch("inf"), ")"))
        )
    return repr(number) if repr(number)[0] != "-" else f"({number!r})"


def axes_text(axes: Shape) -> str:
    """Return axes as an int, or as a tuple of several."""
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _dtype(dtype: str) -> Value | None:
    return torch(dtype) if dtype else None


def _product(instruction: Instruction, known: Known, x: str, y: str) -> Value:
    left, right = (one.shape for one in known)
    if instruction.dtype:
        return ours("integer_matmul")(x, y)
    names = {(2, 2): "mm", (2, 1): "mv", (1, 1): "dot"}
    name = names.get((len(left), len(right)), "matmul")
    if len(left) == len(right) == TWO + 1 and left[0] == right[0]:
        name = "bmm"
    return torch(name)(x, y)


def _transpose(instruction: Instruction, _: Known, x: str) -> Value:
    if instruction.function == ACROSS:
        *batch, row, column = instruction.axes
        copied = method(method(x, "permute", str((*batch, column, row))), "contiguous")
        return Joined((copied, ".mT"))
    return method(x, "t") if instruction.axes == (1, 0) else method(x, "permute", str(instruction.axes))


def _sum(instruction: Instruction, _: Known, x: str) -> Value:
    return torch("sum")(x, str(instruction.axes), dtype=_dtype(instruction.dtype))


def _reduce(instruction: Instruction, _: Known, x: str) -> Value:
    axes, name = str(instruction.axes), instruction.function
    names = {"max": "amax", "min": "amin", "norm": "linalg.vector_norm"}
    if name in {"any", "all", "logsumexp", "mean", "count_nonzero", "max", "min"}:
        return torch(names.get(name, name))(x, axes)
    return torch(names[name])(x, dim=axes) if name in names else ours(name)(x, axes)


def _full(instruction: Instruction, _: Known) -> Value:
    number = literal(instruction.constants[0])
    return torch("full")(str(instruction.shape), number, dtype=_dtype(instruction.dtype), device="device")


def _constant(instruction: Instruction, _: Known) -> Value:
    return _array(literal(instruction.constants[0]), instruction.dtype)


def _array(number: Value, dtype: str) -> Value:
    return torch("full")("()", number, dtype=_dtype(dtype), device="device")


def _arange(instruction: Instruction, _: Known) -> Value:
    return torch("arange")(str(instruction.shape[0]), device="device")


def _pointwise(instruction: Instruction, _: Known, *sources: str) -> Value:
    names, kernel = iter(sources), instruction.function
    given = [next(names) if number is None else literal(number) for number in instruction.constants]
    if instruction.is_weak:
        return Callee("formulas", "fold")(callee_of(kernel), *given)
    if kernel in {"as_array", "asarray", instruction.dtype}:
        return _array(given[0], instruction.dtype)
    has_numbers = len(sources) < len(given)
    is_reversed = has_numbers and instruction.constants[0] is not None
    if kernel == "true_divide" and is_reversed:  # the operator multiplies by a rounded reciprocal
        return torch(kernel)(*given)
    if kernel in OPERATORS:
        return Joined((given[0], f" {OPERATORS[kernel]} ", given[1]))
    if kernel in SIGNS:
        return Joined((SIGNS[kernel], given[0]))
    if kernel in {"maximum", "minimum"} and has_numbers:
        source, number = (given[1], given[0]) if is_reversed else (given[0], given[1])
        return torch("clamp")(source, **{"min" if kernel == "maximum" else "max": number})
    if kernel in OWN:
        return ours(kernel)(*given)
    return torch(RENAMED.get(kernel, kernel))(*given)


def _along(instruction: Instruction, known: Known, x: str) -> Value:
    name, axes = instruction.function, axes_text(instruction.axes)
    if name == "flip":
        return torch(name)(x, str(instruction.axes))
    is_softmax = name in {"softmax", "log_softmax"} and len(instruction.axes) == 1
    is_own = name in {"cumsum", "cumprod"} or (is_softmax and KIND_OF.get(known[0].dtype) == "float")
    return (torch if is_own else ours)(name)(x, axes)


def _window(instruction: Instruction, _: Known, x: str) -> Value:
    """Return slices where each axis is read forwards along one of the result's, in their order."""
    ranges: list[str] = []
    lengths, rows = instruction.shape, instruction.letters
    used = [[axis for axis, step in enumerate(row) if step] for row in rows]
    is_sliced = [axis for axes in used for axis in axes] == list(range(len(lengths)))
    if not is_sliced or max(map(len, used), default=2) > 1 or any(min(row, default=0) < 0 for row in rows):
        return at("window")(x, str(instruction.axes), str(rows), str(lengths))
    for offset, row, axes in zip(instruction.axes, rows, used, strict=True):
        step, length = (row[axes[0]], lengths[axes[0]]) if axes else (1, 1)
        stop = offset + step * length if length else offset
        ranges.append((f"{offset}:{stop}" + (f":{step}" if step > 1 else "")) if axes else str(offset))
    return f"{x}[{', '.join(ranges)}]"


def _inside(instruction: Instruction, _: Known, x: str) -> Value:
    size, outside = instruction.constants
    return x if size is None else at("inside")(x, str(size), str(outside))


def _take(instruction: Instruction, known: Known, x: str, *positions: str) -> Value:
    if instruction.function:
        return at("index")(x, *positions)
    axis = str(instruction.axes[0])
    return (
        torch("index_select")(x, axis, *positions)
        if len(known[1].shape) == 1
        else at("take")(x, *positions, axis)
    )


def _scatter(instruction: Instruction, _: Known, places: str, *rows: str) -> Value:
    (empty,) = instruction.constants
    size, name = str(instruction.shape[0]), quoted(instruction.function)
    return at("scatter")(places, *(rows or ["None"]), size, name, literal(empty))


def _join(instruction: Instruction, _: Known, *sources: str) -> Value:
    names = iter(sources)
    values = [next(names) if number is None else literal(number) for number in instruction.constants]
    pieces = str(tuple([(piece.starts, piece.lengths, piece.split) for piece in instruction.pieces]))
    return at("joined")(
        "device", str(instruction.shape), _dtype(instruction.dtype) or "None", pieces, *values
    )


def _repeat(instruction: Instruction, _: Known, x: str) -> Value:
    return _cloned(method(x, "expand", str(instruction.shape)))


def _cloned(x: Value) -> Value:
    return torch("clone")(x, memory_format=torch("contiguous_format"))


class _Rows:
    """How tensors are split into rows, and rows stacked."""

    def first(self, start: str, known: ValueSpec, rows: ValueSpec) -> Value:
        """Return the rows of a start."""
        converted = start if known.dtype == rows.dtype else method(start, "to", torch(rows.dtype))
        whole = converted if known.shape == rows.shape else method(converted, "expand", str(rows.shape))
        return method(whole, "unbind", "0")

    def stacked(self, listed: str, rows: ValueSpec) -> Value:
        """Return the tensor of the rows in a list."""
        if not rows.shape[0]:
            return torch("zeros")(str(rows.shape), dtype=torch(rows.dtype), device="device")
        return method(torch("stack")(listed), "to", torch(rows.dtype))


def _recurrence(instruction: Instruction, known: Known, names: Sequence[str], target: str) -> list[Statement]:
    def body(steps: Program, inside: Known, local: Sequence[str]) -> list[Statement]:
        return body_of(steps, inside, local, CALLS, "torch", SEVERAL)

    return recurrence_statements(instruction, known, names, target, body, _Rows())


CALLS: Calls = {
    "along_axes": _along,
    "apply": lambda _, __, x: ours("apply")("reduce", x),
    "arange": _arange,
    "bins": lambda instruction, _, *given: at("bins")(
        str(instruction.constants), str(instruction.shape), *given
    ),
    "cast": lambda instruction, _, x: method(x, "to", torch(instruction.dtype)),
    "concatenate": _join,
    "constant": _constant,
    "copy": lambda instruction, _, x: (
        method(x, "contiguous") if instruction.function == "row_major" else _cloned(x)
    ),
    "diagonal": lambda instruction, _, x: at("diagonal")(x, str(instruction.letters[0])),
    "divide": lambda instruction, _, x: f"{x} / {instruction.constants[0]}",
    "dot": _product,
    "embed": lambda instruction, _, x: at("embed")(x, str(instruction.shape), *map(str, instruction.letters)),
    "full": _full,
    "inside": _inside,
    "item": lambda instruction, _, x: f"{x}[{instruction.axes[0]}]",
    "matmul": _product,
    "multiply": lambda _, __, x, y: f"{x} * {y}",
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": _repeat,
    "reshape": lambda instruction, _, x: method(x, "reshape", str(instruction.shape)),
    "scatter": _scatter,
    "sum": _sum,
    "take": _take,
    "transpose": _transpose,
    "vecdot": lambda _, __, x, y: torch("linalg.vecdot")(x, y),
    "window": _window,
}
"""The code of each instruction, from the instruction, what is known about its sources, and their names."""
SEVERAL: Several = {"recurrence": _recurrence}
"""The instructions that are several statements."""
