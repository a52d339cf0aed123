"""Plans, outlines and code of compiled texts, with bound operands or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replace_fields
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any

from nameexpr.backends.library import Library
from nameexpr.backends.numpy.costs.program import CALL, estimate_seconds
from nameexpr.backends.numpy.target import current
from nameexpr.carets import visible
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.compiler.memory.program import operand_bytes, peak_bytes
from nameexpr.runtime.operands import OperandSpec
from nameexpr.runtime.plan.drawing import Drawing, drawn
from nameexpr.runtime.plan.plan import Outline, Plan
from nameexpr.runtime.plan.running import Running, running_of
from nameexpr.runtime.plan.steps import pointwise_flops, rows_of, seconds_over, total_flops
from nameexpr.runtime.tuning import UNTUNED, Tuning
from nameexpr.syntax.unparse import unparse, unparse_formula

if TYPE_CHECKING:
    from nameexpr.runtime.entry import Entry


def plan_of(
    entry: Entry, compiled: Compilation[Any], specs: Sequence[OperandSpec], tuning: Tuning = UNTUNED
) -> Plan:
    """Return the plan of a compiled text: of what is executed on each call."""
    running, limit = _running(entry, compiled, specs), entry.options.memory_limit
    program, tree, rows = running.program, compiled.tree, rows_of(running)
    steps = tuple(row.step for row in rows)
    text = visible(unparse(tree) if running.is_expression else unparse_formula(tree.tree))
    size = operand_bytes(program, [operand.dtype for operand in running.operands])
    flops = sum(step.flops for step in steps)
    return Plan(
        text=text,
        steps=steps,
        flops=flops,
        naive_flops=_naive_flops(running, flops),
        peak_bytes=_peak_bytes(running),
        operand_bytes=size,
        result_shape=running.shapes[program.result],
        result_shapes=tuple([running.shapes[output] for output in program.outputs]),
        result_names=_names(compiled, specs),
        dtype=_dtype(running),
        code=running.code,
        drawing=Drawing(partial(drawn, running, text, rows, size, limit)),
        library="numpy" if running.library is None else running.library.name,
        tuned=tuple([(rank + 1, count) for rank, count in zip(*tuning, strict=True)]),
    )


def outline_of(
    compiled: Compilation[Any], specs: Sequence[OperandSpec], library: Library | None = None
) -> Outline:
    """Return the outline of a compiled text."""
    running = _over_threads(running_of(compiled, specs, range(len(specs)), None, library), None)
    program = compiled.program
    times = estimate_seconds(program, compiled.shapes, compiled.given, current().profile)
    return Outline(
        compiled.shapes[program.result],
        _names(compiled, specs),
        _dtype(running),
        compiled.plans[0].flops if running.is_contraction else total_flops(running, program),
        _peak_bytes(running),
        CALL + fsum(seconds_over(times, running.spread)),
    )


def source(entry: Entry, compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> str:
    """Return the code that is executed on each call, as a function to paste."""
    return _running(entry, compiled, specs).code


def _running(entry: Entry, compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> Running:
    folded = entry.fold(compiled) if entry.is_bound else None
    running = running_of(compiled, specs, entry.free, folded, getattr(entry, "library", None))
    return _over_threads(running, entry.options.memory_limit)


def _over_threads(running: Running, limit: int | None) -> Running:
    """Return what is executed with the instructions that threads share."""
    from nameexpr.runtime.entry import Entry

    if Entry.threads == 1 or running.library is not None:
        return running
    from nameexpr.backends.numpy.threads.spread import spread_over

    spread = spread_over(running.program, running.shapes, running.given, Entry.threads, limit)
    return replace_fields(running, spread=spread)


def _peak_bytes(running: Running) -> int:
    if not running.spread:
        return peak_bytes(running.program, running.shapes, running.given)
    from nameexpr.backends.numpy.threads.spread import peak_bytes_over

    return peak_bytes_over(running.program, running.shapes, running.given, running.spread)


def _naive_flops(running: Running, flops: int) -> int:
    """Return the flops of one loop over all labels; 0 for a bound text without anything left to compute."""
    plans = running.compiled.plans
    if running.is_bound and not flops:
        return 0
    if not running.is_contraction:
        pointwise = sum(map(pointwise_flops, running.program.instructions))
        return max(flops, sum(plan.naive_flops for plan in plans) + pointwise)
    (plan,) = plans
    is_contraction = plan.contraction.dropped or len(running.operands) > 1
    return max(flops, plan.flops, plan.naive_flops if is_contraction else 0)


def _dtype(running: Running) -> str:
    """Return the dtype of the computation; "" if an expression only moves elements."""
    dtypes = [note.dtype for note in running.program.notes]
    computed = [dtype for dtype in dtypes if dtype and not isinstance(dtype, WeakDtype)]
    plans = running.compiled.plans
    has_work = not running.is_expression or (plans and plans[0].flops)
    return computed[-1] if computed and has_work else ""


def _names(compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> Names | None:
    return compiled.names[-1] if any(spec.names is not None for spec in specs) else None
