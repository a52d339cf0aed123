"""The strategies by which NumPy can contract a pair, the fastest first by the cost model.

A strategy is the C loop, or products of matrices: some labels are looped over (the batch, and labels that
could only be merged by a copy, R6), the other labels of the left are rows, of the right columns. Merging
labels that are not adjacent in memory copies the operand, and the model takes this into account. Instead of
merging summed labels, the products for each index of one of them can be added afterwards; and many products
of tiny matrices are faster element by element, each for all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES, MAGNITUDE
from nameexpr.compiler.ir.liveness import REAL
from nameexpr.compiler.ir.target import Steps
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Pair, Strategy, canonical_strategy
from nameexpr.records import record, replace

MOVED = 3
"""The number of labels of one operand up to which every subset of them is tried in the loop; beyond it, the
outermost.
"""
OUTERMOST = 4
"""The largest number of these labels that are moved."""
TINY = 36
"""The number of multiplications of a product of tiny matrices, at most."""
SHORT = 6
"""The number of elements of an inner product that is computed as one of tiny matrices, at most."""


def are_cast_by_dot(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> bool:
    """Return whether the integers among two operands are so few that a call to cast them costs more than the
    product: `dot` casts them, too.
    """
    if compute != "float64" or "einsum" not in build.target.native or pair.batch:
        return False
    rest = [value for value in (one, other) if value.dtype != compute]
    is_small = all(build.size(value.labels) <= build.target.any_layout_cells for value in rest)
    is_whole = len(rest) == 1 and rest[0].dtype in MAGNITUDE and rest[0].number not in build.windows
    return is_whole and is_small


def candidate_strategies(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return the candidate strategies, cheapest first."""
    build.read_strides(one, other)
    every = {*one.labels, *other.labels}
    if not build.size(every):
        return [canonical_strategy(pair)]
    found = _matmuls(build, pair, one, other)
    if len(pair.summed) > 1:
        found += _apart(build, pair, one, other)
    if pair.batch and one.dtype in BLAS:
        found += _tiny(build, pair, one, other)
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


def _tiny(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return the product of many tiny matrices, if no labels have to be moved to make them matrices."""
    sizes = [build.size(group) for group in (pair.batch, pair.left, pair.summed, pair.right)]
    count, rows, inner, columns = sizes
    most = SHORT if rows == columns == 1 else TINY
    if count < build.target.many_products or inner == 1 or rows * inner * columns > most:
        return []
    copied = 0
    for value, own in ((one, pair.left), (other, pair.right)):
        if not all(build.is_mergeable(value, group) for group in (pair.batch, own, pair.summed)):
            return []
        is_along = _unit_step(build, build.steps(value), pair.batch) == 1
        copied += 0 if is_along else build.size(own) * inner
    cost = build.target.costs.tiny_cost(count, rows, inner, columns, copied, one.dtype)
    return [Strategy("tiny", cost, pair.batch, pair.left, pair.summed, pair.right)]


def _apart(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return the products of matrices for each index of one summed label, which are added afterwards, if a
    copy is needed to merge it with the others, and the products take less memory than the copy.
    """
    costs, sizes, dtype = build.target.costs, build.sizes, one.dtype
    orders = [build.memory_order(value, pair.summed) for value in (one, other)]
    if any(_are_mergeable(build, one, other, order) for order in orders):
        return []
    found = []
    for label in pair.summed:
        rest = tuple([other for other in pair.summed if other != label])
        made = (label, *pair.batch, *pair.left, *pair.right)
        is_small = build.size(made) <= min(build.size(one.labels), build.size(other.labels))
        if not is_small or not _are_mergeable(build, one, other, rest):
            continue
        steps = dict(zip(made, build.row_major_strides(made), strict=True))
        spilled = costs.spill_cost(build.size(made) * ITEM_BYTES.get(dtype, 8))
        cost = costs.sum_cost(sizes, steps, dtype) + spilled
        split = Pair((label, *pair.batch), pair.left, pair.right, rest)
        products = _matmuls(build, split, one, other)
        found += [replace(own, kind="apart", cost=own.cost + cost) for own in products]
    return found


def _are_mergeable(build: Builder, one: Value, other: Value, labels: Sequence[str]) -> bool:
    return build.is_mergeable(one, labels) and build.is_mergeable(other, labels)


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
            cost += _reading(left, right)
            count = shared * left.turns * right.turns
            is_by_dots = (right if left.cells == 1 else left).is_along
            is_turned = left.is_along and right.is_along
            cost += build.target.costs.product_cost(
                count, left.cells, inner, right.cells, dtype, is_by_dots=is_by_dots, is_turned=is_turned
            )
            outer = (*batch, *left.moved, *right.moved)
            found.append(Strategy("matmul", cost, outer, left.kept, summed, right.kept))
    return found


def _reading(left: Packing, right: Packing) -> float:
    """Return the cost of reading both operands, at the same time if they are vectors."""
    one = right.turns * (left.swept if right.cells == 1 else left.read)
    other = left.turns * (right.swept if left.cells == 1 else right.read)
    return max(one, other) if left.cells == right.cells == 1 else one + other


@record
class Packing:
    """An operand of a pair as matrices.

    `moved` are the labels that are looped over in addition to the batch, `turns` times, `kept` those that are
    rows or columns, of `cells` elements. A copy costs `copy`; if none is needed, merging labels costs `view`,
    and reading a matrix once `read`, or `swept` if it is multiplied with a vector. `is_along`
    means that the summed labels are contiguous, in the copy if one is made.
    """

    moved: Labels
    turns: int
    kept: Labels
    cells: int
    copy: float
    read: float
    swept: float
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
            copy = read = swept = view = 0.0
            is_along = summed_step == 1
            if is_merged and is_summed_merged:
                ends = [end for end, size in ((step, count), (summed_step, inner)) if size != 1]
                read = costs.read_cost(cells, ends, dtype)
                swept = costs.read_cost(cells, ends, dtype, is_swept=True)
                view = costs.call_cost("view") if len(kept) != 1 or len(order) != 1 else 0.0
            else:
                along = costs.copy_cost(sizes, steps, [*here, *kept, *order], dtype)
                across = costs.copy_cost(sizes, steps, [*here, *order, *kept], dtype)
                copy, is_along = min(along, across), along <= across if is_left else along < across
            turns = build.size(moved)
            packings.append(Packing(moved, turns, kept, count, copy, read, swept, view, is_along))
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


def other_kinds(build: Builder, pair: Pair) -> list[str]:
    """Return the kinds of strategies for a product without a sum, in addition to broadcasting."""
    labels = pair.batch + pair.left + pair.right
    if "contraction" in build.target.native or not (pair.left or pair.right) or not build.size(labels):
        return []
    # `dot` skips products with a scalar 0, even if the other factor is nan.
    is_outer = pair.left and pair.right and build.size(pair.left) > 1 < build.size(pair.right)
    return [*(["matmul"] if is_outer else []), *(["loop"] if len(labels) <= build.target.loop_axes else [])]


def quickest_product(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> str:
    """Return the kind of the fastest strategy (measured, docs/performance.md).

    For outer products, a matrix product without a sum beats broadcasting, since it writes each element once;
    the C loop does if the runs of a broadcast product are short.
    """
    if pair.left and pair.right:
        if not pair.batch:
            return "matmul"
        is_large = build.size((*pair.batch, *pair.left, *pair.right)) >= build.target.outer_cells
        return "loop" if is_large else "multiply"
    bigger, smaller = (one, other) if pair.left else (other, one)
    if ITEM_BYTES.get(compute, 8) * build.size(bigger.labels) < build.target.scaled_bytes:
        return "multiply"
    build.used_strides = True
    steps, run = build.steps(bigger), 1
    for label in reversed(build.memory_order(bigger, bigger.labels)):
        if label in smaller.labels or abs(steps[label]) != run:
            break
        run *= build.sizes[label]
    return "loop" if run in build.target.scaled_runs else "multiply"
