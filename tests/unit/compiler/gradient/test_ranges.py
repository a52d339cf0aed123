"""Between which numbers the values of a graph lie."""

from __future__ import annotations

from math import inf

import pytest

from nameexpr.compiler.gradient.ranges import Range, is_not_negative, range_of
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, View


def graph_of(dtype: str) -> tuple[Graph, int]:
    """Return a graph with an operand."""
    graph = Graph({"N": 3})
    return graph, graph.add(View(0, -1, (("N",),)), ("N",), dtype)


def mapped(graph: Graph, function: str, *values: int | float) -> int:
    numbers = [graph.scalar(value) if isinstance(value, float) else value for value in values]
    return graph.add(Map(function, tuple(numbers)), ("N",), "float64")


@pytest.mark.parametrize(
    ("functions", "wanted"),
    [
        (("sigmoid",), (0, 1)),
        (("exp",), (0, inf)),
        (("tanh", "square"), (0, inf)),
        (("sin", ".-"), (-1, 1)),
        (("log",), (-inf, inf)),
        (("square", ".-"), (-inf, 0)),
        (("exp", "sigmoid", "tanh"), (-1, 1)),
    ],
)
def test_functions(functions: tuple[str, ...], wanted: Range) -> None:
    graph, value = graph_of("float64")
    for function in functions:
        value = mapped(graph, function, value)
    assert range_of(graph, value) == wanted


def test_arithmetic() -> None:
    graph, x = graph_of("float64")
    s, t = mapped(graph, "sigmoid", x), mapped(graph, "tanh", x)
    assert range_of(graph, mapped(graph, "-.", 1.0, s)) == (0, 1)
    assert range_of(graph, mapped(graph, "*.", t, t)) == (0, 1)
    assert range_of(graph, mapped(graph, "*.", t, s)) == (-1, 1)
    assert range_of(graph, mapped(graph, "/.", t, mapped(graph, "+.", s, 1.0))) == (-1, 1)
    assert range_of(graph, mapped(graph, "/.", 1.0, s)) == (-inf, inf)
    assert range_of(graph, mapped(graph, "maximum", t, 0.0)) == (0, 1)
    assert not is_not_negative(graph, mapped(graph, "*.", x, s))


def test_integers_wrap_around() -> None:
    graph, x = graph_of("int8")
    square = graph.add(Map("*.", (x, x)), ("N",), "int8")
    assert range_of(graph, square) == (-inf, inf)
    assert range_of(graph, graph.add(Map("abs", (x,)), ("N",), "int8")) == (-inf, inf)


def test_complex_numbers_have_no_range() -> None:
    graph, x = graph_of("complex128")
    assert range_of(graph, graph.add(Map("square", (x,)), ("N",), "complex128")) == (-inf, inf)
