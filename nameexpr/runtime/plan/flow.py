"""The pictures of a formula as data.

A formula is not a single contraction, so its network is the flow of its values as they are written: operands,
functions, reductions. Its tree is the flow of the steps that are run, which may do several of these at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir import graph as graphs
from nameexpr.compiler.ir.axes import Axes, shown
from nameexpr.compiler.ir.graph import (
    Along,
    Arrange,
    Drop,
    Filled,
    Graph,
    Index,
    Map,
    Reduction,
    Scalar,
    View,
    number_of,
)
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.ops import FUNCTIONS, OPERATORS, SIGNS
from nameexpr.pictures.data import Flow, Node
from nameexpr.rules.calls import shown as shown_number
from nameexpr.runtime.plan.network import dims_text, shape_text, with_size
from nameexpr.runtime.plan.running import Running
from nameexpr.runtime.plan.steps import Row

HOLE = "·"
"""Stands for a value without a name, which a line brings."""


def formula_graphs(running: Running, text: str, rows: Sequence[Row]) -> tuple[Flow, Flow]:
    """Return the flow of a formula's values and that of the steps that are run."""
    bound = frozenset(running.compiled.tree.operands[position] for position in running.bound)
    return _Values(running.compiled, bound).flow(text), _steps_flow(running, text, rows, bound)


class _Values:
    """The values that the outputs need, with the names that statements give them. Numbers stand in the
    functions that take them; what only orders dims is left out.
    """

    def __init__(self, compiled: Compilation[Scope], bound: frozenset[str]) -> None:
        self.compiled, self.bound = compiled, bound
        self.names: dict[int, list[str]] = {}
        for one, value in zip(compiled.tree.tree.statements, compiled.statements, strict=True):
            if one.name is not None:
                self.names.setdefault(value, []).append(one.name)

    def flow(self, text: str) -> Flow:
        """Return the flow of values."""
        outputs = [_behind(self.compiled.graph, value) for value in self.compiled.outputs]
        needed, stack = set(outputs), [*outputs]
        while stack:
            new = set(_sources(self.compiled.graph, stack.pop())) - needed
            needed |= new
            stack += new
        numbers = {value: number for number, value in enumerate(sorted(needed))}
        nodes = tuple(self._node(value, numbers) for value in numbers)
        return Flow(text, "Flow of values", nodes, tuple(dict.fromkeys(numbers[one] for one in outputs)))

    def _node(self, value: int, numbers: Mapping[int, int]) -> Node:
        graph, node = self.compiled.graph, self.compiled.graph.nodes[value]
        sources = tuple(numbers[source] for source in _sources(graph, value))
        axes: Axes = tuple((label,) for label in graph.labels[value])
        if isinstance(node, Arrange | View):
            axes = node.axes
        title, is_operand = self._title(value), isinstance(node, View) and node.position >= 0
        note = "bound" if is_operand and title in self.bound else ""
        if not is_operand:
            title = " = ".join([*self.names.get(value, ()), title])
        kind = "operand" if is_operand else "step"
        return Node(kind, title, dims_text(axes, graph.sizes), sources, note=note)

    def _argument(self, value: int) -> str:
        """Return what stands for an argument: a number, a name, or a dot."""
        graph, value = self.compiled.graph, _behind(self.compiled.graph, value)
        node = graph.nodes[value]
        if isinstance(node, Scalar):
            return _written(number_of(node))
        if isinstance(node, View) and node.position >= 0:
            return self.compiled.tree.operands[node.position]
        return self.names.get(value, [HOLE])[0]

    def _title(self, value: int) -> str:
        node = self.compiled.graph.nodes[value]
        match node:
            case View(position, earlier):
                return self.compiled.tree.operands[position] if earlier < 0 else "with other labels"
            case Scalar():
                return str(number_of(node))
            case Filled(number):
                return _written(number)
            case Index(label):
                return f"index[{shown(label)}]"
            case Map(graphs.CAST, _, dtype):
                return f"as {dtype}"
            case Map(function, arguments):
                return _call(function, [self._argument(one) for one in arguments])
            case Reduction(reducer, factors, labels):
                inner = " * ".join([self._argument(factor) for factor in factors])
                return f"{reducer}[{' '.join(map(shown, labels))}]({inner})"
            case Along(function, source, labels):
                return f"{function}[{' '.join(map(shown, labels))}]({self._argument(source)})"
            case Arrange():
                return "arranged"
            case Drop(_, labels):
                return f"without {' '.join(map(shown, labels))}"


def _behind(graph: Graph, value: int) -> int:
    """Return the value itself in place of one that has its dims as they are."""
    node = graph.nodes[value]
    while isinstance(node, Arrange) and node.axes == tuple((label,) for label in graph.labels[node.value]):
        value = node.value
        node = graph.nodes[value]
    return value


def _sources(graph: Graph, value: int) -> list[int]:
    """Return the values that a value is made of, numbers left out."""
    sources = [_behind(graph, source) for source in graphs.sources_of(graph.nodes[value])]
    return [source for source in sources if not isinstance(graph.nodes[source], Scalar)]


def _call(function: str, arguments: Sequence[str]) -> str:
    """Return a pointwise function as it would be written."""
    row = FUNCTIONS[function]
    if row is SIGNS.get(row.name):
        return f"{row.name}{arguments[0]}"
    if row is OPERATORS.get(row.name):
        return f"{arguments[0]} {row.name} {arguments[1]}"
    return f"{row.name}({', '.join(arguments)})"


def _steps_flow(running: Running, text: str, rows: Sequence[Row], bound: frozenset[str]) -> Flow:
    """Return the flow of the steps that are run; a loop is one, with the flops of all that is in it."""
    nodes = [_operand(running, position, bound) for position in range(len(running.operands))]
    for step, one, note, shape, loops, title in rows:
        if loops:
            nodes[-1] = replace(nodes[-1], flops=(nodes[-1].flops or 0) + step.flops)
            continue
        dims = shape_text(shape)
        if shape and len(note.labels) == len(shape):
            dims = " ".join(with_size(*pair) for pair in zip(note.labels, shape, strict=True))
        place = "view" if (is_view(one) or one.primitive == "cast") and not step.bytes else ""
        if one.over is not None:
            place = "in place"
        size = prod(shape) * item_bytes(note.dtype)
        nodes.append(Node("step", title, dims, one.sources, step.flops, size, place))
    return Flow(text, "Flow of steps", tuple(nodes), running.program.outputs)


def _operand(running: Running, position: int, bound: frozenset[str]) -> Node:
    """Return an operand of the steps: one of the formula, or a value that was computed once."""
    shape, listed = running.shapes[position], running.operands[position]
    dtype = running.given[position].dtype if position < len(running.given) else "float64"
    size = prod(shape) * item_bytes(dtype)
    if listed.is_held:
        return Node("held", listed.label, shape_text(shape), bytes=size, note="computed once")
    note = "bound" if listed.label in bound else ""
    return Node("operand", listed.label, shape_text(shape), bytes=size, note=note)


def _written(number: complex) -> str:
    """Return a number in few characters."""
    return shown_number(number) if isinstance(number, int) else f"{number:.6g}"
