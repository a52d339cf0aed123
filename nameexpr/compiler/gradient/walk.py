"""Reverse mode: from a value back to what it is differentiated by.

Sources have lower numbers than the values that read them, so one pass over the numbers from high to low finds
each gradient complete. Only values between the operands and the value are visited, and only those through
which a gradient goes.

A gradient may be masked: where the mask is false it counts as 0. This is how `where` hands
its gradient to both branches. The mask goes along through pointwise functions and reductions, and is applied
to their product, so that nan and inf in the branch that was not taken never reach a sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial, reduce

from nameexpr.compiler.gradient.active import Wanted, active_values, ancestors, passing
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.by_label import of_place
from nameexpr.compiler.gradient.masks import Singularities
from nameexpr.compiler.gradient.pointwise import PartialGradient, pointwise_parts
from nameexpr.compiler.gradient.positions import of_gather, of_join, of_window
from nameexpr.compiler.gradient.reductions import along_part, reduction_parts
from nameexpr.compiler.gradient.views import Found, Seen, seen_as
from nameexpr.compiler.ir.axes import Axes, flat
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Drop,
    Gather,
    Identity,
    Join,
    Map,
    Node,
    Place,
    Reduction,
    Rows,
    State,
    View,
    Window,
)
from nameexpr.records import field, record


@record(frozen=False)
class Walk:
    """A walk back; `parts` are what was found of the gradient of each value so far, `arrays` the gradients of
    arranged values by the dims through which they are seen, `rows` those of the statements of recurrences.
    """

    algebra: Algebra
    active: Collection[int]
    wanted: Wanted
    parts: dict[int, list[PartialGradient]] = field(default_factory=dict)
    arrays: dict[int, Seen] = field(default_factory=dict)
    rows: dict[int, dict[int, int]] = field(default_factory=dict)
    found: Found = field(default_factory=Found)
    masks: Singularities = field(default_factory=Singularities)

    def run(self, seeds: Sequence[PartialGradient]) -> Found:
        """Return the gradients of what is wanted, given those of some values."""
        for seed in seeds:
            self.give(seed)
        for number in sorted(self.active, reverse=True):
            if number in self.arrays:
                self._arranged(number)
            if number in self.parts:
                self._visit(number)
            if number in self.rows:
                self._recurrence(number)
        return self.found

    def give(self, part: PartialGradient) -> None:
        """Add to the gradient of a value."""
        graph = self.algebra.graph
        if part.of not in self.active:
            return
        if part.mask is not None and not self._takes_mask(part.of, part.mask):
            part = PartialGradient(part.of, self.masked(part.value, part.mask))
        value = self.algebra.in_dtype(part.value, graph.dtypes[part.of])
        self.parts.setdefault(part.of, []).append(PartialGradient(part.of, value, part.mask))

    def _takes_mask(self, value: int, mask: int) -> bool:
        """Return whether a mask goes along through a value: through pointwise functions, and where it matters
        through what is computed of elements that all have the same mask.
        """
        graph = self.algebra.graph
        if not set(graph.labels[mask]) <= set(graph.labels[value]):
            return False
        match graph.nodes[value]:
            case Map():
                return True
            case Reduction():
                return self.masks.continues(graph, value, mask)
            case Along(_, _, labels):
                return set(labels).isdisjoint(graph.labels[mask]) and self.masks.continues(graph, value, mask)
        return False

    def masked(self, value: int, mask: int | None) -> int:
        """Return a gradient with 0 where the mask is false."""
        if mask is None:
            return value
        return self.algebra.map("where", mask, value, self.algebra.number(0.0))

    def _visit(self, number: int) -> None:
        gradient, mask = self._sum(self.parts.pop(number))
        graph, node = self.algebra.graph, self.algebra.graph.nodes[number]
        if len({source for source in passing(graph, number) if source in self.active}) > 1:
            self.algebra.kept.add(gradient)
        match node:
            case View(position, -1, axes):
                self.found.operands.setdefault(position, []).append((gradient, axes))
            case View(_, source, axes):
                self.arrays.setdefault(source, []).append((gradient, axes))
            case Identity(_, name) if name in self.wanted.statements:
                self.found.identities[number] = gradient
            case State(_, statement, label, offset, axes):
                seen = self.found.rows.setdefault((statement, offset), [])
                seen.append((gradient, ((label,), *axes)))
            case Rows(recurrence, statement):
                self.rows.setdefault(recurrence, {})[statement] = gradient
        for part in self._of_sources(number, node, gradient, mask):
            self.give(part)

    def _of_sources(
        self, number: int, node: Node, gradient: int, mask: int | None
    ) -> Iterable[PartialGradient]:
        """Return the gradients of what a value is computed from, given its own."""
        match node:
            case Map():
                return pointwise_parts(self, number, node, gradient, mask)
            case Reduction():
                return reduction_parts(self, number, node, gradient, mask)
            case Along():
                return [along_part(self, number, node, gradient, mask)]
            case Join():
                return [PartialGradient(*pair) for pair in of_join(self.algebra, node, gradient)]
            case Window() | Gather() | Place():
                return [PartialGradient(node.value, self._at_positions(number, node, gradient))]
            case Identity(source) | Drop(source):
                return [PartialGradient(source, gradient)]
            case Arrange(source, axes):
                return [PartialGradient(source, self._lacking(gradient, source, axes))]
        return ()

    def _recurrence(self, number: int) -> None:
        """Hand the gradients of the rows of a recurrence on to what they were computed from."""
        from nameexpr.compiler.gradient.recurrences import recurrence_parts

        graph = self.algebra.graph

        def back(seeds: Sequence[PartialGradient], wanted: Wanted) -> Mapping[int, int]:
            needed = set[int]().union(*[ancestors(graph, seed.of) for seed in seeds])
            active = active_values(graph, needed, wanted)
            return Walk(self.algebra, active, wanted).run(seeds).identities

        for part in recurrence_parts(self.algebra, number, self.rows.pop(number), self.active, back):
            self.give(part)

    def _at_positions(self, number: int, node: Window | Gather | Place, gradient: int) -> int:
        match node:
            case Window():
                return of_window(self.algebra, node, gradient)
            case Gather():
                return of_gather(self.algebra, node, gradient)
        return of_place(self.algebra, number, node, gradient)

    def _sum(self, parts: Sequence[PartialGradient]) -> tuple[int, int | None]:
        """Return a gradient and its mask, which is true where that of any part is."""
        masks = list(dict.fromkeys([part.mask for part in parts]))
        if len(masks) == 1:
            return self.algebra.added([part.value for part in parts]), masks[0]
        total = self.algebra.added([self.masked(part.value, part.mask) for part in parts])
        known = [mask for mask in masks if mask is not None]
        return total, reduce(partial(self.algebra.map, "|."), known) if len(known) == len(masks) else None

    def _lacking(self, gradient: int, source: int, axes: Axes) -> int:
        """Return a gradient of an array summed over the dims along which its value was repeated."""
        gone = [label for label in flat(axes) if label not in self.algebra.graph.labels[source]]
        return self.algebra.total([gradient], gone) if gone else gradient

    def _arranged(self, number: int) -> None:
        """Hand the gradients of an arranged value on to the value that was arranged."""
        node = self.algebra.graph.nodes[number]
        assert isinstance(node, Arrange)
        for gradient, axes in self.arrays.pop(number):
            if axes != node.axes:
                gradient = seen_as(self.algebra, gradient, axes, node.axes)
            self.give(PartialGradient(node.value, self._lacking(gradient, node.value, node.axes)))
