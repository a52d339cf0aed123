"""The program of a plan under a limit of memory, or a refusal that says what needs how much.

The search for loops knows labels only; what a program allocates beside its values, copies among them, is
known when it is written. So the search aims lower until a program does fit.
"""

from __future__ import annotations

from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.schedule.limit.loops import Nest
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction, network_of
from nameexpr.compiler.schedule.limit.search import Effort, find_nests

ROUNDS = 6
"""How often the search aims lower."""
TRIED = 4
"""Nests of one search that are written as programs."""
LOWER = 0.9
"""What the aim is multiplied by, if programs do not tell by how much they missed it."""


def fitted(single: SingleReduction, program: Program, limit: int) -> tuple[Program, int]:
    """Return the cheapest program that needs at most `limit` bytes, or else the one that needs least, and
    what it needs.

    Parameters
    ----------
    single : SingleReduction
        What is computed.
    program : Program
        Its program without loops.
    limit : int
        Bytes, operands left out.
    """
    given = single.given
    least = peak_bytes(program, shapes_of(program), given)
    network = network_of(single)
    aim, seen, effort = float(limit), set[Nest](), Effort()
    for _ in range(ROUNDS if least > limit and single.dtypes.compute else 0):
        found, lowest = find_nests(network, int(aim), effort)
        missed = 1.0
        for one in [*found[:TRIED], *([] if found else [lowest])]:
            if one.nest in seen:
                continue
            seen.add(one.nest)
            tried = lower_loops(single, one.nest)
            peak = peak_bytes(tried, shapes_of(tried), given)
            if peak < least:
                program, least = tried, peak
            if peak <= limit:
                return tried, peak
            missed = max(missed, one.peak / peak if one.nest else 0.0) if missed < 1 else one.peak / peak
        if not found:
            break
        aim *= min(LOWER, missed)
    return program, least
