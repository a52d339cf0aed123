"""Which values a gradient goes through: those between a value and what it is differentiated by."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nameexpr.compiler.gradient.pointwise import reaches
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.gradient.rules import ALONG, REDUCTIONS, SORTED
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Along,
    Gather,
    Identity,
    Map,
    Node,
    Place,
    Recurrence,
    Reduction,
    State,
    View,
    sources_of,
)
from nameexpr.records import record

ADDING = frozenset({"sum", "mean"})


class UnknownGradientError(Exception):
    """An error for a value whose gradient is not known: `what` is missing, and for which function."""

    def __init__(self, what: str, function: str = "") -> None:
        super().__init__(what)
        self.what, self.function = what, function


@record
class Wanted:
    """What a value is differentiated by: positions of operands, names of statements, and rows of recurrences,
    each as the key of a `State`, its statement and its offset.
    """

    operands: frozenset[int]
    statements: frozenset[str]
    rows: frozenset[tuple[str, int, int]] = frozenset()

    def holds(self, node: Node) -> bool:
        """Return whether a value is one of these."""
        match node:
            case View(position, -1):
                return position in self.operands
            case Identity(_, name):
                return name in self.statements
            case State(key, number, _, offset):
                return (key, number, offset) in self.rows
        return False


def ancestors(graph: Graph, value: int) -> set[int]:
    """Return all values that a value depends on, itself and those of the steps of recurrences among them."""
    found: set[int] = set()
    stack = [value]
    while stack:
        number = stack.pop()
        if number not in found:
            found.add(number)
            node = graph.nodes[number]
            stack += [*sources_of(node), *(node.steps if isinstance(node, Recurrence) else ())]
    return found


def active_values(graph: Graph, needed: Collection[int], wanted: Wanted) -> set[int]:
    """Return the values that depend on what is wanted in such a way that a gradient goes through them."""
    active: set[int] = set()
    for value in sorted(needed):
        node = graph.nodes[value]
        if not is_inexact(graph.dtypes[value]) and not isinstance(node, Recurrence):
            continue
        is_reached = any(source in active for source in passing(graph, value))
        if is_reached:
            _check_known(graph, value)
        if is_reached or wanted.holds(node):
            active.add(value)
    return active


def passing(graph: Graph, value: int) -> Sequence[int]:
    """Return the sources of a value that its gradient reaches."""
    node = graph.nodes[value]
    match node:
        case Map():
            return reaches(graph, node)
        case Reduction(reducer) if reducer not in ADDING and not REDUCTIONS.get(str(reducer), "?"):
            return ()
        case Along(function) if not ALONG.get(function, "?"):
            return ()
        case Identity(_, ""):
            return ()
        case Gather(value) | Place(_, value):
            return (value,)
        case Recurrence():
            return (*node.steps, *[value for starts in node.starts for _, value in starts])
    return sources_of(node)


def _check_known(graph: Graph, value: int) -> None:
    match graph.nodes[value]:
        case Along(function) if function not in ALONG and function not in SORTED:
            raise UnknownGradientError(f"no gradient of {function} is known", function)
        case Reduction(str(reducer)) if reducer not in ADDING and reducer not in REDUCTIONS:
            raise UnknownGradientError(f"no gradient of {reducer} is known", reducer)


def lost(graph: Graph, needed: Collection[int], active: Collection[int]) -> list[int]:
    """Return the values through which no gradient goes, though one would reach them."""
    return [
        value
        for value in sorted(needed)
        if value not in active and any(source in active for source in sources_of(graph.nodes[value]))
    ]
