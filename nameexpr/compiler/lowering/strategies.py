"""The ways in which NumPy can contract a pair, the quickest first by the cost model.

Labels of a pair are of four kinds: *batch* (in both, kept), *summed* (in both, not kept), *left* and *right*
(in one). A way is the C loop, or products of matrices: some labels are looped over (the batch, and what would
need a copy to be merged, R6), the others of the left are rows, of the right columns. Merging labels that do
not lie together in memory copies the operand, and the model weighs that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from nameexpr.compiler.ir.target import Steps
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.records import record, replace

Labels = tuple[str, ...]
MOVED = 3
"""Labels of one operand up to which every subset of them is tried in the loop; of more, the outermost."""
OUTERMOST = 4
"""Labels that are moved of these, at most."""
REAL = frozenset({"float32", "float64"})


@record
class Pair:
    """The labels of a pair by kind, each in an order that suits memory or the result."""

    batch: Labels
    left: Labels
    right: Labels
    summed: Labels


@record
class Strategy:
    """Products of matrices (outer..., rows, summed) and (outer..., summed, columns), or the C loop."""

    kind: str  # "loop", "matmul" or "vecdot"
    cost: float
    outer: Labels = ()
    rows: Labels = ()
    summed: Labels = ()
    columns: Labels = ()


def is_trivial(build: Builder, pair: Pair) -> bool:
    """Whether there is nothing to choose, whatever the layout: two matrices or vectors, or batches of
    matrices that are not tiny.
    """
    if any(len(labels) > 1 for labels in (pair.left, pair.right, pair.summed)):
        return False
    if not pair.batch:
        return True
    inner, target = build.size((*pair.left, *pair.right, *pair.summed)), build.target
    return bool(pair.left and pair.right) and (
        inner > target.tiny_product or build.size(pair.batch) < target.many_products
    )


def canonical_strategy(pair: Pair) -> Strategy:
    """Return the product of matrices as the labels lie."""
    return Strategy("matmul", 0.0, pair.batch, pair.left, pair.summed, pair.right)


def candidate_strategies(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return the candidate strategies, cheapest first."""
    build.read_strides(one, other)
    if not build.size({*one.labels, *other.labels}):
        return [canonical_strategy(pair)]
    left, right = _Side(build, one), _Side(build, other)
    found = [_matmul(build, strategy, left, right) for strategy in _matmuls(build, pair, one, other)]
    if len({*one.labels, *other.labels}) <= build.target.loop_axes and one.dtype == other.dtype:
        labels = (*pair.batch, *pair.left, *pair.right)
        steps = [left.steps, right.steps]
        found.append(Strategy("loop", build.costs.loop_cost(build.sizes, steps, labels, one.dtype)))
    if pair.batch and not pair.left and not pair.right and one.dtype in REAL:
        found += _vecdots(build, pair, one, other)
    return sorted(found, key=lambda strategy: strategy.cost)


def _vecdots(build: Builder, pair: Pair, one: Value, other: Value) -> list[Strategy]:
    """Return `numpy.vecdot` where both operands can be read as rows of cells, one after the other."""
    both = [(value, steps_of(build, value)) for value in (one, other)]
    if any(
        _unit_step(build, steps, pair.summed) != 1 or not build.is_mergeable(value, pair.summed)
        for value, steps in both
    ):
        return []
    cost = build.costs.vecdot_cost(build.size(pair.batch), build.size(pair.summed), one.dtype)
    return [Strategy("vecdot", cost, pair.batch, summed=pair.summed)]


def steps_of(build: Builder, value: Value) -> dict[str, int]:
    """Return the strides of a value in cells; of one whose layout NumPy chooses, as if it were row-major."""
    strides = build.row_major_strides(value.labels) if value.strides is None else value.strides
    return dict(zip(value.labels, strides, strict=True))


def _matmuls(build: Builder, pair: Pair, one: Value, other: Value) -> Iterator[Strategy]:
    orders = {build.memory_order(one, pair.summed): None, build.memory_order(other, pair.summed): None}
    if pair.summed not in orders:
        orders[pair.summed] = None
    for moved_left in _subsets(pair.left):
        rows = tuple(label for label in pair.left if label not in moved_left)
        for moved_right in _subsets(pair.right):
            columns = tuple(label for label in pair.right if label not in moved_right)
            outer = (*pair.batch, *moved_left, *moved_right)
            for summed in orders:
                yield Strategy("matmul", 0.0, outer, rows, summed, columns)


def _subsets(labels: Labels) -> Iterator[Labels]:
    if len(labels) > MOVED:
        yield from (labels[:count] for count in range(OUTERMOST + 1))
        return
    for count in range(len(labels) + 1):
        yield from combinations(labels, count)


class _Side:
    """An operand of a pair, with what making matrices of it costs."""

    def __init__(self, build: Builder, value: Value) -> None:
        self.build, self.value, self.steps = build, value, steps_of(build, value)
        self.known: dict[tuple[Labels, Labels], tuple[float, float, float]] = {}

    def costs(self, here: Sequence[str], first: Labels, second: Labels) -> tuple[float, float, float]:
        """Return what a copy costs, and, if there need be none, reading matrices once and merging labels."""
        if (first, second) not in self.known:
            self.known[first, second] = self._costs(here, first, second)
        return self.known[first, second]

    def _costs(self, here: Sequence[str], first: Labels, second: Labels) -> tuple[float, float, float]:
        build, value, steps, costs = self.build, self.value, self.steps, self.build.costs
        if not (build.is_mergeable(value, first) and build.is_mergeable(value, second)):
            orders = ([*here, *first, *second], [*here, *second, *first])
            return (
                min([costs.copy_cost(build.sizes, steps, order, value.dtype) for order in orders]),
                0.0,
                0.0,
            )
        ends = [_unit_step(build, steps, group) for group in (first, second) if build.size(group) != 1]
        view = costs.call_cost("view") if len(first) != 1 or len(second) != 1 else 0.0
        return 0.0, costs.read_cost(build.size(value.labels), ends, value.dtype), view


def _matmul(build: Builder, strategy: Strategy, left: _Side, right: _Side) -> Strategy:
    """Return the strategy with its cost: copies, what matmul itself must copy, and the products."""
    outer, summed, cost = strategy.outer, strategy.summed, 0.0
    rows, inner, columns = build.size(strategy.rows), build.size(summed), build.size(strategy.columns)
    count = build.size(outer)
    matrix = right if rows == 1 else left
    is_by_dots = matrix is left
    for operand, first, second in ((left, strategy.rows, summed), (right, summed, strategy.columns)):
        here = [label for label in outer if label in operand.steps]
        copy, read, view = operand.costs(here, first, second)
        cost = cost + copy + count // max(1, build.size(here)) * read + view
        if operand is matrix and not copy:
            is_by_dots = _unit_step(build, operand.steps, summed) == 1
    cost += build.costs.product_cost(count, rows, inner, columns, left.value.dtype, is_by_dots=is_by_dots)
    return replace(strategy, cost=cost)


def is_copied_across(
    build: Builder, value: Value, here: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> bool:
    """Whether a matrix that has to be copied is better copied with its axes the other way round.

    BLAS reads it either way, and the copy that keeps what is fast in memory fast is quicker (R18).
    """
    if not first or not second or (build.is_mergeable(value, first) and build.is_mergeable(value, second)):
        return False
    steps = steps_of(build, value)
    straight = build.costs.copy_cost(build.sizes, steps, [*here, *first, *second], value.dtype)
    return build.costs.copy_cost(build.sizes, steps, [*here, *second, *first], value.dtype) < straight


def _unit_step(build: Builder, steps: Steps, labels: Sequence[str]) -> int:
    """Return the step from one cell to the next along labels that are merged."""
    real = [label for label in labels if build.sizes[label] != 1]
    return abs(steps[real[-1]]) if real else 1
