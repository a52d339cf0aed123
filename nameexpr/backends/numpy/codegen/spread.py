"""Statements that threads execute: a function of one block, and the call that distributes the blocks.

    def t3_block(i0):
        x0 = a0[i0:i0 + 4096]
        np.exp(x0, out=t3[i0:i0 + 4096])
    job.blocks(2, t3_block, (100000, 4096))

What blocks contribute to a result is returned by the function, and combined after it, in order.

    t3_parts = iter(job.blocks(2, t3_block, (100000, 4096)))
    for i0 in range(0, 100000, 4096):
        r = next(t3_parts)
        t3 = r if i0 == 0 else np.add(t3, r)

Calls are divided in the same way, along an axis of their results, one or several at a time.

    def t3_part(i):
        x0 = a0[i:i + 2048]
        np.exp(x0, out=t3[i:i + 2048])
    def t4_part(i):
        x0 = t3[i:i + 2048]
        np.vecdot(x0, x0, out=t4[i:i + 2048])
    job.parts(2, (t3_part, t4_part), 100000, 2048)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.backends.numpy.codegen.calls import CALLS, fresh, with_out
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Define,
    Invocation,
    Statement,
    delete,
    indexed,
    nested,
)
from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.records import replace

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Division, Spread

Start = tuple[str, int, int]
"""The index of a loop, the size of what it covers, and that of a block."""


def blocks_over_threads(
    target: str,
    threads: int,
    starts: Sequence[Start],
    body: Sequence[Statement],
    last: Sequence[Statement] = (),
) -> list[Statement]:
    """Return the statements that execute a body for each start, over threads, and then `last` for each with
    what the body has returned, called `r`.
    """
    task, parts = f"{target}_block", f"{target}_parts"
    extents = [str((size, step)) for _, size, step in starts]
    call = Callee("threads.job", "blocks")(str(threads), task, *extents)
    statements: list[Statement] = [Define(task, tuple([index for index, _, _ in starts]), body)]
    if not last:
        return [*statements, Assign(None, call), *delete([task])]
    loops = [(index, f"0, {size}, {step}") for index, size, step in starts]
    statements.append(Assign(parts, Invocation("iter", (call,), {})))
    statements += nested(loops, [Assign("r", Invocation("next", (parts,), {})), *last])
    return [*statements, *delete([task, parts, "r"])]


class CallsOverThreads:
    """The statements of calls whose parts are computed together: what they define, and what follows them."""

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.later: list[Statement] = []

    def call(
        self, instruction: Instruction, target: str, names: Sequence[str], shape: Shape, spread: Spread
    ) -> list[Statement]:
        """Return the statements that create the result of a call, and define how a part of it is computed;
        functions that compute in blocks share these themselves.
        """
        if spread.part is None:
            call = CALLS[instruction.primitive](instruction, *names)
            assert isinstance(call, Invocation), "what shares its blocks is a function"
            return [Assign(target, replace(call, options={**call.options, "threads": str(spread.threads)}))]
        self.tasks.append(f"{target}_part")
        return _part_of_call(instruction, target, names, shape, spread.part)

    def after(
        self, number: int, shape: Shape, spread: Spread | None, deletions: Sequence[Statement]
    ) -> list[Statement]:
        """Return the statements that follow an instruction: deletions, after the last call with its parts."""
        if not self.tasks:
            return list(deletions)
        self.later += deletions
        if spread is None or spread.part is None or number != spread.last:
            return []
        size, step = str(shape[spread.part.axis]), str(spread.part.step)
        call = Callee("threads.job", "parts")(str(spread.threads), f"({', '.join(self.tasks)},)", size, step)
        statements = [Assign(None, call), *delete(self.tasks), *self.later]
        self.tasks, self.later = [], []
        return statements


def _part_of_call(
    instruction: Instruction, target: str, names: Sequence[str], shape: Shape, part: Division
) -> list[Statement]:
    over, local, body = instruction.over, list(names), list[Statement]()
    for number, cut in enumerate(part.cuts):
        if cut is not None:
            local[number] = f"x{number}"
            body.append(Assign(local[number], indexed(names[number], _range(cut, part.step))))
    place, call = (
        indexed(target, _range(part.axis, part.step)),
        CALLS[instruction.primitive](instruction, *local),
    )
    if over is not None:
        body.append(Assign(None, call))
    elif instruction.primitive in {"cast", "copy"}:
        body.append(Assign(place, local[0]))
    elif part.takes_out:
        body.append(Assign(None, with_out(call, place)))
    else:
        body.append(Assign(place, call))
    made = Assign(target, names[over] if over is not None else fresh(shape, part.dtype, part.layout))
    return [made, Define(f"{target}_part", ("i",), body)]


def _range(axis: int, step: int) -> str:
    return f"{':, ' * axis}i:i + {step}"
