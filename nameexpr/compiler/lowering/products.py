"""Writing a pair's contraction as calls: the C loop, `dot`, or `matmul` between views and merged axes."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import product_label
from nameexpr.compiler.ir.dtypes import REAL_OF
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.strategies import Pair, Strategy, canonical_strategy, is_copied_across
from nameexpr.records import replace

PARTS = "re·im"
"""The label of the two parts of a complex number."""


def parts_of(build: Builder, value: Value) -> Value:
    """Return what a value of complex numbers is as reals, to reckon with: the parts are a last dim."""
    strides = None if value.strides is None else (*(2 * step for step in value.strides), 1)
    build.sizes = {**build.sizes, PARTS: 2}
    return replace(value, labels=(*value.labels, PARTS), dtype=REAL_OF[value.dtype], strides=strides)


def in_parts(build: Builder, value: Value) -> Value:
    """Emit the view of complex numbers as reals."""
    parts = parts_of(build, value)
    return build.emit(
        ir.as_real(value.number), parts.labels, parts.dtype, parts.strides, is_fresh=value.is_fresh
    )


def of_parts(build: Builder, value: Value, dtype: str) -> Value:
    """Emit complex numbers of their parts, wherever the dim of these is."""
    kept = [label for label in value.labels if label != PARTS]
    ordered = build.row_major(value, [*kept, PARTS])
    made = build.emit(ir.as_complex(ordered.number), kept, dtype)
    return replace(made, strides=build.row_major_strides(kept))


def emit_einsum(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit one pass of `numpy.einsum` over both operands."""
    labels = (*pair.batch, *pair.left, *pair.right)
    numbers = {label: number for number, label in enumerate(dict.fromkeys((*one.labels, *other.labels)))}
    if len(numbers) > build.target.loop_axes:
        return emit_matmul(build, canonical_strategy(pair), one, other)
    letters = tuple(tuple(numbers[label] for label in value.labels) for value in (one, other))
    result = tuple(numbers[label] for label in labels)
    bound = None
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
    einsum = ir.einsum((one.number, other.number), letters, result)
    return build.emit(einsum, labels, one.dtype, build.row_major_strides(labels), bound=bound)


def emit_matmul(build: Builder, strategy: Strategy, one: Value, other: Value, *, wide: str = "") -> Value:
    """Emit products of matrices: `dot` where nothing is looped over (R4), else `matmul`.

    Integers are multiplied in 64 bits, of the dtype `wide`.
    """
    if strategy.kind == "vecdot":
        return _vecdot(build, strategy, one, other)
    if not strategy.outer and not wide:
        return _dot(build, strategy, one, other)
    return _matmul(build, strategy, one, other, wide)


def _vecdot(build: Builder, strategy: Strategy, one: Value, other: Value) -> Value:
    """Emit inner products along the last axis."""
    groups = [*([label] for label in strategy.outer), strategy.summed]
    left, right = _merged(build, one, groups), _merged(build, other, groups)
    return build.emit(
        ir.vecdot(left.number, right.number),
        strategy.outer,
        one.dtype,
        build.row_major_strides(strategy.outer),
    )


def _dot(build: Builder, strategy: Strategy, one: Value, other: Value) -> Value:
    """Emit `a.dot(b)` on arrays of one or two axes."""
    left = _matrix(build, one, (), strategy.rows, strategy.summed)
    right = _matrix(build, other, (), strategy.summed, strategy.columns)
    labels = (*strategy.rows, *strategy.columns)
    groups = [product_label(group) for group in (strategy.rows, strategy.columns) if group]
    product = build.emit(ir.dot(left.number, right.number), groups, one.dtype, None)
    return _split(build, product, labels, is_split=len(strategy.rows) > 1 or len(strategy.columns) > 1)


def _matrix(
    build: Builder, value: Value, here: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> Value:
    """Return a value with an axis for each of `here`, and one for each of two groups, if there are
    labels in it.
    """
    outer = [[label] for label in here]
    if not is_copied_across(build, value, here, first, second):
        return _merged(build, value, [*outer, *(group for group in (first, second) if group)])
    made = _merged(build, value, [*outer, second, first])
    return build.transpose(made, [*made.labels[:-2], made.labels[-1], made.labels[-2]])


def _merged(build: Builder, value: Value, groups: Sequence[Sequence[str]]) -> Value:
    """Return the value with one axis per group, the last ones; a group of several labels is merged."""
    value = build.make_mergeable(value, groups)
    if all(len(group) == 1 for group in groups):
        return value
    shape = tuple(build.size(group) for group in groups)
    return build.reshape(value, shape, [product_label(group) for group in groups])


def _split(build: Builder, value: Value, labels: Sequence[str], *, is_split: bool) -> Value:
    """Take merged axes apart again: a view, for the product is fresh and dense."""
    if is_split:
        value = build.reshape(value, build.shape(labels), labels)
    return Value(value.number, tuple(labels), value.dtype, build.row_major_strides(labels), True)  # noqa: FBT003


def _matmul(build: Builder, strategy: Strategy, one: Value, other: Value, wide: str) -> Value:
    left = _stacked(build, one, strategy.outer, strategy.rows, strategy.summed)
    right = _stacked(build, other, strategy.outer, strategy.summed, strategy.columns)
    labels = (*strategy.outer, *strategy.rows, *strategy.columns)
    merged = (*strategy.outer, product_label(strategy.rows), product_label(strategy.columns))
    if wide:
        product = build.emit(ir.integer_matmul(left.number, right.number, wide), merged, wide)
    else:
        product = build.emit(ir.matmul(left.number, right.number), merged, one.dtype)
    return _split(build, product, labels, is_split=len(strategy.rows) != 1 or len(strategy.columns) != 1)


def _stacked(
    build: Builder, value: Value, outer: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> Value:
    """Return a view of shape (outer..., rows, columns), with size 1 for outer labels that the value lacks."""
    here = [label for label in outer if label in value.labels]
    if is_copied_across(build, value, here, rows, columns):
        value = _matrix(build, value, here, rows, columns)
        return _with_ones(build, value, outer, here, (build.size(rows), build.size(columns)))
    value = build.make_mergeable(value, [*([label] for label in here), rows, columns])
    first = next((position for position, label in enumerate(outer) if label in value.labels), len(outer))
    lead = outer[first:]
    if len(rows) == 1 and len(columns) == 1 and len(lead) == len(here):
        return value
    shape = tuple(build.sizes[label] if label in here else 1 for label in lead)
    groups = (product_label(rows), product_label(columns))
    return build.reshape(value, (*shape, build.size(rows), build.size(columns)), (*lead, *groups))


def _with_ones(
    build: Builder, value: Value, outer: Sequence[str], here: Sequence[str], matrix: tuple[int, int]
) -> Value:
    """Return a stack of matrices with an axis of size 1 for each label of `outer` that it lacks."""
    first = next((position for position, label in enumerate(outer) if label in here), len(outer))
    lead = outer[first:]
    if len(lead) == len(here):
        return value
    shape = tuple(build.sizes[label] if label in here else 1 for label in lead)
    return build.reshape(value, (*shape, *matrix), (*lead, *value.labels[-2:]))
