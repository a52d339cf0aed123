"""The program of a plan under a limit of memory, or a refusal that says what needs how much.

The search for loops knows labels only; what a program allocates beside its values, copies among them, is
known when it is written. So the search aims lower until a program does fit.

LimitError[NE709]: the expression needs 90,000,000 bytes at its peak, and memory_limit is 1,000,000
  query dim, key dim -> query key : max
  query key  (3000, 3000)  72,000,000 bytes
  help: in blocks it needs 24,000 bytes ...
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.axes import factors_of, shown
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.lower import lower
from nameexpr.compiler.lowering.views import Operands
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.compiler.memory.program import LargeValue, largest, peak_bytes
from nameexpr.compiler.schedule.limit.loops import Nest
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction, network_of
from nameexpr.compiler.schedule.limit.search import Effort, find_nests
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.errors import Diagnostic, OperandInfo
from nameexpr.records import replace

HALVES = {"float64": "float32", "complex128": "complex64"}
"""Dtypes that take half the memory of others."""
ROUNDS = 6
"""How often the search aims lower."""
TRIED = 4
"""Nests of one search that are written as programs."""
LOWER = 0.9
"""What the aim is multiplied by, if programs do not tell by how much they missed it."""


def fit_memory_limit(single: SingleReduction, program: Program, limit: int) -> tuple[Program, int]:
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


def over_limit(text: str, single: SingleReduction, program: Program, limit: int, needed: int) -> Diagnostic:
    """Return what to say of an expression that does not fit a limit.

    Parameters
    ----------
    text : str
        The expression.
    single : SingleReduction
        What it is computed as.
    program : Program
        Its program without any loop.
    limit, needed : int
        The bytes that there may be, and the fewest that were found to do.
    """
    given, dtypes = single.given, single.dtypes
    shapes = shapes_of(program)
    peak = peak_bytes(program, shapes, given)
    result = prod(map(single.graph.cells, single.result)) * item_bytes(dtypes.result)
    message = f"the expression needs {peak:,} bytes at its peak, and memory_limit is {limit:,}"
    if result > limit:
        message = f"the result alone takes {result:,} bytes, and memory_limit is {limit:,}"
    advice = [f"raise the limit to {needed:,}{', which blocks make do with' if needed < peak else ''}"]
    advice += [f"pass dtype='{HALVES[dtypes.compute]}'"] if dtypes.compute in HALVES else []
    needs = largest(program, shapes, given)
    advice += [_smaller(single, needs[0].labels, limit)] if needs else []
    hint = ", or ".join(filter(None, advice))
    return Diagnostic("NE709", message, text, operands=needs_infos(needs), hint=hint)


def needs_infos(needs: Sequence[LargeValue]) -> tuple[OperandInfo, ...]:
    """Return the lines of a table that says which values need how much."""
    return tuple(
        OperandInfo(place, need.shape, None, (f"{need.size:,} bytes",), _title(need.labels))
        for place, need in enumerate(needs)
    )


def _title(labels: Sequence[str]) -> str:
    groups = [[shown(factor) for factor in factors_of(label)] for label in labels]
    words = [f"({' '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return " ".join(words) or "a value"


def _smaller(single: SingleReduction, labels: Sequence[str], limit: int) -> str:
    """Return how small the largest label of a value would have to be; "" if that is no help, or not the
    caller's to say.
    """
    sizes = single.graph.sizes
    every = [factor for label in labels for factor in factors_of(label)]
    known = [label for label in every if label.isidentifier()]
    name = max(known, key=lambda label: sizes.get(label, 0), default="")
    low, high = 0, sizes.get(name, 0)
    while low + 1 < high:
        middle = (low + high) // 2
        if _peak_with(single, name, middle) <= limit:
            low = middle
        else:
            high = middle
    return f"make '{name}' at most {low:,} (here {sizes[name]:,})" if low else ""


def _peak_with(single: SingleReduction, label: str, size: int) -> int:
    """Return the peak of the plan, without loops, for another size of one label."""
    sizes = {**single.graph.sizes, label: size}
    graph = replace(single.graph, sizes=sizes)
    shapes = tuple(tuple(map(graph.cells, view.axes)) for view in single.views)
    operands = Operands(shapes, single.operands.dtypes, (None,) * len(shapes))
    plan = replace(single.plan, contraction=replace(single.plan.contraction, sizes=sizes))
    program = simplify(lower(graph, [single.output], operands, lambda *_: plan, single.target)[0])
    return peak_bytes(program, shapes_of(program))
