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
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Define,
    Invocation,
    Statement,
    delete,
    nested,
)

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
