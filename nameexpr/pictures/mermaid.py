"""Networks and flows as text for Mermaid. Only names of ours are outside quotes.

Inside quotes Mermaid still sees Markdown, HTML, directives and entities, so every character is written as a
numbered entity that is no letter, no digit and not among a few signs without a meaning.
"""

from __future__ import annotations

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Leg, Network
from nameexpr.pictures.flow import node_lines
from nameexpr.pictures.network import MADE, thickness
from nameexpr.pictures.network_layout import label_words
from nameexpr.pictures.words import flat

COLUMNS = 120
_PLAIN = frozenset(" ,=.")


def quoted(*lines: str) -> str:
    """Return lines as a string of Mermaid.

    Examples
    --------
    >>> print(quoted('say "a"', "end"))
    "say #34;a#34;<br/>end"
    """
    return '"' + "<br/>".join(_safe(line) for line in lines) + '"'


def _safe(line: str) -> str:
    text = flat(visible(line))
    return "".join(one if one.isalnum() or one in _PLAIN else f"#{ord(one)};" for one in text) or " "


def mermaid_network(network: Network) -> str:
    """Return a network: a box for each tensor, a dot where a label joins more than two places."""
    lines = ["flowchart LR"]
    lines += [
        f"  t{number}[{quoted(*filter(None, (one.title, one.note)))}]"
        for number, one in enumerate(network.tensors)
    ]
    if not all(leg.ends for leg in network.legs):
        lines.append(f"  made[{quoted(MADE)}]")
    edges: list[tuple[str, int]] = []
    for number, leg in enumerate(network.legs):
        for line, is_edge in _leg(number, leg):
            if is_edge:
                edges.append((line, leg.size))
            else:
                lines.append(line)
    lines += [line for line, _ in edges]
    lines += [
        f"  linkStyle {number} stroke-width:{thickness(size):g}px" for number, (_, size) in enumerate(edges)
    ]
    return "\n".join(lines) + "\n"


def _leg(number: int, leg: Leg) -> list[tuple[str, bool]]:
    """Return the lines of a label, each with whether it is an edge."""
    ends = [f"t{end}" for end in leg.ends] or ["made"]
    label = quoted(label_words(leg))
    if leg.is_hyperedge:
        line, arrow = ("---", "-->") if leg.is_open else ("-.-", "")
        made = [(f"  h{number}(({label}))", False), *((f"  {end} {line} h{number}", True) for end in ends)]
        tip = [(f"  o{number}([{label}])", False), (f"  h{number} {arrow} o{number}", True)]
        return made + (tip if leg.is_open else [])
    if leg.is_open:
        return [(f"  o{number}([{label}])", False), (f"  {ends[0]} --> o{number}", True)]
    if len(ends) == 1:
        return [(f"  e{number}[/{label}/]", False), (f"  {ends[0]} -.-x e{number}", True)]
    return [(f"  {ends[0]} -.-|{label}| {ends[1]}", True)]


def mermaid_flow(flow: Flow) -> str:
    """Return a flow of values, operands first."""
    lines = ["flowchart TD"]
    for number, node in enumerate(flow.nodes):
        words = quoted(*node_lines(node, COLUMNS))
        opening, closing = ("([", "])") if node.kind == "operand" else ("[", "]")
        lines.append(f"  n{number}{opening}{words}{closing}")
    for number, node in enumerate(flow.nodes):
        lines += [f"  n{source} --> n{number}" for source in node.sources]
    lines += [f"  style n{number} stroke-width:3px" for number in flow.outputs]
    lines += [
        f"  style n{number} stroke-dasharray:4 3"
        for number, node in enumerate(flow.nodes)
        if node.kind == "held"
    ]
    return "\n".join(lines) + "\n"
