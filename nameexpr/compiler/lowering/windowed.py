"""Contractions of windows with another value, without a copy of all windows.

`multiply`: windows are copied block by block, and each block is multiplied with a matrix, as convolutions
with several channels need. `weigh`: elements of the windows are multiplied and added one after the other, as
filters of a single channel, or of each channel, need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.compiler.ir.axes import Labels, product_label
from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.compiler.ir.rolling import BLOCK, copied_cells
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Pair, Strategy, matrix
from nameexpr.records import replace

MULTIPLY: Primitive = "window_multiply"
WEIGH: Primitive = "window_weigh"
COMPUTED = BLAS | {"int64", "uint64"}
TAPS = 4096
"""The number of elements of a window up to which they are weighed one after the other."""


def with_windows(
    build: Builder, found: Sequence[Strategy], pair: Pair, one: Value, other: Value
) -> list[Strategy]:
    """Return strategies for a pair, of which at least one value is a window, with those that work on its
    source.
    """
    every = [replace(known, cost=known.cost + _spilled(build, known, one, other)) for known in found]
    return sorted([*every, *_both(build, pair, one, other)], key=lambda strategy: strategy.cost)


def lower_integers(build: Builder, pair: Pair, one: Value, other: Value) -> Value | None:
    """Emit a contraction of windows of 64-bit integers; None if another way takes less memory."""
    found = [strategy for strategy in _both(build, pair, one, other) if _overlaps(build, one, other)]
    if not found:
        return None
    return emit_windowed(build, build.choose(sorted(found, key=lambda strategy: strategy.cost)), one, other)


def _overlaps(build: Builder, *values: Value) -> bool:
    """Return whether some value has more elements than what it shows."""
    pairs = [(one, build.windows[one.number][0]) for one in values if one.number in build.windows]
    return any(build.size(one.labels) > build.size(source.labels) for one, source in pairs)


def _both(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    turned = Pair(pair.batch, pair.right, pair.left, pair.summed)
    return [*_strategies(build, pair, one), *_strategies(build, turned, other)]


def _spilled(build: Builder, strategy: Strategy, one: Value, other: Value) -> float:
    """Return the cost of copies of windows that a strategy does not include: those that BLAS needs, and the
    main memory that all of them take.
    """
    costs, cost = build.target.costs, 0.0
    for value, own in ((one, strategy.rows), (other, strategy.columns)):
        if strategy.kind not in {"matmul", "apart"} or value.number not in build.windows:
            continue
        is_merged = build.is_mergeable(value, own) and build.is_mergeable(value, strategy.summed)
        if is_merged and _is_matrix(build, value, own, strategy.summed):
            continue
        if is_merged:
            order = [label for label in strategy.outer if label in value.labels]
            cost += costs.copy_cost(
                build.sizes, build.steps(value), [*order, *own, *strategy.summed], value.dtype
            )
        cost += costs.spill_cost(build.size(value.labels) * ITEM_BYTES.get(value.dtype, 8))
    return cost


def _is_matrix(build: Builder, value: Value, rows: Labels, columns: Labels) -> bool:
    """Return whether BLAS reads two merged groups of labels as a matrix: one row after the other."""
    steps = build.steps(value)
    ends = [[abs(steps[label]) for label in own if build.sizes[label] != 1][-1:] for own in (rows, columns)]
    if not all(ends):
        return True
    ((row,), (column,)), sizes = ends, (build.size(rows), build.size(columns))
    return (column == 1 and row >= sizes[1]) or (row == 1 and column >= sizes[0])


def _strategies(build: Builder, pair: Pair, window: Value) -> Iterator[Strategy]:
    if window.number not in build.windows or not pair.summed or window.dtype not in COMPUTED:
        return
    rows, summed = build.memory_order(window, pair.left), build.memory_order(window, pair.summed)
    if rows and pair.right and not pair.batch:
        cost = _multiplying(build, window, rows, summed, pair.right)
        yield Strategy(MULTIPLY, cost, (), rows, summed, pair.right)
    kept = build.memory_order(window, (*pair.batch, *pair.left))
    if kept and not pair.right and build.size(summed) <= TAPS:
        yield Strategy(WEIGH, _weighing(build, window, kept, summed), (), kept, summed)


def _multiplying(build: Builder, window: Value, rows: Labels, summed: Labels, columns: Labels) -> float:
    costs, sizes, steps = build.target.costs, build.sizes, build.steps(window)
    shape, cells = build.shape((*rows, *summed)), build.size(window.labels)
    copy = min(
        costs.copy_cost(sizes, steps, [*own], window.dtype) for own in ((*rows, *summed), (*summed, *rows))
    )
    block = copied_cells(shape, len(rows), ITEM_BYTES[window.dtype])
    count, inner = -(-cells // max(1, block)), build.size(summed)
    product = costs.product_cost(
        1, build.size(rows), inner, build.size(columns), window.dtype, is_by_dots=True
    )
    return copy + product + count * (costs.call_cost("copy") + costs.call_cost("matmul"))


def _weighing(build: Builder, window: Value, kept: Labels, summed: Labels) -> float:
    cells, taps = build.size(kept), build.size(summed)
    is_near = abs(build.steps(window)[kept[-1]]) == 1
    blocks = -(-cells // BLOCK)
    cost = build.target.costs.slices_cost(2 * taps, min(cells, BLOCK), window.dtype, is_near=is_near)
    return cost * max(1, blocks)


def emit_windowed(build: Builder, strategy: Strategy, one: Value, other: Value) -> Value:
    """Emit a contraction of the windows of one of two values with the other."""
    if one.number not in build.windows or not {*strategy.rows, *strategy.summed} <= {*one.labels}:
        one, other = other, one
    rows, summed, columns = strategy.rows, strategy.summed, strategy.columns
    order, (source, _) = (*rows, *summed), build.windows[one.number]
    view = build.instructions[one.number - build.count]
    letters = tuple([tuple([row[one.axis(label)] for label in order]) for row in view.letters])
    if strategy.kind == WEIGH:
        other = build.expand(other, order, has_leading=True)
    else:
        other = matrix(build, other, (), summed, columns)
    number, shape = (source.number, other.number), build.shape(order)
    primitive = WEIGH if strategy.kind == WEIGH else MULTIPLY
    made = Instruction(primitive, number, shape, view.axes, letters, constants=(len(rows),))
    if strategy.kind == WEIGH:
        kept = replace(one, labels=rows, strides=None)
        if one.strides is not None:
            kept = replace(kept, strides=tuple([one.strides[one.axis(label)] for label in rows]))
        return build.emit(made, rows, one.dtype, build.compact_strides(kept))
    labels = (*rows, *columns)
    value = build.emit(made, (*rows, product_label(columns)), one.dtype, build.row_major_strides(labels))
    if len(columns) == 1:
        return replace(value, labels=labels)
    return replace(build.reshape(value, build.shape(labels), labels), strides=build.row_major_strides(labels))
