r"""Networks and flows as text for Graphviz and for Mermaid. Only names of this package are unquoted.

Both languages are written from the same vertices and edges, with different quoting. Inside quotes Mermaid
still interprets Markdown, HTML, directives and entities, so that every character is written as a numbered
entity unless it is a letter, a digit or one of a few signs without a meaning.

>>> print(quoted_dot('say "a"', "b"), quoted_mermaid('say "a"', "end"))
"say \"a\"\nb" "say #34;a#34;<br/>end"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Leg, TensorNetwork
from nameexpr.pictures.flow import node_lines
from nameexpr.pictures.network import MADE
from nameexpr.pictures.sheet import thickness
from nameexpr.pictures.words import dim_words, flat

COLUMNS = 120
_PLAIN = frozenset(" ,=.")
_VERTICES = {
    "tensor": ("label={}", "[{}]"),
    MADE: ("label={}, style=dashed", "[{}]"),
    "joint": ("shape=point, xlabel={}", "(({}))"),
    "tip": ("shape=plaintext, label={}", "([{}])"),
    "stub": ('shape=point, width=0.01, label=""', "[/{}/]"),
    "operand": ("label={}", "([{}])"),
    "step": ("label={}", "[{}]"),
    "held": ("label={}", "[{}]"),
}
"""The shape of each kind of vertex in DOT, and its brackets in Mermaid."""
_EDGES = {
    "joint": ("{pen}", "{line}"),
    "tip": ("{pen}, dir=forward", "-->"),
    "stub": ("label={label}, {pen}, dir=forward, arrowhead=tee", "-.-x"),
    "pair": ("label={label}, {pen}", "-.-|{label}|"),
}
"""The style of each kind of edge of a network in both."""
_FRAMES = {"operand": ("rounded",), "held": ("dashed",)}


class Vertex(NamedTuple):
    """A tensor, a value, or a place where legs meet or end."""

    name: str
    kind: str
    lines: tuple[str, ...]
    is_result: bool = False
    is_derivative: bool = False


class Edge(NamedTuple):
    """A line of a leg; of a flow, which has none, the line from a value to a value computed from it."""

    source: str
    target: str
    kind: str = ""
    leg: Leg | None = None


def quoted_dot(*lines: str) -> str:
    """Quote lines as a string of DOT, in which only quotes and backslashes have a meaning."""
    # A backslash begins an escape of Graphviz, such as \N for the node's own name.
    safe = [visible(line).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for line in lines]
    return '"' + "\\n".join(safe) + '"'


def quoted_mermaid(*lines: str) -> str:
    """Quote lines as a string of Mermaid."""
    safe = [
        "".join(sign if sign.isalnum() or sign in _PLAIN else f"#{ord(sign)};" for sign in flat(line)) or " "
        for line in lines
    ]
    return '"' + "<br/>".join(safe) + '"'


def dot(graph: TensorNetwork | Flow) -> str:
    """Write a network or a flow for Graphviz, a box for each tensor or value."""
    is_flow = isinstance(graph, Flow)
    head, line = ("digraph tree {", "->") if is_flow else ("graph network {", "--")
    title = f"{graph.what} of {graph.title}" if isinstance(graph, Flow) else graph.title
    lines = [head, f"  label={quoted_dot(flat(title))}", "  node [shape=box]"]
    for part in _parts(graph):
        if isinstance(part, Vertex):
            label = _VERTICES[part.kind][0].format(quoted_dot(*part.lines))
            styles = ",".join([*_FRAMES.get(part.kind, ()), *(["bold"] if part.is_result else [])])
            frame = f', style="{styles}"' if styles else ""
            frame += ", peripheries=2" if part.is_derivative else ""
            lines.append(f"  {part.name} [{label}{frame}]")
        elif part.leg is None:
            lines.append(f"  {part.source} {line} {part.target}")
        else:
            pen = f"style={'solid' if part.leg.is_open else 'dashed'}, penwidth={thickness(part.leg.size):g}"
            label = quoted_dot(dim_words(part.leg.label, part.leg.size))
            words = _EDGES[part.kind][0].format(pen=pen, label=label)
            lines.append(f"  {part.source} {line} {part.target} [{words}]")
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(graph: TensorNetwork | Flow) -> str:
    """Write a network or a flow for Mermaid; styles follow by the number of an edge, so edges come last."""
    parts = list(_parts(graph))
    vertices = [part for part in parts if isinstance(part, Vertex)]
    edges = [part for part in parts if isinstance(part, Edge)]
    lines = ["flowchart TD" if isinstance(graph, Flow) else "flowchart LR"]
    lines += [f"  {one.name}{_brackets(one).format(quoted_mermaid(*one.lines))}" for one in vertices]
    for edge in edges:
        arrow = "-->"
        if edge.leg is not None:
            line, words = "---" if edge.leg.is_open else "-.-", dim_words(edge.leg.label, edge.leg.size)
            arrow = _EDGES[edge.kind][1].format(line=line, label=quoted_mermaid(words))
        lines.append(f"  {edge.source} {arrow} {edge.target}")
    legs = [edge.leg for edge in edges if edge.leg is not None]
    lines += [f"  linkStyle {n} stroke-width:{thickness(leg.size):g}px" for n, leg in enumerate(legs)]
    lines += [f"  style {vertex.name} stroke-width:3px" for vertex in vertices if vertex.is_result]
    lines += [f"  style {vertex.name} stroke-dasharray:4 3" for vertex in vertices if vertex.kind == "held"]
    return "\n".join(lines) + "\n"


def _brackets(vertex: Vertex) -> str:
    """Return the brackets of a vertex in Mermaid: double ones for what only derivatives need."""
    return "[[{}]]" if vertex.is_derivative else _VERTICES[vertex.kind][1]


def _parts(graph: TensorNetwork | Flow) -> Iterator[Vertex | Edge]:
    """Yield the vertices and edges of a graph; an edge comes after the vertices that it joins."""
    if isinstance(graph, Flow):
        for number, node in enumerate(graph.nodes):
            lines = tuple(node_lines(node, COLUMNS))
            yield Vertex(f"n{number}", node.kind, lines, number in graph.outputs, node.is_derivative)
            yield from (Edge(f"n{source}", f"n{number}") for source in node.sources)
        return
    for number, tensor in enumerate(graph.tensors):
        yield Vertex(f"t{number}", "tensor", tuple(filter(None, (tensor.title, tensor.note))))
    if not all(leg.ends for leg in graph.legs):
        yield Vertex(MADE, MADE, (MADE,))
    for number, leg in enumerate(graph.legs):
        yield from _leg_parts(number, leg)


def _leg_parts(number: int, leg: Leg) -> Iterator[Vertex | Edge]:
    """Yield the edges of a leg, and the places where they meet and end."""
    ends, words = [f"t{end}" for end in leg.ends] or [MADE], (dim_words(leg.label, leg.size),)
    if leg.is_hyperedge:
        yield Vertex(f"h{number}", "joint", words)
        yield from (Edge(end, f"h{number}", "joint", leg) for end in ends)
    if leg.is_open:
        yield Vertex(f"o{number}", "tip", words)
        yield Edge(f"h{number}" if leg.is_hyperedge else ends[0], f"o{number}", "tip", leg)
    elif len(ends) == 1:
        yield Vertex(f"e{number}", "stub", words)
        yield Edge(ends[0], f"e{number}", "stub", leg)
    elif not leg.is_hyperedge:
        yield Edge(ends[0], ends[1], "pair", leg)
