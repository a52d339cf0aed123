"""Positional dims to labels, and back: an operand with one axis per label, and a result as its term has it.

Groups are taken apart and made, diagonals taken and embedded, new dims made by repeating.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from nameexpr.compiler.ir.axes import Axes, Unnamed, product_label
from nameexpr.compiler.ir.dtypes import MAGNITUDE, in_cells
from nameexpr.compiler.ir.graph import View
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Strides, Value
from nameexpr.records import record


@record
class Operands:
    """What a program is made for: of every operand its shape, dtype, and strides in bytes, None if they are
    row-major.
    """

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    layouts: tuple[Strides | None, ...]


def operand_value(build: Builder, node: View, operands: Operands) -> Value:
    """Return an operand with one axis per label."""
    dtype, layout = operands.dtypes[node.position], operands.layouts[node.position]
    strides = _row_major(operands.shapes[node.position]) if layout is None else in_cells(layout, dtype)
    return lower_view(build, Value(node.position, (), dtype, strides, is_fresh=False), node.axes)


def _row_major(shape: tuple[int, ...]) -> Strides:
    return tuple([prod(shape[axis + 1 :]) for axis in range(len(shape))])


def lower_view(build: Builder, source: Value, axes: Axes) -> Value:
    """Return an array with one axis per label; of `source` number, dtype and memory count."""
    labels = tuple(label for group in axes for label in group)
    strides = source.strides
    is_split = any(len(group) != 1 for group in axes)
    if strides is not None and is_split:
        strides = split_strides(axes, strides, build.sizes)
    elif strides is None and not is_split:
        strides = build.row_major_strides(labels)
    value = Value(source.number, labels, source.dtype, strides, source.is_fresh, MAGNITUDE.get(source.dtype))
    if is_split:
        made = build.reshape(value, build.shape(labels), labels)
        value = Value(made.number, labels, source.dtype, strides, source.is_fresh, value.bound)
    return build.diagonal(value) if len(set(labels)) < len(labels) else value


def split_strides(axes: Axes, layout: Strides, sizes: Mapping[str, int]) -> Strides:
    """Return the strides of the labels of each dim: the last label of a group has the dim's own stride."""
    strides: list[int] = []
    for group, stride in zip(axes, layout, strict=True):
        steps = []
        for label in reversed(group):
            steps.append(stride)
            stride *= sizes[label]
        strides += reversed(steps)
    return tuple(strides)


def lower_arrangement(
    build: Builder, result: Axes, value: Value, *, is_moved: bool, is_row_major: bool = False
) -> Value:
    """Give the result its new and repeated dims, its order and groups; a copy, unless it is only moved.

    With `is_row_major` it is fresh memory in row-major order.
    """
    flat = tuple(label for labels in result for label in labels)
    order = tuple(dict.fromkeys(flat))
    new = [label for label in order if label not in value.labels]
    if len(order) < len(flat):
        letters = tuple(range(len(order))), tuple([order.index(label) for label in flat])
        source = build.expand(value, order)
        value = build.emit(
            Instruction("embed", (source.number,), build.shape(flat), letters=letters), flat, value.dtype
        )
    elif all(_is_one(label) for label in new):
        value = build.transpose(value, [label for label in order if label in value.labels])
    else:
        source = build.expand(value, order)
        value = build.emit(Instruction("repeat", (source.number,), build.shape(order)), flat, value.dtype)
    if value.labels != flat or any(len(labels) != 1 for labels in result):
        if value.labels == flat and not value.is_fresh:  # what is fresh may yet be made in another layout
            value = build.make_mergeable(value, result)
        groups = [product_label(labels, " ") for labels in result]
        merged = dict(zip(groups, map(build.size, result), strict=True))
        shape = tuple(build.size(labels) for labels in result)
        build.sizes = {**build.sizes, **merged}
        value = build.reshape(value, shape, groups)
    if is_row_major:
        return build.copied(value, is_lax=value.is_fresh)
    if not value.is_fresh and not is_moved:
        return build.copied(value)
    return value


def _is_one(label: str) -> bool:
    """Whether a new dim is a literal 1: a dim made by a view, where a repeat would be a copy."""
    return isinstance(label, Unnamed) and label.is_literal and label.size == 1
