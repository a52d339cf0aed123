"""The program: a list of single-assignment instructions on arrays, in terms of axes and ints only.

    program     = operands, instruction*, result
    instruction = primitive, sources, parameters

    cast dtype                      reshape shape                 transpose axes
    diagonal letters                a view of the elements where axes of the same letter have the same index
    window shape, axes, letters     a view: axis k of the source is read at axes[k] + letters[k] @ index
    inside constants                positions that are inside a dim of this size; their number in the graph
    take axes                       the first source at the positions in the second, along an axis; "index":
                                    along the first axes, at those in the others, which are broadcast;
                                    "element": the same, where these have no axes
    as_real, as_complex             views of complex numbers with a last axis of their two parts, and back
    bins shape, constants           positions along dims of these sizes as one; outside, the product of these
    scatter shape, function, dtype  rows, the second source, combined by their bins, the first; alone: counted
    repeat shape                    a fresh array, broadcast to the shape
    embed shape, letters            zeros with the source on the diagonal of axes of the same letter
    concatenate shape, pieces, constants, dtype      arrays and numbers, each in its part of a fresh array
    copy function                   row-major; "contiguous": keeps to the cache, "row_major": unless it is so
    full shape, constants, dtype    constant constants            arange shape
    ones shape, dtype               made once and never written to
    sum axes, dtype                 slices function, axes         a sum, or a reducer slice after slice
    reduce function, axes, dtype    a reducer over the last axes, which act as one
    window_reduce function, axes, letters, shape    a reducer over windows along an axis
    apply                           the caller's `reduce=` over the last axis
    divide constants                by a number of elements
    multiply dtype                  dot, vecdot, matmul           as in NumPy; vecdot of reals
    integer_matmul dtype            in 64 bits, through float64 where the values at hand make that exact
    einsum letters                  one pass of NumPy's C loop over one or two arrays
    window_multiply, window_weigh   windows times a matrix, or times weights, summed over the last axes
    pointwise function, constants, shape, dtype, over             of arrays, which are broadcast, and numbers
    along_axes function, axes, dtype, over                        along axes that stay: softmax, cumsum, sort
    fused function, shape, axes, tiles, steps, factors, dtype     functions and a reduction, block by block
    recurrence recurrence           a program run once for each step, which reads rows that it has written
    item axes                       one of the arrays that a recurrence gives
    loop loop, dtype                a program run for one part of its sources at a time
    output axes                     one of the results of a loop that has several

Values are numbered: operands first, then one per instruction. The properties of each primitive are one row of
`nameexpr.compiler.ir.primitives`. The sources of `fused` have all axes of its shape, with size 1 where they
do not vary, or no axes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.ops import FUNCTIONS
from nameexpr.records import record

if TYPE_CHECKING:
    from nameexpr.compiler.ir.loops import Loop, StepLoop

Number = int | float | complex
Shape = tuple[int, ...]
Primitive = Literal[
    "cast", "reshape", "transpose", "diagonal", "window", "as_real", "as_complex",
    "inside", "take", "scatter", "repeat", "embed", "concatenate", "copy",
    "full", "ones", "constant", "arange", "bins",
    "sum", "slices", "reduce", "window_reduce", "apply", "divide",
    "multiply", "dot", "vecdot", "matmul", "integer_matmul", "einsum", "window_multiply", "window_weigh",
    "pointwise", "along_axes", "fused", "loop", "output", "recurrence", "item",
]  # fmt: skip
UFUNCS = frozenset(row.kernel for row in FUNCTIONS.values() if row.is_ufunc)
"""Pointwise kernels that accept an output array."""
NEVER_INTO = frozenset({"negative"})
"""NumPy 2.2 to 2.4 negates strided arrays incorrectly into strided memory, including in place."""


@record
class Piece:
    """A part of an array: where it begins along each axis and how long it is there, and its shape with the
    axes split as those of the value that is written to it.
    """

    starts: Shape
    lengths: Shape
    split: Shape

    def holds(self, source: Shape, shape: Shape) -> bool:
        """Whether it is inside an array of a shape, and a source can be repeated to fill it."""
        spans = zip(self.starts, self.lengths, shape, strict=True)
        is_inside = all(0 <= start <= start + length <= size for start, length, size in spans)
        fits = all(size in (1, other) for size, other in zip(source[::-1], self.split[::-1], strict=False))
        return (
            is_inside and fits and len(source) <= len(self.split) and prod(self.split) == prod(self.lengths)
        )


class Instruction(NamedTuple):
    """A primitive, the values that it reads, and its parameters; unused parameters are left out.

    Attributes
    ----------
    primitive : str
        Its name.
    sources : tuple of int
        The values that it reads; for a step of a fused instruction, the instruction's sources, then earlier
        steps.
    shape : tuple of int
        The requested shape; for a fused instruction, the shape of its iteration space.
    axes : tuple of int
        The axes that are removed, or that a function works along; for `transpose` their order; for `window`
        the position along each axis of the source at which the result begins.
    letters : tuple of tuple of int
        A letter for each axis of each source, then for each axis of the result: axes of one letter have the
        same index. For `window` the step along each axis of the source, one after the other, for an index
        along each axis of the result. For `window_reduce` the first position, the distance of windows and of
        their elements, and the number of elements, along each of `axes`.
    dtype : str
        The dtype of the result; empty if it follows from the sources.
    function : str
        A kernel or a reducer; the mode of `copy`.
    constants : tuple of number or None
        Numbers; of `pointwise` one for each argument, of `concatenate` for each piece, None for the next
        source.
    over : int or None
        The position in `sources` of the value whose memory the result reuses.
    tiles : tuple of int
        The size of a block of a fused instruction along each axis.
    steps : tuple of Instruction
        The functions of a block, one after the other.
    factors : tuple of int
        The results of a block, numbered as the sources of steps; several only under a sum.
    loop : Loop or None
        The program that `loop` runs.
    recurrence : StepLoop or None
        The program that `recurrence` runs.
    pieces : tuple of Piece
        The parts of the result of `concatenate`; what is in none of them is 0.
    """

    primitive: Primitive
    sources: tuple[int, ...] = ()
    shape: Shape = ()
    axes: tuple[int, ...] = ()
    letters: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    function: str = ""
    constants: tuple[Number | None, ...] = ()
    over: int | None = None
    tiles: Shape = ()
    steps: tuple[Instruction, ...] = ()
    factors: tuple[int, ...] = ()
    loop: Loop | None = None
    recurrence: StepLoop | None = None
    pieces: tuple[Piece, ...] = ()

    def __repr__(self) -> str:
        fields = zip(self._fields[1:], self[1:], INSTRUCTION_DEFAULTS, strict=True)
        told = ", ".join(f"{name}={value!r}" for name, value, default in fields if value != default)
        return f"{self.primitive}({told})"

    @property
    def kind(self) -> str:
        """The name of the instruction in tables of steps."""
        if self.recurrence is not None:
            return "loop"
        if self.loop is not None:
            return "looped" if self.loop.block else "sliced"
        name = self.primitive.removeprefix("integer_").replace("_", "").replace("take", "gather")
        return "window" if name.startswith("window") else name

    @property
    def kept(self) -> int:
        """The number of axes of the windows in a product that the result has."""
        (count,) = self.constants
        assert isinstance(count, int)
        return count

    @property
    def is_weak(self) -> bool:
        """Whether it computes a number from numbers alone."""
        return isinstance(self.dtype, WeakDtype)

    @property
    def is_ufunc(self) -> bool:
        """Whether it is a pointwise function with `out=`."""
        return self.primitive == "pointwise" and self.function in UFUNCS

    @property
    def takes_out(self) -> bool:
        """Whether it is a function that can write its result into any memory."""
        return self.is_ufunc and self.function not in NEVER_INTO


INSTRUCTION_DEFAULTS = tuple(Instruction("cast")[1:])


@record
class Note:
    """Debug information of a value: the labels of its axes, its dtype, and the step of the plan it belongs
    to.
    """

    labels: tuple[str, ...]
    dtype: str
    step: int | None


@record
class Program:
    """Instructions for `operands` arrays; `result` is the number of the value that is returned, `results` are
    the numbers if there are several.

    `depends_on_layout` means that strides of the operands were considered, so that other strides may need
    another program; `is_limited` means that a memory limit was compared with the memory for this layout.
    `offers` counts the strategies at each choice of the lowering.
    """

    operands: tuple[Shape, ...]
    instructions: tuple[Instruction, ...]
    notes: tuple[Note, ...]
    result: int
    depends_on_layout: bool
    results: tuple[int, ...] = ()
    offers: tuple[int, ...] = ()
    is_limited: bool = False

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of all values that are returned."""
        return self.results or (self.result,)
