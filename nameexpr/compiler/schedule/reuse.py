"""Which results take over the memory of an array that nothing reads any more.

A pointwise function writes over an argument if that is fresh memory of this program, of the result's shape
and dtype, and dead afterwards, whatever views of it there were, and if the function does not read it through
two views. Operands are never written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.compiler.ir.program import (
    AlongAxes,
    Cast,
    Constant,
    Fused,
    Instruction,
    Pointwise,
    Program,
    is_view,
    sources_of,
    takes_out,
)

OVER = frozenset({"softmax", "log_softmax", "cumsum", "cumprod", "sort"})
"""Functions along dims that can work in place."""
WHERE = "where"


def reuse(program: Program, shapes: Sequence[tuple[int, ...]]) -> Program:
    """Return the program with `over` set where memory can be taken over."""
    count = len(program.operands)
    owner = _owners(program)
    views: dict[int, list[int]] = {}
    for value, root in owner.items():
        views.setdefault(root, []).append(value)
    last = _last_reads(program, owner)
    instructions = list(program.instructions)
    for number, one in enumerate(instructions):
        target = count + number
        for source in _candidates(one):
            base = owner[source]
            dtype = program.notes[source - count].dtype if source >= count else ""
            is_free = base >= count and last[base] == number and _is_fresh(instructions[base - count])
            is_free = is_free and not _is_seen_twice(one, source, owner)
            if (
                is_free
                and shapes[target]
                and shapes[source] == shapes[target]
                and dtype == program.notes[number].dtype
            ):
                instructions[number] = _taking(one, source)
                for value in views[target]:
                    owner[value] = base
                views[base] += views[target]
                last[base] = max(last[base], last.get(target, -1))
                break
    return replace(program, instructions=tuple(instructions))


def _owners(program: Program) -> dict[int, int]:
    """Return for every value the one whose memory it is in: itself, or what it is a view of."""
    count = len(program.operands)
    owner = {operand: operand for operand in range(count)}
    for number, one in enumerate(program.instructions):
        is_shared = is_view(one) and not isinstance(one, Cast)
        owner[count + number] = owner[sources_of(one)[0]] if is_shared else count + number
    return owner


def _last_reads(program: Program, owner: dict[int, int]) -> dict[int, int]:
    last: dict[int, int] = {}
    for number, one in enumerate(program.instructions):
        for source in sources_of(one):
            last[owner[source]] = number
    for result in program.outputs:
        last[owner[result]] = len(program.instructions)
    return last


def _candidates(one: Instruction) -> tuple[int, ...]:
    """Return the sources over which an instruction could write."""
    if isinstance(one, Fused):
        return one.sources if one.reducer is None else ()
    if isinstance(one, AlongAxes):
        return (one.source,) if one.function in OVER and one.keeps_dtype else ()
    if not isinstance(one, Pointwise) or one.is_weak:
        return ()
    if one.call == WHERE:
        return one.sources[1:2] if one.constants[:2] == (None, None) else ()
    return one.sources if takes_out(one) else ()


def _is_seen_twice(one: Instruction, source: int, owner: dict[int, int]) -> bool:
    """Whether an instruction reads the same memory through another view: p[i j] + p[j i]."""
    return any(other != source and owner[other] == owner[source] for other in sources_of(one))


def _is_fresh(one: Instruction) -> bool:
    return not isinstance(one, Constant)


def _taking(one: Instruction, source: int) -> Instruction:
    if isinstance(one, AlongAxes):
        return replace(one, over=True)
    assert isinstance(one, Pointwise | Fused)
    return replace(one, over=source)
