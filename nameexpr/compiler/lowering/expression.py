"""Plan to program: labels become axes, contractions become NumPy calls.

Each operand is brought into one axis per label (groups apart, diagonals taken), the plan's steps follow, the
reducer if there is one, and at the end the result gets the order, the repeats and the groups that the text
asks for. How a pair is contracted is decided in `nameexpr.compiler.lowering.contraction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.dtypes import MAGNITUDE, Dtypes
from nameexpr.compiler.ir.program import Apply, Divide, Embed, Full, Program, Reduce, Repeat, Slices
from nameexpr.compiler.ir.typed import CUSTOM, Axes, Typed
from nameexpr.compiler.lowering.builder import Builder, Strides, Value
from nameexpr.compiler.lowering.contraction import lower_pair
from nameexpr.compiler.lowering.reduction import is_folded, lower_sum
from nameexpr.compiler.lowering.strategies import in_cells
from nameexpr.compiler.planning.plan import Plan, Step

MERGING = frozenset({"argmax", "argmin", "median"})
"""Reducers whose kernels take one axis: several are merged for them."""

SAME_DTYPE = frozenset({"max", "min", "prod", "median", "mean", "logsumexp"})


def lower(
    plan: Plan,
    dtypes: Dtypes,
    layouts: Sequence[Strides | None],
    *,
    is_row_major: bool = False,
    ranks: tuple[int, ...] = (),
) -> Program:
    """Return the program of a plan.

    Parameters
    ----------
    plan : Plan
        The order of contractions.
    dtypes : Dtypes
        Dtype of each operand, of the computation and of the result.
    layouts : sequence of tuple of int, or None
        Strides of each operand in bytes; None for row-major.
    is_row_major : bool
        Whether the result must be new memory in row-major order.
    ranks : tuple of int
        Which of the ways to take at each choice; by default the one that the cost model prefers.
    """
    typed = plan.typed
    build = Builder(typed.sizes, len(plan.terms), ranks=ranks)
    values = [
        operand_value(build, position, typed, dtypes, layout) for position, layout in enumerate(layouts)
    ]
    value = lower_reduction(build, plan, values, dtypes)
    value = lower_result(
        build, typed.result, value, is_moved=is_rearrangement(typed), is_row_major=is_row_major
    )
    return Program(
        tuple(tuple(typed.size(labels) for labels in axes) for axes in typed.operands),
        tuple(build.instructions),
        tuple(build.notes),
        value.number,
        build.used_strides,
        offers=tuple(build.offers),
    )


def lower_reduction(
    build: Builder, plan: Plan, operands: Sequence[Value], dtypes: Dtypes, offset: int = 0
) -> Value:
    """Return the value of a plan's contractions and reducer; `offset` is added to its steps' numbers."""
    if _adds_nothing_up(plan.typed) and dtypes.result and len(operands) > 1:
        return _zeros(build, plan.typed, operands, dtypes)
    values = list(operands)
    for number, step in enumerate(plan.steps):
        build.step = number + offset
        want = _wanted(plan) if number == len(plan.steps) - 1 else ()
        values.append(_step(build, [values[value] for value in step.values], step, dtypes, want))
    build.step = None
    value = _reduced(build, plan, values[-1] if plan.steps else values[0], dtypes)
    return build.cast(value, dtypes.result) if plan.typed.reducer in {None, "sum", "mean"} else value


def _adds_nothing_up(typed: Typed) -> bool:
    return typed.reducer in {None, "sum"} and bool(typed.dropped) and not typed.size(typed.dropped)


def _zeros(build: Builder, typed: Typed, operands: Sequence[Value], dtypes: Dtypes) -> Value:
    """Return the sums of no products. In steps, 0 of one factor would meet another, which may be nan."""
    every = dict.fromkeys(label for operand in operands for label in operand.labels)
    kept = tuple(label for label in every if label not in typed.dropped)
    return build.emit(Full(build.shape(kept), 0, dtypes.result), kept, dtypes.result)


def operand_value(
    build: Builder, position: int, typed: Typed, dtypes: Dtypes, layout: Strides | None
) -> Value:
    """Return an operand with one axis per label."""
    axes, dtype = typed.operands[position], dtypes.operands[position]
    labels = tuple(label for group in axes for label in group)
    if layout is None:
        layout = build.dense(labels) if all(len(group) == 1 for group in axes) else None
    else:
        layout = in_cells(layout, dtype)
    value = Value(position, labels, dtype, layout, is_fresh=False, bound=MAGNITUDE.get(dtype))
    if any(len(group) != 1 for group in axes):
        split = None if layout is None else split_strides(axes, layout, typed.sizes)
        value = build.reshape(value, build.shape(labels), labels)
        strides = build.dense(labels) if layout is None else split
        value = Value(value.number, labels, dtype, strides, is_fresh=False, bound=value.bound)
    return build.diagonal(value) if len(set(labels)) < len(labels) else value


def split_strides(axes: Axes, layout: Strides, sizes: Mapping[str, int]) -> Strides:
    """Return the strides of the labels of each dim: the last label of a group has the dim's own stride."""
    strides: list[int] = []
    for group, stride in zip(axes, layout, strict=True):
        steps = []
        for label in reversed(group):
            steps.append(stride)
            stride *= sizes[label]
        strides += reversed(steps)
    return tuple(strides)


def _wanted(plan: Plan) -> tuple[str, ...]:
    """Return the order in which the result of the last contraction is wanted."""
    kept = tuple(dict.fromkeys(label for labels in plan.typed.result for label in labels))
    return kept + plan.reduced


def _step(build: Builder, values: Sequence[Value], step: Step, dtypes: Dtypes, want: Sequence[str]) -> Value:
    if len(values) == 1:
        return lower_sum(build, values[0], step.summed, dtypes.compute)
    return lower_pair(build, values[0], values[1], step.labels, dtypes.compute, want)


def _reduced(build: Builder, plan: Plan, value: Value, dtypes: Dtypes) -> Value:
    """Apply the reducer that stands after the contraction."""
    typed = plan.typed
    reducer = typed.reducer
    if reducer in {None, "sum"}:
        return _summed_nothing(build, typed, value, dtypes)
    if reducer == "mean":
        return _mean(
            build, typed, build.cast(_summed_nothing(build, typed, value, dtypes), dtypes.compute), dtypes
        )
    value = build.cast(value, dtypes.result if reducer == CUSTOM else dtypes.compute)
    kept = [label for label in value.labels if label not in plan.reduced]
    if is_folded(build, value, plan.reduced, reducer or ""):
        axes = tuple(sorted(value.axis(label) for label in plan.reduced))
        folded = build.emit(Slices(value.number, reducer or "", axes), kept, dtypes.compute)
        return build.cast(folded, dtypes.result) if needs_narrowing(reducer or "", dtypes) else folded
    value = build.transpose(value, [*kept, *plan.reduced])
    count = len(plan.reduced)
    if reducer == CUSTOM or reducer in MERGING or not count:
        if count != 1:
            shape = (*build.shape(kept), build.size(plan.reduced))
            value = build.reshape(value, shape, [*kept, "·".join(plan.reduced)])
        count = 1
    if reducer == CUSTOM:
        return build.emit(Apply(value.number), kept, "")
    assert reducer is not None
    is_of_objects = reducer in {"any", "all"} and not dtypes.compute  # NumPy gives one of the objects
    made = build.emit(
        Reduce(value.number, reducer, count, "bool" if is_of_objects else None),
        kept,
        dtypes.compute if reducer in SAME_DTYPE else "",
    )
    return build.cast(made, dtypes.result) if needs_narrowing(reducer, dtypes) else made


def needs_narrowing(reducer: str, dtypes: Dtypes) -> bool:
    """Whether a result goes back to a narrower dtype than it was computed in; indices and truth values do
    not.
    """
    return dtypes.result != dtypes.compute and reducer in {
        "prod",
        "max",
        "min",
        "var",
        "std",
        "median",
        "norm",
        "logsumexp",
    }


def _summed_nothing(build: Builder, typed: Typed, value: Value, dtypes: Dtypes) -> Value:
    """Where a sum is written over a pack of no dims, widen all the same: dtypes depend on the text alone."""
    if typed.is_summed and not typed.dropped:
        value = build.cast(value, dtypes.compute)
    return value


def _mean(build: Builder, typed: Typed, value: Value, dtypes: Dtypes) -> Value:
    count = typed.size(typed.dropped)
    if count == 0:
        shape = build.shape(value.labels)
        return build.emit(Full(shape, float("nan"), dtypes.result), value.labels, dtypes.result)
    return build.emit(Divide(value.number, count), value.labels, dtypes.compute)


def lower_result(
    build: Builder, result: Axes, value: Value, *, is_moved: bool, is_row_major: bool = False
) -> Value:
    """Give the result its new and repeated dims, its order and groups; a copy, unless it is only moved.

    With `is_row_major` it is fresh memory in row-major order.
    """
    flat = tuple(label for labels in result for label in labels)
    order = tuple(dict.fromkeys(flat))
    new = [label for label in order if label not in value.labels]
    if len(order) < len(flat):
        letters = tuple(order.index(label) for label in flat)
        source = build.expand(value, order)
        value = build.emit(Embed(source.number, build.shape(flat), letters), flat, value.dtype)
    elif all(_is_one(label) for label in new):
        value = build.transpose(value, [label for label in order if label in value.labels])
    else:
        source = build.expand(value, order)
        value = build.emit(Repeat(source.number, build.shape(order)), flat, value.dtype)
    if value.labels != flat or any(len(labels) != 1 for labels in result):
        if value.labels == flat and not value.is_fresh:  # what is fresh may yet be made in another layout
            value = build.joined(value, result)
        merged = {" ".join(labels): build.size(labels) for labels in result}
        shape = tuple(build.size(labels) for labels in result)
        build.sizes = {**build.sizes, **merged}
        value = build.reshape(value, shape, [" ".join(labels) for labels in result])
    if is_row_major:
        return build.copied(value, is_lax=value.is_fresh)
    if not value.is_fresh and not is_moved:
        return build.copied(value)
    return value


def _is_one(label: str) -> bool:
    """Whether a new dim is a literal 1: a dim made by a view, where a repeat would be a copy."""
    return label.startswith("1@")


def is_rearrangement(typed: Typed) -> bool:
    """Whether cells are only moved: one operand, nothing combined. What is dropped is then a literal 1."""
    return (
        len(typed.operands) == 1 and typed.reducer is None and all(_is_one(label) for label in typed.dropped)
    )
