"""How long a program is expected to take: a model, from shapes, dtypes and strides alone.

Each instruction is one or several passes over cells, a product that `estimate` knows, or a call. The figures
are those of the machine that the constants were fitted on, with one thread: nothing is timed, and they are
the same wherever they are asked for (docs/performance.md says how near they come).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, prod

from nameexpr.backends.numpy.costs import estimate as costs
from nameexpr.backends.numpy.costs.blocks import MADE, PART, TURN, fused_nanos, pointwise_nanos
from nameexpr.backends.numpy.costs.cells import Array, memory_nanos, pages_nanos
from nameexpr.backends.numpy.costs.functions import call_nanos
from nameexpr.backends.numpy.costs.moves import made_nanos, move_nanos
from nameexpr.backends.numpy.costs.products import product_nanos
from nameexpr.backends.numpy.costs.reductions import along_nanos, reduce_nanos, slices_nanos
from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.primitives import shapes_of, strides_of
from nameexpr.compiler.ir.program import WEAK, Instruction, Program, Shape
from nameexpr.compiler.memory.program import allocated

CALL = 0.3e-6
"""Seconds that a call of nameexpr takes beside the steps of its program."""
APPLIED = 3000.0
"""Calling the caller's own reducer, which is taken to be as quick as a sum."""
STRONG = {"int": "int64", "float": "float64", "complex": "complex128"}


def expected_seconds(
    program: Program, shapes: Sequence[Shape], given: Sequence[OperandLayout] = ()
) -> tuple[float, ...]:
    """Return the seconds that each instruction is expected to take.

    Parameters
    ----------
    program : Program
        What runs.
    shapes : sequence of tuple of int
        Shapes of all its values.
    given : sequence of OperandLayout, optional
        Dtypes and strides of the operands; what is not known is float64, and row-major.

    Examples
    --------
    >>> from nameexpr.compiler.ir import instructions as ir
    >>> from nameexpr.compiler.ir.program import Note
    >>> note = Note(("b", "a"), "float64", None)
    >>> turned = Program(((2, 3),), (ir.transpose(0, (1, 0)),), (note,), 1, False)
    >>> [f"{seconds:.2g}" for seconds in expected_seconds(turned, ((2, 3), (3, 2)))]
    ['1e-07']
    """
    return tuple(nanos * costs.NANO for nanos in _nanos(program, shapes, given))


def _nanos(program: Program, shapes: Sequence[Shape], given: Sequence[OperandLayout]) -> list[float]:
    dtypes = [one.dtype for one in layouts_or_default(given, program.operands)]
    dtypes += [note.dtype for note in program.notes]
    strides = strides_of(program, shapes, given)
    arrays = [Array(*facts) for facts in zip(shapes, strides, map(_strong, dtypes), strict=True)]
    count = len(program.operands)
    sizes = allocated(program, shapes, given)
    return [
        instruction_nanos(one, [arrays[source] for source in one.sources], arrays[count + number])
        + pages_nanos(sizes[number])
        for number, one in enumerate(program.instructions)
    ]


def _strong(dtype: str) -> str:
    """Return the dtype that a number has as an array."""
    word = dtype.removeprefix(WEAK)
    return STRONG.get(word, word) if dtype.startswith(WEAK) else dtype


def instruction_nanos(one: Instruction, sources: Sequence[Array], result: Array) -> float:
    """Return the nanoseconds of one instruction on arrays."""
    match one.primitive:
        case (
            "cast"
            | "reshape"
            | "transpose"
            | "diagonal"
            | "as_real"
            | "as_complex"
            | "repeat"
            | "embed"
            | "copy"
        ):
            return move_nanos(one, sources[0])
        case "full" | "ones" | "constant" | "arange":
            return made_nanos(one)
        case "multiply" | "dot" | "vecdot" | "matmul" | "integer_matmul" | "einsum":
            return product_nanos(one, sources, result)
        case "pointwise":
            return pointwise_nanos(one, sources, result)
        case "fused":
            return fused_nanos(one, sources)
        case "along_axes":
            return along_nanos(one, sources[0])
        case "loop":
            return _loop(one, sources, result)
        case _:
            return _reduction(one, sources[0], result)


def _reduction(one: Instruction, source: Array, result: Array) -> float:
    ndim = len(source.shape)
    match one.primitive:
        case "sum":
            return reduce_nanos("sum", source, one.axes, one.dtype)
        case "slices":
            return slices_nanos(one, source)
        case "reduce":
            return reduce_nanos(one.function, source, [axis % ndim for axis in one.axes])
        case "apply":
            return APPLIED + reduce_nanos("sum", source, (ndim - 1,))
        case _:
            (count,) = one.constants
            divided = ir.pointwise("true_divide", (0,), (None, count), result.shape, result.dtype)
            return pointwise_nanos(divided, [source], result)


def _loop(one: Instruction, sources: Sequence[Array], result: Array) -> float:
    """Return the time of all parts: a body reads parts, and its result is placed."""
    loop = one.loop
    assert loop is not None
    layouts = [
        OperandLayout(source.dtype, source.strides[loop.leading(number) :])
        for number, source in enumerate(sources)
    ]
    if not loop.block:
        body = fsum(_nanos(loop.body, shapes_of(loop.body), layouts))
        return MADE + loop.turns * (TURN + PART * (1 + loop.parts) + body)
    nanos, whole = MADE + memory_nanos(result.cells * result.item), loop.sizes[0] // loop.block
    for body_program, count in zip(loop.bodies, (whole, 1), strict=False):
        shapes = shapes_of(body_program)
        placing = call_nanos("add") + costs.CELL * prod(shapes[body_program.result])
        inside = fsum(_nanos(body_program, shapes, layouts))
        nanos += count * (TURN + PART * loop.parts + placing + inside)
    return nanos
