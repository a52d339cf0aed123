"""Errors about positions that leave a dim while a program runs: which one, where, and what was read.

The program stops at the first positions that are wrong, perhaps in one of many blocks. To report the first
element in the order of the text, the positions are computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.reading import PositionError
from nameexpr.backends.numpy.target import current_target
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.axes import Labels, shown, whole_dim
from nameexpr.compiler.ir.nodes import Gather
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.lowering.builder import Builder
from nameexpr.compiler.lowering.lower import Lowering
from nameexpr.compiler.planning.plan import plan_contractions
from nameexpr.errors import Diagnostic, Mark, OperandInfo
from nameexpr.records import replace
from nameexpr.runtime.operands import array_of, names_of
from nameexpr.runtime.specialise import run_values
from nameexpr.syntax import ast
from nameexpr.syntax.items import group_of, label_of
from nameexpr.syntax.unparse import unparse_item, unparse_place, unparse_term
from nameexpr.syntax.walk import nodes

MOST_DIMS = 64
"""The largest number of dims of an array."""


class _Read(NamedTuple):
    """A dim that the text reads at positions: the use, and the item."""

    use: ast.Use
    item: ast.At


def position_fault(fault: PositionError, compiled: Compilation[Scope], operands: Sequence[Any]) -> Diagnostic:
    """Return the diagnostic for positions that leave their dim (NE805)."""
    size, number = fault.args
    read = _read_in_text(compiled, size, number)
    array, labels = _computed(compiled, number, operands)
    element, place = _first_outside(array, size)
    item = read.item
    what = item.place.name if isinstance(item.place, ast.Use) else unparse_place(item.place)
    at = ", ".join([f"{shown(label)}={index}" for label, index in zip(labels, place, strict=True)])
    dim = label_of(item.base)
    there = f"goes from 0 to {size - 1}" if size else "has no elements"
    message = f"{what} is {element}{at and ' at '}{at}, and {dim or f'the dim of {read.use.name}'} {there}"
    hint = "positions count from 0; the last is size - 1"
    if dim is not None:
        hint = f"positions count from 0; the last is size[{dim}]-1"
        if -size <= element < 0 and what.isidentifier():
            written = f"where({what} < 0, {what} + size[{dim}], {what})"
            hint = f"negative numbers do not count from the end: {written}"
    infos = _infos(compiled, read, operands)
    return Diagnostic("NE805", message, compiled.tree.text, (Mark(item.span),), infos, hint)


def first_outside(compiled: Compilation[Any], operands: Sequence[Any]) -> PositionError | None:
    """Return the first positions that leave their dim, for a library that does not say which."""
    for instruction in compiled.program.instructions:
        if instruction.primitive == "inside":
            size, number = instruction.constants
            array, _ = _computed(compiled, number, operands)  # type: ignore[arg-type]
            if ((array < 0) | (array >= size)).any():
                return PositionError(size, number)
    return None


def _read_in_text(compiled: Compilation[Scope], size: int, number: int) -> _Read:
    """Return the first item of the text that reads a dim of this size at these positions."""
    graph = compiled.graph
    labels = {
        position.label
        for node in graph.nodes
        if isinstance(node, Gather)
        for position in node.positions
        if position.value == number and graph.sizes[position.label] == size
    }
    for statement in compiled.tree.tree.statements:
        for node in [node for value in statement.values for node in nodes(value)]:
            if not isinstance(node, ast.Use) or node.term is None:
                continue
            where = f"{node.name}[{unparse_term(node.term)}]"
            for whole, dim in product(node.term.items, range(MOST_DIMS)):
                for item, path in _placed(whole, f".{dim}"):
                    if whole_dim(unparse_item(item), f"{where}{path}") in labels:
                        return _Read(node, item)
    raise AssertionError("positions that the text does not have")


def _placed(item: ast.Item, path: str) -> Iterator[tuple[ast.At, str]]:
    """Yield the items with positions in one dim of a term, and where each is."""
    group = group_of(item)
    if isinstance(item, ast.At):
        yield item, path
    for position, inner in enumerate(group.items if group is not None else ()):
        yield from _placed(inner, f"{path}.{position}")


def _computed(compiled: Compilation[Scope], number: int, operands: Sequence[Any]) -> tuple[Any, Labels]:
    """Return the elements of a value of the graph, with its labels in the order of its axes."""
    graph, given = compiled.graph, compiled.operands
    lowering = Lowering(
        graph,
        Builder(graph.sizes, len(given.shapes), current_target()),
        given,
        lambda contraction, _: plan_contractions(contraction, None),
        None,
        frozenset(),
    )
    program = lowering.program([number], [number])
    program = replace(program, results=(program.result,))
    (array,) = run_values(program, shapes_of(program), list(map(array_of, operands)), lambda fault: fault)
    own = graph.labels[number]
    labels = lowering.values[number].labels
    return np.asarray(array).transpose([labels.index(label) for label in own]), own


def _first_outside(array: Any, size: int) -> tuple[int, tuple[int, ...]]:
    outside = (array < 0) | (array >= size)
    place = np.unravel_index(int(outside.argmax()), array.shape) if array.shape else ()
    indices = tuple(map(int, place))
    return int(array[indices]), indices


def _infos(compiled: Compilation[Scope], read: _Read, operands: Sequence[Any]) -> tuple[OperandInfo, ...]:
    """Return the operands that are read, and those that hold the positions."""
    names, default = compiled.tree.operands, compiled.default
    uses = [read.use, *[node for node in nodes(read.item.place) if isinstance(node, ast.Use)]]
    terms: Mapping[str, ast.Term] = {
        use.name: use.term or default[use.name] for use in reversed(uses) if use.name in names
    }
    given = {use.name: operands[names.index(use.name)] for use in uses if use.name in terms}
    described = [Operand(np.shape(array_of(one)), names_of(one), name) for name, one in given.items()]
    return describe([terms[name] for name in given], described)
