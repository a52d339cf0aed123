"""One pair of values to the fastest NumPy calls there are for it (docs/performance.md gives the
measurements).

Nothing summed: broadcasting, an outer product by BLAS, or the C loop. Else the quickest way that the cost
model knows (`nameexpr.compiler.lowering.strategies`), in the dtype that is quickest where it is exact:
integers through floats, real times complex as reals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import literal, product_label
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import PARTS, REAL_OF, c_loop, in_parts, matrices, of_parts
from nameexpr.compiler.lowering.strategies import BLAS, LETTERS, Pair, Way, is_plain, plain, steps_of, ways

FLOAT_PAYS = 24**3
"""Multiplications from which integers go through floats (R21)."""
REAL_PAYS = 16**3
"""Multiplications from which real times complex is computed in reals (R23)."""
COPIED = 32
"""Multiplications for each complex number from which a copy of it is little."""
BLOCK = 1 << 12
"""Cells of a batched outer product from which the C loop is quicker than broadcasting."""
LOOPED = 1 << 19
"""Bytes of a product with a vector from which the C loop is quicker, where each of its runs is one of
these:
"""
RUNS = range(64, 4097)
EXACT_IN = {"float32": 2**24, "float64": 2**53}


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
    pair = classify(build, one, other, keep, want)
    if pair.summed and _is_scaling(build, pair):
        one, other = _without(build, one, pair.summed), _without(build, other, pair.summed)
        pair = replace(pair, summed=())
    if not pair.summed:
        return multiply(build, pair, one, other, compute, want)
    if want and pair.right and want[-1] in pair.left:
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


def classify(build: Builder, one: Value, other: Value, keep: Sequence[str], want: Sequence[str]) -> Pair:
    """Return the labels of a pair by kind, those of one operand in the order in which they lie in memory."""
    kept = set(keep)
    batch = [label for label in one.labels if label in other.labels and label in kept]
    place = {label: position for position, label in enumerate(want)}
    batch.sort(key=lambda label: place.get(label, -1))
    left = build.by_memory(one, [label for label in one.labels if label not in other.labels])
    right = build.by_memory(other, [label for label in other.labels if label not in one.labels])
    summed = build.by_memory(
        one, [label for label in one.labels if label in other.labels and label not in kept]
    )
    return Pair(tuple(batch), left, right, summed)


def contract(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit a contraction of two values of one dtype in the quickest way."""
    is_settled = is_plain(build, pair) and one.dtype in BLAS
    way = plain(pair) if is_settled else build.choose(ways(build, pair, one, other))
    if way.kind == "loop":
        return c_loop(build, pair, one, other)
    return matrices(build, way, one, other)


def _integers(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    """Integers add up exactly: in floats where no sum can leave their whole numbers, else in 64 bits (R21,
    R22).
    """
    work = build.size(pair.batch) * build.size(pair.left) * build.size(pair.right) * build.size(pair.summed)
    is_matrix = bool(pair.left or pair.right)
    if work < FLOAT_PAYS or not is_matrix:
        return c_loop(build, pair, build.cast(one, compute), build.cast(other, compute))
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
        for dtype, limit in EXACT_IN.items():
            if bound < limit:
                product = contract(build, pair, build.cast(one, dtype), build.cast(other, dtype))
                return replace(build.cast(product, compute), bound=bound)
    found = ways(build, pair, replace(one, dtype="float64"), replace(other, dtype="float64"))
    way: Way = build.choose([way for way in found if way.kind == "matmul"])
    return matrices(build, way, one, other, wide=compute)


def _is_half_real(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> bool:
    """Whether one operand is real, the other complex, and reals pay (R23): the complex numbers lie along a
    label that is kept, or bringing them there is little beside the work.
    """
    if compute not in REAL_OF or (one.dtype in REAL_OF) == (other.dtype in REAL_OF):
        return False
    value, own = (one, pair.left) if one.dtype in REAL_OF else (other, pair.right)
    order = build.by_memory(value, value.labels)
    work = build.size((*pair.batch, *pair.left, *pair.right, *pair.summed))
    is_ready = bool(order) and order[-1] in own
    return work >= REAL_PAYS and (is_ready or work >= COPIED * build.size(value.labels))


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
    best = _quickest_product(build, pair, one, other, compute)
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


def _quickest_product(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> str:
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
    unit = literal(1, None, "")
    column = build.joined(one, [pair.left])
    column = build.reshape(column, (build.size(pair.left), 1), (product_label(pair.left), unit))
    row = build.joined(other, [pair.right])
    row = build.reshape(row, (1, build.size(pair.right)), (unit, product_label(pair.right)))
    labels = (*pair.left, *pair.right)
    product = build.emit(
        ir.dot(column.number, row.number), (product_label(pair.left), product_label(pair.right)), one.dtype
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
    dtype = "" if one.dtype == other.dtype == compute else compute
    left, right = build.expand(one, labels), build.expand(other, labels)
    bound = None if one.bound is None or other.bound is None else one.bound * other.bound
    return build.emit(
        ir.multiply(left.number, right.number, dtype), labels, compute or one.dtype, None, bound=bound
    )
