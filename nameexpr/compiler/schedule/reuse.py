"""Memory reuse: results that are written into the memory of a dead array.

A pointwise function, or the division of a mean, writes over an argument if that is fresh memory of this
program, of the result's shape and dtype, and dead afterwards, including all views of it, and if the function
does not read it through two views, nor through a window, which may overlap. Operands are never written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.liveness import WHERE, owners
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.program import Instruction, Program, Shape
from nameexpr.records import replace

OVER = frozenset({"softmax", "log_softmax", "cumsum", "cumprod", "cummax", "cummin", "sort"})
"""Functions along dims that can work in place."""


def reuse(program: Program, shapes: Sequence[Shape]) -> Program:
    """Return the program with `over` set where memory can be reused."""
    if not any(map(_candidates, program.instructions)):
        return program
    count = len(program.operands)
    owner = owners(count, program.instructions)
    views: dict[int, list[int]] = {}
    for value, root in enumerate(owner):
        views.setdefault(root, []).append(value)
    last, windows = _last_reads(program, owner), _windows(program)
    instructions = list(program.instructions)
    for number, instruction in enumerate(instructions):
        target = count + number
        for position in _candidates(instruction):
            source = instruction.sources[position]
            base = owner[source]
            is_dead = base >= count and last[base] == number
            if (
                is_dead
                and instructions[base - count].primitive != "constant"
                and not _is_seen_twice(instruction, source, owner)
                and source not in windows
                and shapes[target]
                and shapes[source] == shapes[target]
                and (program.notes[source - count].dtype if source >= count else "")
                == program.notes[number].dtype
            ):
                instructions[number] = instruction._replace(over=position)
                last[base] = max(number, last.get(target, -1))
                for value in views[target]:
                    owner[value] = base
                views[base] += views[target]
                break
    return replace(program, instructions=tuple(instructions))


def _last_reads(program: Program, owner: Sequence[int]) -> dict[int, int]:
    """Return the last instruction that reads each owner's memory."""
    last: dict[int, int] = {}
    for number, instruction in enumerate(program.instructions):
        last |= {owner[source]: number for source in instruction.sources}
    return last | {owner[result]: len(program.instructions) for result in program.outputs}


def _windows(program: Program) -> set[int]:
    """Return the values that are windows, and the views of these."""
    found: set[int] = set()
    for value, instruction in enumerate(program.instructions, len(program.operands)):
        if instruction.primitive == "window" or (is_view(instruction) and instruction.sources[0] in found):
            found.add(value)
    return found


def _candidates(instruction: Instruction) -> Sequence[int]:
    """Return the positions of the sources that an instruction could write over."""
    every = range(len(instruction.sources))
    match instruction.primitive:
        case "fused" if not instruction.function:
            return every
        case "along_axes" if instruction.function in OVER and not instruction.dtype:
            return every
        case "pointwise" if instruction.function == WHERE and not instruction.is_weak:
            return every[1:2] if instruction.constants[:2] == (None, None) else ()
        case "pointwise" if instruction.takes_out and not instruction.is_weak:
            return every
        case "divide":
            return every
    return ()


def _is_seen_twice(instruction: Instruction, source: int, owner: Sequence[int]) -> bool:
    """Return whether an instruction reads the same memory through another view: p[i j] + p[j i]."""
    return any(other != source and owner[other] == owner[source] for other in instruction.sources)
