"""Graph to program: every value that the outputs need, in order, as NumPy calls.

Contractions go through the planner and the lowering of expressions. Pointwise values are laid out so that few
arguments must be transposed; large ones, and those under a reduction that no contraction computes, are fused
into blocks (`nameexpr.compiler.schedule.fusion`), so that no intermediate larger than a block is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nameexpr.compiler.ir.dtypes import MAGNITUDE, choose_dtypes
from nameexpr.compiler.ir.graph import (
    STRONG,
    WEAK,
    Along,
    Arrange,
    Drop,
    Filled,
    Graph,
    Index,
    Labels,
    Map,
    Reduction,
    Scalar,
    View,
    merged,
    number_of,
)
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Arange,
    Constant,
    Copy,
    Full,
    Fused,
    Pointwise,
    Program,
    Step,
)
from nameexpr.compiler.ir.typed import Axes, Typed
from nameexpr.compiler.lowering.builder import Builder, Strides, Value
from nameexpr.compiler.lowering.expression import lower_reduction, lower_result, split_strides
from nameexpr.compiler.lowering.order import apart, in_turn, use_counts
from nameexpr.compiler.lowering.strategies import in_cells
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import Plan, plan_contractions
from nameexpr.compiler.schedule.fusion import WHOLE, Fusing, is_fused_map, is_fused_reduction
from nameexpr.ops import FUNCTIONS

COPIED = 16
"""How many times smaller than its region a value is that may be copied to lie well in memory."""


@dataclass
class Lowering:
    """Values of the graph as values of the program, made in the order of their numbers."""

    graph: Graph
    build: Builder
    shapes: Sequence[tuple[int, ...]]
    layouts: Sequence[Strides | None]
    dtypes: Sequence[str]
    optimize: Optimize
    uses: dict[int, int]
    fusing: Fusing
    values: dict[int, Value] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)
    steps: int = 0

    def value(self, number: int) -> Value:
        """Return a value, made if it is not there yet."""
        if number not in self.values:
            self.values[number] = self._made(number, ())
        return self.values[number]

    def _made(self, number: int, want: Labels) -> Value:
        node = self.graph.nodes[number]
        match node:
            case View():
                return self._view(node)
            case Scalar():
                return self._constant(number, node)
            case Index(label):
                size = self.graph.sizes[label]
                return self.build.emit(Arange(size), (label,), "int64", self.build.dense((label,)))
            case Filled(filled, labels):
                dtype = self.graph.dtypes[number]
                made = Full(self.build.shape(labels), filled, dtype)
                return self.build.emit(made, labels, dtype, self.build.dense(labels))
            case Map():
                return self._map(number, node)
            case Reduction():
                return self._reduction(number, node, want)
            case Along(function, source, labels):
                return self._along(function, source, labels, self.graph.dtypes[number])
            case Drop(source, labels):
                value = self.value(source)
                kept = tuple(label for label in value.labels if label not in labels)
                return self.build.reshape(value, self.build.shape(kept), kept)
            case Arrange(source, axes):
                return self._arranged(number, source, axes)

    def _constant(self, number: int, node: Scalar) -> Value:
        value, dtype = number_of(node), self.graph.strong(number)
        is_wide = node.kind == "int" and dtype == "float64"
        return self.build.emit(Constant(float(value.real) if is_wide else value), (), dtype)

    def _view(self, node: View) -> Value:
        """Return an operand, or an earlier value, with one axis per label."""
        labels = tuple(label for group in node.axes for label in group)
        is_split = any(len(group) != 1 for group in node.axes)
        if node.position >= 0:
            number, dtype = node.position, self.dtypes[node.position]
            own = self.layouts[node.position]
            layout = None if own is None else in_cells(own, dtype)
            is_fresh = False
        else:
            source = self.value(node.value)
            number, dtype, layout, is_fresh = source.number, source.dtype, source.strides, source.is_fresh
        if layout is None and not is_split:
            layout = self.build.dense(labels)
        strides = layout if not is_split else self._split(node.axes, layout)
        value = Value(number, labels, dtype, strides, is_fresh, MAGNITUDE.get(dtype))
        if is_split:
            made = self.build.reshape(value, self.build.shape(labels), labels)
            value = Value(made.number, labels, dtype, strides, is_fresh, value.bound)
        return self.build.diagonal(value) if len(set(labels)) < len(labels) else value

    def _split(self, axes: Axes, layout: Strides | None) -> Strides | None:
        return None if layout is None else split_strides(axes, layout, self.graph.sizes)

    def _map(self, number: int, node: Map) -> Value:
        if is_fused_map(self.fusing, number):
            return self._fused(number, (number,), (), None)
        if node.function.startswith("cast:"):
            return self._cast(self.value(node.arguments[0]), self.graph.dtypes[number])
        arguments = self._arguments(node)
        labels = merged([value.labels for value in arguments if isinstance(value, Value)])
        sources = [
            self.build.expand(value, labels).number if isinstance(value, Value) else value
            for value in arguments
        ]
        return self._pointwise(node.function, sources, labels, self.graph.dtypes[number])

    def _pointwise(self, function: str, sources: Sequence[object], labels: Labels, dtype: str) -> Value:
        row = FUNCTIONS[function]
        numbers = tuple(source for source in sources if isinstance(source, int))
        constants = tuple(None if isinstance(source, int) else source for source in sources)
        is_weak = dtype.startswith(WEAK)
        made = Pointwise(
            row.kernel, numbers, constants, self.build.shape(labels), dtype, row.is_ufunc, is_weak
        )
        return self.build.emit(made, labels, dtype, self.build.dense(labels))

    def _arguments(self, node: Map) -> list[Value | Constant]:
        """Return a function's arguments: numbers of the text as they are, all else as values."""
        found: list[Value | Constant] = []
        for argument in node.arguments:
            inner = self.graph.nodes[argument]
            is_number = isinstance(inner, Scalar)
            found.append(Constant(number_of(inner)) if is_number else self.value(argument))  # type: ignore[arg-type]
        return found

    def _reduction(self, number: int, node: Reduction, want: Labels) -> Value:
        if is_fused_reduction(self.fusing, number):
            return self._fused(number, node.factors, node.labels, node.reducer)
        factors = [self._strong(self.value(factor)) for factor in node.factors]
        own = self.graph.labels[number]
        kept = tuple(dict.fromkeys((*(label for label in want if label in own), *own)))
        typed = Typed(
            tuple(tuple((label,) for label in value.labels) for value in factors),
            tuple((label,) for label in kept),
            (),
            self.graph.sizes,
            node.labels,
            node.reducer,
        )
        plan = plan_contractions(typed, self.optimize)
        factors = [self._lacking(*pair) for pair in zip(factors, plan.terms, strict=True)]
        offset, self.steps = self.steps, self.steps + len(plan.steps)
        self.plans.append(plan)
        product = self.fusing.promoted([value.dtype for value in factors])
        dtypes = choose_dtypes(
            tuple(value.dtype for value in factors), product, is_summed=typed.is_summed, reducer=node.reducer
        )
        if node.is_wide:
            dtypes = replace(dtypes, result=dtypes.compute)
        made = self._having(lower_reduction(self.build, plan, factors, dtypes, offset), kept)
        dtype = self.graph.dtypes[number]
        return self.build.cast(made, dtype) if made.dtype else self.build.known(made, dtype)

    def _lacking(self, value: Value, labels: Labels) -> Value:
        """Return a value with these labels alone: others have size 1, and the plan does without them."""
        return (
            value if labels == value.labels else self.build.reshape(value, self.build.shape(labels), labels)
        )

    def _having(self, value: Value, labels: Labels) -> Value:
        """Return a value with the labels of size 1, too, that the plan did without."""
        missing = [label for label in labels if label not in value.labels]
        every = (*value.labels, *missing)
        return self.build.reshape(value, self.build.shape(every), every) if missing else value

    def _along(self, function: str, source: int, labels: Labels, dtype: str) -> Value:
        value = self._strong(self.value(source))
        axes = tuple(value.axis(label) for label in labels)
        made = AlongAxes(function, value.number, axes, value.dtype == dtype)
        return self.build.emit(made, value.labels, dtype, self.build.dense(value.labels))

    def _fused(self, number: int, roots: Sequence[int], reduced: Labels, reducer: str | None) -> Value:
        """Return a pointwise value, reduced or not, that is computed block by block."""
        leaves, steps, factors, order = self.fusing.steps(roots, reduced, self)
        if reducer in WHOLE:
            steps, factors = self._widened(roots[0], reducer, steps, factors[0], len(leaves))
        kept = tuple(label for label in order if label not in reduced)
        axes = tuple(order.index(label) for label in reduced)
        sources = tuple(self._with_every_axis(leaf, order).number for leaf in leaves)
        dtype = self.graph.dtypes[number]
        shape = self.build.shape(order)
        tiles = self.fusing.tiles(shape, axes, reducer)
        made = Fused(sources, shape, tiles, steps, factors, reducer, axes, dtype)
        return self.build.emit(made, kept, dtype, self.build.dense(kept))

    def _widened(
        self, root: int, reducer: str, steps: tuple[Step, ...], factor: int, count: int
    ) -> tuple[tuple[Step, ...], tuple[int, ...]]:
        """Return the steps of a block with its value in the dtype that its reducer computes in."""
        dtype = self.graph.dtypes[root]
        compute = choose_dtypes((dtype,), dtype, is_summed=False, reducer=reducer).compute
        if compute == dtype:
            return steps, (factor,)
        cast = Step("cast", (factor,), (None,), compute, is_ufunc=False)
        return (*steps, cast), (count + len(steps),)

    def _strong(self, value: Value) -> Value:
        """Return a number of Python as an array of the dtype that NumPy gives it; an array as it is."""
        if not value.dtype.startswith(WEAK):
            return value
        call = "as_array" if value.dtype == "weak:int" else "asarray"
        made = Pointwise(call, (value.number,), (None,), (), STRONG[value.dtype], is_ufunc=False)
        return self.build.emit(made, (), made.dtype, ())

    def _cast(self, value: Value, dtype: str) -> Value:
        """Return a value in another dtype; a number of Python only if the dtype holds it."""
        if not value.dtype.startswith(WEAK):
            return self.build.cast(value, dtype)
        made = Pointwise(f"np.{dtype}", (value.number,), (None,), (), dtype, is_ufunc=False)
        return self.build.emit(made, (), dtype, ())

    def _with_every_axis(self, leaf: Value, order: Labels) -> Value:
        """Return a view with an axis for every label, of size 1 where the value does not vary."""
        if not leaf.labels:
            return leaf
        if self._is_across(leaf, order):
            leaf = self.build.transpose(leaf, [label for label in order if label in leaf.labels])
            leaf = self.build.emit(Copy(leaf.number), leaf.labels, leaf.dtype)
        value = self.build.expand(leaf, order)
        shape = tuple(self.graph.sizes[label] if label in leaf.labels else 1 for label in order)
        return value if len(value.labels) == len(order) else self.build.reshape(value, shape, order)

    def _is_across(self, leaf: Value, order: Labels) -> bool:
        """Whether a small leaf lies in memory across a block's last axis, so that a copy is worth it."""
        here = [label for label in order if label in leaf.labels and self.graph.sizes[label] != 1]
        own = [label for label in leaf.labels if self.graph.sizes[label] != 1]
        return here != own and self.graph.cells(leaf.labels) * COPIED <= self.graph.cells(order)

    def _arranged(self, number: int, source: int, axes: Axes) -> Value:
        flat = tuple(dict.fromkeys(label for labels in axes for label in labels))
        if source not in self.values:
            self.values[source] = self._made(source, flat)
        value = self._strong(self.values[source])
        return lower_result(self.build, axes, value, is_moved=isinstance(self.graph.nodes[source], View))


def lower_formula(
    graph: Graph,
    outputs: Sequence[int],
    shapes: Sequence[tuple[int, ...]],
    dtypes: Sequence[str],
    layouts: Sequence[Strides | None],
    fusing: Fusing,
    optimize: Optimize = None,
) -> tuple[Program, list[Plan]]:
    """Return the program that computes some values of a graph, and the plans of its contractions.

    Parameters
    ----------
    graph : Graph
        The formula.
    outputs : sequence of int
        The values wanted.
    shapes, dtypes, layouts : sequences
        Shape, dtype and strides (None for row-major) of every operand.
    fusing : Fusing
        What is computed in blocks.
    """
    build = Builder(graph.sizes, len(shapes))
    uses = use_counts(graph, outputs)
    lowering = Lowering(graph, build, shapes, layouts, dtypes, optimize, uses, fusing)
    for number in in_turn(graph, uses, fusing):
        lowering.value(number)
    results = apart(build, [lowering.value(output) for output in outputs])
    program = Program(
        tuple(shapes),
        tuple(build.instructions),
        tuple(build.notes),
        results[-1],
        build.used_strides,
        results if len(results) > 1 else (),
    )
    return program, lowering.plans
