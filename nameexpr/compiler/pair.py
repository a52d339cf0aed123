"""One pair of values to the fastest NumPy call there is for it (docs/performance.md gives the measurements).

Labels of a pair are of four kinds: *batch* (in both, kept), *summed* (in both, not kept), *left* and *right*
(in one). Nothing summed: a broadcast product. Nothing but one group of each: a dot. A batch: matmul, with
every group merged to one axis where memory allows that without a copy. No matrix at all, or tiny ones with
the batch last: NumPy's C loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameexpr.compiler.builder import Builder, Value
from nameexpr.compiler.program import Dot, Einsum, IntegerMatmul, Matmul, Multiply

INNER_PRODUCT = 16**3
"""Cells of an inner product from which a loop of matmuls beats a copy (R6)."""
TINY_PRODUCT = 5**3
"""Cells of one matrix product below which the C loop wins when the batch lies last (R8)."""
TINY_BATCH = 64
TINY_MATVEC = 32 * 32
"""Cells of a batched matrix-vector product below which the C loop wins (R8)."""
FLOAT_PAYS = 24**3
"""Multiplications from which integers go through floats (R21)."""
EXACT_IN = {"float32": 2**24, "float64": 2**53}
LETTERS = 52
"""Axes that `numpy.einsum` has letters for."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The labels of a pair by kind, each in an order that suits memory or the result."""

    batch: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    summed: tuple[str, ...]


def lower_pair(
    build: Builder, one: Value, other: Value, keep: Sequence[str], compute: str, want: Sequence[str]
) -> Value:
    """Emit the product of two values, summed over the labels of both that are not in `keep`.

    Parameters
    ----------
    build : Builder
        Where instructions go.
    one, other : Value
        The operands; labels that only one of them has are all kept.
    keep : sequence of str
        Labels of the result.
    compute : str
        Dtype to multiply and add in; "" to leave it to NumPy.
    want : sequence of str
        The order in which the result's labels are wanted in the end, as far as known.
    """
    pair = _classify(build, one, other, keep, want)
    if not pair.summed:
        return multiply(build, one, other, compute, want)
    if want and pair.right and want[-1] in pair.left:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, pair.summed)
    if compute in {"int64", "uint64"}:
        return _integers(build, pair, one, other, compute)
    return _floats(build, pair, build.cast(one, compute), build.cast(other, compute))


def _classify(build: Builder, one: Value, other: Value, keep: Sequence[str], want: Sequence[str]) -> Pair:
    kept = set(keep)
    batch = [label for label in one.labels if label in other.labels and label in kept]
    place = {label: position for position, label in enumerate(want)}
    batch.sort(key=lambda label: place.get(label, -1))
    left = build.by_memory(one, [label for label in one.labels if label not in other.labels])
    right = build.by_memory(other, [label for label in other.labels if label not in one.labels])
    summed = build.by_memory(
        one, [label for label in one.labels if label in other.labels and label not in kept]
    )
    if len(summed) > 1 and not (build.merges(one, summed) and build.merges(other, summed)):
        by_other = build.by_memory(other, summed)
        if build.merges(one, by_other) and build.merges(other, by_other):
            summed = by_other
    return Pair(tuple(batch), left, right, summed)


def multiply(build: Builder, one: Value, other: Value, compute: str, want: Sequence[str] = ()) -> Value:
    """Emit a broadcast product; the bigger operand comes first, for NumPy lays the result out as its first
    operand (R14).
    """
    if build.size(one.labels) < build.size(other.labels):
        one, other = other, one
    labels = [*one.labels, *(label for label in other.labels if label not in one.labels)]
    if set(labels) <= set(want):
        labels = [label for label in want if label in labels]
    dtype = compute if compute and not one.dtype == other.dtype == compute else None
    left, right = build.expand(one, labels), build.expand(other, labels)
    bound = None if one.bound is None or other.bound is None else one.bound * other.bound
    return build.emit(
        Multiply(left.number, right.number, dtype), labels, compute or one.dtype, None, bound=bound
    )


def _integers(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    """Integers add up exactly: in floats where no sum can leave their whole numbers, else in 64 bits (R21,
    R22).
    """
    work = build.size(pair.batch) * build.size(pair.left) * build.size(pair.right) * build.size(pair.summed)
    is_matrix = bool(pair.left or pair.right)
    if work < FLOAT_PAYS or not is_matrix:
        return _c_loop(build, pair, build.cast(one, compute), build.cast(other, compute))
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
        for dtype, limit in EXACT_IN.items():
            if bound < limit:
                product = _floats(build, pair, build.cast(one, dtype), build.cast(other, dtype))
                made = build.cast(product, compute)
                return Value(made.number, made.labels, compute, made.strides, True, bound)  # noqa: FBT003
    return _matmul(build, pair, build.cast(one, compute), build.cast(other, compute), is_integer=True)


def _floats(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    if pair.batch:
        return _batched(build, pair, one, other)
    mergeable = (
        build.merges(one, pair.left)
        and build.merges(other, pair.right)
        and build.merges(one, pair.summed)
        and build.merges(other, pair.summed)
    )
    if not pair.left and not pair.right and not mergeable:
        return _c_loop(build, pair, one, other)
    if mergeable or not (pair.left and pair.right):
        return _dot(build, pair, one, other)
    return _matmul(build, pair, one, other)


def _batched(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Matmul, unless there is no matrix, or matrices so small that a loop over the batch costs more than the
    work.
    """
    left, right, summed = (build.size(labels) for labels in (pair.left, pair.right, pair.summed))
    if not pair.left and not pair.right:
        return _c_loop(build, pair, one, other)
    if not (pair.left and pair.right) and left * right * summed < TINY_MATVEC:
        return _c_loop(build, pair, one, other)
    if (
        left * right * summed <= TINY_PRODUCT
        and build.size(pair.batch) >= TINY_BATCH
        and _batch_is_last(build, pair, one)
    ):
        return _c_loop(build, pair, one, other)
    return _matmul(build, pair, one, other)


def _batch_is_last(build: Builder, pair: Pair, value: Value) -> bool:
    order = build.by_memory(value, value.labels)
    return order[-1] in pair.batch


def _c_loop(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """One pass of `numpy.einsum` over both operands."""
    labels = (*pair.batch, *pair.left, *pair.right)
    numbers = {label: number for number, label in enumerate(dict.fromkeys((*one.labels, *other.labels)))}
    if len(numbers) > LETTERS:
        return _matmul(build, pair, one, other)
    letters = tuple(tuple(numbers[label] for label in value.labels) for value in (one, other))
    result = tuple(numbers[label] for label in labels)
    bound = None
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
    einsum = Einsum((one.number, other.number), letters, result)
    return build.emit(einsum, labels, one.dtype, build.dense(labels), bound=bound)


def _merged(build: Builder, value: Value, groups: Sequence[Sequence[str]]) -> Value:
    """Return the value with one axis per group, the last ones; a group of several labels is merged."""
    value = build.transpose(value, [label for group in groups for label in group])
    if all(len(group) == 1 for group in groups):
        return value
    shape = tuple(build.size(group) for group in groups)
    return build.reshape(value, shape, ["·".join(group) for group in groups])


def _dot(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """`a.dot(b)` on arrays of one or two axes (R4)."""
    left = _merged(build, one, [group for group in (pair.left, pair.summed) if group])
    right = _merged(build, other, [group for group in (pair.summed, pair.right) if group])
    labels = (*pair.left, *pair.right)
    groups = ["·".join(group) for group in (pair.left, pair.right) if group]
    product = build.emit(Dot(left.number, right.number), groups, one.dtype, None)
    return _split(build, product, labels, is_split=len(pair.left) > 1 or len(pair.right) > 1)


def _split(build: Builder, value: Value, labels: Sequence[str], *, is_split: bool) -> Value:
    """Take merged axes apart again: a view, for the product is fresh and dense."""
    if is_split:
        value = build.reshape(value, build.shape(labels), labels)
    return Value(value.number, tuple(labels), value.dtype, build.dense(labels), True)  # noqa: FBT003


def _matmul(build: Builder, pair: Pair, one: Value, other: Value, *, is_integer: bool = False) -> Value:
    """`numpy.matmul` with the batch first; what does not merge in memory joins the batch if the rest is large
    enough (R6).
    """
    rows, columns = build.size(pair.left), build.size(pair.right)
    inner = rows * columns * build.size(pair.summed)
    outer_left, rows_in = _outer(build, one, pair.left, inner)
    outer_right, columns_in = _outer(build, other, pair.right, inner)
    outer = [*pair.batch, *outer_left, *outer_right]
    left = _stacked(build, one, outer, rows_in, pair.summed)
    right = _stacked(build, other, outer, pair.summed, columns_in)
    kind = IntegerMatmul if is_integer else Matmul
    labels = (*outer, *rows_in, *columns_in)
    merged = (*outer, "·".join(rows_in), "·".join(columns_in))
    product = build.emit(kind(left.number, right.number), merged, one.dtype, None)
    return _split(build, product, labels, is_split=len(rows_in) != 1 or len(columns_in) != 1)


def _outer(
    build: Builder, value: Value, labels: tuple[str, ...], inner: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a group into labels that join the batch and labels that merge without a copy."""
    for start in range(len(labels)):
        outer, rest = labels[:start], labels[start:]
        if build.merges(value, rest):
            return (
                (outer, rest)
                if inner // max(1, build.size(outer)) >= INNER_PRODUCT or not outer
                else ((), labels)
            )
    return (), labels


def _stacked(
    build: Builder, value: Value, outer: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> Value:
    """Return a view of shape (outer..., rows, columns), with size 1 for outer labels that the value lacks."""
    here = [label for label in outer if label in value.labels]
    value = build.transpose(value, [*here, *rows, *columns])
    first = next((position for position, label in enumerate(outer) if label in value.labels), len(outer))
    lead = outer[first:]
    if len(rows) == 1 and len(columns) == 1 and len(lead) == len(here):
        return value
    shape = tuple(build.sizes[label] if label in here else 1 for label in lead)
    groups = ("·".join(rows), "·".join(columns))
    return build.reshape(value, (*shape, build.size(rows), build.size(columns)), (*lead, *groups))
