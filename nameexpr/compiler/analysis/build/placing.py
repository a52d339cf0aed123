"""Reductions of what a label selects, without comparing every label with every index.

    sum[N](where(label[N] == index[K], x[N D], 0))     each row is added at its label: a `Place`
    sum[K](where(label[N] == index[K], x[K D], 0))     each label reads its row: a `Gather`

Elements that are not selected are the reducer's own empty value, so that leaving them out changes nothing:
nan and inf stay with their label, and a label that no index has selects nothing. A product with a float is
not such a choice, for 0 * nan is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Labels, gathered
from nameexpr.compiler.ir.dtypes import KIND_OF, WeakDtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Filled,
    Gather,
    Index,
    Map,
    Node,
    Place,
    ReadAt,
    Reduction,
    Scalar,
    number_of,
    sources_of,
)
from nameexpr.errors import Span
from nameexpr.records import replace

Reduce = Callable[[Values, str, int, Labels, Span], int]
EMPTY = {"sum": 0, "prod": 1, "max": -inf, "min": inf, "any": 0, "all": 1}
"""What each reducer returns for no elements."""
WHOLE = frozenset({"int", "uint", "bool"})
INTEGERS = frozenset({"int", "uint"})
LEAST = 1 << 12
"""The number of comparisons from which labels are used as positions."""
INDEX = "int64"


class Selection(NamedTuple):
    """What is reduced: a value where conditions hold, else the empty value; the value None if it is 1.

    `places` are the labels that are compared with an index, with the positions along them.
    """

    places: dict[str, int]
    rest: tuple[int, ...]
    value: int | None


def placed(values: Values, reduced: int, span: Span, reduction: Reduce) -> int:
    """Return a reduction as a value that reads or writes at positions, if it chooses elements by label;
    `reduction` reduces a value over labels.
    """
    graph, whole = values.graph, values.graph.nodes[reduced]
    assert isinstance(whole, Reduction)
    node = _as_sum(graph, whole)
    every = {label for factor in node.factors for label in graph.labels[factor]}
    choice = _choice(graph, node) if graph.cells(tuple(every)) >= LEAST else None
    if choice is None or not graph.cells(graph.labels[reduced]):
        return reduced
    others = [*choice.rest, *([] if choice.value is None else [choice.value])]
    wanted, made = graph.dtypes[reduced], None
    if all(label in node.labels for label in choice.places) and len(choice.places) == 1:
        made = _read(values, node, choice, span, reduction)
    is_apart = not any({*graph.labels[other]} & choice.places.keys() for other in others)
    is_placed = all(
        label not in node.labels and {*graph.labels[place]} & {*node.labels}
        for label, place in choice.places.items()
    )
    if is_apart and is_placed:
        made = _scattered(values, node, graph.labels[reduced], choice, span)
    if made is None:
        return reduced
    if whole.reducer == "mean":
        made = values.map([made, graph.scalar(graph.cells(node.labels))], "/.", span)
    return made if graph.dtypes[made] == wanted else values.cast(made, wanted)


def _as_sum(graph: Graph, node: Reduction) -> Reduction:
    """Return a mean as the sum that is divided by a number, and a count of bools as their sum."""
    is_count = node.reducer == "count_nonzero" and graph.dtypes[node.factors[0]] == "bool"
    return replace(node, reducer="sum") if is_count or node.reducer == "mean" else node


def _choice(graph: Graph, node: Reduction) -> Selection | None:
    """Return what a reduction chooses, None if it chooses otherwise."""
    reducer, factors = node.reducer, node.factors
    if reducer not in EMPTY:
        return None
    condition, value = factors[0], None
    match [graph.nodes[factor] for factor in factors]:
        case [Map("where", (asked, chosen, other))] if _is_empty(graph, reducer, other):
            condition, value = asked, chosen
        case [_] if reducer not in {"sum", "any"}:
            return None
        case [_]:
            pass
        case [_, _] if reducer == "sum" and all(KIND_OF.get(graph.dtypes[one]) in WHOLE for one in factors):
            condition, value = sorted(factors, key=lambda factor: not _conditions(graph, factor)[0])
        case _:
            return None
    if graph.dtypes[condition] != "bool":
        return None
    places, rest = _conditions(graph, condition)
    return Selection(places, tuple(rest), value) if places else None


def _is_empty(graph: Graph, reducer: str, value: int) -> bool:
    node = graph.nodes[value]
    return isinstance(node, Scalar) and node.kind != "-0.0" and number_of(node) == EMPTY[reducer]


def _conditions(graph: Graph, condition: int) -> tuple[dict[str, int], list[int]]:
    """Return the labels that a conjunction compares with an index, with the positions, and what is left."""
    places: dict[str, int] = {}
    rest: list[int] = []
    stack = [condition]
    while stack:
        value = stack.pop()
        node = graph.nodes[value]
        pair = _compared(graph, *node.arguments) if isinstance(node, Map) and node.function == "==." else None
        if pair is not None and pair[0] not in places:
            places[pair[0]] = pair[1]
        elif _is_both(graph, node):
            stack += reversed(sources_of(node))
        else:
            rest.append(value)
    return places, rest


def _is_both(graph: Graph, node: Node) -> bool:
    """Return whether a value is true where two others are."""
    is_and = isinstance(node, Map) and node.function in {"&.", "logical_and"}
    return is_and and all(graph.dtypes[one] == "bool" for one in sources_of(node))


def _compared(graph: Graph, left: int, right: int) -> tuple[str, int] | None:
    """Return the label whose index is compared with integers that do not have the label, and these."""
    for index, other in ((left, right), (right, left)):
        node, dtype = graph.nodes[index], graph.dtypes[other]
        is_whole = KIND_OF.get(dtype) in INTEGERS and not isinstance(dtype, WeakDtype)
        if isinstance(node, Index) and is_whole and node.label not in graph.labels[other]:
            return node.label, other
    return None


def _scattered(values: Values, node: Reduction, order: Labels, choice: Selection, span: Span) -> int:
    """Return rows combined where their labels say."""
    graph = values.graph
    places = dict(choice.places)
    if choice.rest:
        first = next(iter(places))
        chosen = [_all(values, choice.rest, span), wide(values, places[first]), graph.scalar(-1)]
        places[first] = values.map(chosen, "where", span)
    value, dtype = graph.scalar(1), INDEX if node.reducer == "sum" else "bool"
    if choice.value is not None:
        dtype = node.compute
        value = _as_rows(values, choice.value, node.labels, dtype)
    return graph.add(Place(str(node.reducer), value, node.labels, tuple(places.items())), order, dtype)


def _as_rows(values: Values, value: int, labels: Labels, dtype: str) -> int:
    """Return a value in the dtype of the reduction; a number along the reduced labels."""
    graph, node = values.graph, values.graph.nodes[value]
    if isinstance(node, Scalar):
        return graph.add(Filled(number_of(node).real, labels), labels, dtype)
    return value if graph.dtypes[value] == dtype else values.cast(value, dtype)


def _read(values: Values, node: Reduction, choice: Selection, span: Span, reduction: Reduce) -> int | None:
    """Return the elements that labels select of the reduced dim, reduced over the other labels; None if they
    cannot be read so.
    """
    graph = values.graph
    ((label, place),) = choice.places.items()
    if not graph.sizes[label] or any(label in graph.labels[one] for one in choice.rest):
        return None
    inside, at = read_inside(values, wide(values, place), label, span)
    chosen = _all(values, [inside, *choice.rest], span)
    if choice.value is not None:
        value = read_at(graph, choice.value, label, at)
        chosen = values.map([chosen, value, graph.scalar(EMPTY[str(node.reducer)])], "where", span)
    factor = graph.dtypes[node.factors[0]] if len(node.factors) == 1 else node.compute
    chosen = chosen if graph.dtypes[chosen] == factor else values.cast(chosen, factor)
    others = tuple([one for one in node.labels if one != label])
    if others:
        chosen = reduction(values, str(node.reducer), chosen, others, span)
    return chosen


def read_inside(values: Values, place: int, label: str, span: Span) -> tuple[int, int]:
    """Return where positions are inside a dim, and the positions, 0 where they are not."""
    zero = values.graph.scalar(0)
    low = values.map([place, zero], ">=.", span)
    inside = values.map([low, values.map([place, values.graph.count((label,))], "<.", span)], "&.", span)
    return inside, values.map([inside, place, zero], "where", span)


def read_at(graph: Graph, value: int, label: str, at: int) -> int:
    """Return a value read at positions along a label that it may have."""
    if label not in graph.labels[value]:
        return value
    labels = gathered(graph.labels[value], {label: graph.labels[at]})
    return graph.add(Gather(value, (ReadAt(label, at, is_inside=True),)), labels, graph.dtypes[value])


def _all(values: Values, conditions: Sequence[int], span: Span) -> int:
    """Return whether all conditions hold."""
    first, *others = conditions
    for other in others:
        first = values.map([first, other], "&.", span)
    return first


def wide(values: Values, place: int) -> int:
    """Return positions in 64 bits; larger ones become negative, and are outside."""
    return place if values.graph.dtypes[place] == INDEX else values.cast(place, INDEX)
