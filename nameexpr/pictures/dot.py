"""Networks and flows as text for Graphviz. Only names of ours are outside quotes."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Leg, Network
from nameexpr.pictures.flow import node_lines
from nameexpr.pictures.network import MADE, thickness
from nameexpr.pictures.network_layout import label_words
from nameexpr.pictures.words import flat

COLUMNS = 120


def quoted(*lines: str) -> str:
    r"""Return lines as a string of DOT, in which nothing has a meaning but quotes and backslashes.

    Examples
    --------
    >>> print(quoted('say "a"', "b"))
    "say \"a\"\nb"
    """
    # A backslash begins an escape of Graphviz's, such as \N for the node's own name.
    safe = [visible(line).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for line in lines]
    return '"' + "\\n".join(safe) + '"'


def dot_network(network: Network) -> str:
    """Return a network: a box for each tensor, a point where a label joins more than two places."""
    lines = ["graph network {", f"  label={quoted(flat(network.title))}", "  node [shape=box]"]
    lines += [
        f"  t{number} [label={quoted(*filter(None, (one.title, one.note)))}]"
        for number, one in enumerate(network.tensors)
    ]
    if not all(leg.ends for leg in network.legs):
        lines.append(f"  made [label={quoted(MADE)}, style=dashed]")
    for number, leg in enumerate(network.legs):
        lines += _leg(number, leg)
    return "\n".join([*lines, "}"]) + "\n"


def _leg(number: int, leg: Leg) -> list[str]:
    """Return the lines of a label: its edges, and the places where it ends."""
    ends = [f"t{end}" for end in leg.ends] or ["made"]
    label, style = quoted(label_words(leg)), "solid" if leg.is_open else "dashed"
    pen = f"style={style}, penwidth={thickness(leg.size):g}"
    if leg.is_hyperedge:
        lines = [f"  h{number} [shape=point, xlabel={label}]"]
        lines += [f"  {end} -- h{number} [{pen}]" for end in ends]
        return lines + (_tip(number, f"h{number}", label, pen) if leg.is_open else [])
    if leg.is_open:
        return _tip(number, ends[0], label, pen)
    if len(ends) == 1:
        return [
            f"  e{number} [shape=point, width=0.01, label={quoted('')}]",
            f"  {ends[0]} -- e{number} [label={label}, {pen}, dir=forward, arrowhead=tee]",
        ]
    return [f"  {ends[0]} -- {ends[1]} [label={label}, {pen}]"]


def _tip(number: int, source: str, label: str, pen: str) -> list[str]:
    return [
        f"  o{number} [shape=plaintext, label={label}]",
        f"  {source} -- o{number} [{pen}, dir=forward]",
    ]


def dot_flow(flow: Flow) -> str:
    """Return a flow of values, operands first."""
    title = flat(f"{flow.what} of {flow.title}")
    lines = ["digraph tree {", f"  label={quoted(title)}", "  node [shape=box]"]
    for number, node in enumerate(flow.nodes):
        lines.append(f"  n{number} [label={quoted(*node_lines(node, COLUMNS))}{_style(flow, number)}]")
        lines += [f"  n{source} -> n{number}" for source in node.sources]
    return "\n".join([*lines, "}"]) + "\n"


def _style(flow: Flow, number: int) -> str:
    styles: Sequence[str] = {"operand": ("rounded",), "held": ("dashed",)}.get(flow.nodes[number].kind, ())
    bold = ("bold",) if number in flow.outputs else ()
    return f", style={quoted(','.join((*styles, *bold)))}" if styles or bold else ""
