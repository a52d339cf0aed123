"""Sums, maxima and similar reductions over axes of one value: how NumPy can compute them.

`numpy.add.reduce` starts again for every run of elements, which costs a hundred times the additions if runs
are short. A product with ones (BLAS), the C loop, and adding slices are faster there (R11, R12).

The rounding errors of sums remain as small as NumPy's: where NumPy adds pairwise, along contiguous elements,
a product with ones is used only up to `Target.pairwise_cells`; elsewhere NumPy also adds one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import CUSTOM, Contraction, hint_of, product_label
from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES, REAL_OF, SAME_DTYPE, Dtypes, needs_narrowing
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Pair, Strategy, emit_matmul, in_parts, of_parts, parts_of
from nameexpr.compiler.lowering.strategies import candidate_strategies
from nameexpr.records import replace

FOLDING = frozenset({"max", "min", "any", "all"})
"""Reducers that may be computed from slices: their result does not depend on the order."""
LONG = 1 << 17
"""The number of products from which float32 is added in blocks."""
MERGING = frozenset({"argmax", "argmin", "median"})
"""Reducers whose kernels take one axis: several axes are merged for them."""


def lower_mean(build: Builder, value: Value, count: int, dtypes: Dtypes) -> Value:
    """Emit the mean of `count` elements that are already summed."""
    value = build.cast(value, dtypes.compute)
    if count == 0:
        shape = build.shape(value.labels)
        missing = Instruction("full", (), shape, dtype=dtypes.result, constants=(float("nan"),))
        return build.emit(missing, value.labels, dtypes.result)
    mean = Instruction("divide", (value.number,), dtype=dtypes.compute, constants=(count,))
    return build.emit(mean, value.labels, dtypes.compute)


def lower_zeros(build: Builder, contraction: Contraction, operands: Sequence[Value], dtypes: Dtypes) -> Value:
    """Return the sums of empty products. Computed in steps, 0 from one factor might be multiplied by nan."""
    every = dict.fromkeys(label for operand in operands for label in operand.labels)
    kept = tuple(label for label in every if label not in contraction.dropped)
    zeros = Instruction("full", (), build.shape(kept), dtype=dtypes.result, constants=(0,))
    return build.emit(zeros, kept, dtypes.result)


def lower_whole_mean(
    build: Builder, value: Value, reduced: Sequence[str], dtypes: Dtypes, step: int | None
) -> Value:
    """Emit the mean as the reducer that the target has."""
    build.step = step
    mean = lower_reducer(build, value, "mean", reduced, dtypes)
    build.step = None
    return build.cast(mean, dtypes.result)


def lower_reducer(
    build: Builder, value: Value, reducer: str, reduced: Sequence[str], dtypes: Dtypes
) -> Value:
    """Emit a reducer other than a sum, or the caller's reducer."""
    value = build.cast(value, dtypes.result if reducer == CUSTOM else dtypes.compute)
    kept = [label for label in value.labels if label not in reduced]
    if _prefers_slices(build, value, reduced, reducer):
        made = build.emit(_sliced(build, value, reduced, reducer), kept, dtypes.compute)
        return build.cast(made, dtypes.result) if needs_narrowing(reducer, dtypes) else made
    value = build.transpose(value, [*kept, *reduced])
    count = len(reduced)
    if reducer == CUSTOM or reducer in MERGING or not count:
        if count != 1:
            shape = (*build.shape(kept), build.size(reduced))
            value = build.reshape(value, shape, [*kept, product_label(reduced)])
        count = 1
    if reducer == CUSTOM:
        return build.emit(Instruction("apply", (value.number,)), kept, "")
    is_of_objects = reducer in {"any", "all"} and not dtypes.compute  # NumPy gives one of the objects
    axes, dtype = tuple(range(-count, 0)), "bool" if is_of_objects else ""
    reduction = Instruction("reduce", (value.number,), axes=axes, dtype=dtype, function=reducer)
    made = build.emit(reduction, kept, dtypes.compute if reducer in SAME_DTYPE else "")
    return build.cast(made, dtypes.result) if needs_narrowing(reducer, dtypes) else made


def lower_sum(build: Builder, value: Value, summed: Sequence[str], compute: str) -> Value:
    """Emit the sum of a value over some of its labels, in the dtype `compute`."""
    found = [Strategy("reduce", 0.0)]
    if build.target.loop_axes and not build.is_diagonal(value):  # `simplify` combines the two into one pass
        found = _strategies(build, value, summed, compute)
    strategy = build.choose(found) if len(found) > 1 else found[0]
    if strategy.kind != "reduce":
        value = build.cast(value, compute)
    if strategy.kind == "blocks":
        return _of_blocks(build, value, strategy)
    if strategy.kind == "matmul":
        return _with_ones(build, value, strategy)
    kept = tuple([label for label in value.labels if label not in summed])
    strides, source = None, (value.number,)
    axes = tuple(sorted(value.axis(label) for label in summed))
    if strategy.kind == "loop":
        letters = tuple(range(len(value.labels))), tuple([value.axis(label) for label in kept])
        made, strides = Instruction("einsum", source, letters=letters), build.row_major_strides(kept)
    elif strategy.kind == "slices":
        made = _sliced(build, value, summed, "sum")
    else:
        made = Instruction("sum", source, axes=axes, dtype="" if compute == value.dtype else compute)
    bound = None if value.bound is None else value.bound * build.size(summed)
    return build.emit(made, kept, compute or value.dtype, strides, bound=bound)


def _strategies(build: Builder, value: Value, summed: Sequence[str], compute: str) -> list[Strategy]:
    """Return the strategies for a sum, the fastest first."""
    costs, cells = build.target.costs, build.size(value.labels)
    cost = costs.sum_cost(build.sizes, build.steps(value), value.dtype) if cells else 0.0
    found = [Strategy("reduce", cost)]
    if not compute or value.dtype == compute:
        found += _quicker(build, value, summed)
    elif 0 < cells * ITEM_BYTES.get(compute, 8) <= build.target.summed_bytes:
        cast = replace(value, dtype=compute, strides=build.compact_strides(value))
        extra = costs.cast_cost(cells, compute)
        found += [replace(strategy, cost=strategy.cost + extra) for strategy in _quicker(build, cast, summed)]
    return _by_time(found)


def _prefers_slices(build: Builder, value: Value, reduced: Sequence[str], reducer: str) -> bool:
    """Return whether a maximum or the like is faster from slices than by NumPy's reduction."""
    count = hint_of(build.size(reduced))
    is_empty = not build.size(value.labels)
    is_logical = reducer in {"any", "all"} and value.dtype != "bool"
    if is_empty or is_logical or reducer not in FOLDING or not 1 < count <= build.target.sliced_cells:
        return False
    strategy = _slices(build, value, reduced)
    cost = build.target.costs.maximum_cost(build.sizes, build.steps(value), value.dtype)
    return build.choose(_by_time([strategy, Strategy("reduce", cost)])).kind == "slices"


def _sliced(build: Builder, value: Value, reduced: Sequence[str], reducer: str) -> Instruction:
    """Return the combination of slices; the slowest axis is first, so that most are combined along memory."""
    axes = tuple([value.axis(label) for label in build.memory_order(value, reduced)])
    return Instruction("slices", (value.number,), axes=axes, function=reducer)


def _by_time(found: list[Strategy]) -> list[Strategy]:
    return sorted(found, key=lambda strategy: strategy.cost)


def _quicker(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the other strategies for a sum, if their rounding is as good as NumPy's."""
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
        cost = build.target.costs.loop_cost(build.sizes, [build.steps(value)], kept, value.dtype)
        found.append(Strategy("loop", cost))
    has_products = not is_exact and "ones" in build.target.native
    return found + _products(build, value, summed) if has_products else found


def _products(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the products with ones: of the parts of complex numbers, since infinity times 0 is nan."""
    cost = 0.0
    if value.dtype in REAL_OF:
        value, cost = parts_of(build, value), build.target.costs.call_cost("parts")
    kept = build.memory_order(value, [label for label in value.labels if label not in summed])
    pair = Pair((), kept, (), build.memory_order(value, summed))
    ones = Value(-1, tuple(summed), value.dtype, build.row_major_strides(summed), is_fresh=True)
    tried = candidate_strategies(build, pair, value, ones)
    return [replace(strategy, cost=strategy.cost + cost) for strategy in tried if strategy.kind == "matmul"]


def _in_blocks(build: Builder, value: Value, summed: Sequence[str]) -> list[Strategy]:
    """Return the sum of sums of blocks, which keeps the error of a long sum small, if a block size divides
    it.
    """
    count = build.size(summed)
    blocks = range(build.target.pairwise_cells, build.target.least_cells - 1, -1)
    block = next((size for size in blocks if count % size == 0), 0)
    order = build.memory_order(value, summed)
    if not block or not build.is_mergeable(value, order):
        return []
    rows = build.size(value.labels) // block
    cost = build.target.costs.product_cost(1, rows, block, 1, value.dtype, is_by_dots=True)
    cost += build.target.costs.call_cost("dot") + 3 * build.target.costs.call_cost("view")
    return [Strategy("blocks", cost, summed=order, columns=(str(block),))]


def _of_blocks(build: Builder, value: Value, strategy: Strategy) -> Value:
    """Emit the sums of blocks, and the sum of these."""
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


def long_dot(build: Builder, pair: Pair, one: Value, other: Value) -> Value | None:
    """Emit a long inner product of float32 as a sum of inner products, since BLAS adds one product after the
    other to few sums: of two million numbers the fifth digit would be rounded. None if no block divides it.
    """
    count = build.size(pair.summed)
    if one.dtype != "float32" or count < LONG or "vecdot" not in build.target.native:
        return None
    block = next((size for size in range(LONG >> 5, LONG >> 8, -1) if count % size == 0), 0)
    if not block:
        return None
    inner, outer = (product_label((*pair.summed, part)) for part in ("in", "out"))
    build.sizes = {**build.sizes, inner: block, outer: count // block}
    rows = []
    for value in (one, other):
        merged = build.make_mergeable(value, [pair.summed])
        rows.append(build.reshape(merged, (count // block, block), (outer, inner)).number)
    sums = build.emit(Instruction("vecdot", tuple(rows)), (outer,), one.dtype, (1,))
    return lower_sum(build, sums, [outer], one.dtype)


def _is_contiguous(build: Builder, value: Value, summed: Sequence[str]) -> bool:
    """Return whether the sum runs along contiguous elements, so that NumPy adds pairwise."""
    build.read_strides(value)
    steps = build.steps(value)
    return any(steps[label] == 1 and build.sizes[label] > 1 for label in summed)


def _slices(build: Builder, value: Value, reduced: Sequence[str]) -> Strategy:
    is_near = not _is_contiguous(build, value, reduced)
    cells = build.size([label for label in value.labels if label not in reduced])
    cost = build.target.costs.slices_cost(build.size(reduced), cells, value.dtype, is_near=is_near)
    return Strategy("slices", cost)


def _with_ones(build: Builder, value: Value, strategy: Strategy) -> Value:
    """Emit the product with ones along the summed labels."""
    parts, summed = in_parts(build, value) if value.dtype in REAL_OF else value, strategy.summed
    made = Instruction("ones", (), build.shape(summed), dtype=parts.dtype)
    ones = build.emit(made, summed, parts.dtype, build.row_major_strides(summed))
    product = emit_matmul(build, strategy, parts, ones)
    return product if parts is value else of_parts(build, product, value.dtype)
