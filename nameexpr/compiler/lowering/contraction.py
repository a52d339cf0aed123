"""One pair of values to the fastest NumPy calls there are for it (docs/performance.md gives the
measurements).

Nothing summed: broadcasting, an outer product by BLAS, or the C loop. Else the quickest way that the cost
model knows (`nameexpr.compiler.lowering.strategies`), in the dtype that is quickest where it is exact:
integers through floats, real times complex as reals.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import literal, product_label
from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES, REAL_OF
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import PARTS, emit_einsum, emit_matmul, in_parts, of_parts
from nameexpr.compiler.lowering.strategies import (
    Pair,
    Strategy,
    candidate_strategies,
    canonical_strategy,
    is_trivial,
    steps_of,
)
from nameexpr.records import replace

EXACT_IN = {"float32": 2**24, "float64": 2**53}


def lower_pair(
    build: Builder, one: Value, other: Value, keep: Sequence[str], compute: str, preferred: Sequence[str]
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
    preferred : sequence of str
        The order in which the result's labels are wanted in the end, as far as known.
    """
    pair = split_labels(build, one, other, keep, preferred)
    if pair.summed and _is_scaling(build, pair):
        one, other = _without(build, one, pair.summed), _without(build, other, pair.summed)
        pair = replace(pair, summed=())
    if not pair.summed:
        return multiply(build, pair, one, other, compute, preferred)
    if preferred and pair.right and preferred[-1] in pair.left:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, pair.summed)
    if compute in {"int64", "uint64"}:
        return _integers(build, pair, one, other, compute)
    if _is_half_real(build, pair, one, other, compute):
        return _in_reals(build, pair, one, other, compute)
    return contract(build, pair, build.cast(one, compute), build.cast(other, compute))


def _is_scaling(build: Builder, pair: Pair) -> bool:
    """Whether one of a pair is a single cell. `dot` leaves out what is multiplied by 0, were it nan."""
    sides = (build.size((*pair.batch, *group, *pair.summed)) for group in (pair.left, pair.right))
    return min(sides) == 1


def _without(build: Builder, value: Value, labels: Sequence[str]) -> Value:
    """Return a value without labels of size 1."""
    kept = [label for label in value.labels if label not in labels]
    return build.reshape(value, build.shape(kept), kept)


def split_labels(
    build: Builder, one: Value, other: Value, keep: Sequence[str], preferred: Sequence[str]
) -> Pair:
    """Return the labels of a pair by kind, those of one operand in the order in which they lie in memory."""
    kept = set(keep)
    batch = [label for label in one.labels if label in other.labels and label in kept]
    place = {label: position for position, label in enumerate(preferred)}
    batch.sort(key=lambda label: place.get(label, -1))
    left = build.memory_order(one, [label for label in one.labels if label not in other.labels])
    right = build.memory_order(other, [label for label in other.labels if label not in one.labels])
    summed = build.memory_order(
        one, [label for label in one.labels if label in other.labels and label not in kept]
    )
    return Pair(tuple(batch), left, right, summed)


def contract(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit a contraction of two values of one dtype in the quickest way."""
    is_settled = is_trivial(build, pair) and one.dtype in BLAS
    strategy = (
        canonical_strategy(pair)
        if is_settled
        else build.choose(candidate_strategies(build, pair, one, other))
    )
    if strategy.kind == "loop":
        return emit_einsum(build, pair, one, other)
    return emit_matmul(build, strategy, one, other)


def _integers(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    """Integers add up exactly: in floats where no sum can leave their whole numbers, else in 64 bits (R21,
    R22).
    """
    work = build.size(pair.batch) * build.size(pair.left) * build.size(pair.right) * build.size(pair.summed)
    is_matrix = bool(pair.left or pair.right)
    if work < build.target.float_products or not is_matrix:
        return emit_einsum(build, pair, build.cast(one, compute), build.cast(other, compute))
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
        for dtype, limit in EXACT_IN.items():
            if bound < limit:
                product = contract(build, pair, build.cast(one, dtype), build.cast(other, dtype))
                return replace(build.cast(product, compute), bound=bound)
    found = candidate_strategies(build, pair, replace(one, dtype="float64"), replace(other, dtype="float64"))
    strategy: Strategy = build.choose([strategy for strategy in found if strategy.kind == "matmul"])
    return emit_matmul(build, strategy, one, other, wide=compute)


def _is_half_real(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> bool:
    """Whether one operand is real, the other complex, and reals pay (R23): the complex numbers lie along a
    label that is kept, or bringing them there is little beside the work.
    """
    if compute not in REAL_OF or (one.dtype in REAL_OF) == (other.dtype in REAL_OF):
        return False
    value, own = (one, pair.left) if one.dtype in REAL_OF else (other, pair.right)
    order = build.memory_order(value, value.labels)
    work = build.size((*pair.batch, *pair.left, *pair.right, *pair.summed))
    is_ready = bool(order) and order[-1] in own
    return work >= build.target.real_products and (
        is_ready or work >= build.target.parts_products * build.size(value.labels)
    )


def _in_reals(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    """Contract with the two parts of each complex number as a dim of its own, which the result has, too."""
    if one.dtype in REAL_OF:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, pair.summed)
    real, pairs = build.cast(one, REAL_OF[compute]), build.cast(other, compute)
    parts = in_parts(build, pairs)
    with_parts = Pair(pair.batch, pair.left, (*pair.right, PARTS), pair.summed)
    return of_parts(build, contract(build, with_parts, real, parts), compute)


def multiply(
    build: Builder, pair: Pair, one: Value, other: Value, compute: str, preferred: Sequence[str] = ()
) -> Value:
    """Emit the product of two values, of which all labels stay."""
    if compute not in BLAS:
        return _broadcast(build, one, other, compute, preferred)
    if preferred and pair.right and preferred[-1] in pair.left:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, ())
    found = [Strategy("multiply", 0.0), *_others(build, pair)]
    if len(found) == 1:
        return _broadcast(build, one, other, compute, preferred)
    best = _quickest_product(build, pair, one, other, compute)
    strategy = build.choose(sorted(found, key=lambda strategy: strategy.kind != best))
    if strategy.kind == "multiply":
        return _broadcast(build, one, other, compute, preferred)
    one, other = build.cast(one, compute), build.cast(other, compute)
    return (emit_einsum if strategy.kind == "loop" else _outer)(build, pair, one, other)


def _others(build: Builder, pair: Pair) -> list[Strategy]:
    """Return the ways besides broadcasting, where there is anything to broadcast."""
    labels = pair.batch + pair.left + pair.right
    if not (pair.left or pair.right) or not build.size(labels):
        return []
    # `dot` leaves out what is multiplied by a single 0, and were it nan.
    is_outer = pair.left and pair.right and min(build.size(pair.left), build.size(pair.right)) > 1
    found = [canonical_strategy(pair)] if is_outer else []
    return [*found, Strategy("loop", 0.0)] if len(labels) <= build.target.loop_axes else found


def _quickest_product(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> str:
    """Return the kind of the quickest way (measured, docs/performance.md).

    A product of matrices with nothing to sum beats broadcasting for outer products, since it writes each cell
    once; the C loop does where the runs of a broadcast product are short.
    """
    if pair.left and pair.right:
        if not pair.batch:
            return "matmul"
        is_large = build.size((*pair.batch, *pair.left, *pair.right)) >= build.target.outer_cells
        return "loop" if is_large else "multiply"
    bigger, smaller = (one, other) if pair.left else (other, one)
    if ITEM_BYTES.get(compute, 8) * build.size(bigger.labels) < build.target.scaled_bytes:
        return "multiply"
    build.used_strides = True
    steps, run = steps_of(build, bigger), 1
    for label in reversed(build.memory_order(bigger, bigger.labels)):
        if label in smaller.labels or abs(steps[label]) != run:
            break
        run *= build.sizes[label]
    return "loop" if run in build.target.scaled_runs else "multiply"


def _outer(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit products of columns with rows, by BLAS: matrices of one column and of one row, batched or not."""
    if pair.batch:
        return emit_matmul(build, canonical_strategy(pair), one, other)
    unit = literal(1, None, "")
    column = build.make_mergeable(one, [pair.left])
    column = build.reshape(column, (build.size(pair.left), 1), (product_label(pair.left), unit))
    row = build.make_mergeable(other, [pair.right])
    row = build.reshape(row, (1, build.size(pair.right)), (unit, product_label(pair.right)))
    labels = (*pair.left, *pair.right)
    product = build.emit(
        ir.dot(column.number, row.number), (product_label(pair.left), product_label(pair.right)), one.dtype
    )
    if len(labels) > 2:  # noqa: PLR2004  merged
        product = build.reshape(product, build.shape(labels), labels)
    return replace(product, labels=labels, strides=build.row_major_strides(labels))


def _broadcast(build: Builder, one: Value, other: Value, compute: str, preferred: Sequence[str]) -> Value:
    """Emit a broadcast product; the bigger operand comes first, for NumPy lays the result out as its first
    operand (R14).
    """
    if build.size(one.labels) < build.size(other.labels):
        one, other = other, one
    labels = [*one.labels, *(label for label in other.labels if label not in one.labels)]
    if set(labels) <= set(preferred):
        labels = [label for label in preferred if label in labels]
    dtype = "" if one.dtype == other.dtype == compute else compute
    left, right = build.expand(one, labels), build.expand(other, labels)
    bound = None if one.bound is None or other.bound is None else one.bound * other.bound
    return build.emit(
        ir.multiply(left.number, right.number, dtype), labels, compute or one.dtype, None, bound=bound
    )
