"""A graph that keeps its law passes, and each way of breaking it is noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nameexpr.compiler.ir.axes import under_dots
from nameexpr.compiler.ir.check_graph import check_graph
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import CAST, Along, Arrange, Drop, Filled, Index, Map, Reduction, View

SIZES = {"i": 2, "j": 3, "one": 1}


def product() -> Graph:
    """Return `y[i] = sum[j](a[i j] * b[j])`."""
    graph = Graph(dict(SIZES))
    left = graph.add(View(0, -1, (("i",), ("j",))), ("i", "j"), "float64")
    right = graph.add(View(1, -1, (("j",),)), ("j",), "float64")
    summed = graph.add(Reduction("sum", (left, right), ("j",), "", ""), ("i",), "float64")
    graph.add(Arrange(summed, (("i",),)), ("i",), "float64")
    return graph


def test_a_graph_that_keeps_its_law_passes() -> None:
    graph = product()
    one = graph.add(View(2, -1, (("one",), ("i", "j"))), ("one", "i", "j"), "float64")
    dropped = graph.add(Drop(one, ("one",)), ("i", "j"), "float64")
    sums = graph.add(Along("cumsum", dropped, ("j",)), ("i", "j"), "float64")
    place = graph.add(Index("j"), ("j",), "int64")
    twos = graph.add(Filled(2.0, ("j",)), ("j",), "float64")
    scaled = graph.add(Map("*.", (sums, twos)), ("i", "j"), "float64")
    moved = graph.add(Map("+.", (scaled, place)), ("i", "j"), "float64")
    cast = graph.add(Map(CAST, (moved,), "float32"), ("i", "j"), "float32")
    result = graph.add(Arrange(cast, (("j", "i"),)), ("j", "i"), "float32")
    graph.add(View(-1, result, (("j", "i"),)), ("j", "i"), "float32")
    check_graph(graph, [3, result])


Broken = Callable[[Graph], object]


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda graph: graph.add(Map("exp", (9,)), ("i",), "float64"), "not there yet"),
        (lambda graph: graph.add(Map("exp", (0,)), ("i",), "float64"), "has the labels"),
        (lambda graph: graph.add(Map("exp", (0, 1)), ("i", "j"), "float64"), "takes 1 value"),
        (lambda graph: graph.add(View(2, -1, (("k",),)), ("k",), "float64"), "without a size"),
        (lambda graph: graph.add(View(2, -1, (("i",), ("i",))), ("i", "i"), "float64"), "twice"),
        (lambda graph: graph.add(View(0, 3, (("i",),)), ("i",), "float64"), "of an operand or of a value"),
        (lambda graph: graph.add(View(-1, 2, (("i",),)), ("i",), "float64"), "must be arranged"),
        (lambda graph: graph.add(View(-1, 3, (("j",),)), ("j",), "float64"), "is viewed as"),
        (lambda graph: graph.add(Reduction("sum", (1,), ("i",), "", ""), ("j",), "float64"), "not there"),
        (lambda graph: graph.add(Reduction("most", (1,), ("j",), "", ""), (), "float64"), "what is most"),
        (lambda graph: graph.add(Along("sort", 1, ("i",)), ("j",), "float64"), "not there"),
        (lambda graph: graph.add(Drop(0, ("i",)), ("j",), "float64"), "hold more"),
        (lambda graph: graph.add(Arrange(0, (("i",),)), ("i",), "float64"), "drops"),
        (lambda graph: graph.dtypes.pop(), "lacks"),
    ],
)
def test_each_way_of_breaking_it_is_noticed(break_it: Broken, said: str) -> None:
    graph = product()
    break_it(graph)
    with pytest.raises(AssertionError, match=said):
        check_graph(graph, [3])


def test_an_output_must_be_an_array() -> None:
    with pytest.raises(AssertionError, match="not an array"):
        check_graph(product(), [2])


def test_dims_under_dots_must_have_given_way() -> None:
    graph = product()
    long, short = under_dots(1, 4), under_dots(1, 1)
    graph.sizes |= {long: 4, short: 1}
    both = [
        graph.add(View(place, -1, ((label,),)), (label,), "float64")
        for place, label in enumerate((long, short))
    ]
    graph.add(Map("+.", tuple(both)), (long, short), "float64")
    with pytest.raises(AssertionError, match="do not fit"):
        check_graph(graph, [3])
