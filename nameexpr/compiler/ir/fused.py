"""What follows from a fused instruction: where the values of a block lie, and how blocks are put together.

Inside a block a function writes over an earlier value that is dead, of the same dtype, and varies over the
same axes; the last one writes into the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.formula_instructions import Fused, Step, takes_out
from nameexpr.ops import REDUCTIONS

COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine} | {
    "mean": "add",
    "count_nonzero": "add",
}
"""The function that puts together what each block gives, for reducers."""
WHERE = "where"
PAIR = 2
REAL = frozenset({"float32", "float64"})
WIDENED = frozenset({"sum", "mean", "prod"})


def accumulator(one: Fused) -> str:
    """Return the dtype in which blocks are added up."""
    return "float32" if one.dtype == "float16" and one.reducer in WIDENED else one.dtype


def is_inner_product(one: Fused, is_along: Sequence[object]) -> bool:
    """Whether a block's products are added up along the last axis alone, as inner products of real vectors;
    `is_along` says which factors vary along it.
    """
    is_last = one.reduced == (len(one.shape) - 1,)
    return len(is_along) == PAIR and is_last and accumulator(one) in REAL and all(is_along)


def buffers(
    one: Fused, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[frozenset[int] | None], list[int | None], int | None]:
    """Return where the values of a block lie: for each source and step the axes along which it is longer than
    1 (None for a number), for each step the earlier one that it writes over, and the step from which on they
    are in the result itself.
    """
    varies, last = _varies(one, shapes), _last_uses(one)
    overs = [_over(one, step, number, len(shapes), varies, last) for number, step in enumerate(one.steps)]
    return varies, overs, _home(one, overs, len(shapes), varies)


def _varies(one: Fused, shapes: Sequence[tuple[int, ...]]) -> list[frozenset[int] | None]:
    """Return for each source and step the axes along which it is longer than 1; None for a number."""
    found: list[frozenset[int] | None] = [
        frozenset(axis for axis, size in enumerate(shape) if size != 1) if shape else None for shape in shapes
    ]
    for step in one.steps:
        parts = [found[argument] for argument in step.arguments if argument is not None]
        axes = [part for part in parts if part is not None]
        found.append(frozenset().union(*axes) if axes else None)
    return found


def _last_uses(one: Fused) -> dict[int, int]:
    last = {
        argument: number
        for number, step in enumerate(one.steps)
        for argument in step.arguments
        if argument is not None
    }
    return last | dict.fromkeys(one.factors, len(one.steps))


def _over(
    one: Fused,
    step: Step,
    number: int,
    count: int,
    varies: Sequence[frozenset[int] | None],
    last: dict[int, int],
) -> int | None:
    """Return the earlier step whose memory this one can write over."""
    if not takes_out(step) and step.call != WHERE:
        return None
    for argument in step.arguments[1:2] if step.call == WHERE else step.arguments:
        if argument is None or argument < count or last[argument] != number:
            continue
        if one.steps[argument - count].dtype == step.dtype and varies[argument] == varies[count + number]:
            return argument
    return None


def _home(
    one: Fused, overs: Sequence[int | None], count: int, varies: Sequence[frozenset[int] | None]
) -> int | None:
    """Return the step from which on a block is computed in the result itself, each step over the one before.

    None where the last step is the only one, or where a later step reads what the result takes over.
    """
    first = last = len(one.steps) - 1
    if one.reducer is not None or one.factors != (count + last,):
        return None
    while (over := overs[first]) is not None:
        first = over - count
    step, every = one.steps[first], frozenset(axis for axis, size in enumerate(one.shape) if size != 1)
    if first == last or not takes_out(step) or step.dtype != one.dtype or varies[count + first] != every:
        return None
    taken = None if one.over is None else one.sources.index(one.over)
    later = one.steps[first + 1 :]
    return None if any(taken is not None and taken in other.arguments for other in later) else first
