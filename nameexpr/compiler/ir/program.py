"""The program: a list of single-assignment instructions on arrays, in terms of axes and ints only.

    program     = operands, instruction*, result
    instruction = primitive, sources, parameters

    cast dtype                      transpose axes
    reshape shape, function         "ravel": of what is most likely contiguous, to one axis
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
    sum axes, dtype                 slices function, axes         a sum; a reducer, slice after slice
    reduce function, axes, dtype    a reducer over the last axes, which act as one
    window_reduce function, axes, letters, shape    a reducer over windows along an axis
    apply                           the caller's `reduce=` over the last axis
    divide constants, dtype         by a number of elements
    multiply dtype                  dot, vecdot, matmul           as in NumPy; vecdot of reals
    tiny_matmul                     of three axes; in memory, the first one is the last
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
    from nameexpr.compiler.ir.pieces import Piece

Number = int | float | complex
Shape = tuple[int, ...]
Primitive = Literal[
    "cast", "reshape", "transpose", "diagonal", "window", "as_real", "as_complex",
    "inside", "take", "scatter", "repeat", "embed", "concatenate", "copy",
    "full", "ones", "constant", "arange", "bins", "sum", "slices", "reduce", "window_reduce",
    "apply", "divide", "multiply", "dot", "vecdot", "matmul", "tiny_matmul", "integer_matmul", "einsum",
    "window_multiply", "window_weigh", "pointwise", "along_axes", "fused", "loop", "output",
    "recurrence", "item",
]  # fmt: skip
WITH_OUT = frozenset(row.kernel for row in FUNCTIONS.values() if row.takes_out)
"""Pointwise kernels that accept an output array."""
NEVER_INTO = frozenset({"isinf", "isnan", "negative", "signbit"})
"""NumPy 2.2 to 2.5 computes these incorrectly into strided memory, `negative` (to 2.4) of strided arrays."""


@record
class Collected:
    """How the results of parts become one array.

    They are placed along its axis `place` (single indices along its leading axes), or, if that is None,
    combined by the kernel `combine`. The array gets its dtype from the first part if `dtype` is empty.
    """

    place: int | None = 0
    combine: str = ""
    dtype: str = ""


@record
class Loop:
    """A program that is run for one part of its sources at a time.

    `body` takes the parts as operands. There is a loop for each of `sizes`, which advances by `block` indices
    of `label`, or by a single index, without an axis in the part, if `block` is 0. `cuts` contains for each
    source the axis that each loop cuts, None if the loop reads all of it each time; an axis of size 1 has the
    index 0. `tail` is the program of the smaller block at the end, if there is one.

    `results` shows for each result of the body how those of the parts are collected. The value of a loop with
    several results is a list of arrays, which `output` reads. `layout` are the axes of a result in the order
    that they have in memory; row-major if it is empty. The body computes `again` values that something else
    computes, too.
    """

    sizes: Shape
    block: int
    cuts: tuple[tuple[int | None, ...], ...]
    body: Program
    tail: Program | None = None
    results: tuple[Collected, ...] = (Collected(),)
    label: str = ""
    layout: tuple[int, ...] = ()
    again: int = 0

    @property
    def bodies(self) -> tuple[Program, ...]:
        """The programs of a part and of the smaller block at the end."""
        return (self.body,) if self.tail is None else (self.body, self.tail)

    @property
    def turns(self) -> int:
        """The number of parts."""
        return prod(self.sizes) if not self.block else -(-self.sizes[0] // self.block)

    @property
    def parts(self) -> int:
        """The number of sources of which only a part is read."""
        return sum(any(axis is not None for axis in cut) for cut in self.cuts)

    def leading(self, source: int) -> int:
        """Return how many leading axes of a source have a single index in each part."""
        return 0 if self.block else sum(axis is not None for axis in self.cuts[source])


@record
class StepLoop:
    """A program that is run once for each of `length` steps, and writes a row of each array in each.

    The first sources of the instruction are the starts: `starts` has for each array how many rows each of its
    starts has, one after the other. The other sources are what the steps read: of those in `cut` the body
    reads the index of the step along axis 0, of others all. Further operands of the body are rows: of the
    array and as many rows after the current step as `reads` has. The results of the body are the next rows,
    of the shapes `rows`. Of the arrays in `last` only as many rows as the start has are kept.
    """

    body: Program
    rows: tuple[Shape, ...]
    length: int
    starts: tuple[tuple[int, ...], ...]
    cut: tuple[bool, ...]
    reads: tuple[tuple[int, int], ...]
    label: str = ""
    last: tuple[int, ...] = ()

    def length_of(self, array: int) -> int:
        """Return how many rows of an array are there in the end."""
        return self.offset(array) + (0 if array in self.last else self.length)

    @property
    def count(self) -> int:
        """The number of starts among the sources."""
        return sum(map(len, self.starts))

    def offset(self, array: int) -> int:
        """Return how many rows an array has before the first step."""
        return sum(self.starts[array])


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
        name = self.primitive.removeprefix("integer_").removeprefix("tiny_")
        name = name.replace("_", "").replace("take", "gather")
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
    def takes_out(self) -> bool:
        """Whether it is a function that can write its result into any memory."""
        is_function = self.primitive == "pointwise" and self.function in WITH_OUT
        return is_function and self.function not in NEVER_INTO


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
    `offers` has the expected nanoseconds of the strategies at each choice of the lowering, 0 if unknown.
    """

    operands: tuple[Shape, ...]
    instructions: tuple[Instruction, ...]
    notes: tuple[Note, ...]
    result: int
    depends_on_layout: bool
    results: tuple[int, ...] = ()
    offers: tuple[tuple[float, ...], ...] = ()
    is_limited: bool = False

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of all values that are returned."""
        return self.results or (self.result,)
