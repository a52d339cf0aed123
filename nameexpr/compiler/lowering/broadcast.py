"""Products in which nothing is summed: broadcasting, an outer product by BLAS, or the C loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.program import Dot, Multiply
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import c_loop, matrices
from nameexpr.compiler.lowering.strategies import BLAS, LETTERS, Pair, Way, plain, steps_of

BLOCK = 1 << 12
"""Cells of a batched outer product from which the C loop is quicker than broadcasting."""
LOOPED = 1 << 19
"""Bytes of a product with a vector from which the C loop is quicker, where each of its runs is one of
these:
"""
RUNS = range(64, 4097)


def multiply(
    build: Builder, pair: Pair, one: Value, other: Value, compute: str, want: Sequence[str] = ()
) -> Value:
    """Emit the product of two values, of which all labels stay."""
    if compute not in BLAS:
        return _broadcast(build, one, other, compute, want)
    if want and pair.right and want[-1] in pair.left:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, ())
    found = [Way("multiply", 0.0), *_others(build, pair)]
    if len(found) == 1:
        return _broadcast(build, one, other, compute, want)
    best = _best(build, pair, one, other, compute)
    way = build.choose(sorted(found, key=lambda way: way.kind != best))
    if way.kind == "multiply":
        return _broadcast(build, one, other, compute, want)
    one, other = build.cast(one, compute), build.cast(other, compute)
    return (c_loop if way.kind == "loop" else _outer)(build, pair, one, other)


def _others(build: Builder, pair: Pair) -> list[Way]:
    """Return the ways besides broadcasting, where there is anything to broadcast."""
    labels = pair.batch + pair.left + pair.right
    if not (pair.left or pair.right) or not build.size(labels):
        return []
    # `dot` leaves out what is multiplied by a single 0, and were it nan.
    is_outer = pair.left and pair.right and min(build.size(pair.left), build.size(pair.right)) > 1
    found = [plain(pair)] if is_outer else []
    return [*found, Way("loop", 0.0)] if len(labels) <= LETTERS else found


def _best(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> str:
    """Return the kind of the quickest way (measured, docs/performance.md).

    A product of matrices with nothing to sum beats broadcasting for outer products, since it writes each cell
    once; the C loop does where the runs of a broadcast product are short.
    """
    if pair.left and pair.right:
        if not pair.batch:
            return "matmul"
        is_large = build.size((*pair.batch, *pair.left, *pair.right)) >= BLOCK
        return "loop" if is_large else "multiply"
    bigger, smaller = (one, other) if pair.left else (other, one)
    if ITEM_BYTES.get(compute, 8) * build.size(bigger.labels) < LOOPED:
        return "multiply"
    build.used_strides = True
    steps, run = steps_of(build, bigger), 1
    for label in reversed(build.by_memory(bigger, bigger.labels)):
        if label in smaller.labels or abs(steps[label]) != run:
            break
        run *= build.sizes[label]
    return "loop" if run in RUNS else "multiply"


def _outer(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit products of columns with rows, by BLAS: matrices of one column and of one row, batched or not."""
    if pair.batch:
        return matrices(build, plain(pair), one, other)
    column = build.joined(one, [pair.left])
    column = build.reshape(column, (build.size(pair.left), 1), ("·".join(pair.left), "1@"))
    row = build.joined(other, [pair.right])
    row = build.reshape(row, (1, build.size(pair.right)), ("1@", "·".join(pair.right)))
    labels = (*pair.left, *pair.right)
    product = build.emit(
        Dot(column.number, row.number), ("·".join(pair.left), "·".join(pair.right)), one.dtype
    )
    if len(labels) > 2:  # noqa: PLR2004  merged
        product = build.reshape(product, build.shape(labels), labels)
    return replace(product, labels=labels, strides=build.dense(labels))


def _broadcast(build: Builder, one: Value, other: Value, compute: str, want: Sequence[str]) -> Value:
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
