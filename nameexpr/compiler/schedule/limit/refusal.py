"""The diagnostic for a text that no program can compute within a memory limit.

LimitError[NE709]: the expression needs 90,000,000 bytes at its peak, and memory_limit is 1,000,000
  query dim, key dim -> query key : max
  query key  (3000, 3000)  72,000,000 bytes
  help: raise the limit to 48,000, which is enough in blocks, or make 'query' at most 40 (here 3,000)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import Axes, Labels, factors_of, shown
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.nodes import Arrange, Join, View, Window
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program, Shape
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.memory.program import info_of, peak_bytes
from nameexpr.errors import Diagnostic, OperandInfo
from nameexpr.records import record, replace
from nameexpr.syntax.ast import Expression


def over_limit(
    tree: Expression | Scope,
    program: Program,
    layouts: Sequence[OperandLayout],
    results: Sequence[int],
    needed: int,
    limit: int,
    advice: Callable[[tuple[str, ...]], Sequence[str]],
) -> Diagnostic:
    """Return the diagnostic for a text that does not fit a limit.

    Parameters
    ----------
    tree : Expression or Scope
        The text.
    program, layouts : Program, sequence of OperandLayout
        Its program without loops, and the memory layout of its operands.
    results : sequence of int
        The bytes of each result.
    needed, limit : int
        The fewest bytes that were found to suffice, and the limit.
    advice : callable
        A function that takes the labels of the largest value and returns other advice.
    """
    shapes = shapes_of(program)
    peak, needs = peak_bytes(program, shapes, layouts), largest(program, shapes, layouts)
    kind = "expression" if isinstance(tree, Expression) else "formula"
    message = f"the {kind} needs {peak:,} bytes at its peak, and memory_limit is {limit:,}"
    if sum(results) > limit:
        what = "results alone take" if len(results) > 1 else "result alone takes"
        message = f"the {what} {sum(results):,} bytes, and memory_limit is {limit:,}"
    hints = [f"raise the limit to {needed:,}{', which is enough in blocks' if needed < peak else ''}"]
    hints += advice(needs[0].labels) if needs else ()
    infos = [
        OperandInfo(place, need.shape, None, (f"{need.size:,} bytes",), _title(need.labels))
        for place, need in enumerate(needs)
    ]
    return Diagnostic("NE709", message, tree.text, operands=tuple(infos), hint=", or ".join(hints))


@record
class LargeValue:
    """A value of a program: the labels of its axes, its shape and its bytes."""

    labels: tuple[str, ...]
    shape: tuple[int, ...]
    size: int


def largest(
    program: Program, shapes: Sequence[Shape], layouts: Sequence[OperandLayout] = (), count: int = 3
) -> list[LargeValue]:
    """Return the largest values of a program, the largest first; one for each set of labels."""
    info = info_of(program, shapes, layouts)
    needs = [
        LargeValue(note.labels, info.arrays[info.count + number].shape, info.own_bytes(number))
        for number, note in enumerate(program.notes)
    ]
    needs.sort(key=lambda need: -need.size)
    distinct = {need.labels: need for need in reversed(needs)}.values()
    return sorted((need for need in distinct if need.size), key=lambda need: -need.size)[:count]


def _title(labels: Sequence[str]) -> str:
    groups = [[shown(factor) for factor in factors_of(label)] for label in labels]
    words = [f"({' '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return " ".join(words) or "a value"


def smaller_label(
    labels: Sequence[str], sizes: Mapping[str, int], limit: int, peak_with: Callable[[str, int], float]
) -> list[str]:
    """Return how small the largest label of a value would have to be; nothing if that does not help, or if
    the caller cannot choose it.

    Parameters
    ----------
    labels, sizes : sequence of str, mapping of str to int
        The labels of the value, and the sizes of all labels.
    limit : int
        Bytes.
    peak_with : callable
        The peak of the program for another size of a label; infinite if there is none.
    """
    every = [factor for label in labels for factor in factors_of(label)]
    known = [label for label in every if label.isidentifier()]
    name = max(known, key=lambda label: sizes.get(label, 0), default="")
    low, high = 0, sizes.get(name, 0)
    while low + 1 < high:
        middle = (low + high) // 2
        if peak_with(name, middle) <= limit:
            low = middle
        else:
            high = middle
    return [f"make '{name}' at most {low:,} (here {sizes[name]:,})"] if low else []


def resized(graph: Graph, operands: Operands, label: str, size: int) -> tuple[Graph, Operands] | None:
    """Return a graph and its operands, row-major, for another size of a label, and of labels tied to it
    because they see the same dim; None if other dims, or positions, do not fit then.
    """
    seen: dict[int, Axes] = {}
    dims: list[tuple[Labels, Labels]] = []
    for node in graph.nodes:
        if isinstance(node, View):
            other = graph.nodes[node.value] if node.value >= 0 else node
            assert isinstance(other, View | Arrange)
            axes = other.axes if node.value >= 0 else seen.setdefault(node.position, node.axes)
            dims += zip(node.axes, axes, strict=True)
    pairs = [{*one, *other} for one, other in dims if len(one) == len(other) == 1]
    tied = {label}
    while more := set[str]().union(*(pair for pair in pairs if pair & tied)) - tied:
        tied |= more
    windows = [node for node in graph.nodes if isinstance(node, Window)]
    if any(not tied.isdisjoint((read.label, *dict(read.strides))) for one in windows for read in one.reads):
        return None
    joins = [node for node in graph.nodes if isinstance(node, Join)]
    places = [one for node in joins for parts in node.places for one in parts]
    if any(not tied.isdisjoint((one.label, *one.labels)) for one in places):
        return None
    graph = replace(graph, sizes={**graph.sizes, **dict.fromkeys(tied, size)})
    if any(graph.cells(one) != graph.cells(other) for one, other in dims):
        return None
    shapes = [tuple(map(graph.cells, seen[position])) for position in range(len(operands.shapes))]
    return graph, Operands(tuple(shapes), operands.dtypes, (None,) * len(shapes))
