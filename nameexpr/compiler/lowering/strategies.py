"""The strategies by which NumPy can contract a pair, the fastest first by the cost model.

A strategy is the C loop, or products of matrices: some labels are looped over (the batch, and labels that
could only be merged by a copy, R6), the other labels of the left are rows, of the right columns. Merging
labels that are not adjacent in memory copies the operand, and the model takes this into account.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.liveness import REAL
from nameexpr.compiler.ir.target import Steps
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Pair, Strategy, canonical_strategy
from nameexpr.records import record

MOVED = 3
"""The number of labels of one operand up to which every subset of them is tried in the loop; beyond it, the
outermost.
"""
OUTERMOST = 4
"""The largest number of these labels that are moved."""


def candidate_strategies(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return the candidate strategies, cheapest first."""
    build.read_strides(one, other)
    every = {*one.labels, *other.labels}
    if not build.size(every):
        return [canonical_strategy(pair)]
    found = _matmuls(build, pair, one, other)
    if len(every) <= build.target.loop_axes and one.dtype == other.dtype:
        labels = (*pair.batch, *pair.left, *pair.right)
        steps = [build.steps(one), build.steps(other)]
        found.append(Strategy("loop", build.target.costs.loop_cost(build.sizes, steps, labels, one.dtype)))
    if pair.batch and not pair.left and not pair.right and one.dtype in REAL:
        found += _vecdots(build, pair, one, other)
    return sorted(found, key=lambda strategy: strategy.cost)


def _vecdots(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return `numpy.vecdot` if both operands can be read as rows of contiguous elements."""
    for value in (one, other):
        if _unit_step(build, build.steps(value), pair.summed) != 1:
            return []
        if not build.is_mergeable(value, pair.summed):
            return []
    cost = build.target.costs.vecdot_cost(build.size(pair.batch), build.size(pair.summed), one.dtype)
    return [Strategy("vecdot", cost, pair.batch, summed=pair.summed)]


def _matmuls(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return products of matrices: their cost is that of copies, of matmul's internal copies, and of the
    products.
    """
    batch, dtype = pair.batch, one.dtype
    ordered = [build.memory_order(value, pair.summed) for value in (one, other)]
    orders = tuple(dict.fromkeys((*ordered, pair.summed)))
    shared, inner, found = build.size(batch), build.size(pair.summed), []
    lefts = _packings(build, one, batch, pair.left, orders, is_left=True)
    rights = _packings(build, other, batch, pair.right, orders, is_left=False)
    for left_packings, right_packings in product(lefts, rights):
        for left, right, summed in zip(left_packings, right_packings, orders, strict=True):
            cost = left.copy + left.view + right.copy + right.view
            reads = right.turns * left.read, left.turns * right.read
            cost += (
                max(reads) if left.cells == right.cells == 1 else sum(reads)
            )  # an inner product reads both
            count = shared * left.turns * right.turns
            is_by_dots = (right if left.cells == 1 else left).is_along
            cost += build.target.costs.product_cost(
                count, left.cells, inner, right.cells, dtype, is_by_dots=is_by_dots, is_turned=right.is_along
            )
            outer = (*batch, *left.moved, *right.moved)
            found.append(Strategy("matmul", cost, outer, left.kept, summed, right.kept))
    return found


@record
class Packing:
    """An operand of a pair as matrices.

    `moved` are the labels that are looped over in addition to the batch, `turns` times, `kept` those that are
    rows or columns, of `cells` elements. A copy costs `copy`; if none is needed, reading a matrix once costs
    `read` and merging labels `view`. `is_along` means that the summed labels are contiguous, in the copy if
    one is made.
    """

    moved: Labels
    turns: int
    kept: Labels
    cells: int
    copy: float
    read: float
    view: float
    is_along: bool


def _packings(
    build: Builder, value: Value, batch: Labels, own: Labels, orders: Sequence[Labels], *, is_left: bool
) -> list[list[Packing]]:
    """Return an operand with each subset of its own labels looped over, in each order of the summed
    labels.
    """
    costs, sizes, steps, dtype = build.target.costs, build.sizes, build.steps(value), value.dtype
    cells, inner = build.size(value.labels), build.size(orders[0])
    summed = [(order, build.is_mergeable(value, order), _unit_step(build, steps, order)) for order in orders]
    result = []
    for moved in _subsets(own):
        kept = tuple([label for label in own if label not in moved])
        count, here = build.size(kept), (*batch, *moved)
        is_merged, step = build.is_mergeable(value, kept), _unit_step(build, steps, kept)
        packings = []
        for order, is_summed_merged, summed_step in summed:
            copy = read = view = 0.0
            is_along = summed_step == 1
            if is_merged and is_summed_merged:
                ends = [end for end, size in ((step, count), (summed_step, inner)) if size != 1]
                read = costs.read_cost(cells, ends, dtype)
                view = costs.call_cost("view") if len(kept) != 1 or len(order) != 1 else 0.0
            else:
                along = costs.copy_cost(sizes, steps, [*here, *kept, *order], dtype)
                across = costs.copy_cost(sizes, steps, [*here, *order, *kept], dtype)
                copy, is_along = min(along, across), along <= across if is_left else along < across
            turns = build.size(moved)
            packings.append(Packing(moved, turns, kept, count, copy, read, view, is_along))
        result.append(packings)
    return result


def _subsets(labels: Labels) -> Iterator[Labels]:
    if len(labels) > MOVED:
        yield from (labels[:count] for count in range(OUTERMOST + 1))
        return
    for count in range(len(labels) + 1):
        yield from combinations(labels, count)


def _unit_step(build: Builder, steps: Steps, labels: Sequence[str]) -> int:
    """Return the step from one element to the next along merged labels."""
    real = [label for label in labels if build.sizes[label] != 1]
    return abs(steps[real[-1]]) if real else 1
