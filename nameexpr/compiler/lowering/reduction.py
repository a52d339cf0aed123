"""The reduction of a plan, and sums, maxima and the like over axes of one value: how NumPy can compute them.

`numpy.add.reduce` starts anew for every run of cells, which costs a hundred times the additions where runs
are short. A product with ones (BLAS), the C loop, and adding up slices do better there (R11, R12).

The rounding errors of sums stay in the class of NumPy's own: where NumPy adds pairwise, along cells that lie
one after the other, a product with ones takes its place only up to `Target.pairwise_cells`; elsewhere NumPy
adds one after the other, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import CUSTOM, Contraction, product_label
from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES, REAL_OF, SAME_DTYPE, Dtypes, needs_narrowing
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.contraction import lower_pair
from nameexpr.compiler.lowering.products import emit_matmul, in_parts, of_parts, parts_of
from nameexpr.compiler.lowering.strategies import Pair, Strategy, candidate_strategies, steps_of
from nameexpr.compiler.planning.plan import ContractionPlan, Step
from nameexpr.records import replace

FOLDING = frozenset({"max", "min", "any", "all"})
"""Reducers that may be made of slices: their result depends on no order."""
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
        preferred = plan.contraction.result + plan.reduced if is_last else ()
        values.append(_step(build, [values[value] for value in step.values], step, dtypes, preferred))
    build.step = None
    value = _reducer(build, plan, values[-1] if plan.steps else values[0], dtypes)
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


def _step(
    build: Builder, values: Sequence[Value], step: Step, dtypes: Dtypes, preferred: Sequence[str]
) -> Value:
    if len(values) == 1:
        return lower_sum(build, values[0], step.summed, dtypes.compute)
    return lower_pair(build, values[0], values[1], step.labels, dtypes.compute, preferred)


def _reducer(build: Builder, plan: ContractionPlan, value: Value, dtypes: Dtypes) -> Value:
    """Apply the reducer that stands after the contraction."""
    contraction = plan.contraction
    reducer = contraction.reducer
    if reducer in {None, "sum", "mean"}:
        value = _widen_empty_sum(build, contraction, value, dtypes)
        return _mean(build, contraction, value, dtypes) if reducer == "mean" else value
    value = build.cast(value, dtypes.result if reducer == CUSTOM else dtypes.compute)
    kept = [label for label in value.labels if label not in plan.reduced]
    if _prefers_slices(build, value, plan.reduced, reducer or ""):
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


def _widen_empty_sum(build: Builder, contraction: Contraction, value: Value, dtypes: Dtypes) -> Value:
    """Where a sum is written over a pack of no dims, widen all the same: dtypes depend on the text alone."""
    if contraction.is_summed and not contraction.dropped:
        value = build.cast(value, dtypes.compute)
    return value


def _mean(build: Builder, contraction: Contraction, value: Value, dtypes: Dtypes) -> Value:
    count, value = contraction.size(contraction.dropped), build.cast(value, dtypes.compute)
    if count == 0:
        shape = build.shape(value.labels)
        return build.emit(ir.full(shape, float("nan"), dtypes.result), value.labels, dtypes.result)
    return build.emit(ir.divide(value.number, count), value.labels, dtypes.compute)


def lower_sum(build: Builder, value: Value, summed: Sequence[str], compute: str) -> Value:
    """Emit the sum of a value over some of its labels, in the dtype `compute`."""
    if build.is_diagonal(value):  # `simplify` makes one pass of the two
        return _reduced(build, value, summed, compute)
    costs, cells = build.costs, build.size(value.labels)
    cost = costs.sum_cost(build.sizes, steps_of(build, value), value.dtype) if cells else 0.0
    found = [Strategy("reduce", cost)]
    is_cast = bool(compute) and value.dtype != compute
    if not is_cast:
        found += _quicker(build, value, summed)
    elif 0 < build.size(value.labels) * ITEM_BYTES.get(compute, 8) <= build.target.summed_bytes:
        cast = replace(value, dtype=compute, strides=build.compact_strides(value))
        extra = build.costs.cast_cost(build.size(value.labels), compute)
        found += [replace(strategy, cost=strategy.cost + extra) for strategy in _quicker(build, cast, summed)]
    strategy = build.choose(_by_time(found)) if len(found) > 1 else found[0]
    if strategy.kind != "reduce":
        value = build.cast(value, compute)
    kept = tuple(label for label in value.labels if label not in summed)
    bound = None if value.bound is None else value.bound * build.size(summed)
    if strategy.kind == "blocks":
        return _of_blocks(build, value, strategy)
    if strategy.kind == "matmul":
        return _with_ones(build, value, strategy)
    if strategy.kind == "loop":
        letters = tuple(range(len(value.labels)))
        result = tuple(value.axis(label) for label in kept)
        loop = ir.einsum((value.number,), (letters,), result)
        return build.emit(loop, kept, compute or value.dtype, build.row_major_strides(kept), bound=bound)
    if strategy.kind == "slices":
        axes = tuple(sorted(value.axis(label) for label in summed))
        return build.emit(ir.slices(value.number, "sum", axes), kept, value.dtype, bound=bound)
    return _reduced(build, value, summed, compute)


def _reduced(build: Builder, value: Value, summed: Sequence[str], compute: str) -> Value:
    """Emit NumPy's own sum."""
    kept = tuple(label for label in value.labels if label not in summed)
    bound = None if value.bound is None else value.bound * build.size(summed)
    axes = tuple(sorted(value.axis(label) for label in summed))
    dtype = "" if compute == value.dtype else compute
    return build.emit(ir.add_up(value.number, axes, dtype), kept, compute or value.dtype, bound=bound)


def _prefers_slices(build: Builder, value: Value, reduced: Sequence[str], reducer: str) -> bool:
    """Whether a maximum or the like is quicker made of slices than by NumPy's own reduction."""
    count = build.size(reduced)
    is_empty = not build.size(value.labels)
    is_logical = reducer in {"any", "all"} and value.dtype != "bool"
    if is_empty or is_logical or reducer not in FOLDING or not 1 < count <= build.target.sliced_cells:
        return False
    strategy = _slices(build, value, reduced)
    reduce = Strategy("reduce", build.costs.maximum_cost(build.sizes, steps_of(build, value), value.dtype))
    return build.choose(_by_time([strategy, reduce])).kind == "slices"


def _by_time(found: list[Strategy]) -> list[Strategy]:
    return sorted(found, key=lambda strategy: strategy.cost)


def _quicker(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the other strategies to add up, where their rounding is as good as NumPy's."""
    count, most = build.size(summed), build.target.sliced_cells
    found: list[Strategy] = []
    if count <= 1 or not build.size(value.labels) or value.dtype not in ITEM_BYTES:
        return found
    is_exact = value.dtype not in BLAS
    if 1 < count <= most and (is_exact or count < most // 2 or not _is_contiguous(build, value, summed)):
        found.append(_slices(build, value, summed))
    if not is_exact and _is_contiguous(build, value, summed) and count > build.target.pairwise_cells:
        return found if value.dtype in REAL_OF else found + _in_blocks(build, value, summed)
    build.read_strides(value)
    kept = [label for label in value.labels if label not in summed]
    if len(value.labels) <= build.target.loop_axes:
        cost = build.costs.loop_cost(build.sizes, [steps_of(build, value)], kept, value.dtype)
        found.append(Strategy("loop", cost))
    return found if is_exact else found + _products(build, value, summed)


def _products(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the products with ones: of complex numbers' parts, for infinity times 0 is nan."""
    cost = 0.0
    if value.dtype in REAL_OF:
        value, cost = parts_of(build, value), build.costs.call_cost("parts")
    tried = candidate_strategies(build, _pair(build, value, summed), value, _ones(build, value, summed))
    return [replace(strategy, cost=strategy.cost + cost) for strategy in tried if strategy.kind == "matmul"]


def _in_blocks(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the sum of sums of blocks, which keeps the errors of a long sum small, if a block size
    divides it.
    """
    count = build.size(summed)
    block = next(
        (
            size
            for size in range(build.target.pairwise_cells, build.target.least_cells - 1, -1)
            if count % size == 0
        ),
        0,
    )
    order = build.memory_order(value, summed)
    if not block or not build.is_mergeable(value, order):
        return []
    rows = build.size(value.labels) // block
    cost = build.costs.product_cost(1, rows, block, 1, value.dtype, is_by_dots=True)
    cost += build.costs.call_cost("dot") + 3 * build.costs.call_cost("view")
    return [Strategy("blocks", cost, summed=order, columns=(str(block),))]


def _of_blocks(build: Builder, value: Value, strategy: Strategy) -> Value:
    """Emit the sums of blocks, and their sum."""
    block = int(strategy.columns[0])
    kept = [label for label in value.labels if label not in strategy.summed]
    inner, outer = (product_label((*strategy.summed, part)) for part in ("in", "out"))
    build.sizes = {**build.sizes, inner: block, outer: build.size(strategy.summed) // block}
    labels = (*kept, outer, inner)
    value = build.transpose(value, [*kept, *strategy.summed])
    split = build.reshape(value, build.shape(labels), labels)
    strides = None if value.strides is None else (*value.strides[: len(kept)], block, 1)
    split = replace(split, strides=strides)
    return lower_sum(build, lower_sum(build, split, [inner], value.dtype), [outer], value.dtype)


def _is_contiguous(build: Builder, value: Value, summed: Sequence[str]) -> bool:
    """Whether the sum runs along cells that lie one after the other, so that NumPy adds pairwise."""
    build.read_strides(value)
    steps = steps_of(build, value)
    return any(steps[label] == 1 and build.sizes[label] > 1 for label in summed)


def _slices(build: Builder, value: Value, reduced: Sequence[str]) -> Strategy:
    build.read_strides(value)
    kept = [label for label in value.labels if label not in reduced]
    is_near = not _is_contiguous(build, value, reduced)
    cells = build.size(kept)
    cost = build.costs.slices_cost(build.size(reduced), cells, value.dtype, is_near=is_near)
    return Strategy("slices", cost)


def _pair(build: Builder, value: Value, summed: Sequence[str]) -> Pair:
    kept = build.memory_order(value, [label for label in value.labels if label not in summed])
    return Pair((), kept, (), build.memory_order(value, summed))


def _ones(build: Builder, value: Value, summed: Sequence[str]) -> Value:
    """Return a vector of ones that is not there yet, to reckon with."""
    return Value(-1, tuple(summed), value.dtype, build.row_major_strides(summed), is_fresh=True)


def _with_ones(build: Builder, value: Value, strategy: Strategy) -> Value:
    """Emit the product with ones along the labels that go."""
    parts = in_parts(build, value) if value.dtype in REAL_OF else value
    shape = build.shape(strategy.summed)
    ones = build.emit(
        ir.ones(shape, parts.dtype), strategy.summed, parts.dtype, build.row_major_strides(strategy.summed)
    )
    made = emit_matmul(build, strategy, parts, ones)
    return made if parts is value else of_parts(build, made, value.dtype)
