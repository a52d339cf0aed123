"""Values of a graph that one instruction computes.

These are rarer than views, reductions, pointwise functions and arrangements, which
`nameexpr.compiler.lowering.lower` lowers itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Along,
    Drop,
    Filled,
    Index,
    Node,
    Scalar,
    Window,
    number_of,
)
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Value


class ValueLowering(Protocol):
    """What lowers the values of a graph."""

    @property
    def graph(self) -> Graph:
        """The graph."""

    @property
    def build(self) -> Builder:
        """Collects the instructions."""

    @property
    def plan(self) -> Callable[..., Any]:
        """Plans contractions."""

    def value(self, number: int) -> Value:
        """Return a value, created on first use."""

    def strong(self, value: Value) -> Value:
        """Return a Python scalar as an array."""


def lower_single(lowering: ValueLowering, number: int, node: Node) -> Value:
    """Return a value."""
    graph, build = lowering.graph, lowering.build
    match node:
        case Scalar():
            constant, dtype = number_of(node), graph.strong(number)
            constant = float(constant.real) if node.kind == "int" and dtype == "float64" else constant
            return build.emit(Instruction("constant", constants=(constant,)), (), dtype)
        case Index(label):
            made = Instruction("arange", shape=(graph.sizes[label],))
            return build.emit(made, (label,), "int64", build.row_major_strides((label,)))
        case Filled(filled, labels):
            dtype = graph.dtypes[number]
            made = Instruction("full", (), build.shape(labels), dtype=dtype, constants=(filled,))
            return build.emit(made, labels, dtype, build.row_major_strides(labels))
        case Along(function, source, labels):
            value, dtype = lowering.strong(lowering.value(source)), graph.dtypes[number]
            axes, other = tuple(map(value.axis, labels)), "" if value.dtype == dtype else dtype
            made = Instruction("along_axes", (value.number,), axes=axes, dtype=other, function=function)
            return build.emit(made, value.labels, dtype, build.row_major_strides(value.labels))
        case Drop(source, labels):
            value = lowering.value(source)
            kept = tuple(label for label in value.labels if label not in labels)
            return build.reshape(value, build.shape(kept), kept)
        case Window(source, reads):
            return build.window(lowering.value(source), reads)
    raise AssertionError(f"{node} is lowered where it is used")
