"""The pictures of a formula as data.

A formula is not a single contraction, so that its network is the flow of its values as they are written:
operands, functions, reductions. Its tree is the flow of the steps that are executed, which may combine
several of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import prod
from typing import Any

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.axes import Axes, shown
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    CAST,
    Along,
    Arrange,
    Drop,
    Filled,
    Gather,
    Identity,
    Index,
    Join,
    Map,
    Place,
    Recurrence,
    Reduction,
    Rows,
    Scalar,
    SizeOf,
    State,
    View,
    Window,
    number_of,
    sources_of,
)
from nameexpr.compiler.ir.nodes import Node as GraphNode
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.ops import FUNCTIONS
from nameexpr.pictures.data import Flow, Node
from nameexpr.runtime.plan.derivatives import forward_steps, forward_values
from nameexpr.runtime.plan.network import dims_text, shape_text, with_size
from nameexpr.runtime.plan.running import Running
from nameexpr.runtime.plan.steps import Row
from nameexpr.runtime.plan.titles import HOLE, along, written_call, written_number


def formula_graphs(running: Running, text: str, rows: Sequence[Row]) -> tuple[Flow, Flow]:
    """Return the flow of a formula's values and that of the executed steps."""
    names = _operand_names(running.compiled)
    bound = frozenset(names[position] for position in running.bound)
    values = _Values(running.compiled, bound)
    return values.flow(text), _steps_flow(running, text, rows, bound, values.forward)


class _Values:
    """The values that the outputs need, with the names of statements. Numbers are shown in the functions that
    take them; values that only reorder dims are left out.
    """

    def __init__(self, compiled: Compilation[Any], bound: frozenset[str]) -> None:
        self.compiled, self.bound, self.operands = compiled, bound, _operand_names(compiled)
        self.forward = forward_values(compiled, lambda value: sources_of(compiled.graph.nodes[value]))
        self.names: dict[int, list[str]] = {}
        statements = compiled.tree.tree.statements if isinstance(compiled.tree, Scope) else ()
        for one, value in zip(statements, compiled.statements, strict=bool(statements)):
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
        flow = Flow(text, "Flow of values", nodes, tuple(dict.fromkeys(numbers[one] for one in outputs)))
        views = {numbers[value] for value in needed if _is_reordering(self.compiled.graph.nodes[value])}
        return _without_views(flow, views)

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
        is_derivative = not is_operand and self.forward is not None and value not in self.forward
        dims = dims_text(axes, graph.sizes)
        return Node(kind, title, dims, sources, note=note, is_derivative=is_derivative)

    def _argument(self, value: int) -> str:
        """Return the text of an argument: a number, a name, or a dot."""
        graph, value = self.compiled.graph, _behind(self.compiled.graph, value)
        node = graph.nodes[value]
        if isinstance(node, Scalar):
            return written_number(number_of(node))
        if isinstance(node, View) and node.position >= 0:
            return self.operands[node.position]
        return self.names.get(value, [HOLE])[0]

    def _title(self, value: int) -> str:  # noqa: PLR0912  a case for each kind
        node = self.compiled.graph.nodes[value]
        match node:
            case View(position, earlier):
                return self.operands[position] if earlier < 0 else "relabelled"
            case Scalar():
                return str(number_of(node))
            case Filled(number):
                return written_number(number)
            case Index(label):
                return f"index[{shown(label)}]"
            case Map(function, _, dtype) if function == CAST:
                return f"as {dtype}"
            case Map(function, arguments):
                return written_call(FUNCTIONS[function], [self._argument(one) for one in arguments])
            case Reduction(reducer, factors, labels):
                inner = " * ".join([self._argument(factor) for factor in factors])
                return along(str(reducer), labels, inner)
            case Along(function, source, labels):
                return along(function, labels, self._argument(source))
            case Place(reducer, source, labels):
                return along(f"{reducer} by label", labels, self._argument(source))
            case Arrange() | Identity() | SizeOf():
                return "reordered"
            case Recurrence(_, label):
                return f"steps along {shown(label)}"
            case Rows() | State():
                return "rows"
            case Window(source) | Gather(source):
                return self._read_title(node, self._argument(source))
            case Join(values):
                return f"concatenation of {', '.join([self._argument(one) for one in values])}"
            case Drop(_, labels):
                return f"without {' '.join(map(shown, labels))}"

    def _read_title(self, node: Window | Gather, source: str) -> str:
        if isinstance(node, Window):
            return f"window of {source}"
        return f"{source} at {', '.join([self._argument(position.value) for position in node.positions])}"


def _operand_names(compiled: Compilation[Any]) -> Sequence[str]:
    """Return the operands as pictures call them: by their names in a formula."""
    if isinstance(compiled.tree, Scope):
        return compiled.tree.operands
    return [f"operand {position}" for position in range(len(compiled.operands.shapes))]


def _behind(graph: Graph, value: int) -> int:
    """Return the value that a reordering has as its source, else the value itself."""
    node = graph.nodes[value]
    while isinstance(node, Arrange) and node.axes == tuple((label,) for label in graph.labels[node.value]):
        value = node.value
        node = graph.nodes[value]
    return value


def _is_reordering(node: GraphNode) -> bool:
    """Return whether a value only has the elements of another one, with other labels or in another order."""
    return isinstance(node, Arrange | Drop) or (isinstance(node, View) and node.position < 0)


def _without_views(flow: Flow, views: AbstractSet[int]) -> Flow:
    """Merge views into their readers, and views that are results into their sources; a view is kept if its
    source is an operand, or has other readers.
    """
    origins = list(range(len(flow.nodes)))
    for view in sorted(views):
        origins[view] = origins[flow.nodes[view].sources[0]]
    nodes, kept = list(flow.nodes), set(origins) | (set(range(len(origins))) - views)
    read = {
        origins[source] for number, node in enumerate(nodes) if number not in views for source in node.sources
    }
    taken = {output for output in flow.outputs if output not in views}
    for output in flow.outputs:
        origin = origins[output]
        if output in views and nodes[origin].kind == "step" and origin not in read | taken:
            nodes[origin] = replace(nodes[origin], dims=nodes[output].dims)
            taken.add(origin)
        elif output in views:
            nodes[output] = replace(nodes[output], sources=(origin,))
            origins[output] = output
            kept.add(output)
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    left = tuple(
        replace(nodes[old], sources=tuple(numbers[origins[source]] for source in nodes[old].sources))
        for old in numbers
    )
    return Flow(flow.title, flow.what, left, tuple(numbers[origins[output]] for output in flow.outputs))


def _sources(graph: Graph, value: int) -> list[int]:
    """Return the values that a value depends on directly, without numbers."""
    sources = [_behind(graph, source) for source in sources_of(graph.nodes[value])]
    return [source for source in sources if not isinstance(graph.nodes[source], Scalar)]


def _steps_flow(
    running: Running, text: str, rows: Sequence[Row], bound: frozenset[str], forward: set[int] | None
) -> Flow:
    """Return the flow of the executed steps; a loop is one step, with the flops of its body."""
    nodes = [_operand(running, position, bound) for position in range(len(running.operands))]
    views = set()
    for step, one, note, shape, loops, title in rows:
        if loops:
            nodes[-1] = replace(nodes[-1], flops=(nodes[-1].flops or 0) + step.flops)
            continue
        dims = shape_text(shape)
        if shape and len(note.labels) == len(shape):
            dims = " ".join(with_size(*pair) for pair in zip(note.labels, shape, strict=True))
        if (is_view(one) or one.primitive == "cast") and not step.bytes:
            views.add(len(nodes))
        place = "in place" if one.over is not None else ""
        size = prod(shape) * item_bytes(note.dtype)
        nodes.append(Node("step", title, dims, one.sources, step.flops, size, place))
    flow = Flow(text, "Flow of steps", tuple(nodes), running.program.outputs)
    plain = forward_steps(running.compiled, running.program, lambda number: nodes[number].sources, forward)
    return _without_views(flow if plain is None else _marked(flow, plain), views)


def _marked(flow: Flow, plain: AbstractSet[int]) -> Flow:
    """Return a flow whose other steps are parts of derivatives."""
    nodes = (
        replace(node, is_derivative=node.kind == "step" and number not in plain)
        for number, node in enumerate(flow.nodes)
    )
    return replace(flow, nodes=tuple(nodes))


def _operand(running: Running, position: int, bound: frozenset[str]) -> Node:
    """Return an operand of the steps: one of the formula, or a value that was computed once."""
    shape, listed = running.shapes[position], running.operands[position]
    dtype = running.given[position].dtype if position < len(running.given) else "float64"
    size = prod(shape) * item_bytes(dtype)
    if listed.is_held:
        return Node("held", listed.label, shape_text(shape), bytes=size, note="computed once")
    note = "bound" if listed.label in bound else ""
    return Node("operand", listed.label, shape_text(shape), bytes=size, note=note)
