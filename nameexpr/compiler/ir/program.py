"""The program: what is to be done to arrays, in axes and ints only, as a list of single-assignment
instructions.

    program     = operands, instruction*, result
    instruction = Cast | Reshape | Transpose | Diagonal | AsReal | AsComplex              (one array)
                | Repeat | Embed | Copy | Full | Ones                                    (one array, or none)
                | Sum | Slices | Reduce | Apply | Divide                                          (reductions)
                | Multiply | Dot | Vecdot | Matmul | IntegerMatmul | Einsum              (products)
                | Constant | Arange | Pointwise | AlongAxes | Fused | Sliced             (formulas)
                | Looped                                                           (less memory)

Values are numbered: operands first, then one per instruction. `nameexpr.compiler.ir.verify` checks a program
and derives its shapes; `nameexpr.backends.numpy.codegen` writes it as NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from nameexpr.compiler.ir.formula_instructions import (
    AlongAxes,
    Arange,
    Constant,
    Fused,
    Number,
    Pointwise,
    Step,
    takes_out,
)
from nameexpr.compiler.ir.instructions import (
    Apply,
    AsComplex,
    AsReal,
    Cast,
    Copy,
    Diagonal,
    Divide,
    Dot,
    Einsum,
    Embed,
    Full,
    IntegerMatmul,
    Matmul,
    Multiply,
    Ones,
    Reduce,
    Repeat,
    Reshape,
    Slices,
    Sum,
    Transpose,
    Vecdot,
)
from nameexpr.compiler.ir.loops import Looped, Sliced

__all__ = [
    "AlongAxes",
    "Apply",
    "Arange",
    "AsComplex",
    "AsReal",
    "Cast",
    "Constant",
    "Copy",
    "Diagonal",
    "Divide",
    "Dot",
    "Einsum",
    "Embed",
    "Full",
    "Fused",
    "Instruction",
    "IntegerMatmul",
    "Looped",
    "Matmul",
    "Multiply",
    "Note",
    "Number",
    "Ones",
    "Pointwise",
    "Program",
    "Reduce",
    "Repeat",
    "Reshape",
    "Sliced",
    "Slices",
    "Step",
    "Sum",
    "Transpose",
    "Vecdot",
    "is_view",
    "last_uses",
    "sources_of",
    "takes_out",
]

Instruction = (
    Cast | Reshape | Transpose | Diagonal | AsReal | AsComplex | Repeat | Embed | Copy | Full | Ones
    | Sum | Slices | Reduce | Apply | Divide
    | Multiply | Dot | Vecdot | Matmul | IntegerMatmul | Einsum
    | Constant | Arange | Pointwise | AlongAxes | Fused | Sliced | Looped
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
    another program; `is_limited` that a limit of memory was held against what it takes for this layout.
    `offers` counts the ways there were at each choice of the lowering.
    """

    operands: tuple[tuple[int, ...], ...]
    instructions: tuple[Instruction, ...]
    notes: tuple[Note, ...]
    result: int
    depends_on_layout: bool
    results: tuple[int, ...] = ()
    offers: tuple[int, ...] = ()
    is_limited: bool = False

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of all values that come out."""
        return self.results or (self.result,)


def sources_of(instruction: Instruction) -> tuple[int, ...]:
    """Return the values that an instruction reads."""
    match instruction:
        case Multiply() | Dot() | Vecdot() | Matmul() | IntegerMatmul():
            return (instruction.left, instruction.right)
        case Einsum(sources) | Pointwise(_, sources) | Fused(sources) | Sliced(sources) | Looped(sources):
            return sources
        case Full() | Ones() | Constant() | Arange():
            return ()
        case _:
            return (instruction.source,)


def last_uses(program: Program) -> dict[int, int]:
    """Return for each value the last instruction that reads it; results outlive all of them."""
    instructions = program.instructions
    uses = {source: number for number, one in enumerate(instructions) for source in sources_of(one)}
    return uses | dict.fromkeys(program.outputs, len(instructions))


def is_view(instruction: Instruction) -> bool:
    """Whether the instruction's result may share memory with its source."""
    return isinstance(instruction, Reshape | Transpose | Diagonal | AsReal | AsComplex | Cast)


BLOCK = 1 << 16
"""Cells of the longest vector of ones that is made (`nameexpr.backends.numpy.kernels.ones`)."""


def streamed(program: Program) -> frozenset[int]:
    """Return the instructions that make ones beyond a block, all for products: those are sums of blocks, and
    the ones are never made.
    """
    count = len(program.operands)
    long = {
        number
        for number, one in enumerate(program.instructions)
        if isinstance(one, Ones) and one.shape[0] > BLOCK and one.shape[0] == prod(one.shape)
    }
    for one in program.instructions if long else ():
        used = {source - count for source in sources_of(one)}
        if isinstance(one, Dot | Matmul):
            used -= {one.right - count} - {one.left - count}
        long -= used
    return frozenset(long - {output - count for output in program.outputs})
