"""A plan as the search for loops sees it: a tree of items that read values and create one, each value a set
of labels.

The items are the steps of the plan and, if that allocates an array, a last one for everything after them: the
reducer, a division, a cast. Sets of items and of labels are the bits of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, Dtypes
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Reduction, Window
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.planning.network import Cells
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.ops import REDUCTIONS

COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine and name != "sum"}
"""Reducers whose partial results can be combined, with the ufunc for each."""


class SingleReduction(NamedTuple):
    """A graph that is one reduction of operands: an expression, with its plan, whose order the search for
    loops may change if `is_free`.
    """

    graph: Graph
    output: int
    operands: Operands
    plan: ContractionPlan
    target: Target
    is_row_major: bool = False
    is_free: bool = False

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


class StepTree:
    """The items of a plan, in an order in which those below an item are adjacent, and end with it.

    Attributes
    ----------
    bits : dict of str to int
        The bit of each label.
    elements : dict of int to float
        The number of elements of a set of labels.
    keep, reads, every : list
        For each item the labels of its value, of each value that it reads, and of all of these.
    parts, parent, below : list
        The items that compute what an item reads, the item that reads its value (-1 for the last one), and
        all items that lead to it, itself included.
    flops : list of float
        The flops of each item.
    copied : list of tuple of int
        The labels of the values that an item copies or casts first.
    learned : dict of int to tuple of int
        The values that programs turned out to copy in addition.
    result, width, again : int
        The labels of the value of the last item; bytes of an element of the computed values, and of the
        result if it is copied at the end, with repeats.
    """

    def __init__(self, single: SingleReduction) -> None:
        plan, dtypes = single.plan, single.dtypes
        contraction, self.target = plan.contraction, single.target
        self.reducer, self.width = contraction.reducer, ITEM_BYTES.get(dtypes.compute, 8)
        sizes = contraction.sizes
        self.bits = {label: 1 << place for place, label in enumerate(sizes)}
        self.elements = Cells([float(sizes[label]) for label in self.bits])
        self.keep: list[int] = []
        self.reads: list[tuple[int, ...]] = []
        self.every: list[int] = []
        self.parts: list[tuple[int, ...]] = []
        self.flops: list[float] = []
        self.copied: list[tuple[int, ...]] = []
        terms, copied = [self.mask(term) for term in plan.terms], _copied(single)
        for step in plan.steps:
            own = [v for v in step.values if v < len(terms)]
            cast = [terms[v] for v in own if dtypes.operands[v] != dtypes.compute or v in copied]
            parts = tuple([v - len(terms) for v in step.values if v >= len(terms)])
            reads = tuple([terms[v] if v < len(terms) else self.keep[v - len(terms)] for v in step.values])
            self._add(self.mask(step.labels), reads, parts, step.flops, tuple(cast))
        is_trivial = self.reducer in {None, "sum"} and dtypes.compute == dtypes.result
        before = self.keep[-1] if self.keep else terms[0]
        self.result, self.is_linear = before & ~self.mask(plan.reduced), is_trivial
        if not is_trivial:
            needs_cast = not plan.steps and dtypes.operands[0] != dtypes.compute
            cast = [before] if needs_cast and self.reducer not in {None, "sum"} else []
            flops = self.elements[before] if plan.reduced else 0.0
            parts = (len(self.keep) - 1,) if plan.steps else ()
            self._add(self.result, (before,), parts, flops, tuple(cast))
        self.count = len(self.keep)
        self.learned: dict[int, tuple[int, ...]] = {}
        self.reading: dict[tuple[int, int], int] = {}
        self.parent = [-1] * self.count
        self.below = [1 << number for number in range(self.count)]
        for number, parts in enumerate(self.parts):
            for part in parts:
                self.parent[part] = number
                self.below[number] |= self.below[part]
        flat = [label for labels in single.result for label in labels]
        is_repeated = len(set(flat)) < len(flat) or bool(self.elements[self.mask(flat) & ~self.result] > 1)
        self.again = contraction.size(flat) * self.width if is_repeated else 0

    def mask(self, labels: Sequence[str]) -> int:
        """Return labels as a set."""
        found = 0
        for label in labels:
            found |= self.bits[label]
        return found

    def readers(self, items: int, bit: int) -> int:
        """Return which of some items read a label, or values that others of them compute from it."""
        known = self.reading.get((items, bit))
        if known is None:
            known = 0
            for number, labels in enumerate(self.every):
                if items >> number & 1 and (labels & bit or known & self.below[number]):
                    known |= 1 << number
            self.reading[items, bit] = known
        return known

    def combines(self, items: int, bit: int) -> bool:
        """Return whether the results of items for blocks of a label make up those for the whole label."""
        last = self.count - 1
        if self.is_linear or not items >> last & 1 or self.keep[last] & bit:
            return True
        return bool(self.every[last] & bit) and self.reducer in COMBINED

    def _add(
        self, keep: int, reads: tuple[int, ...], parts: tuple[int, ...], flops: float, copied: tuple[int, ...]
    ) -> None:
        self.keep.append(keep)
        self.reads.append(reads)
        self.every.append(reduce(or_, reads, keep))
        self.parts.append(parts)
        self.flops.append(float(flops))
        self.copied.append(copied)


def _copied(single: SingleReduction) -> frozenset[int]:
    """Return the operands that are not contiguous, and may be copied for products; so may windows."""
    nodes = single.graph.nodes
    found = {number for number, one in enumerate(single.node.factors) if isinstance(nodes[one], Window)}
    for number, (shape, one) in enumerate(zip(single.operands.shapes, single.operands.given, strict=True)):
        if one.strides is not None:
            array = Array(shape, one.strides, one.dtype, one.item, one.is_swapped, one.is_uneven)
            found |= {number} if array.is_odd or not array.is_one_piece else set()
    return frozenset(found)
