"""Values that one instruction computes: indices, one number everywhere, functions along axes."""

from __future__ import annotations

from collections.abc import Callable

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.nodes import Along, Filled, Index
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Value

INDEX = "int64"


def single(
    build: Builder, node: Index | Filled | Along, dtype: str, value_of: Callable[[int], Value]
) -> Value:
    """Return the value of a node that one instruction computes."""
    match node:
        case Index(label):
            return counted(build, label)
        case Filled(number, labels):
            return filled(build, number, labels, dtype)
        case Along(_, source):
            return _along(build, node, value_of(source), dtype)


def counted(build: Builder, label: str) -> Value:
    """Return the indices along a label: 0, 1, ..."""
    made = Instruction("arange", shape=(build.sizes[label],))
    return build.emit(made, (label,), INDEX, build.row_major_strides((label,)))


def filled(build: Builder, number: float, labels: Labels, dtype: str) -> Value:
    """Return one number along labels."""
    made = Instruction("full", (), build.shape(labels), dtype=dtype, constants=(number,))
    return build.emit(made, labels, dtype, build.row_major_strides(labels))


def _along(build: Builder, node: Along, value: Value, dtype: str) -> Value:
    """Return a function along labels, which are kept."""
    axes, other = tuple(map(value.axis, node.labels)), "" if value.dtype == dtype else dtype
    made = Instruction("along_axes", (value.number,), axes=axes, dtype=other, function=node.function)
    return build.emit(made, value.labels, dtype, build.row_major_strides(value.labels))
