"""The program: what is to be done to arrays, in axes and ints only, as a list of single-assignment
instructions.

    program     = operands, instruction*, result
    instruction = Cast | Reshape | Transpose | Diagonal | Repeat | Embed | Copy | Full    (one array, or none)
                | Sum | Reduce | Apply | Divide                                          (reductions)
                | Multiply | Dot | Matmul | IntegerMatmul | Einsum                       (products)
                | Constant | Arange | Pointwise | AlongAxes | Fused | Sliced             (formulas)

Values are numbered: operands first, then one per instruction. `nameexpr.compiler.verify` checks a program and
derives its shapes; `nameexpr.compiler.render` writes it as NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

from nameexpr.compiler.sliced import Sliced


@dataclass(frozen=True, slots=True)
class Cast:
    """The array in another dtype."""

    source: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Reshape:
    """The same cells, row-major, in another shape: a view where NumPy can give one."""

    source: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transpose:
    """A view with the axes in another order."""

    source: int
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagonal:
    """A view of the cells where axes of the same letter have the same index; letters in order of first
    appearance.
    """

    source: int
    letters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A fresh array: the source broadcast to a shape."""

    source: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Embed:
    """A fresh array of zeros with the source, broadcast, where axes of the same letter have the same
    index.
    """

    source: int
    shape: tuple[int, ...]
    letters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """A fresh copy."""

    source: int


@dataclass(frozen=True, slots=True)
class Full:
    """A fresh array with one value everywhere."""

    shape: tuple[int, ...]
    value: float
    dtype: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum over axes; `dtype` if it is summed in another one than the array's."""

    source: int
    axes: tuple[int, ...]
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Reduce:
    """One of the language's reducers over the last `count` axes, which act as one."""

    source: int
    reducer: str
    count: int


@dataclass(frozen=True, slots=True)
class Apply:
    """The caller's `reduce=` over the last axis."""

    source: int


@dataclass(frozen=True, slots=True)
class Divide:
    """The array divided by a number of cells."""

    source: int
    count: int


@dataclass(frozen=True, slots=True)
class Multiply:
    """The product of two arrays, broadcast from the right; `dtype` if it is another than theirs gives."""

    left: int
    right: int
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Dot:
    """`left.dot(right)` for arrays of one or two axes."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Matmul:
    """Matrix products over the last two axes, broadcast over the others."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class IntegerMatmul:
    """A Matmul of 64-bit integers, through float64 where the values at hand make that exact."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Einsum:
    """One pass of NumPy's C loop over one or two arrays; letters name the axes."""

    sources: tuple[int, ...]
    letters: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]


Number = int | float | complex


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: Number


@dataclass(frozen=True, slots=True)
class Arange:
    """0, 1, ... size - 1."""

    size: int


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A function of arrays that are broadcast, and of numbers.

    `constants` has one entry per argument: the number, or None where the next of `sources` is meant. `over`
    is a source whose memory the result takes over. A weak one is of numbers alone, and gives a number.
    """

    call: str
    sources: tuple[int, ...]
    constants: tuple[object, ...]
    shape: tuple[int, ...]
    dtype: str
    is_ufunc: bool
    is_weak: bool = False
    over: int | None = None


@dataclass(frozen=True, slots=True)
class AlongAxes:
    """A function along axes, which stay: softmax, cumsum, sort; `over` says that it may work in place."""

    function: str
    source: int
    axes: tuple[int, ...]
    keeps_dtype: bool
    over: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One function inside a block: arguments are sources of the block, then earlier steps, or constants."""

    call: str
    arguments: tuple[int | None, ...]
    constants: tuple[Number | None, ...]
    dtype: str
    is_ufunc: bool


@dataclass(frozen=True, slots=True)
class Fused:
    """Pointwise functions, and a reduction of the product of some of their values, block by block.

    The sources have all axes of `shape`, with size 1 where they do not vary; a block is `tiles` large.
    `factors` are numbers of sources and steps, several only under a sum; `reduced` are the axes that go away;
    `over` is a source whose memory the result takes over.
    """

    sources: tuple[int, ...]
    shape: tuple[int, ...]
    tiles: tuple[int, ...]
    steps: tuple[Step, ...]
    factors: tuple[int, ...]
    reducer: str | None
    reduced: tuple[int, ...]
    dtype: str
    over: int | None = None


Instruction = (
    Cast | Reshape | Transpose | Diagonal | Repeat | Embed | Copy | Full
    | Sum | Reduce | Apply | Divide
    | Multiply | Dot | Matmul | IntegerMatmul | Einsum
    | Constant | Arange | Pointwise | AlongAxes | Fused | Sliced
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """What a person wants to know of a value: the labels of its axes, its dtype, and the step of the plan it
    belongs to.
    """

    labels: tuple[str, ...]
    dtype: str
    step: int | None


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions for `operands` arrays; `result` is the number of the value that comes out, `results` are
    those of several.

    `depends_on_layout` says whether strides of the operands were looked at, so that other strides may want
    another program.
    """

    operands: tuple[tuple[int, ...], ...]
    instructions: tuple[Instruction, ...]
    notes: tuple[Note, ...]
    result: int
    depends_on_layout: bool
    results: tuple[int, ...] = ()

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of all values that come out."""
        return self.results or (self.result,)


def sources_of(instruction: Instruction) -> tuple[int, ...]:
    """Return the values that an instruction reads."""
    match instruction:
        case Multiply(left, right) | Dot(left, right) | Matmul(left, right) | IntegerMatmul(left, right):
            return (left, right)
        case Einsum(sources) | Pointwise(_, sources) | Fused(sources) | Sliced(sources):
            return sources
        case Full() | Constant() | Arange():
            return ()
        case _:
            return (instruction.source,)


def is_view(instruction: Instruction) -> bool:
    """Whether the instruction's result may share memory with its source."""
    return isinstance(instruction, Reshape | Transpose | Diagonal | Cast)
