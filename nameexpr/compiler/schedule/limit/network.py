"""A plan as the search for loops sees it: items that read values and create one, each value a set of labels.

Values are numbered as in plans: operands first, then the value of each item. The items are the steps of the
plan and a last one for everything after them: the reducer, a division, a cast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, Dtypes
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Reduction, Window
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.ops import REDUCTIONS
from nameexpr.records import record

Labels = frozenset[str]
COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine and name != "sum"}
"""Reducers whose partial results can be combined, with the ufunc for each."""


class SingleReduction(NamedTuple):
    """A graph that is one reduction of operands: an expression, with its plan."""

    graph: Graph
    output: int
    operands: Operands
    plan: ContractionPlan
    target: Target
    is_row_major: bool = False

    @property
    def node(self) -> Reduction:
        """The reduction."""
        return next(node for node in self.graph.nodes if isinstance(node, Reduction))

    @property
    def result(self) -> Axes:
        """The labels of each dim of the result."""
        node = self.graph.nodes[self.output]
        assert isinstance(node, Arrange)
        return node.axes

    @property
    def dtypes(self) -> Dtypes:
        """Dtypes of operands, of the computation and of the result."""
        return Dtypes(self.operands.dtypes, self.node.compute, self.node.result)


@record
class Item:
    """One step of a plan, or everything after all of them.

    `factor` are the flops per element of `labels` and `summed` together. `is_linear` indicates whether it may
    be applied to parts of a sum, `is_free` that it allocates no array, `casts` which operands are cast or
    copied first.
    """

    reads: tuple[int, ...]
    labels: Labels
    summed: Labels
    factor: int
    is_linear: bool
    is_free: bool
    casts: tuple[int, ...]


@record
class StepNetwork:
    """The items of a plan and their values: `values` are the labels of each, operands first.

    `width` is the size in bytes of an element of the computed values; `again` are the bytes of the result if
    it is copied at the end, with repeats.
    """

    items: tuple[Item, ...]
    values: tuple[Labels, ...]
    sizes: Mapping[str, int]
    count: int
    width: int
    reducer: str | None
    again: int
    target: Target

    @property
    def last(self) -> int:
        """The number of the last item that allocates an array."""
        return len(self.items) - 1 - self.items[-1].is_free


def network_of(single: SingleReduction) -> StepNetwork:
    """Return the network of a plan."""
    plan, dtypes = single.plan, single.dtypes
    contraction = plan.contraction
    copied = _copied(single)
    width = ITEM_BYTES.get(dtypes.compute, 8)
    count = len(plan.terms)
    items = []
    for step in plan.steps:
        labels, summed = frozenset(step.labels), frozenset(step.summed)
        cells = max(1, contraction.size(labels | summed))
        casts = tuple(
            v for v in step.values if v < count and (dtypes.operands[v] != dtypes.compute or v in copied)
        )
        items.append(Item(step.values, labels, summed, step.flops // cells, True, False, casts))  # noqa: FBT003
    items.append(_final_item(plan, dtypes))
    values = (*map(frozenset, plan.terms), *(item.labels for item in items))
    flat = [label for labels in single.result for label in labels]
    sizes = contraction.sizes
    is_repeated = len(set(flat)) < len(flat) or any(sizes[one] > 1 for one in set(flat) - values[-1])
    again = contraction.size(flat) * width if is_repeated else 0
    return StepNetwork(tuple(items), values, sizes, count, width, contraction.reducer, again, single.target)


def _copied(single: SingleReduction) -> frozenset[int]:
    """Return the operands that are not contiguous, and may be copied for products; so may windows."""
    nodes = single.graph.nodes
    found = {number for number, one in enumerate(single.node.factors) if isinstance(nodes[one], Window)}
    for number, (shape, one) in enumerate(zip(single.operands.shapes, single.operands.given, strict=True)):
        if one.strides is not None:
            array = Array(shape, one.strides, one.dtype, one.item, one.is_swapped, one.is_uneven)
            found |= {number} if array.is_odd or not array.is_one_piece else set()
    return frozenset(found)


def _final_item(plan: ContractionPlan, dtypes: Dtypes) -> Item:
    """Return the item after all steps."""
    reducer = plan.contraction.reducer
    before = len(plan.terms) + len(plan.steps) - 1 if plan.steps else 0
    labels = frozenset(plan.steps[-1].labels if plan.steps else plan.terms[0])
    is_trivial = reducer in {None, "sum"} and dtypes.compute == dtypes.result
    needs_cast = not plan.steps and dtypes.operands[0] != dtypes.compute
    casts = (0,) if needs_cast and reducer not in {None, "sum"} else ()
    reduced = frozenset(plan.reduced)
    return Item((before,), labels - reduced, reduced, int(bool(reduced)), False, is_trivial, casts)  # noqa: FBT003
