"""The derivatives of products of many elements, exact at all orders, also where elements are 0.

The rules of `prod` and `cumprod` (`nameexpr.compiler.gradient.rules`) choose among formulas where elements
are 0, which is fast, and right once. What is differentiated again is written as products without the element
instead: for `prod` from running products of what is before and after it, for `cumprod` from the running
product in which the element is 1, once for each element.
"""

from __future__ import annotations

from functools import partial, reduce

from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.deltas import renamed
from nameexpr.compiler.ir.axes import Axes, Labels, flat, whole_dim
from nameexpr.compiler.ir.nodes import Arrange, Index, Join, Read, Segment, View, Window

WIDER = {"float16": "float32"}


def others(algebra: Algebra, value: int, labels: Labels) -> int:
    """Return for each element the product of all others along some labels."""
    if algebra.graph.is_for_text:
        return _in_pairs(algebra, value, labels)
    whole, label, axes = as_one(algebra, value, labels)
    size = algebra.graph.sizes[label]
    if size <= 1:
        return algebra.spread(algebra.number(1.0), labels)
    before = algebra.along("cumprod", _shifted(algebra, whole, label, 0), (label,))
    after = reversed_along(algebra, _shifted(algebra, whole, label, 1), label)
    after = reversed_along(algebra, algebra.along("cumprod", after, (label,)), label)
    return _apart(algebra, algebra.map("*.", before, after), axes, labels)


def _in_pairs(algebra: Algebra, value: int, labels: Labels) -> int:
    """Return for each element the product of all others from all pairs of elements, for any sizes."""
    graph = algebra.graph
    rows = {label: fresh(algebra, label, graph.sizes[label], value) for label in labels}
    pairs = [[graph.add(Index(one), (one,), "int64") for one in pair] for pair in rows.items()]
    is_own = reduce(partial(algebra.map, "&."), [algebra.map("==.", *pair) for pair in pairs])
    factors = algebra.map("where", is_own, algebra.number(1.0), renamed(graph, value, rows))
    return algebra.rule("prod[R](a)", {"a": factors, "g": factors}, tuple(rows.values()))


def of_running_product(
    algebra: Algebra, value: int, gradient: int, label: str, *, is_forward: bool = False
) -> int:
    """Return the gradient of what `cumprod` is applied to, given that of its result; forward the tangent of
    its result, given that of its argument.
    """
    graph = algebra.graph
    other = fresh(algebra, label, graph.sizes[label], value, gradient)
    own, one = (graph.add(Index(name), (name,), "int64") for name in (label, other))
    without = algebra.map("where", algebra.map("==.", own, one), algebra.number(1.0), value)
    products = algebra.conj(algebra.along("cumprod", without, (label,)))
    given = renamed(graph, gradient, {label: other}) if is_forward else gradient
    later = algebra.map("where", algebra.map(">=.", own, one), given, algebra.number(0.0))
    if is_forward:
        return algebra.total([later, products], (other,))
    return renamed(graph, algebra.total([later, products], (label,)), {other: label})


def as_one(algebra: Algebra, value: int, labels: Labels) -> tuple[int, str, Axes]:
    """Return a value with some labels merged into one, that label, and the dims of the value before that."""
    graph = algebra.graph
    value = algebra.spread(value, labels)
    dtype = graph.strong(value)
    value = algebra.as_array(value, WIDER.get(dtype, dtype))
    if len(labels) == 1:
        return value, labels[0], ()
    kept: Axes = tuple([(label,) for label in graph.labels[value] if label not in labels])
    label = fresh(algebra, "_", graph.cells(labels), value)
    array = graph.add(Arrange(value, (*kept, labels)), flat((*kept, labels)), graph.dtypes[value])
    merged = (*kept, (label,))
    return graph.add(View(-1, array, merged), flat(merged), graph.dtypes[value]), label, kept


def _apart(algebra: Algebra, value: int, kept: Axes, labels: Labels) -> int:
    """Return a value with the labels that were merged into its last one."""
    if len(labels) == 1:
        return value
    graph, dtype = algebra.graph, algebra.graph.dtypes[value]
    one = (*kept, (graph.labels[value][-1],))
    array = graph.add(Arrange(value, one), flat(one), dtype)
    return graph.add(View(-1, array, (*kept, labels)), flat((*kept, labels)), dtype)


def reversed_along(algebra: Algebra, value: int, label: str) -> int:
    """Return a value read backwards along a label, as a view."""
    graph = algebra.graph
    if label not in graph.labels[value]:
        return value
    read = Read(label, max(graph.sizes[label] - 1, 0), ((label, -1),))
    return graph.add(Window(value, (read,)), graph.labels[value], graph.dtypes[value])


def _shifted(algebra: Algebra, value: int, label: str, first: int) -> int:
    """Return a value moved by one element along a label: 1 at the start or, if `first` is 1, at the end."""
    graph, size = algebra.graph, algebra.graph.sizes[label]
    rest, one = fresh(algebra, f"{label}.rest", size - 1, value), fresh(algebra, f"{label}.one", 1, value)
    labels, dtype = graph.labels[value], graph.dtypes[value]
    own = tuple([rest if name == label else name for name in labels])
    part = graph.add(Window(value, (Read(label, first, ((rest, 1),)),)), own, dtype)
    places = Segment(label, 1 - first, (rest,)), Segment(label, (size - 1) * first, (one,))
    filled = algebra.values.cast(algebra.number(1.0), dtype)
    node = Join((part, filled), ((places[0],), (places[1],)), labels, dtype)
    return graph.add(node, labels, dtype)


def fresh(algebra: Algebra, label: str, size: int, *values: int) -> str:
    """Return a label that some values do not have."""
    graph, count = algebra.graph, 0
    taken = {own for value in values for own in graph.labels[value]}
    while (made := whole_dim("_", f"{label}.{size}.{count}")) in taken:
        count += 1
    graph.sizes[made] = size
    return made
