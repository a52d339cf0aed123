"""The contraction tree as text, for a terminal: the result on top, what it is made of below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.words import bytes_text, flops_text

MOST = 200
"""Lines after which a tree is cut short."""


def drawn(flow: Flow, names: Sequence[str] = ()) -> str:
    """Return a tree as lines; `names` are what the session calls the operands, in order.

    >>> operands = Node("operand", "x", "N C"), Node("operand", "w", "C")
    >>> nodes = (*operands, Node("step", "dot", "N", (0, 1), 12, 16))
    >>> print(drawn(Flow("N C, C -> N", "contraction tree", nodes, (2,))))
    dot  N  12 flops  16 B
    ├── x  N C
    └── w  C
    """
    operands = [node for node in flow.nodes if node.kind == "operand"]
    if len(names) == len(operands):
        called = iter(names)
        nodes = [replace(one, title=next(called)) if one.kind == "operand" else one for one in flow.nodes]
        flow = replace(flow, nodes=tuple(nodes))
    lines: list[str] = []
    seen: set[int] = set()
    for number in reversed(flow.outputs):
        _walk(flow, number, "", "", lines, seen)
    if len(lines) > MOST:
        lines[MOST:] = [f"... and {len(lines) - MOST:,} more lines"]
    return "\n".join(lines)


def _walk(flow: Flow, start: int, first: str, rest: str, lines: list[str], seen: set[int]) -> None:
    """Write a value and what it is made of; a value met before is only named."""
    waiting = [(start, first, rest)]
    while waiting:
        number, head, below = waiting.pop()
        node = flow.nodes[number]
        is_known = number in seen and node.sources
        lines.append((head + _said(node) + ("  (as above)" if is_known else "")).rstrip())
        if is_known:
            continue
        seen.add(number)
        sources = node.sources
        for place, source in reversed(list(enumerate(sources))):
            is_last = place == len(sources) - 1
            waiting.append(
                (source, below + ("└── " if is_last else "├── "), below + ("    " if is_last else "│   "))
            )


def _said(node: Node) -> str:
    parts = [node.title, node.dims]
    if node.flops is not None and node.kind != "operand":
        parts.append(flops_text(node.flops))
    if node.bytes and node.kind != "operand":
        parts.append(bytes_text(node.bytes))
    return visible("  ".join(part for part in parts if part).replace("\n", " "))
