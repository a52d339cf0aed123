"""How much memory a program takes, from its shapes alone.

An array lives until the last instruction that reads it, or a view of it, has run; what an instruction needs
while it runs (blocks, slices, the temporaries of kernels) dies with it. Operands are counted apart: they were
there before, and they stay. Which reshapes copy follows from how values lie in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    BLOCK,
    AlongAxes,
    Cast,
    Copy,
    Divide,
    Dot,
    Einsum,
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
    Vecdot,
    is_view,
    sources_of,
    streamed,
)
from nameexpr.compiler.ir.strides import Given, known, reshaped, strides_of
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.memory.arrays import Array, item_bytes, reduce_buffers, ufunc_bytes
from nameexpr.compiler.memory.blocks import block_bytes, pointwise_bytes
from nameexpr.compiler.memory.products import dot_bytes, einsum_bytes, integer_bytes, odd_bytes
from nameexpr.compiler.memory.scratch import (
    MOVES,
    TURNED,
    along_bytes,
    dtype_of,
    reduce_bytes,
    repeat_bytes,
    slices_bytes,
)

Shapes = Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Facts:
    """A program with its values as they lie in memory; `is_body` if it runs in a loop."""

    program: Program
    arrays: Sequence[Array]
    is_body: bool

    @property
    def count(self) -> int:
        return len(self.program.operands)

    def is_free(self, number: int) -> bool:
        """Whether an instruction allocates nothing: a view, or what takes over another value's memory."""
        one = self.program.instructions[number]
        if isinstance(one, Pointwise | AlongAxes | Fused):
            return one.over is not None and one.over is not False
        if isinstance(one, Copy):
            return one.is_lax and self.arrays[one.source].is_row_major
        return is_view(one) and not isinstance(one, Cast) and not self.is_copy(one)

    def is_copy(self, one: Instruction) -> bool:
        """Whether an instruction is a reshape that NumPy cannot do by a view."""
        if not isinstance(one, Reshape):
            return False
        source = self.arrays[one.source]
        return reshaped(source.shape, source.strides, one.shape) is None

    def own_bytes(self, number: int) -> int:
        """Return the bytes of an instruction's result; 0 if it allocates nothing, or once and for all."""
        one = self.program.instructions[number]
        if isinstance(one, Ones) and not self.is_body:
            is_kept = prod(one.shape) <= BLOCK or number in streamed(self.program)
            return 0 if is_kept else prod(one.shape) * item_bytes(one.dtype)
        return 0 if self.is_free(number) else self.arrays[self.count + number].size

    def sources(self, number: int) -> list[Array]:
        """Return the arrays that an instruction reads."""
        return [self.arrays[source] for source in sources_of(self.program.instructions[number])]

    def at_once(self, one: Dot | Matmul | Vecdot, sources: Sequence[Array]) -> Sequence[Array]:
        """Return what a product is made of at once: blocks, where it adds up with ones."""
        if isinstance(one, Vecdot) or one.right - self.count not in streamed(self.program):
            return sources
        (*rows, length), (_, *columns) = sources[0].shape, sources[1].shape
        return [sources[0].part((*rows, min(BLOCK, length))), sources[1].part((min(BLOCK, length), *columns))]


def _facts(program: Program, shapes: Shapes, given: Sequence[Given], *, is_body: bool = False) -> _Facts:
    strides = strides_of(program, shapes, given)
    arrays: list[Array] = []
    for number, own in enumerate(known(given, program.operands)):
        item = own.item or item_bytes(own.dtype)
        arrays.append(Array(shapes[number], strides[number], own.dtype, item, own.is_swapped, own.is_uneven))
    facts = _Facts(program, arrays, is_body)
    for number, note in enumerate(program.notes):
        one = program.instructions[number]
        value = facts.count + number
        sources = facts.sources(number)
        dtype = note.dtype or dtype_of(one, sources)
        is_moved = isinstance(one, MOVES) or (isinstance(one, AlongAxes) and one.function in TURNED)
        is_kept = is_view(one) and not isinstance(one, Cast) and not facts.is_copy(one)
        item = sources[0].item if is_moved and not dtype else item_bytes(dtype)
        is_swapped = is_moved and sources[0].is_swapped
        is_uneven = is_kept and sources[0].is_uneven
        arrays.append(Array(shapes[value], strides[value], dtype, item, is_swapped, is_uneven))
    return facts


def allocated(program: Program, shapes: Shapes, given: Sequence[Given] = ()) -> list[int]:
    """Return the bytes that each instruction allocates, blocks and slices too; 0 for a view."""
    facts = _facts(program, shapes, given)
    return [
        facts.own_bytes(number)
        + (_passing_bytes(facts, number) if isinstance(one, Fused | Sliced | Looped) else 0)
        for number, one in enumerate(program.instructions)
    ]


def given_inside(program: Program, shapes: Shapes, given: Sequence[Given], number: int) -> list[Given]:
    """Return what is known of the operands of the body of a loop, which instruction `number` is."""
    facts = _facts(program, shapes, given)
    return [_part(source, 0) for source in facts.sources(number)]


def peak_bytes(program: Program, shapes: Shapes, given: Sequence[Given] = ()) -> int:
    """Return the most bytes that are alive at once, operands left out.

    Parameters
    ----------
    program : Program
        What runs.
    shapes : sequence of tuple of int
        Shapes of all its values.
    given : sequence of Given, optional
        Dtypes and strides of the operands; else they are taken to be row-major.
    """
    return _peak(_facts(program, shapes, given))


def _peak(facts: _Facts) -> int:
    return max((held + passing for held, passing, _ in _alive(facts)), default=0)


def _alive(facts: _Facts) -> Iterator[tuple[int, int, int]]:
    """Yield for each instruction the bytes of the values alive while it runs, those that it needs beside
    them, and those of the values alive after it.
    """
    sizes = [facts.own_bytes(number) for number in range(len(facts.program.instructions))]
    dying: dict[int, int] = {}
    for value, end in _ends(facts).items():
        if value >= facts.count:
            dying[end] = dying.get(end, 0) + sizes[value - facts.count]
    alive = 0
    for number, size in enumerate(sizes):
        alive += size
        held = alive
        alive -= dying.get(number, 0)
        yield held, _passing_bytes(facts, number), alive


@dataclass(frozen=True, slots=True)
class Alive:
    """Bytes alive while an instruction runs, and after it; `depth` is the number of loops around it."""

    during: int
    after: int
    depth: int


def timeline(program: Program, shapes: Shapes, given: Sequence[Given] = ()) -> list[Alive]:
    """Return the bytes alive at each instruction, operands left out: the most of them are `peak_bytes`.

    Behind a loop come the instructions of its body, as they are in one of its blocks.
    """
    return list(_timeline(_facts(program, shapes, given), 0, 0))


def _timeline(facts: _Facts, below: int, depth: int) -> Iterator[Alive]:
    """Yield the moments of a program in a loop, `below` which so many bytes are alive."""
    for number, (held, passing, after) in enumerate(_alive(facts)):
        yield Alive(below + held + passing, below + after, depth)
        one = facts.program.instructions[number]
        if isinstance(one, Looped):
            given = [_part(source, 0) for source in facts.sources(number)]
            body = _facts(one.body, shapes_of(one.body), given, is_body=True)
            yield from _timeline(body, below + held, depth + 1)


@dataclass(frozen=True, slots=True)
class Need:
    """A value that a program makes: the labels of its axes, its shape and its bytes."""

    labels: tuple[str, ...]
    shape: tuple[int, ...]
    size: int


def largest(program: Program, shapes: Shapes, given: Sequence[Given] = (), count: int = 3) -> list[Need]:
    """Return the largest values that a program makes, the largest first; one of those with equal labels."""
    facts = _facts(program, shapes, given)
    needs = [
        Need(note.labels, facts.arrays[facts.count + number].shape, facts.own_bytes(number))
        for number, note in enumerate(program.notes)
    ]
    needs.sort(key=lambda need: -need.size)
    distinct = {need.labels: need for need in reversed(needs)}.values()
    return sorted((need for need in distinct if need.size), key=lambda need: -need.size)[:count]


def operand_bytes(program: Program, dtypes: Sequence[str]) -> int:
    """Return the bytes of all operands, each counted in full."""
    return sum(prod(shape) * item_bytes(dtype) for shape, dtype in zip(program.operands, dtypes, strict=True))


def _ends(facts: _Facts) -> dict[int, int]:
    """Return for every value with memory of its own the last instruction that reads it, or a view of it.

    What a reshape copied goes with the copy: names are forgotten behind calls, not behind reshapes, but for
    the body of a loop.
    """
    program, count = facts.program, facts.count
    base: list[tuple[int, ...]] = [(value,) for value in range(count + len(program.instructions))]
    last = dict.fromkeys(range(len(base)), -1)
    for number, one in enumerate(program.instructions):
        for source in sources_of(one):
            last |= dict.fromkeys(base[source], number)
        if facts.is_free(number):
            taken = one.over if isinstance(one, Pointwise | Fused) and one.over is not None else None
            every = base[sources_of(one)[0] if taken is None else taken]
            base[count + number] = every if is_view(one) else every[:1]
        elif facts.is_copy(one) and not facts.is_body:
            base[count + number] = (count + number, *base[sources_of(one)[0]])
    for result in program.outputs:
        last |= dict.fromkeys(base[result], len(program.instructions))
    return last


def _passing_bytes(facts: _Facts, number: int) -> int:  # noqa: PLR0912  one case for each instruction
    """Return the bytes that an instruction needs only while it runs."""
    one, sources = facts.program.instructions[number], facts.sources(number)
    result = facts.arrays[facts.count + number]
    dtype = result.dtype
    match one:
        case Fused():
            return block_bytes(one, sources, result)
        case Sliced(_, cuts, _, body):
            return _body_peak(body, [_part(*pair) for pair in zip(sources, cuts, strict=True)])
        case Looped():
            return max(_body_peak(body, [_part(source, 0) for source in sources]) for body in one.bodies)
        case Pointwise():
            return pointwise_bytes(one, sources, dtype, result if one.over is not None else None)
        case Multiply() | Divide():
            return ufunc_bytes(result.shape, sources, dtype)
        case AlongAxes():
            return along_bytes(one, sources[0], dtype)
        case Reduce():
            return reduce_bytes(one, sources[0])
        case Sum(_, axes, wanted):
            return reduce_buffers(sources[0], axes, wanted or dtype)
        case Slices():
            return slices_bytes(one, sources[0])
        case Repeat(_, shape):
            return repeat_bytes(sources[0], shape)
        case Dot():
            return dot_bytes(facts.at_once(one, sources))
        case Matmul() | Vecdot():
            return odd_bytes(facts.at_once(one, sources), dtype)
        case IntegerMatmul():
            return integer_bytes(sources, result.shape)
        case Einsum():
            return einsum_bytes(one, sources, result)
    return 0


def _part(source: Array, cut: int) -> Given:
    """Return what is known of a slice of a value: its strides are those of the value."""
    return Given(source.dtype, source.strides[cut:], source.item, source.is_swapped, source.is_uneven)


def _body_peak(body: Program, given: Sequence[Given]) -> int:
    return _peak(_facts(body, shapes_of(body), given, is_body=True))
