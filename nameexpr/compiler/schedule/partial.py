"""Operands that stay the same: what depends on them alone is computed once, and the rest on every call.

`fold` splits a program in two. The *prelude* takes the bound operands and gives the values that are worth
holding; the *rest* takes the other operands and those values. It runs after a program is finished, and asks
again which memory can be taken over, since nothing may write to a value that is held.

    t0 = b * c; t1 = a @ t0    ->    prelude(b, c): t0 = b * c    rest(a, t0): t1 = a @ t0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Apply,
    Cast,
    Copy,
    Divide,
    Dot,
    Einsum,
    Full,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Note,
    Pointwise,
    Program,
    Reduce,
    Sum,
    is_view,
    sources_of,
)
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.schedule.hoisting import hoisted
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.compiler.schedule.simplify import renumbered

Shapes = Sequence[tuple[int, ...]]

SMALL = 1 << 12
"""Cells of a value that is always held: it stays in the cache."""
LARGER = 2
"""How many times more cells than its operands a value may have to be held, whatever it costs to compute."""
WORTH = 16
"""Scalar operations per cell from which a larger value is held: reading a cell costs as much as a few."""
WORTH_COPYING = 4
"""Scalar operations per cell from which a result is copied and not computed anew."""
MOST_BYTES = 1 << 28
"""Bytes of a value that is held for the work that it saves."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A program in two parts.

    `prelude` takes the bound operands, in order, and gives the values that the rest reads after the operands
    that are not bound: `held` are their numbers in `whole`, the program with both parts. It is None if the
    rest reads none.
    """

    whole: Program

    prelude: Program | None
    rest: Program
    held: tuple[int, ...]


def fold(program: Program, shapes: Shapes, constants: Collection[int], limit: int | None = None) -> Folded:
    """Return the program split into what depends on constants alone, as far as that pays, and the rest.

    Parameters
    ----------
    program : Program
        What is to be done.
    shapes : sequence of tuple of int
        Shape of every value.
    constants : collection of int
        The operands that stay the same.
    limit : int, optional
        Bytes that a value larger than its operands may have, if that is less than `MOST_BYTES`.
    """
    program = replace(program, instructions=tuple(map(_in_fresh_memory, program.instructions)))
    own = sum(prod(shapes[operand]) for operand in constants)
    program = hoisted(program, shapes, constants, lambda shape: prod(shape) <= max(SMALL, LARGER * own))
    shapes = shapes_of(program)
    account = _account(program, shapes, constants)
    most = MOST_BYTES if limit is None else min(limit, MOST_BYTES)
    held: set[int] = set()
    rest: set[int] = set()
    waiting = list(program.outputs)
    while waiting:
        value = waiting.pop()
        if value in held or value in rest:
            continue
        if value in account.work and _is_held(program, shapes, account, value, most):
            held.add(value)
        elif value >= len(program.operands):
            rest.add(value)
            waiting += sources_of(program.instructions[value - len(program.operands)])
    order = tuple(sorted(held))
    bound = tuple(sorted(constants))
    prelude = _prelude(program, bound, order) if order else None
    return Folded(program, prelude, _rest(program, bound, order, rest), order)


@dataclass(frozen=True, slots=True)
class _Account:
    """Of every value that depends on constants alone: the operations behind it, the cells of the constants.

    Values that are behind another in two ways count twice: it is an estimate.
    """

    work: dict[int, int]
    cells: dict[int, int]


def _account(program: Program, shapes: Shapes, constants: Collection[int]) -> _Account:
    count = len(program.operands)
    work = dict.fromkeys(constants, 0)
    cells = {operand: prod(shapes[operand]) for operand in constants}
    for number, one in enumerate(program.instructions):
        sources = sources_of(one)
        # A reducer of the caller's may give another answer each time; a full array is a result of its own.
        if isinstance(one, Full) or _has_callable(one) or not all(source in work for source in sources):
            continue
        given = [shapes[source] for source in sources]
        work[count + number] = sum(work[s] for s in sources) + work_of(one, given, shapes[count + number])
        cells[count + number] = sum(cells[source] for source in dict.fromkeys(sources))
    return _Account(work, cells)


def _has_callable(one: Instruction) -> bool:
    """Whether an instruction calls a reducer of the caller's."""
    bodies = (one.body,) if isinstance(one, Sliced) else one.bodies if isinstance(one, Looped) else ()
    return isinstance(one, Apply) or any(
        map(_has_callable, [x for body in bodies for x in body.instructions])
    )


def _is_held(program: Program, shapes: Shapes, account: _Account, value: int, most: int) -> bool:
    """Whether a value is computed once; one that is not is computed on each call, from what is."""
    count = len(program.operands)
    if value < count:
        return True
    cells = prod(shapes[value])
    if value in program.outputs:  # the caller gets memory of his own: a copy, or the result computed again
        root = _root(program, value)
        return root < count or account.work[root] >= WORTH_COPYING * prod(shapes[root])
    if cells <= max(SMALL, LARGER * account.cells[value]):
        return True
    size = cells * ITEM_BYTES.get(program.notes[value - count].dtype, 8)
    return account.work[value] >= WORTH * cells and size <= most


def _root(program: Program, value: int) -> int:
    """Return the value in whose memory this one is: itself, or what it is a view of."""
    count = len(program.operands)
    while value >= count:
        one = program.instructions[value - count]
        if not is_view(one) or isinstance(one, Cast):
            break
        (value,) = sources_of(one)
    return value


def _in_fresh_memory(one: Instruction) -> Instruction:
    """Return an instruction that takes over no memory: it is decided anew when the program is split."""
    if isinstance(one, Pointwise | Fused):
        return replace(one, over=None)
    return replace(one, over=False) if isinstance(one, AlongAxes) else one


def _prelude(program: Program, bound: Sequence[int], held: Sequence[int]) -> Program:
    count = len(program.operands)
    needed = set(held)
    for number in range(len(program.instructions) - 1, -1, -1):
        if count + number in needed:
            needed.update(sources_of(program.instructions[number]))
    numbers = {operand: place for place, operand in enumerate(bound)}
    operands = tuple(program.operands[operand] for operand in bound)
    values = [value for value in sorted(needed) if value >= count]
    made = _selected(program, operands, values, numbers)
    results = [numbers[value] for value in held]
    for place, value in enumerate(held):  # a result is copied on each call: let it lie as the copies do
        if value in program.outputs and value >= count and is_view(program.instructions[value - count]):
            copy, note = Copy(results[place]), replace(_note(program, value), step=None)
            made = replace(made, instructions=(*made.instructions, copy), notes=(*made.notes, note))
            results[place] = len(bound) + len(made.instructions) - 1
    made = replace(made, result=results[-1], results=tuple(results))
    return reuse(made, shapes_of(made))


def _rest(program: Program, bound: Sequence[int], held: Sequence[int], values: Collection[int]) -> Program:
    """Return what is done on each call; a result in memory that is held is copied."""
    free = [operand for operand in range(len(program.operands)) if operand not in bound]
    numbers = {value: place for place, value in enumerate((*free, *held))}
    shapes = shapes_of(program)
    made = _selected(program, tuple(shapes[value] for value in (*free, *held)), sorted(values), numbers)
    copies: list[Instruction] = []
    notes: list[Note] = []
    results = []
    for output in program.outputs:
        number = numbers[output]
        if len(free) <= _root(made, number) < len(free) + len(held):
            copies.append(Copy(number))
            notes.append(replace(_note(program, output), step=None))
            number = len(made.operands) + len(made.instructions) + len(copies) - 1
        results.append(number)
    made = replace(
        made,
        instructions=(*made.instructions, *copies),
        notes=(*made.notes, *notes),
        result=results[-1],
        results=tuple(results) if program.results else (),
    )
    return reuse(made, shapes_of(made))


def _note(program: Program, value: int) -> Note:
    count = len(program.operands)
    return program.notes[value - count] if value >= count else Note((), "", None)


def _selected(
    program: Program, operands: tuple[tuple[int, ...], ...], values: Sequence[int], numbers: dict[int, int]
) -> Program:
    """Return a program of some of the instructions; `numbers` learns what their values are called."""
    count = len(program.operands)
    instructions = []
    for value in values:
        instructions.append(renumbered(program.instructions[value - count], numbers))
        numbers[value] = len(operands) + len(instructions) - 1
    notes = tuple(program.notes[value - count] for value in values)
    return Program(
        operands, tuple(instructions), notes, 0, program.depends_on_layout, is_limited=program.is_limited
    )


def work_of(one: Instruction, sources: Shapes, result: tuple[int, ...]) -> int:
    """Return about how many scalar operations an instruction does; 0 where cells are only moved."""
    match one:
        case Dot() | Matmul() | IntegerMatmul():
            return 2 * prod(result) * sources[0][-1]
        case Einsum(_, letters):
            pairs = zip(letters, sources, strict=True)
            sizes = {letter: size for own, shape in pairs for letter, size in zip(own, shape, strict=True)}
            return len(sources) * prod(sizes.values())
        case Fused(_, shape, _, steps):
            return prod(shape) * max(1, len(steps))
        case Sliced(_, _, counts, body):
            return prod(counts) * _work_inside(body)
        case Looped():
            return one.count * _work_inside(one.body)
        case Multiply() | Pointwise():
            return prod(result)
        case Sum() | Reduce() | AlongAxes() | Divide():
            return prod(sources[0])
    return 0


def _work_inside(body: Program) -> int:
    shapes = shapes_of(body)
    return sum(
        work_of(one, [shapes[source] for source in sources_of(one)], shapes[number])
        for number, one in enumerate(body.instructions, len(body.operands))
    )
