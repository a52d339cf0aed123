"""The product of a pair as calls: `dot` and `matmul` on views and merged axes, inner products, the C loop,
and broadcasting.

Labels of a pair are of four kinds: *batch* (in both, kept), *summed* (in both, not kept), *left* and *right*
(in one).
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import Labels, hint_of, literal, product_label
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, REAL_OF, is_widened
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.records import record, replace

PARTS = "re·im"
"""The label of the two parts of a complex number."""

ALIASED = 512
"""Rows that are a multiple of this number of bytes apart evict each other from the cache."""


@record
class Pair:
    """The labels of a pair by kind, each in an order that suits the memory or the result."""

    batch: Labels
    left: Labels
    right: Labels
    summed: Labels


@record
class Strategy:
    """Products of matrices (outer..., rows, summed) and (outer..., summed, columns), or the C loop."""

    kind: str  # "loop", "matmul", "vecdot", "apart" (matmul, and a sum afterwards) or "tiny"
    cost: float
    outer: Labels = ()
    rows: Labels = ()
    summed: Labels = ()
    columns: Labels = ()


def cast_to(build: Builder, value: Value, dtype: str) -> Value:
    """Return a value in a dtype: of a window what it shows, unless that is larger."""
    is_cast = bool(dtype) and value.dtype != dtype
    found = build.window_of(value) if is_cast and value.number in build.windows else None
    if found is None:
        return build.cast(value, dtype)
    source, reads = found
    is_larger = build.size(source.labels) > build.size(value.labels)
    return build.cast(value, dtype) if is_larger else build.window(build.cast(source, dtype), reads)


def canonical_strategy(pair: Pair) -> Strategy:
    """Return the product of matrices with the labels in their given order."""
    return Strategy("matmul", 0.0, pair.batch, pair.left, pair.summed, pair.right)


def emit_matmul(build: Builder, strategy: Strategy, one: Value, other: Value, *, wide: str = "") -> Value:
    """Emit products of matrices: `dot` if there is no batch (R4), else `matmul`.

    Integers are multiplied in 64 bits, in the dtype `wide`.
    """
    outer, rows, summed, columns = strategy.outer, strategy.rows, strategy.summed, strategy.columns
    if strategy.kind == "vecdot":
        groups = [*([label] for label in outer), summed]
        left, right = _merged(build, one, groups), _merged(build, other, groups)
        inner = Instruction("vecdot", (left.number, right.number))
        return build.emit(inner, outer, one.dtype, build.row_major_strides(outer))
    dtype, labels = wide or one.dtype, (*outer, *rows, *columns)
    if strategy.kind == "tiny":
        return _emit_tiny(build, strategy, one, other)
    if outer or wide:
        left = _stacked(build, one, outer, rows, summed)
        right = _stacked(build, other, outer, summed, columns)
        product = Instruction("integer_matmul" if wide else "matmul", (left.number, right.number), dtype=wide)
        merged = (*outer, product_label(rows), product_label(columns))
    else:
        left, right = matrix(build, one, (), rows, summed), matrix(build, other, (), summed, columns)
        primitive: Primitive = "matmul" if _is_maybe_gram(build, strategy, one, other) else "dot"
        product = Instruction(primitive, (left.number, right.number))
        is_merged = len(rows) > 1 or len(columns) > 1
        merged = tuple([product_label(group) for group in (rows, columns) if group]) if is_merged else labels
    if merged == labels:
        return build.emit(product, labels, dtype, build.row_major_strides(labels))
    made = build.reshape(build.emit(product, merged, dtype), build.shape(labels), labels)
    return replace(made, strides=build.row_major_strides(labels))


def _is_maybe_gram(build: Builder, strategy: Strategy, one: Value, other: Value) -> bool:
    """Return whether a product may turn out to be that of a matrix and its own transpose, and is so large
    that it pays to call `matmul`, which mirrors the half that BLAS computes faster than `dot` does.

    Where the rows of the result are `ALIASED` apart, `matmul` takes longer.
    """
    rows, summed, columns = strategy.rows, strategy.summed, strategy.columns
    least = build.target.mirrored_products
    if not rows or not least or build.size((*rows, *summed, *columns)) < least:
        return False
    if build.shape(rows) != build.shape(columns):
        return False
    left, right = build.steps(one), build.steps(other)
    taken = [left[label] for label in (*rows, *summed)]
    is_mirrored = taken == [right[label] for label in (*columns, *summed)]
    return is_mirrored and build.size(columns) * ITEM_BYTES.get(one.dtype, 8) % ALIASED != 0


def _emit_tiny(build: Builder, strategy: Strategy, one: Value, other: Value) -> Value:
    """Emit many products of tiny matrices, whose elements have the batch last in memory."""
    outer, rows, summed, columns = strategy.outer, strategy.rows, strategy.summed, strategy.columns
    every = []
    for value, groups in ((one, (outer, rows, summed)), (other, (outer, summed, columns))):
        value = build.transpose(value, [label for group in groups for label in group])
        shape = tuple([build.size(group) for group in groups])
        if any(len(group) != 1 for group in groups):
            value = build.reshape(value, shape, [product_label(group) for group in groups])
        every.append(value.number)
    made, labels = Instruction("tiny_matmul", tuple(every)), (*outer, *rows, *columns)
    merged = tuple([product_label(group) for group in (outer, rows, columns)])
    steps = dict(zip(order := (*rows, *columns, *outer), build.row_major_strides(order), strict=True))
    strides = tuple([steps[label] for label in labels])
    if merged == labels:
        return build.emit(made, labels, one.dtype, strides)
    value = build.reshape(build.emit(made, merged, one.dtype), build.shape(labels), labels)
    return replace(value, strides=strides)


def matrix(
    build: Builder, value: Value, here: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> Value:
    """Return a value with an axis for each of `here`, and one for each of two groups that has labels."""
    if len(first) < 2 and len(second) < 2:  # noqa: PLR2004  nothing is merged
        labels = (*here, *first, *second)
        return value if value.labels == labels else build.transpose(value, labels)
    outer = [[label] for label in here]
    if not _is_copied_across(build, value, here, first, second):
        return _merged(build, value, [*outer, *(group for group in (first, second) if group)])
    made = _merged(build, value, [*outer, second, first])
    return build.transpose(made, [*made.labels[:-2], made.labels[-1], made.labels[-2]])


def _merged(build: Builder, value: Value, groups: Sequence[Sequence[str]]) -> Value:
    """Return the value with one axis per group, the last ones; a group of several labels is merged."""
    value = build.make_mergeable(value, groups)
    if all(len(group) == 1 for group in groups):
        return value
    shape, labels = tuple(build.size(group) for group in groups), [product_label(group) for group in groups]
    if len(groups) == 1 and value.strides == build.row_major_strides(value.labels):
        ravel = Instruction("reshape", (value.number,), shape, function="ravel")
        return build.moved(value, ravel, labels, None)
    return build.reshape(value, shape, labels)


def _is_copied_across(
    build: Builder, value: Value, here: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> bool:
    """Return whether a matrix that has to be copied is better copied transposed.

    BLAS reads either, and a copy that keeps the contiguous axis contiguous is faster (R18).
    """
    if not first or not second or (build.is_mergeable(value, first) and build.is_mergeable(value, second)):
        return False
    sizes, steps, copy_cost = build.sizes, build.steps(value), build.target.costs.copy_cost
    straight = copy_cost(sizes, steps, [*here, *first, *second], value.dtype)
    return copy_cost(sizes, steps, [*here, *second, *first], value.dtype) < straight


def _stacked(
    build: Builder, value: Value, outer: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> Value:
    """Return a view of shape (outer..., rows, columns), with size 1 for outer labels that the value lacks."""
    here = [label for label in outer if label in value.labels]
    first = next((position for position, label in enumerate(outer) if label in here), len(outer))
    lead = outer[first:]
    if _is_copied_across(build, value, here, rows, columns):
        value = matrix(build, value, here, rows, columns)
        is_matrix, groups = True, value.labels[-2:]
    else:
        value = build.make_mergeable(value, [*([label] for label in here), rows, columns])
        is_matrix, groups = len(rows) == 1 == len(columns), (product_label(rows), product_label(columns))
    if is_matrix and len(lead) == len(here):
        return value
    shape = [build.sizes[label] if label in here else 1 for label in lead]
    return build.reshape(value, (*shape, build.size(rows), build.size(columns)), (*lead, *groups))


def emit_einsum(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit one pass of `numpy.einsum` over both operands."""
    labels = (*pair.batch, *pair.left, *pair.right)
    numbers = {label: number for number, label in enumerate(dict.fromkeys((*one.labels, *other.labels)))}
    if len(numbers) > build.target.loop_axes:
        return emit_matmul(build, canonical_strategy(pair), one, other)
    letters = [tuple([numbers[label] for label in every]) for every in (one.labels, other.labels, labels)]
    bound = None
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
    einsum = Instruction("einsum", (one.number, other.number), letters=tuple(letters))
    return build.emit(einsum, labels, one.dtype, build.row_major_strides(labels), bound=bound)


def emit_contraction(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    """Emit the contraction of a pair, whose products are added in the dtype `compute`: operands of a narrower
    dtype of the same kind are not cast. Labels of one operand keep their order in it.
    """
    if one.dtype != other.dtype or not is_widened(one.dtype, compute):
        one, other = build.cast(one, compute), build.cast(other, compute)
    own = [label for label in (*one.labels, *other.labels) if label in pair.left or label in pair.right]
    labels = (*pair.batch, *own)
    numbers = {label: number for number, label in enumerate(dict.fromkeys((*one.labels, *other.labels)))}
    letters = tuple([tuple([numbers[label] for label in own]) for own in (one.labels, other.labels, labels)])
    dtype = "" if one.dtype == compute else compute
    einsum = Instruction("einsum", (one.number, other.number), letters=letters, dtype=dtype)
    return build.emit(einsum, labels, compute, build.row_major_strides(labels))


def emit_outer(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit products of columns and rows by BLAS: matrices of one column and of one row, batched or not."""
    if pair.batch:
        return emit_matmul(build, canonical_strategy(pair), one, other)
    unit = literal(1, None, "")
    column = build.make_mergeable(one, [pair.left])
    column = build.reshape(column, (build.size(pair.left), 1), (product_label(pair.left), unit))
    row = build.make_mergeable(other, [pair.right])
    row = build.reshape(row, (1, build.size(pair.right)), (unit, product_label(pair.right)))
    labels, merged = (*pair.left, *pair.right), (product_label(pair.left), product_label(pair.right))
    product = build.emit(Instruction("dot", (column.number, row.number)), merged, one.dtype)
    if len(labels) > 2:  # noqa: PLR2004  merged
        product = build.reshape(product, build.shape(labels), labels)
    return replace(product, labels=labels, strides=build.row_major_strides(labels))


def emit_broadcast(build: Builder, one: Value, other: Value, compute: str, preferred: Sequence[str]) -> Value:
    """Emit a broadcast product; the larger operand comes first, because NumPy lays out the result like its
    first operand (R14).
    """
    if hint_of(build.size(one.labels)) < hint_of(build.size(other.labels)):
        one, other = other, one
    labels = [*one.labels, *(label for label in other.labels if label not in one.labels)]
    if set(labels) <= set(preferred):
        labels = [label for label in preferred if label in labels]
    dtype = "" if one.dtype == other.dtype == compute else compute
    left, right = build.expand(one, labels), build.expand(other, labels)
    bound = None if one.bound is None or other.bound is None else one.bound * other.bound
    product = Instruction("multiply", (left.number, right.number), dtype=dtype)
    return build.emit(product, labels, compute or one.dtype, bound=bound)


def parts_of(build: Builder, value: Value) -> Value:
    """Return a value of complex numbers as if it were reals: the parts are a last dim."""
    strides = None if value.strides is None else (*(2 * step for step in value.strides), 1)
    build.sizes = {**build.sizes, PARTS: 2}
    return replace(value, labels=(*value.labels, PARTS), dtype=REAL_OF[value.dtype], strides=strides)


def in_parts(build: Builder, value: Value) -> Value:
    """Emit the view of complex numbers as reals."""
    parts, view = parts_of(build, value), Instruction("as_real", (value.number,))
    return build.emit(view, parts.labels, parts.dtype, parts.strides, is_fresh=value.is_fresh)


def of_parts(build: Builder, value: Value, dtype: str) -> Value:
    """Emit complex numbers from their parts, whose dim may be at any position."""
    kept = [label for label in value.labels if label != PARTS]
    ordered = build.row_major(value, [*kept, PARTS])
    return build.emit(
        Instruction("as_complex", (ordered.number,)), kept, dtype, build.row_major_strides(kept)
    )
