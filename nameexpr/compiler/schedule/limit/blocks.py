"""From a graph with loops to a program: the lowering of any graph, in which a loop is one instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.axes import Contraction, Labels
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import COMBINED
from nameexpr.compiler.ir.nodes import Arrange, Drop, Place, Reduction, View
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Collected, Instruction, Loop, Program
from nameexpr.compiler.lowering.builder import Builder, Operands, Value
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.lowering.lower import Lowering, Planner
from nameexpr.compiler.lowering.pointwise import is_expansion
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.regions import (
    GraphLoop,
    GraphLoops,
    block_graph,
    region_of,
    users_of,
)
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.records import replace

SHORT = 64
"""The number of adjacent elements from which writing a block in pieces is as fast as in one."""


class LoopLowering(Lowering):
    """Values as in `Lowering`, with the tops of `loops` computed in blocks; `sizes` are those of whole
    labels.
    """

    def __init__(
        self,
        graph: Graph,
        build: Builder,
        operands: Operands,
        plan: Planner,
        row_major: frozenset[int],
        values: dict[int, Value],
        plans: dict[int, tuple[ContractionPlan, int]],
        loops: GraphLoops,
        sizes: Mapping[str, int],
    ) -> None:
        super().__init__(graph, build, operands, plan, None, row_major, values, plans)
        self.loops, self.sizes, self.given = loops, sizes, frozenset(values)
        self.alone: set[int] = set()

    def lowered(self, outputs: Sequence[int], orders: Sequence[Labels] = (), cut: str = "") -> Program:
        """Return the program of some values, each with its axes in the order of `orders` if given; `cut` is
        the label of which they are blocks.
        """
        users = users_of(self.graph, outputs, self.loops, self.values)
        tops = [top for loop in self.loops for top in loop.tops]
        self.alone = users.keys() - set(tops)
        uses = {value: len(readers) for value, readers in users.items()}
        stored = frozenset([*self.values, *tops])
        reads = {read for loop in self.loops for read in loop.reads if is_expansion(self.graph, read)}
        self.late = frozenset(reads.difference(outputs, stored))
        uses |= {value: 2 for value in stored if value in uses}
        self.fusing = FusionPlan(self.graph, uses, self.build.target, stored)
        program = self.program(uses, outputs)
        if self._reordered(outputs, orders, cut):
            program = self.program(uses, outputs)
        program = simplify(program, self.build.target)
        return reuse(program, shapes_of(program))

    def _reordered(self, outputs: Sequence[int], orders: Sequence[Labels], cut: str) -> bool:
        """Transpose outputs to the given orders, or to those of their plans; return whether any was."""
        before = [self.value(output) for output in outputs]
        for number, (output, value) in enumerate(zip(outputs, before, strict=True)):
            labels = orders[number] if orders else ()
            if not labels and output in self.plans:
                result = self.plans[output][0].contraction.result
                labels = tuple([label for label in result if label in value.labels])
            if cut and not orders and not isinstance(self.graph.nodes[output], Arrange):
                labels = self._with_runs(labels or value.labels, cut)
            if set(labels) == set(value.labels) and labels != value.labels:
                self.values[output] = self.build.transpose(value, labels)
        return any(self.values[output] is not value for output, value in zip(outputs, before, strict=True))

    def _with_runs(self, labels: Labels, cut: str) -> Labels:
        """Return labels with `cut` first if a block would be written in short pieces otherwise."""
        if cut not in labels or self.graph.cells(labels[labels.index(cut) :]) >= SHORT:
            return labels
        return (cut, *[label for label in labels if label != cut])

    def made(self, number: int, preferred: Labels) -> Value:  # noqa: D102
        loop = next((loop for loop in self.loops if number in loop.tops), None)
        if loop is None:
            return super().made(number, preferred)
        self.values |= self._loop(loop)
        return self.values[number]

    def planned(  # noqa: D102
        self, number: int, contraction: Contraction, factors: Sequence[int]
    ) -> tuple[ContractionPlan, int]:
        if number not in self.plans:
            super().planned(number, replace(contraction, sizes=self.sizes), factors)
        plan, offset = self.plans[number]
        planned = {label for labels in plan.terms for label in labels}
        terms = tuple([tuple([label for label in own if label in planned]) for own in contraction.terms])
        own = replace(plan.contraction, terms=terms, reducer=contraction.reducer, sizes=contraction.sizes)
        return replace(plan, contraction=own, is_open=False), offset

    def _loop(self, loop: GraphLoop) -> dict[int, Value]:
        """Return the values that a loop computes in blocks."""
        label, size = loop.label, self.graph.sizes[loop.label]
        reads = [self.value(read) for read in loop.reads]
        graph = block_graph(self.graph, loop, loop.block)
        body, blocks = self._body(graph, loop, reads, ())
        if turned := self._turned(loop, body):
            self.values |= {read: self.made(read, order) for read, order in turned.items()}
            reads = [self.values[read] for read in loop.reads]
            body, blocks = self._body(graph, loop, reads, ())
        rest, orders = block_graph(self.graph, loop, size % loop.block), [block.labels for block in blocks]
        tail = self._body(rest, loop, reads, orders)[0] if size % loop.block else None
        cuts = tuple([(value.axis(label) if label in value.labels else None,) for value in reads])
        pairs = zip(loop.tops, blocks, strict=True)
        results = tuple([self._collected(top, block, graph.dtypes[top], label) for top, block in pairs])
        made = Loop((size,), loop.block, cuts, body, tail, results, label, again=self._again(loop))
        sources = tuple([value.number for value in reads])
        computed = self._emitted(Instruction("loop", sources, dtype=results[0].dtype, loop=made), blocks)
        every = zip(loop.tops, computed, results, strict=True)
        return {top: self._finished(top, value, one.place is None) for top, value, one in every}

    def _turned(self, loop: GraphLoop, body: Program) -> dict[int, Labels]:
        """Return the expansions whose axes a body reads in another order only, and that order; those that an
        outer loop computes have theirs.
        """
        found = {}
        for place, read in enumerate(loop.reads):
            if read in self.given:
                continue
            users = [one for one in body.instructions if place in one.sources]
            orders = {one.axes if one.primitive == "transpose" else () for one in users}
            axes = orders.pop() if len(orders) == 1 else ()
            if axes and is_expansion(self.graph, read):
                found[read] = tuple([self.values[read].labels[axis] for axis in axes])
        return found

    def _again(self, loop: GraphLoop) -> int:
        """Return how many values a loop computes that are also computed before it, or elsewhere."""
        others = [one for one in self.loops if one != loop]
        elsewhere = {value for one in others for value in region_of(self.graph, one)} | self.alone
        moved = Arrange, View, Drop
        region = set(region_of(self.graph, loop)) - set(loop.tops)
        return sum([not isinstance(self.graph.nodes[value], moved) for value in region & elsewhere])

    def _collected(self, top: int, block: Value, dtype: str, label: str) -> Collected:
        """Return how a value is collected from its blocks."""
        node, combine = self.graph.nodes[top], ""
        place = block.labels.index(label) if label in block.labels else None
        if isinstance(node, Reduction | Place) and place is None:
            combine = COMBINED[node.reducer or "sum"]
        if isinstance(node, Reduction) and node.reducer == "count_nonzero":
            dtype = dtype or "int64"  # of counts in an expression no dtype is noted
        computed = "bool" if combine.startswith("logical") else dtype or block.dtype
        return Collected(place, combine, computed)

    def _emitted(self, made: Instruction, blocks: Sequence[Value]) -> list[Value]:
        """Return the values of a loop; those of several are read out of a list."""
        build, loop = self.build, made.loop
        assert loop is not None
        bounds = [
            block.bound and block.bound * (loop.turns if result.place is None else 1)
            for block, result in zip(blocks, loop.results, strict=True)
        ]
        rows = [
            (block.labels, result.dtype, build.row_major_strides(block.labels))
            for block, result in zip(blocks, loop.results, strict=True)
        ]
        if len(blocks) == 1:
            return [build.emit(made, *rows[0], bound=bounds[0])]
        number = build.emit(made, (), made.dtype, ()).number
        return [
            build.emit(
                Instruction("output", (number,), build.shape(row[0]), axes=(at,)), *row, bound=bounds[at]
            )
            for at, row in enumerate(rows)
        ]

    def _finished(self, top: int, value: Value, is_combined: bool) -> Value:
        """Return a value after what follows its blocks: the division of a mean, a cast."""
        node, dtype = self.graph.nodes[top], self.graph.dtypes[top]
        if isinstance(node, Reduction) and node.reducer == "mean" and is_combined:
            count = self.graph.cells(node.labels)
            divided = Instruction("divide", (value.number,), dtype=value.dtype, constants=(count,))
            value = self.build.emit(divided, value.labels, value.dtype)
        return self.build.cast(value, dtype) if value.dtype else value

    def _body(
        self, graph: Graph, loop: GraphLoop, reads: Sequence[Value], orders: Sequence[Labels]
    ) -> tuple[Program, list[Value]]:
        """Return the program of one block, and its results.

        If NumPy chooses the layout of a value, its parts are assumed to be those of a row-major one: without
        the other axes they are not contiguous.
        """
        build = Builder({**self.build.sizes, **graph.sizes}, len(reads), self.build.target)
        parts = {}
        for number, (read, value) in enumerate(zip(loop.reads, reads, strict=True)):
            strides = self.build.row_major_strides(value.labels) if value.strides is None else value.strides
            parts[read] = replace(value, number=number, strides=strides, is_fresh=False)
        shapes = tuple([build.shape(value.labels) for value in reads])
        operands, own = Operands(shapes, (), ()), (loop.inner, self.sizes)
        inner = LoopLowering(graph, build, operands, self.plan, frozenset(), parts, self.plans, *own)
        program = inner.lowered(loop.tops, orders, loop.label)
        self.build.used_strides |= build.used_strides
        self.build.sizes = {**build.sizes, **self.build.sizes}
        return program, [inner.values[top] for top in loop.tops]
