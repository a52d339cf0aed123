"""Which number of a formula a dtype does not hold, when NumPy or Python said that one does not: found by
computing the numbers again, and trying each of them on one cell of what it meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.numbers import as_array, fold
from nameexpr.compiler.analysis.faults.values import not_held
from nameexpr.compiler.ir.graph import (
    WEAK,
    Arrange,
    Graph,
    Map,
    Scalar,
    View,
    number_of,
    sources_of,
    use_counts,
)
from nameexpr.errors import Span
from nameexpr.ops import FUNCTIONS
from nameexpr.runtime.promotion import function_of
from nameexpr.syntax.ast import Number, Use, nodes

if TYPE_CHECKING:
    from nameexpr.compiler.pipeline import Compilation
from nameexpr.compiler.analysis.scope import Scope


def find_unheld(
    compiled: Compilation[Scope], operands: Sequence[Any]
) -> tuple[OverflowError, list[Span]] | None:
    """Return what is wrong with a number, and where it stands in the text; None if all of them fit."""
    graph = compiled.graph
    numbers: dict[int, Any] = {}
    for value in sorted(use_counts(graph, compiled.outputs)):
        try:
            numbers[value] = _number(graph, value, operands, numbers)
        except OverflowError as fault:
            dtype, number = _unheld(graph, value, numbers)
            reason = fault if number is None else not_held(number, dtype)
            return reason, _spans(compiled, value, number, operands)
    return None


def _number(graph: Graph, value: int, operands: Sequence[Any], numbers: dict[int, Any]) -> Any:
    """Return a value if it is a number, else None.

    Raises
    ------
    OverflowError
        If a number has no place in this value.
    """
    node, dtype = graph.nodes[value], graph.dtypes[value]
    given: list[Any] = [numbers.get(source) for source in sources_of(node)]
    match node:
        case Scalar():
            return number_of(node)
        case View(position) if position >= 0:
            return operands[position] if dtype.startswith(WEAK) else None
        case Arrange() if type(given[0]) is int:
            as_array(given[0])
        case Map(function) if dtype.startswith(WEAK):
            return fold(function_of(FUNCTIONS[function].kernel), *given)
        case Map(function) if int in map(type, given):
            _try(function, dtype, [_cell(graph, source) for source in sources_of(node)], given)
    return given[0] if isinstance(node, View | Arrange) else None


def _try(function: str, dtype: str, cells: Sequence[Any], given: Sequence[Any]) -> None:
    """Apply a function to numbers, and to one cell of all else."""
    if function.startswith("cast:"):
        np.dtype(dtype).type(given[0])
        return
    arguments = [cell if number is None else number for cell, number in zip(cells, given, strict=True)]
    with np.errstate(all="ignore"):
        function_of(FUNCTIONS[function].kernel)(*arguments)


def _cell(graph: Graph, value: int) -> Any:
    dtype = graph.dtypes[value]
    return None if dtype.startswith(WEAK) else np.ones(1, dtype)


def _unheld(graph: Graph, value: int, numbers: dict[int, Any]) -> tuple[str, int | None]:
    """Return a dtype that a function of arrays has, and the number in it that this does not hold."""
    node = graph.nodes[value]
    if isinstance(node, Arrange):
        return "float64", numbers[node.value]
    if not isinstance(node, Map) or graph.dtypes[value].startswith(WEAK):
        return "", None
    strong = [graph.dtypes[one] for one in node.arguments if numbers.get(one) is None]
    dtype = np.result_type(*(strong or [graph.dtypes[value]]), *([np.int64] if strong == ["bool"] else ()))
    for number in (numbers.get(one) for one in node.arguments):
        if type(number) is int and not _is_held(number, dtype):
            return dtype.name, number
    return "", None


def _is_held(number: int, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "iu":
        return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)
    return number.bit_length() <= np.finfo(np.float64).maxexp


def _spans(
    compiled: Compilation[Scope], value: int, number: int | None, operands: Sequence[Any]
) -> list[Span]:
    """Return where a number stands as it is, as a literal or an operand; else the function that meets it."""
    tree, names = compiled.tree.tree, compiled.tree.operands
    same = [name for name, one in zip(names, operands, strict=True) if type(one) is int and one == number]
    every = [node for statement in tree.statements for node in nodes(statement.value)]
    found = [node.span for node in every if isinstance(node, Number) and node.value == number]
    found += [node.span for node in every if isinstance(node, Use) and node.name in same]
    span = compiled.graph.spans.get(value)
    return found or ([] if span is None else [span])
