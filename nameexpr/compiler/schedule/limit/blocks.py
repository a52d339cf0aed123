"""From a graph with loops to a program: the lowering of any graph, in which a loop is one instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.axes import Contraction, Labels
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import COMBINED
from nameexpr.compiler.ir.nodes import Place, Reduction
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program
from nameexpr.compiler.lowering.builder import Builder, Operands, Value
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.lowering.lower import Lowering, Planner
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.regions import GraphLoop, GraphLoops, block_graph, users_of
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.records import replace


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
        self.loops, self.sizes = loops, sizes

    def lowered(self, outputs: Sequence[int], labels: Labels = ()) -> Program:
        """Return the program of some values, the last with its axes in the order of `labels` if given."""
        users = users_of(self.graph, outputs, self.loops, self.values)
        uses = {value: len(readers) for value, readers in users.items()}
        stored = frozenset([*self.values, *(loop.top for loop in self.loops)])
        uses |= {value: 2 for value in stored if value in uses}
        self.fusing = FusionPlan(self.graph, uses, self.build.target, stored)
        program, value = self.program(uses, outputs), self.value(outputs[-1])
        if not labels and outputs[-1] in self.plans:
            result = self.plans[outputs[-1]][0].contraction.result
            labels = tuple([label for label in result if label in value.labels])
        if set(labels) == set(value.labels) and labels != value.labels:
            self.values[outputs[-1]] = self.build.transpose(value, labels)
            program = self.program(uses, outputs)
        program = simplify(program, self.build.target)
        return reuse(program, shapes_of(program))

    def made(self, number: int, preferred: Labels) -> Value:  # noqa: D102
        loop = next((loop for loop in self.loops if loop.top == number), None)
        return super().made(number, preferred) if loop is None else self._loop(loop)

    def planned(  # noqa: D102
        self, number: int, contraction: Contraction, factors: Sequence[int]
    ) -> tuple[ContractionPlan, int]:
        if number not in self.plans:
            super().planned(number, replace(contraction, sizes=self.sizes), factors)
        plan, offset = self.plans[number]
        planned = {label for labels in plan.terms for label in labels}
        terms = tuple([tuple([label for label in own if label in planned]) for own in contraction.terms])
        own = replace(plan.contraction, terms=terms, reducer=contraction.reducer, sizes=contraction.sizes)
        return replace(plan, contraction=own), offset

    def _loop(self, loop: GraphLoop) -> Value:
        """Return a value that is computed in blocks."""
        build, label = self.build, loop.label
        reads = [self.value(read) for read in loop.reads]
        size, node, dtype = self.graph.sizes[label], self.graph.nodes[loop.top], self.graph.dtypes[loop.top]
        graph = block_graph(self.graph, loop, loop.block)
        body, result = self._body(graph, loop, reads, ())
        rest, labels = block_graph(self.graph, loop, size % loop.block), result.labels
        tail = self._body(rest, loop, reads, labels)[0] if size % loop.block else None
        cuts = tuple([(value.axis(label) if label in value.labels else None,) for value in reads])
        combine, place = "", labels.index(label) if label in labels else None
        if isinstance(node, Reduction | Place) and place is None:
            combine = COMBINED[node.reducer or "sum"]
        parameters = Loop((size,), loop.block, cuts, body, tail, place, combine, label)
        computed = "bool" if combine.startswith("logical") else graph.dtypes[loop.top] or result.dtype
        made = Instruction("loop", tuple([value.number for value in reads]), dtype=computed, loop=parameters)
        bound = result.bound
        if bound is not None and place is None:
            bound *= parameters.turns
        value = build.emit(made, labels, computed, build.row_major_strides(labels), bound=bound)
        if isinstance(node, Reduction) and node.reducer == "mean" and place is None:
            count = self.graph.cells(node.labels)
            value = build.emit(Instruction("divide", (value.number,), constants=(count,)), labels, computed)
        return build.cast(value, dtype) if value.dtype else value

    def _body(
        self, graph: Graph, loop: GraphLoop, reads: Sequence[Value], labels: Labels
    ) -> tuple[Program, Value]:
        """Return the program of one block, and its result.

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
        program = inner.lowered((loop.top,), labels)
        self.build.used_strides |= build.used_strides
        self.build.sizes = {**build.sizes, **self.build.sizes}
        return program, inner.values[loop.top]
