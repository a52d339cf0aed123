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
    Program,
    Reduce,
    Repeat,
    Reshape,
    Slices,
    Sum,
    Transpose,
    Vecdot,
    sources_of,
)
from nameexpr.compiler.ir.strides import Given, Shape, known, strides_of
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.memory.program import allocated

CALL = 0.3e-6
"""Seconds that a call of nameexpr takes beside the steps of its program."""
APPLIED = 3000.0
"""Calling the caller's own reducer, which is taken to be as quick as a sum."""
STRONG = {"int": "int64", "float": "float64", "complex": "complex128"}
WEAK = "weak:"


def expected_seconds(
    program: Program, shapes: Sequence[Shape], given: Sequence[Given] = ()
) -> tuple[float, ...]:
    """Return the seconds that each instruction is expected to take.

    Parameters
    ----------
    program : Program
        What runs.
    shapes : sequence of tuple of int
        Shapes of all its values.
    given : sequence of Given, optional
        Dtypes and strides of the operands; what is not known is float64, and row-major.

    Examples
    --------
    >>> from nameexpr.compiler.ir.program import Note, Transpose
    >>> note = Note(("b", "a"), "float64", None)
    >>> turned = Program(((2, 3),), (Transpose(0, (1, 0)),), (note,), 1, False)
    >>> [f"{seconds:.2g}" for seconds in expected_seconds(turned, ((2, 3), (3, 2)))]
    ['1e-07']
    """
    return tuple(nanos * costs.NANO for nanos in _nanos(program, shapes, given))


def _nanos(program: Program, shapes: Sequence[Shape], given: Sequence[Given]) -> list[float]:
    dtypes = [one.dtype for one in known(given, program.operands)]
    dtypes += [note.dtype for note in program.notes]
    strides = strides_of(program, shapes, given)
    arrays = [Array(*facts) for facts in zip(shapes, strides, map(_strong, dtypes), strict=True)]
    count = len(program.operands)
    sizes = allocated(program, shapes, given)
    return [
        instruction_nanos(one, [arrays[source] for source in sources_of(one)], arrays[count + number])
        + pages_nanos(sizes[number])
        for number, one in enumerate(program.instructions)
    ]


def _strong(dtype: str) -> str:
    """Return the dtype that a number has as an array."""
    word = dtype.removeprefix(WEAK)
    return STRONG.get(word, word) if dtype.startswith(WEAK) else dtype


def instruction_nanos(one: Instruction, sources: Sequence[Array], result: Array) -> float:
    """Return the nanoseconds of one instruction on arrays."""
    match one:
        case (
            Cast()
            | Reshape()
            | Transpose()
            | Diagonal()
            | AsReal()
            | AsComplex()
            | Repeat()
            | Embed()
            | Copy()
        ):
            return move_nanos(one, sources[0])
        case Full() | Ones() | Constant() | Arange():
            return made_nanos(one)
        case Multiply() | Dot() | Vecdot() | Matmul() | IntegerMatmul() | Einsum():
            return product_nanos(one, sources, result)
        case Pointwise():
            return pointwise_nanos(one, sources, result)
        case Fused():
            return fused_nanos(one, sources)
        case AlongAxes():
            return along_nanos(one, sources[0])
        case Sliced():
            return _sliced(one, sources)
        case Looped():
            return _looped(one, sources, result)
        case _:
            return _reduction(one, sources[0], result)


def _reduction(one: Sum | Slices | Reduce | Apply | Divide, source: Array, result: Array) -> float:
    ndim = len(source.shape)
    match one:
        case Sum(_, axes, dtype):
            return reduce_nanos("sum", source, axes, dtype)
        case Slices():
            return slices_nanos(one, source)
        case Reduce(_, reducer, count):
            return reduce_nanos(reducer, source, range(ndim - count, ndim))
        case Apply():
            return APPLIED + reduce_nanos("sum", source, (ndim - 1,))
        case Divide():
            divided = Pointwise("true_divide", (0,), (None, 1), result.shape, result.dtype, is_ufunc=True)
            return pointwise_nanos(divided, [source], result)


def _sliced(one: Sliced, sources: Sequence[Array]) -> float:
    """Return the time of all slices: a body reads parts, and its result is placed."""
    given = [Given(source.dtype, source.strides[cut:]) for source, cut in zip(sources, one.cuts, strict=True)]
    body = fsum(_nanos(one.body, shapes_of(one.body), given))
    parts = PART * (1 + sum(cut > 0 for cut in one.cuts))
    return MADE + prod(one.counts) * (TURN + parts + body)


def _looped(one: Looped, sources: Sequence[Array], result: Array) -> float:
    """Return the time of all blocks, of the smaller one at the end too."""
    given = [Given(source.dtype, source.strides) for source in sources]
    nanos, whole = MADE + memory_nanos(result.cells * result.item), one.size // one.block
    for body, count in zip(one.bodies, (whole, 1), strict=False):
        shapes = shapes_of(body)
        placing = call_nanos("add") + costs.CELL * prod(shapes[body.result])
        nanos += count * (TURN + PART * one.cuts + placing + fsum(_nanos(body, shapes, given)))
    return nanos
