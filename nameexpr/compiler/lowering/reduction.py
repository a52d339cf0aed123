"""Sums, maxima and the like over axes of one value: the ways in which NumPy can compute them.

`numpy.add.reduce` starts anew for every run of cells, which costs a hundred times the additions where runs
are short. A product with ones (BLAS), the C loop, and adding up slices do better there (R11, R12).

The rounding errors of sums stay in the class of NumPy's own: where NumPy adds pairwise, along cells that lie
one after the other, a product with ones takes its place only up to `PAIRWISE` cells; elsewhere NumPy adds one
after the other, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.axes import product_label
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.lowering.builder import Builder, Strides, Value
from nameexpr.compiler.lowering.products import REAL_OF, in_parts, matrices, of_parts, parts_of
from nameexpr.compiler.lowering.strategies import BLAS, LETTERS, Pair, Way, steps_of, ways

PAIRWISE = 256
"""Cells of a contiguous sum up to which an order of additions other than NumPy's pairwise one is taken."""
CAST = 1 << 24
"""Bytes of a cast value up to which it is made in order to add up more quickly."""
LEAST = 32
"""Cells of the smallest block of a long sum."""
SLICES = 16
"""Cells of a sum or maximum up to which it is made of slices."""
FOLDING = frozenset({"max", "min", "any", "all"})
"""Reducers that may be made of slices: their result depends on no order."""


def lower_sum(build: Builder, value: Value, summed: Sequence[str], compute: str) -> Value:
    """Emit the sum of a value over some of its labels, in the dtype `compute`."""
    if build.is_diagonal(value):  # `simplify` makes one pass of the two
        return _reduced(build, value, summed, compute)
    found = [Way("reduce", _reduce_cost(build, value) if build.size(value.labels) else 0.0)]
    is_cast = bool(compute) and value.dtype != compute
    if not is_cast:
        found += _quicker(build, value, summed)
    elif 0 < build.size(value.labels) * ITEM_BYTES.get(compute, 8) <= CAST:
        cast = replace(value, dtype=compute, strides=build.packed(value))
        extra = build.costs.cast_cost(build.size(value.labels), compute)
        found += [replace(way, cost=way.cost + extra) for way in _quicker(build, cast, summed)]
    way = build.choose(_by_time(found)) if len(found) > 1 else found[0]
    if way.kind != "reduce":
        value = build.cast(value, compute)
    kept = tuple(label for label in value.labels if label not in summed)
    bound = None if value.bound is None else value.bound * build.size(summed)
    if way.kind == "blocks":
        return _of_blocks(build, value, way)
    if way.kind == "matmul":
        return _with_ones(build, value, way)
    if way.kind == "loop":
        letters = tuple(range(len(value.labels)))
        result = tuple(value.axis(label) for label in kept)
        loop = ir.einsum((value.number,), (letters,), result)
        return build.emit(loop, kept, compute or value.dtype, build.dense(kept), bound=bound)
    if way.kind == "slices":
        axes = tuple(sorted(value.axis(label) for label in summed))
        return build.emit(ir.slices(value.number, "sum", axes), kept, value.dtype, bound=bound)
    return _reduced(build, value, summed, compute)


def _reduced(build: Builder, value: Value, summed: Sequence[str], compute: str) -> Value:
    """Emit NumPy's own sum."""
    kept = tuple(label for label in value.labels if label not in summed)
    bound = None if value.bound is None else value.bound * build.size(summed)
    axes = tuple(sorted(value.axis(label) for label in summed))
    dtype = "" if compute == value.dtype else compute
    return build.emit(ir.add_up(value.number, axes, dtype), kept, compute or value.dtype, bound=bound)


def is_folded(build: Builder, value: Value, reduced: Sequence[str], reducer: str) -> bool:
    """Whether a maximum or the like is quicker made of slices than by NumPy's own reduction."""
    count = build.size(reduced)
    is_empty = not build.size(value.labels)
    if is_empty or reducer not in FOLDING or not 1 < count <= SLICES or _is_unfit(reducer, value):
        return False
    way = _slices(build, value, reduced)
    reduce = Way("reduce", build.costs.maximum_cost(build.sizes, steps_of(build, value), value.dtype))
    return build.choose(_by_time([way, reduce])).kind == "slices"


def _is_unfit(reducer: str, value: Value) -> bool:
    return reducer in {"any", "all"} and value.dtype != "bool"


def _by_time(found: list[Way]) -> list[Way]:
    return sorted(found, key=lambda way: way.cost)


def _quicker(build: Builder, value: Value, summed: Sequence[str]) -> list[Way]:
    """Return the other ways to add up, where their rounding is as good as NumPy's."""
    count = build.size(summed)
    found: list[Way] = []
    if count <= 1 or not build.size(value.labels) or value.dtype not in ITEM_BYTES:
        return found
    is_exact = value.dtype not in BLAS
    if 1 < count <= SLICES and (is_exact or count < SLICES // 2 or not _is_contiguous(build, value, summed)):
        found.append(_slices(build, value, summed))
    if not is_exact and _is_contiguous(build, value, summed) and count > PAIRWISE:
        return found if value.dtype in REAL_OF else found + _in_blocks(build, value, summed)
    build.read_strides(value)
    kept = [label for label in value.labels if label not in summed]
    if len(value.labels) <= LETTERS:
        cost = build.costs.loop_cost(build.sizes, [steps_of(build, value)], kept, value.dtype)
        found.append(Way("loop", cost))
    return found if is_exact else found + _products(build, value, summed)


def _products(build: Builder, value: Value, summed: Sequence[str]) -> list[Way]:
    """Return the products with ones: of complex numbers' parts, for infinity times 0 is nan."""
    cost = 0.0
    if value.dtype in REAL_OF:
        value, cost = parts_of(build, value), build.costs.call_cost("parts")
    tried = ways(build, _pair(build, value, summed), value, _ones(build, value, summed))
    return [replace(way, cost=way.cost + cost) for way in tried if way.kind == "matmul"]


def _in_blocks(build: Builder, value: Value, summed: Sequence[str]) -> list[Way]:
    """Return the sum of sums of blocks, which keeps the errors of a long sum small, if a block size
    divides it.
    """
    count = build.size(summed)
    block = next((size for size in range(PAIRWISE, LEAST - 1, -1) if count % size == 0), 0)
    order = build.by_memory(value, summed)
    if not block or not build.merges(value, order):
        return []
    rows = build.size(value.labels) // block
    cost = build.costs.product_cost(1, rows, block, 1, value.dtype, is_by_dots=True)
    cost += build.costs.call_cost("dot") + 3 * build.costs.call_cost("view")
    return [Way("blocks", cost, summed=order, columns=(str(block),))]


def _of_blocks(build: Builder, value: Value, way: Way) -> Value:
    """Emit the sums of blocks, and their sum."""
    block = int(way.columns[0])
    kept = [label for label in value.labels if label not in way.summed]
    inner, outer = (product_label((*way.summed, part)) for part in ("in", "out"))
    build.sizes = {**build.sizes, inner: block, outer: build.size(way.summed) // block}
    labels = (*kept, outer, inner)
    value = build.transpose(value, [*kept, *way.summed])
    split = build.reshape(value, build.shape(labels), labels)
    split = replace(split, strides=_split_strides(build, value, len(kept), block))
    return lower_sum(build, lower_sum(build, split, [inner], value.dtype), [outer], value.dtype)


def _split_strides(build: Builder, value: Value, kept: int, block: int) -> Strides | None:
    if value.strides is None:
        return None
    return (*value.strides[:kept], block, 1)


def _is_contiguous(build: Builder, value: Value, summed: Sequence[str]) -> bool:
    """Whether the sum runs along cells that lie one after the other, so that NumPy adds pairwise."""
    build.read_strides(value)
    steps = steps_of(build, value)
    return any(steps[label] == 1 and build.sizes[label] > 1 for label in summed)


def _reduce_cost(build: Builder, value: Value) -> float:
    return build.costs.sum_cost(build.sizes, steps_of(build, value), value.dtype)


def _slices(build: Builder, value: Value, reduced: Sequence[str]) -> Way:
    build.read_strides(value)
    kept = [label for label in value.labels if label not in reduced]
    is_near = not _is_contiguous(build, value, reduced)
    cells = build.size(kept)
    cost = build.costs.slices_cost(build.size(reduced), cells, value.dtype, is_near=is_near)
    return Way("slices", cost)


def _pair(build: Builder, value: Value, summed: Sequence[str]) -> Pair:
    kept = build.by_memory(value, [label for label in value.labels if label not in summed])
    return Pair((), kept, (), build.by_memory(value, summed))


def _ones(build: Builder, value: Value, summed: Sequence[str]) -> Value:
    """Return a vector of ones that is not there yet, to reckon with."""
    return Value(-1, tuple(summed), value.dtype, build.dense(summed), is_fresh=True)


def _with_ones(build: Builder, value: Value, way: Way) -> Value:
    """Emit the product with ones along the labels that go."""
    parts = in_parts(build, value) if value.dtype in REAL_OF else value
    shape = build.shape(way.summed)
    ones = build.emit(ir.ones(shape, parts.dtype), way.summed, parts.dtype, build.dense(way.summed))
    made = matrices(build, way, parts, ones)
    return made if parts is value else of_parts(build, made, value.dtype)
