"""Lower the contractions of a plan, pair by pair, to the fastest NumPy calls (docs/performance.md has the
measurements).

If nothing is summed: broadcasting, an outer product by BLAS, or the C loop. Otherwise the fastest strategy by
the cost model (`nameexpr.compiler.lowering.strategies`), in the dtype that is fastest while exact: integers
as floats, real times complex as reals.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import BLAS, REAL_OF, Dtypes
from nameexpr.compiler.ir.liveness import REAL
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import (
    PARTS,
    Pair,
    Strategy,
    canonical_strategy,
    cast_to,
    emit_broadcast,
    emit_contraction,
    emit_einsum,
    emit_matmul,
    emit_outer,
    in_parts,
    of_parts,
)
from nameexpr.compiler.lowering.reduction import long_dot, lower_mean, lower_reducer, lower_sum, lower_zeros
from nameexpr.compiler.lowering.strategies import (
    are_cast_by_dot,
    candidate_strategies,
    other_kinds,
    quickest_product,
)
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.ops import SUMMING
from nameexpr.records import replace

if TYPE_CHECKING:
    from nameexpr.compiler.lowering.readers import NextStep

FEW = 4
"""The number of rows from which the order of two matrices is chosen for BLAS."""


def lower_reduction(
    build: Builder, plan: ContractionPlan, operands: Sequence[Value], dtypes: Dtypes, offset: int = 0
) -> Value:
    """Return the value of a plan's contractions and reducer; `offset` is added to the numbers of
    its steps.
    """
    contraction, reducer = plan.contraction, plan.contraction.reducer
    dropped, is_sum = contraction.dropped, reducer in {None, "sum"}
    if is_sum and dtypes.result and len(operands) > 1 and 0 in [build.sizes[label] for label in dropped]:
        return lower_zeros(build, contraction, operands, dtypes)
    is_window = build.windows and len(operands) == 1 and operands[0].number in build.windows
    if is_window and "window_reduce" in build.target.native:
        from nameexpr.compiler.lowering.rolling import lower_rolling

        build.step = offset if plan.steps else None
        made = lower_rolling(build, operands[0], reducer or "sum", dropped, dtypes)
        build.step = None
        if made is not None:
            return made
    if reducer == "mean" and len(operands) == 1 and dropped and "mean" in build.target.native:
        from nameexpr.compiler.lowering.reduction import lower_whole_mean

        return lower_whole_mean(build, operands[0], dropped, dtypes, offset if plan.steps else None)
    values = list(operands)
    for number, step in enumerate(plan.steps):
        build.step = number + offset
        own = [values[value] for value in step.values]
        if len(own) == 1:
            values.append(lower_sum(build, own[0], step.summed, dtypes.compute))
            continue
        preferred = contraction.result + plan.reduced if number == len(plan.steps) - 1 else ()
        reader = None
        if number + 1 < len(plan.steps):
            from nameexpr.compiler.lowering.readers import reader_of

            reader = reader_of(plan, number)
        values.append(lower_pair(build, own[0], own[1], step.labels, dtypes.compute, preferred, reader))
    build.step = None
    value = values[-1] if plan.steps else values[0]
    if not is_sum and reducer != "mean":
        return lower_reducer(build, value, reducer or "", plan.reduced, dtypes)
    if not dropped and reducer in SUMMING:  # over an empty pack: dtypes depend on the text alone
        value = build.cast(value, dtypes.compute)
    if not is_sum:
        value = lower_mean(build, value, contraction.size(dropped), dtypes)
    return value if value.dtype == dtypes.result else build.cast(value, dtypes.result)


def lower_pair(
    build: Builder,
    one: Value,
    other: Value,
    keep: Sequence[str],
    compute: str,
    preferred: Sequence[str],
    reader: NextStep | None = None,
) -> Value:
    """Emit the product of two values, summed over the labels of both that are not in `keep`.

    Parameters
    ----------
    build : Builder
        The program that instructions are appended to.
    one, other : Value
        The operands; labels that only one of them has are kept.
    keep : sequence of str
        Labels of the result.
    compute : str
        The dtype of products and sums; "" to leave it to NumPy.
    preferred : sequence of str
        The order of labels in the final result, as far as known.
    reader : NextStep, optional
        The step that reads the product.
    """
    pair = _split_labels(build, one, other, keep, preferred)
    if pair.summed and _is_scaling(build, pair):
        kept = [[label for label in value.labels if label not in pair.summed] for value in (one, other)]
        one, other = build.with_labels(one, kept[0]), build.with_labels(other, kept[1])
        pair = replace(pair, summed=())
    if not pair.summed:
        return _multiply(build, pair, one, other, compute, preferred)
    if _swaps(build, pair, one, other, preferred):
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, pair.summed)
    if "contraction" in build.target.native:
        return emit_contraction(build, pair, one, other, compute)
    if compute in {"int64", "uint64"}:
        from nameexpr.compiler.lowering.integers import lower_integers

        return lower_integers(build, pair, one, other, compute, _contract)
    if compute in REAL_OF and _is_half_real(build, pair, one, other):
        return _in_reals(build, pair, one, other, compute)
    if not one.dtype == compute == other.dtype:
        if are_cast_by_dot(build, pair, one, other, compute) and _is_trivial(build, pair):
            one, other = replace(one, dtype=compute), replace(other, dtype=compute)
        one, other = cast_to(build, one, compute), cast_to(build, other, compute)
    return _contract(build, pair, one, other, reader)


def _swaps(build: Builder, pair: Pair, one: Value, other: Value, preferred: Sequence[str]) -> bool:
    """Return whether the second operand of a product of matrices becomes the first: for the last axis of the
    result; else for BLAS, which takes up to twice as long if its second matrix is contiguous along the summed
    axis, least if that is the smaller matrix, or if the first one is contiguous along its rows.
    """
    kept = [[label for label in own if build.sizes[label] != 1] for own in (pair.left, pair.right)]
    if not preferred or not all(kept) or "einsum" not in build.target.native:
        return bool(preferred and pair.right and preferred[-1] in pair.left)
    last = next((label for label in reversed(preferred) if build.sizes[label] != 1), "")
    if last in {kept[0][-1], kept[1][-1]}:
        return last == kept[0][-1]
    build.read_strides(one, other)
    steps = [build.steps(one), build.steps(other)]
    is_along = [1 in [abs(own[label]) for label in pair.summed if build.sizes[label] != 1] for own in steps]
    few, many = build.size(pair.left), build.size(pair.right)
    return is_along[1] and (not is_along[0] or FEW <= few < many)


def _split_labels(
    build: Builder, one: Value, other: Value, keep: Sequence[str], preferred: Sequence[str]
) -> Pair:
    """Return the labels of a pair by kind, those of one operand in the order of their axes in memory."""
    batch = [label for label in one.labels if label in other.labels and label in keep]
    if len(batch) > 1:
        place = {label: position for position, label in enumerate(preferred)}
        batch.sort(key=lambda label: place.get(label, -1))
    left = _ordered(build, one, [label for label in one.labels if label not in other.labels])
    right = _ordered(build, other, [label for label in other.labels if label not in one.labels])
    summed = [label for label in one.labels if label in other.labels and label not in keep]
    return Pair(tuple(batch), left, right, _ordered(build, one, summed))


def _ordered(build: Builder, value: Value, labels: Sequence[str]) -> Labels:
    return build.memory_order(value, labels) if len(labels) > 1 else tuple(labels)


def _is_scaling(build: Builder, pair: Pair) -> bool:
    """Return whether one of a pair is a single element: `dot` skips products with 0, even for nan."""
    sizes, shared = build.sizes, (*pair.batch, *pair.summed)
    return 1 in [prod([sizes[label] for label in (*shared, *own)]) for own in (pair.left, pair.right)]


def _contract(build: Builder, pair: Pair, one: Value, other: Value, reader: NextStep | None = None) -> Value:
    if "einsum" not in build.target.native:
        return _portable(build, pair, one, other)
    is_window = bool(build.windows) and not build.windows.keys().isdisjoint((one.number, other.number))
    is_dot = not (is_window or pair.left or pair.right or pair.batch)
    if is_dot and (dot := long_dot(build, pair, one, other)) is not None:
        return dot
    if one.dtype in BLAS and not is_window and _is_trivial(build, pair):
        return emit_matmul(build, canonical_strategy(pair), one, other)
    found = _candidates(build, pair, one, other, None if is_window else reader)
    if is_window:
        from nameexpr.compiler.lowering.windowed import emit_windowed, with_windows

        found = with_windows(build, found, pair, one, other)
    strategy = build.choose(found)
    if strategy.kind.startswith("window"):
        return emit_windowed(build, strategy, one, other)
    if strategy.kind == "loop":
        return emit_einsum(build, pair, one, other)
    if strategy.kind == "apart":
        apart = [label for label in pair.summed if label not in strategy.summed]
        return lower_sum(build, emit_matmul(build, strategy, one, other), apart, one.dtype)
    return emit_matmul(build, strategy, one, other)


def _candidates(
    build: Builder, pair: Pair, one: Value, other: Value, reader: NextStep | None
) -> list[Strategy]:
    """Return the candidate strategies, cheapest first, which are found once for values that are laid out
    alike.
    """
    build.read_strides(one, other)
    key = (pair, one.labels, one.strides, other.labels, other.strides, one.dtype, other.dtype, reader)
    if key not in build.found:
        found = candidate_strategies(build, pair, one, other)
        if reader is not None:
            from nameexpr.compiler.lowering.readers import for_reader

            found = for_reader(build, found, pair, reader, one.dtype)
        build.found[key] = found
    strategies: list[Strategy] = build.found[key]
    return strategies


def _portable(build: Builder, pair: Pair, one: Value, other: Value) -> Value:
    """Emit a contraction by what every library has: a product of matrices, or of elements and a sum."""
    if pair.left or pair.right:
        return emit_matmul(build, canonical_strategy(pair), one, other)
    if "vecdot" in build.target.native and one.dtype in REAL:
        return emit_matmul(build, Strategy("vecdot", 0.0, pair.batch, summed=pair.summed), one, other)
    return lower_sum(build, emit_broadcast(build, one, other, one.dtype, ()), pair.summed, one.dtype)


def _is_trivial(build: Builder, pair: Pair) -> bool:
    """Return whether there is no choice, regardless of the layout: two matrices or vectors, or batches of
    matrices that are not tiny.
    """
    if len(pair.left) > 1 or len(pair.right) > 1 or len(pair.summed) > 1:
        return False
    if not pair.batch:
        return True
    inner, target = build.size((*pair.left, *pair.right, *pair.summed)), build.target
    return bool(pair.left and pair.right) and (
        inner > target.tiny_product or build.size(pair.batch) < target.many_products
    )


def _is_half_real(build: Builder, pair: Pair, one: Value, other: Value) -> bool:
    """Return whether one operand is real, the other complex, and a real product is faster (R23): complex
    numbers are contiguous along a kept label, or making them so costs little compared with the product.
    """
    if (one.dtype in REAL_OF) == (other.dtype in REAL_OF) or "as_real" not in build.target.native:
        return False
    value, own = (one, pair.left) if one.dtype in REAL_OF else (other, pair.right)
    order = build.memory_order(value, value.labels)
    work = build.size((*pair.batch, *pair.left, *pair.right, *pair.summed))
    is_ready = bool(order) and order[-1] in own
    return work >= build.target.real_products and (
        is_ready or work >= build.target.parts_products * build.size(value.labels)
    )


def _in_reals(build: Builder, pair: Pair, one: Value, other: Value, compute: str) -> Value:
    if one.dtype in REAL_OF:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, pair.summed)
    real, pairs = build.cast(one, REAL_OF[compute]), build.cast(other, compute)
    parts = in_parts(build, pairs)
    with_parts = Pair(pair.batch, pair.left, (*pair.right, PARTS), pair.summed)
    return of_parts(build, _contract(build, with_parts, real, parts), compute)


def _multiply(
    build: Builder, pair: Pair, one: Value, other: Value, compute: str, preferred: Sequence[str]
) -> Value:
    if compute in BLAS and preferred and pair.right and preferred[-1] in pair.left:
        one, other = other, one
        pair = Pair(pair.batch, pair.right, pair.left, ())
    kind, others = "multiply", other_kinds(build, pair) if compute in BLAS else []
    if others:
        best = quickest_product(build, pair, one, other, compute)
        kind = build.choose(sorted(["multiply", *others], key=lambda kind: kind != best))
    if kind == "multiply":
        return emit_broadcast(build, one, other, compute, preferred)
    one, other = build.cast(one, compute), build.cast(other, compute)
    return (emit_einsum if kind == "loop" else emit_outer)(build, pair, one, other)
