"""A program as calls of the array API standard: one for each primitive where the standard has one, else a
function of this package that consists of such calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.array_api.pointwise import pointwise
from nameexpr.backends.array_api.promotion import Promotion
from nameexpr.backends.array_api.words import cast, converted, full, literal, ours, xp
from nameexpr.backends.numpy.codegen.statements import Joined, Statement, Value, quoted
from nameexpr.backends.portable.code import Calls, body_of, statements_of
from nameexpr.backends.portable.recurrences import recurrence_statements
from nameexpr.backends.portable.values import ValueSpec, known_values
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.compiler.ir.program import Instruction, Program

Shape = tuple[int, ...]
REDUCERS = {"max": "largest", "min": "smallest"}
"""Reducers of this package that have another name there."""
CUMULATIVE = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}
"""Functions along an axis that the standard has by another name."""


def statements(
    program: Program, shapes: Sequence[Shape], dtypes: Sequence[str], promotion: Promotion, library: str
) -> list[Statement]:
    """Return the statements of a program, given the names of the dtypes of its operands."""
    arrays = [number for number, dtype in enumerate(dtypes) if not isinstance(dtype, WeakDtype)]
    writer = StandardCode(promotion, f"a{arrays[0]}.device" if arrays else None, library)
    known = known_values(program, shapes, dtypes)
    return statements_of(program, known, writer.calls, library, writer.several)


class StandardCode:
    """The code of each primitive, from what is known about its sources, and from their names.

    `device` is the code of the device of arrays that are made.
    """

    def __init__(self, promotion: Promotion, device: str | None, library: str) -> None:
        self.promotion, self.device, self.library = promotion, device, library
        self.calls: Calls = {
            **CALLS,
            "arange": lambda one, _: xp("arange")(str(one.shape[0]), dtype=xp("int64"), device=device),
            "concatenate": self.concatenate,
            "constant": self.constant,
            "dot": self.product,
            "full": self.full,
            "matmul": self.product,
            "multiply": self.multiply,
            "pointwise": lambda one, known, *names: pointwise(one, known, names, promotion, device),
        }
        self.several = {"recurrence": self.recurrence}

    def constant(self, one: Instruction, _: Sequence[ValueSpec]) -> Value:
        """Return an array without dims."""
        (number,) = one.constants
        assert number is not None
        dtype = one.dtype or self.promotion.held(number)
        return full(literal(converted(number, dtype)), dtype, self.device)

    def full(self, one: Instruction, _: Sequence[ValueSpec]) -> Value:
        """Return an array of one number."""
        (number,) = one.constants
        assert number is not None
        dtype = one.dtype or self.promotion.held(number)
        value = literal(converted(number, dtype))
        return xp("full")(str(one.shape), value, dtype=xp(dtype), device=self.device)

    def multiply(self, one: Instruction, known: Sequence[ValueSpec], x: str, y: str) -> Value:
        """Return a product of elements."""
        dtype = one.dtype or self.promotion.promoted([value.dtype for value in known])
        values = [cast(name, value.dtype, dtype) for name, value in zip((x, y), known, strict=True)]
        return xp("logical_and" if dtype == "bool" else "multiply")(*values)

    def product(self, _: Instruction, known: Sequence[ValueSpec], x: str, y: str) -> Value:
        """Return a product of matrices and vectors; of bools whether any product is true."""
        dtype = self.promotion.promoted([value.dtype for value in known])
        computed = self.promotion.default_float if dtype == "bool" else dtype
        values = [cast(name, value.dtype, computed) for name, value in zip((x, y), known, strict=True)]
        found = xp("matmul")(*values)
        return xp("not_equal")(found, "0.0") if dtype == "bool" else found

    def concatenate(self, one: Instruction, known: Sequence[ValueSpec], *names: str) -> Value:
        """Return arrays and numbers, each in its part of an array."""
        given = iter(zip(names, known, strict=True))
        dtype = one.dtype or self.promotion.promoted([value.dtype for value in known])
        values: list[Value] = []
        for piece, number in zip(one.pieces, one.constants, strict=True):
            if number is None:
                name, own = next(given)
                part = cast(name, own.dtype, dtype)
            else:
                part = full(literal(converted(number, dtype)), dtype, self.device)
            shaped = xp("broadcast_to")(part, str(piece.split))
            values.append(xp("reshape")(shaped, str(piece.lengths)))
        pieces = str(tuple([(piece.starts, piece.lengths) for piece in one.pieces]))
        sample = xp("zeros")("()", dtype=xp(dtype), device=self.device)
        listed = [part for value in values for part in (value, ", ")]
        return ours("joined", "moving")(sample, pieces, Joined(("(", *listed, ")")), str(one.shape))

    def recurrence(
        self, one: Instruction, known: Sequence[ValueSpec], names: Sequence[str], target: str
    ) -> list[Statement]:
        """Return the statements of a loop over steps."""
        return recurrence_statements(one, known, names, target, self.body, self)

    def body(self, body: Program, known: Sequence[ValueSpec], names: Sequence[str]) -> list[Statement]:
        """Return the statements of a step."""
        return body_of(body, known, names, self.calls, self.library, self.several)

    def first(self, start: str, known: ValueSpec, rows: ValueSpec) -> Value:
        """Return the rows that a recurrence starts with."""
        given: Value = start
        if isinstance(known.dtype, WeakDtype):
            given = full(start, rows.dtype, self.device)
        return ours("rows", "moving")(given, str(rows.shape), xp(rows.dtype))

    def stacked(self, listed: str, rows: ValueSpec) -> Value:
        """Return the rows in a list as an array."""
        if not rows.shape[0]:
            return xp("zeros")(str(rows.shape), dtype=xp(rows.dtype), device=self.device)
        return xp("stack")(listed)


def _along(one: Instruction, known: Sequence[ValueSpec], x: str) -> Value:
    function, own = one.function, known[0].dtype
    dtype = one.dtype or own
    if function in {"softmax", "log_softmax"}:
        return ours(function, "reductions")(cast(x, own, dtype), str(one.axes))
    axis = str(one.axes[0])
    if function == "flip":
        return xp("flip")(x, axis=axis)
    if function in CUMULATIVE:
        return xp(CUMULATIVE[function])(cast(x, own, dtype), axis=axis, dtype=xp(dtype))
    return ours(function, "reductions")(x, axis)


def _reduce(one: Instruction, known: Sequence[ValueSpec], x: str) -> Value:
    axes = tuple(range(-(len(one.axes) or 1), 0))
    if one.function in {"any", "all"}:
        return xp(one.function)(x, axis=str(axes))
    if one.function == "prod":
        dtype = one.dtype or known[0].dtype
        return xp("prod")(cast(x, known[0].dtype, dtype), axis=str(axes), dtype=xp(dtype))
    return ours(REDUCERS.get(one.function, one.function), "reductions")(x, str(axes))


def _sum(one: Instruction, known: Sequence[ValueSpec], x: str) -> Value:
    dtype = one.dtype or known[0].dtype
    source = cast(x, known[0].dtype, dtype) if known[0].dtype == "bool" else x
    return xp("sum")(source, axis=str(one.axes), dtype=xp(dtype))


def _window(one: Instruction, known: Sequence[ValueSpec], x: str) -> Value:
    """Return slices where each axis is read along one of the result's, in their order."""
    lengths, rows = one.shape, one.letters
    used = [[axis for axis, step in enumerate(row) if step] for row in rows]
    if [axis for axes in used for axis in axes] != list(range(len(lengths))) or max(map(len, used)) > 1:
        return ours("window", "moving")(x, str(one.axes), str(rows), str(lengths))
    ranges = [
        _range(offset, row[axes[0]], lengths[axes[0]], size) if axes else str(offset)
        for offset, row, axes, size in zip(one.axes, rows, used, known[0].shape, strict=True)
    ]
    return f"{x}[{', '.join(ranges)}]"


def _range(start: int, step: int, length: int, size: int) -> str:
    """Return a slice inside the bounds of an axis, as the standard demands."""
    if not length:
        return "0:0"
    stop = start + step * (length - 1) + (1 if step > 0 else -1)
    shown = "" if stop in {size, -1} else stop
    return f"{start}:{shown}" if step == 1 else f"{start}:{shown}:{step}"


def _scatter(one: Instruction, known: Sequence[ValueSpec], at: str, *rows: str) -> Value:
    size, (empty,), method = str(one.shape[0]), one.constants, one.function
    assert isinstance(empty, float)
    if method == "count":
        return ours("count", "scattering")(at, size)
    if not rows:
        return ours("flags", "scattering")(at, size, str(bool(empty)))
    method = "sum" if method.startswith("by_") else method
    number = literal(converted(empty, known[1].dtype))
    return ours("combined", "scattering")(quoted(method), at, *rows, size, number)


def _take(one: Instruction, known: Sequence[ValueSpec], x: str, *places: str) -> Value:
    if one.function:
        return ours("indexed", "moving")(x, *places)
    (axis,) = one.axes
    if len(known[1].shape) == 1:
        return xp("take")(x, *places, axis=str(axis))
    return ours("taken", "moving")(x, *places, str(axis))


CALLS: Calls = {
    "along_axes": _along,
    "apply": lambda _, __, x: ours("apply", "reductions")("reduce", x),
    "bins": lambda one, _, *names: ours("bins", "scattering")(str(one.constants), str(one.shape), *names),
    "cast": lambda one, known, x: cast(x, known[0].dtype, one.dtype),
    "copy": lambda _, __, x: xp("asarray")(x, copy="True"),
    "diagonal": lambda one, _, x: ours("diagonal", "moving")(x, *map(str, one.letters)),
    "divide": lambda one, _, x: f"{x} / {one.constants[0]}",
    "embed": lambda one, _, x: ours("embed", "moving")(x, str(one.shape), str(one.letters[1])),
    "inside": lambda one, _, x: ours("inside", "moving")(x, *map(str, one.constants)),
    "item": lambda one, _, x: f"{x}[{one.axes[0]}]",
    "reduce": _reduce,
    "repeat": lambda one, _, x: xp("asarray")(xp("broadcast_to")(x, str(one.shape)), copy="True"),
    "reshape": lambda one, _, x: xp("reshape")(x, str(one.shape)),
    "scatter": _scatter,
    "sum": _sum,
    "take": _take,
    "transpose": lambda one, _, x: xp("permute_dims")(x, str(one.axes)),
    "window": _window,
}
"""The code of each primitive that depends on its sources alone."""
