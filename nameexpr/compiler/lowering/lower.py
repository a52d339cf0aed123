"""From graph to program: every value that the outputs need, in order, as array calls.

Reductions are planned. Pointwise values are laid out so that few arguments must be transposed; large ones,
and those under a reduction that no contraction computes, are fused into blocks
(`nameexpr.compiler.lowering.fusion`), so that no intermediate larger than a block is created.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from nameexpr.compiler.ir.axes import Axes, Contraction, Labels, Unnamed, product_label
from nameexpr.compiler.ir.dtypes import MAGNITUDE, WEAK, Dtypes, WeakDtype
from nameexpr.compiler.ir.graph import Graph, use_counts
from nameexpr.compiler.ir.nodes import (
    CAST,
    Arrange,
    Gather,
    Map,
    Place,
    Recurrence,
    Reduction,
    Rows,
    Scalar,
    View,
    is_moved,
    number_of,
)
from nameexpr.compiler.ir.program import Instruction, Program
from nameexpr.compiler.ir.strides import row_major_strides
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Builder, Operands, Value
from nameexpr.compiler.lowering.contraction import lower_reduction
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import field, record, replace

if TYPE_CHECKING:
    from nameexpr.compiler.lowering.fusion import FusionPlan

Planner = Callable[[Contraction, Sequence[int]], ContractionPlan]
"""Plans a contraction of values of the graph."""


@record(frozen=False)
class Lowering:
    """The values of the graph as values of the program, created in the order of their numbers.

    `plans` has for each reduction its plan and the number of steps before; `late` are created by a reader.
    """

    graph: Graph
    build: Builder
    operands: Operands
    plan: Planner
    fusing: FusionPlan | None
    row_major: frozenset[int]
    values: dict[int, Value] = field(default_factory=dict)
    plans: dict[int, tuple[ContractionPlan, int]] = field(default_factory=dict)
    late: frozenset[int] = frozenset()

    def program(self, needed: Collection[int], outputs: Sequence[int]) -> Program:
        """Return the program that computes all needed values and returns the outputs."""
        build, shapes = self.build, self.operands.shapes
        if self.fusing is not None:
            from nameexpr.compiler.lowering.pointwise import expansions

            self.late |= expansions(self.graph, needed, outputs)
        inside = () if self.fusing is None else self.fusing.only_inside(needed, outputs)
        for number in schedule_order(self.graph, needed, inside):
            if number not in self.late:
                self.value(number)
        results = tuple([self.value(output).number for output in outputs])
        if len(results) > 1 or build.windows:
            from nameexpr.compiler.lowering.values import apart

            results = apart(build, [self.value(output) for output in outputs])
        rest = build.used_strides, results[1:] and results, tuple(build.offers)
        return Program(shapes, tuple(build.instructions), tuple(build.notes), results[-1], *rest)

    def value(self, number: int, preferred: Labels = ()) -> Value:
        """Return a value, which is created if it does not exist yet."""
        if number not in self.values:
            self.values[number] = self.made(number, preferred)
        return self.values[number]

    def made(self, number: int, preferred: Labels) -> Value:
        """Create a value; a reduction with its labels in the preferred order, as far as that is free."""
        node = self.graph.nodes[number]
        match node:
            case View(_, source, axes) if source >= 0:
                return lower_view(self.build, self.value(source), axes)
            case View():
                return operand_value(self.build, node, self.operands)
            case Scalar():
                constant, dtype = number_of(node), self.graph.strong(number)
                constant = float(constant.real) if node.kind == "int" and dtype == "float64" else constant
                return self.build.emit(Instruction("constant", constants=(constant,)), (), dtype)
            case Map():
                return self._map(number, node, preferred)
            case Reduction():
                return self._reduction(number, node, preferred)
            case Arrange(source, axes):
                return self._arranged(source, axes, is_row_major=number in self.row_major)
            case Recurrence() | Rows():
                from nameexpr.compiler.lowering.recurrences import lower_recurrence

                return lower_recurrence(self, number, node, lower, lower_view)
            case Gather() | Place():
                from nameexpr.compiler.lowering.positions import at_positions

                return at_positions(self.build, self.graph, number, self.source)
            case _:
                from nameexpr.compiler.lowering.values import lower_value

                return lower_value(self.build, self.graph, number, self.source)

    def source(self, number: int) -> Value:
        """Return a value as an array."""
        return self.strong(self.value(number))

    def values_of(self, numbers: Sequence[int]) -> list[Value]:
        """Return values; those that their first reader creates are created in the order of the others."""
        late = [number for number in numbers if number in self.late and number not in self.values]
        if late:
            from nameexpr.compiler.lowering.pointwise import order_of

            order = order_of(self.build, [self.value(one) for one in numbers if one not in late])
            for one in late:
                self.value(one, order)
        return [self.value(number) for number in numbers]

    def _map(self, number: int, node: Map, preferred: Labels) -> Value:
        if self.fusing is not None and self.fusing.fuses(number):
            return self.fusing.lowered(self.build, number, self.values_of)
        if node.function == CAST:
            value, dtype = self.value(node.arguments[0]), self.graph.dtypes[number]
            is_weak = isinstance(value.dtype, WeakDtype)  # an error if the dtype cannot hold it
            return self._array_of(value, dtype, dtype) if is_weak else self.build.cast(value, dtype)
        from nameexpr.compiler.lowering.pointwise import lower_map

        return lower_map(self.build, self.graph, number, self.values_of, preferred)

    def _reduction(self, number: int, node: Reduction, preferred: Labels) -> Value:
        if self.fusing is not None and self.fusing.fuses(number):
            return self.fusing.lowered(self.build, number, self.values_of)
        factors = [self.strong(value) for value in self.values_of(node.factors)]
        own, dtype = self.graph.labels[number], self.graph.dtypes[number]
        # A reduced label may occur in the result as a new dim.
        order = tuple(dict.fromkeys([label for label in preferred if label not in node.labels] + [*own]))
        # Whether any product of bools is true follows from their count, computed in floats.
        is_counted = node.reducer == "any" and node.result == "bool" != node.compute
        reducer = "sum" if is_counted else node.reducer
        terms = tuple([value.labels for value in factors])
        contraction = Contraction(terms, order, node.labels, reducer, self.graph.sizes)
        plan, offset = self.planned(number, contraction, node.factors)
        if plan.contraction.terms != terms:
            pairs = zip(factors, plan.contraction.terms, strict=True)
            factors = [self.build.with_labels(factor, labels) for factor, labels in pairs]
        if plan.reduced and plan.steps and plan.steps[0].flops >= self.build.target.huge_cells:
            from nameexpr.compiler.lowering.fused_product import fused_product

            if (fused := fused_product(self.graph, self.build, node, plan, factors, offset)) is not None:
                return fused
        dtypes = Dtypes(tuple([value.dtype for value in factors]), node.compute, node.result)
        if plan.is_open:
            from nameexpr.compiler.lowering.orders import quickest_order

            plan = quickest_order(self.build, plan, factors, dtypes)
            self.plans[number] = plan, offset
        made = lower_reduction(self.build, plan, factors, dtypes, offset)
        if new := [label for label in own if label not in made.labels]:
            made = self.build.with_labels(made, (*made.labels, *new))
        if not dtype or made.dtype:
            return made if made.dtype == dtype else self.build.cast(made, dtype)
        self.build.notes[-1] = replace(self.build.notes[-1], dtype=dtype)
        return replace(made, dtype=dtype)

    def planned(
        self, number: int, contraction: Contraction, factors: Sequence[int]
    ) -> tuple[ContractionPlan, int]:
        """Return the plan of a reduction, and the number of steps before its own."""
        last, before = next(reversed(self.plans.values()), (None, 0))
        self.plans[number] = self.plan(contraction, factors), before + len(last.steps if last else ())
        return self.plans[number]

    def strong(self, value: Value) -> Value:
        """Return a Python scalar as an array of the dtype that NumPy gives it; an array unchanged."""
        if not isinstance(value.dtype, WeakDtype):
            return value
        kernel = "as_array" if value.dtype == WEAK[int] else "asarray"
        return self._array_of(value, kernel, value.dtype.strong)

    def _array_of(self, value: Value, kernel: str, dtype: str) -> Value:
        made = Instruction("pointwise", (value.number,), dtype=dtype, function=kernel, constants=(None,))
        return self.build.emit(made, (), dtype, ())

    def _arranged(self, source: int, axes: Axes, *, is_row_major: bool) -> Value:
        value = self.strong(self.value(source, tuple(dict.fromkeys(chain.from_iterable(axes)))))
        is_view = not value.is_fresh and is_moved(self.graph.nodes[source])
        return lower_arrangement(self.build, axes, value, is_moved=is_view, is_row_major=is_row_major)


def lower(
    graph: Graph,
    outputs: Sequence[int],
    operands: Operands,
    plan: Planner,
    target: Target,
    fusing: FusionPlan | None = None,
    row_major: bool = False,
    ranks: tuple[int, ...] = (),
    needed: Collection[int] = (),
) -> tuple[Program, tuple[ContractionPlan, ...]]:
    """Return the program that computes some values of a graph, and the plans of its reductions.

    `fusing` determines what is computed in blocks, if anything; `row_major` whether results must be new
    memory in row-major order; `ranks` which strategy to use at each choice, by default the cheapest by the
    cost model. `needed` are the values that the outputs need, if known.
    """
    build = Builder(graph.sizes, len(operands.shapes), target, ranks=ranks)
    lowering = Lowering(graph, build, operands, plan, fusing, frozenset(outputs if row_major else ()))
    program = lowering.program(needed or use_counts(graph, outputs), outputs)
    return program, tuple([plan for plan, _ in lowering.plans.values()])


def schedule_order(graph: Graph, needed: Collection[int], inside: Collection[int]) -> list[int]:
    """Return the values to create, without those only `inside` of blocks or requested by an arrangement. Each
    finds its sources created, so that no chain of statements exceeds Python's recursion limit.
    """
    nodes, skipped = graph.nodes, set(inside)
    for number in needed:
        node = nodes[number]
        if isinstance(node, Arrange) and isinstance(nodes[node.value], Reduction):
            skipped.add(node.value)
    return [n for n in sorted(needed) if n not in skipped and not isinstance(nodes[n], Scalar)]


def operand_value(build: Builder, node: View, operands: Operands) -> Value:
    """Return an operand with one axis per label."""
    position, strides = node.position, operands.strides(node.position)
    strides = row_major_strides(operands.shapes[position]) if strides is None else strides
    value = Value(position, (), operands.dtypes[position], strides, is_fresh=False)
    return lower_view(build, value, node.axes)


def lower_view(build: Builder, source: Value, axes: Axes) -> Value:
    """Return an array with one axis per label; only number, dtype and memory of `source` matter."""
    labels = tuple([label for group in axes for label in group])
    number, strides, is_split = source.number, source.strides, any(len(group) != 1 for group in axes)
    if strides is not None and is_split:
        split: list[int] = []
        for group, stride in zip(reversed(axes), reversed(strides), strict=True):
            for label in reversed(group):  # the last label of a group has the dim's own stride
                split.append(stride)
                stride *= build.sizes[label]
        strides = tuple(reversed(split))
    elif strides is None and not is_split:
        strides = build.row_major_strides(labels)
    value = Value(number, labels, source.dtype, strides, source.is_fresh, MAGNITUDE.get(source.dtype))
    if is_split:
        value = replace(value, number=build.reshape(value, build.shape(labels), labels).number)
    return build.diagonal(value) if len(set(labels)) < len(labels) else value


def lower_arrangement(
    build: Builder, result: Axes, value: Value, *, is_moved: bool, is_row_major: bool = False
) -> Value:
    """Give the result its new and repeated dims, its order and groups; copy it unless it is only moved.

    With `is_row_major` it is fresh memory in row-major order.
    """
    flat = tuple([label for labels in result for label in labels])
    order = tuple(dict.fromkeys(flat))
    new = [label for label in order if label not in value.labels]
    if len(order) < len(flat):
        letters = tuple(range(len(order))), tuple([order.index(label) for label in flat])
        source = build.expand(value, order)
        embed = Instruction("embed", (source.number,), build.shape(flat), letters=letters)
        value = build.emit(embed, flat, value.dtype)
    elif all(isinstance(label, Unnamed) and label.is_literal and label.size == 1 for label in new):
        kept = tuple([label for label in order if label in value.labels])
        value = value if kept == value.labels else build.transpose(value, kept)
    else:
        source = build.expand(value, order)
        value = build.emit(Instruction("repeat", (source.number,), build.shape(order)), flat, value.dtype)
    if value.labels != flat or any(len(labels) != 1 for labels in result):
        if value.labels == flat and not value.is_fresh:  # it may still be created in another layout
            value = build.make_mergeable(value, result)
        groups = [product_label(labels, " ") for labels in result]
        merged = dict(zip(groups, map(build.size, result), strict=True))
        shape = tuple(build.size(labels) for labels in result)
        build.sizes = {**build.sizes, **merged}
        value = build.reshape(value, shape, groups)
    if is_row_major:
        return build.copied(value, is_lax=value.is_fresh)
    if not value.is_fresh and not is_moved:
        return build.copied(value)
    return value
