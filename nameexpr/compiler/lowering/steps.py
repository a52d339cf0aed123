"""Plan to instructions: its steps, and the reducer behind them.

How a pair is contracted is decided in `nameexpr.compiler.lowering.contraction`, how one value is summed in
`nameexpr.compiler.lowering.reduction`.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import CUSTOM, Contraction, product_label
from nameexpr.compiler.ir.dtypes import SAME_DTYPE, Dtypes, needs_narrowing
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.contraction import lower_pair
from nameexpr.compiler.lowering.reduction import is_folded, lower_sum
from nameexpr.compiler.planning.plan import ContractionPlan, Step

MERGING = frozenset({"argmax", "argmin", "median"})
"""Reducers whose kernels take one axis: several are merged for them."""


def lower_reduction(
    build: Builder, plan: ContractionPlan, operands: Sequence[Value], dtypes: Dtypes, offset: int = 0
) -> Value:
    """Return the value of a plan's contractions and reducer; `offset` is added to its steps' numbers."""
    if _adds_nothing_up(plan.contraction) and dtypes.result and len(operands) > 1:
        return _zeros(build, plan.contraction, operands, dtypes)
    values = list(operands)
    for number, step in enumerate(plan.steps):
        build.step = number + offset
        is_last = number == len(plan.steps) - 1
        want = plan.contraction.result + plan.reduced if is_last else ()
        values.append(_step(build, [values[value] for value in step.values], step, dtypes, want))
    build.step = None
    value = _reduced(build, plan, values[-1] if plan.steps else values[0], dtypes)
    return build.cast(value, dtypes.result) if plan.contraction.reducer in {None, "sum", "mean"} else value


def _adds_nothing_up(contraction: Contraction) -> bool:
    return (
        contraction.reducer in {None, "sum"}
        and bool(contraction.dropped)
        and not contraction.size(contraction.dropped)
    )


def _zeros(build: Builder, contraction: Contraction, operands: Sequence[Value], dtypes: Dtypes) -> Value:
    """Return the sums of no products. In steps, 0 of one factor would meet another, which may be nan."""
    every = dict.fromkeys(label for operand in operands for label in operand.labels)
    kept = tuple(label for label in every if label not in contraction.dropped)
    return build.emit(ir.full(build.shape(kept), 0, dtypes.result), kept, dtypes.result)


def _step(build: Builder, values: Sequence[Value], step: Step, dtypes: Dtypes, want: Sequence[str]) -> Value:
    if len(values) == 1:
        return lower_sum(build, values[0], step.summed, dtypes.compute)
    return lower_pair(build, values[0], values[1], step.labels, dtypes.compute, want)


def _reduced(build: Builder, plan: ContractionPlan, value: Value, dtypes: Dtypes) -> Value:
    """Apply the reducer that stands after the contraction."""
    contraction = plan.contraction
    reducer = contraction.reducer
    if reducer in {None, "sum"}:
        return _summed_nothing(build, contraction, value, dtypes)
    if reducer == "mean":
        return _mean(
            build,
            contraction,
            build.cast(_summed_nothing(build, contraction, value, dtypes), dtypes.compute),
            dtypes,
        )
    value = build.cast(value, dtypes.result if reducer == CUSTOM else dtypes.compute)
    kept = [label for label in value.labels if label not in plan.reduced]
    if is_folded(build, value, plan.reduced, reducer or ""):
        axes = tuple(sorted(value.axis(label) for label in plan.reduced))
        folded = build.emit(ir.slices(value.number, reducer or "", axes), kept, dtypes.compute)
        return build.cast(folded, dtypes.result) if needs_narrowing(reducer or "", dtypes) else folded
    value = build.transpose(value, [*kept, *plan.reduced])
    count = len(plan.reduced)
    if reducer == CUSTOM or reducer in MERGING or not count:
        if count != 1:
            shape = (*build.shape(kept), build.size(plan.reduced))
            value = build.reshape(value, shape, [*kept, product_label(plan.reduced)])
        count = 1
    if reducer == CUSTOM:
        return build.emit(ir.apply(value.number), kept, "")
    assert reducer is not None
    is_of_objects = reducer in {"any", "all"} and not dtypes.compute  # NumPy gives one of the objects
    made = build.emit(
        ir.reduce(value.number, reducer, count, "bool" if is_of_objects else ""),
        kept,
        dtypes.compute if reducer in SAME_DTYPE else "",
    )
    return build.cast(made, dtypes.result) if needs_narrowing(reducer, dtypes) else made


def _summed_nothing(build: Builder, contraction: Contraction, value: Value, dtypes: Dtypes) -> Value:
    """Where a sum is written over a pack of no dims, widen all the same: dtypes depend on the text alone."""
    if contraction.is_summed and not contraction.dropped:
        value = build.cast(value, dtypes.compute)
    return value


def _mean(build: Builder, contraction: Contraction, value: Value, dtypes: Dtypes) -> Value:
    count = contraction.size(contraction.dropped)
    if count == 0:
        shape = build.shape(value.labels)
        return build.emit(ir.full(shape, float("nan"), dtypes.result), value.labels, dtypes.result)
    return build.emit(ir.divide(value.number, count), value.labels, dtypes.compute)


def with_labels(build: Builder, value: Value, labels: Sequence[str]) -> Value:
    """Return a value with these labels: others it may have, or lack, are of size 1."""
    labels = tuple(labels)
    return value if labels == value.labels else build.reshape(value, build.shape(labels), labels)
