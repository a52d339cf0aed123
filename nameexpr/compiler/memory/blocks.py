"""The memory that pointwise functions need while they run, not counting their results, and the memory of
blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.liveness import COMBINED, WHERE, accumulator, buffers, is_inner_product, is_or_zero
from nameexpr.compiler.ir.program import WITH_OUT, Instruction, Number, Shape
from nameexpr.compiler.ir.strides import broadcast
from nameexpr.compiler.memory.arrays import (
    WIDE,
    Array,
    fresh,
    item_bytes,
    loop_bytes,
    odd_bytes,
    promoted,
    reduce_buffers,
    ufunc_bytes,
)
from nameexpr.compiler.memory.buffers import Passed, buffer_bytes
from nameexpr.compiler.memory.scratch import BY_ROWS, reducer_bytes
from nameexpr.ops import COSTS

LOGISTIC = frozenset({"sigmoid", "silu"})
IN_FLOAT64 = {"erf": (49, 61), "erfc": (32, 44), "gelu": (40, 52)}
"""Pointwise kernels that compute in float64, part by part: the bytes for an element of a part, of narrow
floats and of others.
"""
PART, MANY = 1 << 15, 1 << 17
"""The number of elements of a part (`nameexpr.backends.numpy.error_function` and `special`), and that from
which sigmoid and silu are computed in parts.
"""
OF_FLOATS = LOGISTIC | IN_FLOAT64.keys() | {"softplus"}
"""Pointwise kernels that cast their argument first, if it is not a float in native byte order."""
MASK = 1 << 17
"""The bytes of a mask that `formulas.where_over` negates at a time."""


def pointwise_bytes(
    instruction: Instruction, sources: Sequence[Array], dtype: str, out: Array | None = None
) -> int:
    """Return the bytes that a pointwise function of arrays needs besides its result, or `out` if given."""
    if instruction.is_weak:
        return 0
    if is_or_zero(instruction.function, instruction.constants, dtype):
        out = sources[instruction.over] if instruction.over is not None else out
        return ufunc_bytes(instruction.shape, sources, dtype, out)
    if instruction.function == WHERE and instruction.over is not None:
        condition = sources[0]
        is_whole = instruction.constants[-1] is None or condition.shape != instruction.shape
        return condition.cells if is_whole else min(condition.cells, MASK)
    weak = [_weak(constant) for constant in instruction.constants]
    return call_bytes(instruction.function, sources, weak, instruction.shape, dtype, out)


def _weak(constant: Number | None) -> str:
    """Return the dtype of a Python scalar; "" for None, which stands for an array."""
    return "" if constant is None else WEAK[type(constant)]


def call_bytes(
    call: str,
    sources: Sequence[Array],
    weak: Sequence[str],
    shape: Shape,
    dtype: str,
    out: Array | None,
) -> int:
    """Return the bytes that a call of a pointwise function needs besides its result.

    Parameters
    ----------
    call : str
        The kernel.
    sources : sequence of Array
        The arguments that are arrays.
    weak : sequence of str
        For each argument the dtype of the number; "" for an array.
    shape, dtype : tuple of int, str
        The shape and dtype of the result.
    out : Array or None
        The output array.
    """
    name = COSTS.get(call, call)
    if call == WHERE:
        return _where_bytes(sources, weak, shape, dtype)
    if name == "clip":
        return _clip_bytes(sources, weak, shape, dtype)
    if name in OF_FLOATS:
        return _float_bytes(name, sources[0], dtype) if sources else 0
    if call in WITH_OUT or name == "round":
        is_other = dtype == "bool" or call == "absolute"
        computed = promoted([*(one.dtype for one in sources), *filter(None, weak)]) if is_other else dtype
        return ufunc_bytes(shape, sources, computed, out, made=dtype)
    if name == "imag" and not sources[0].dtype.startswith("complex"):
        return sources[0].cells * item_bytes(dtype)
    return 0


def _where_bytes(sources: Sequence[Array], weak: Sequence[str], shape: Shape, dtype: str) -> int:
    """Return the buffers of a choice, whose loop never exceeds one buffer; single elements need none."""
    wanted = [made for made, number in zip(("bool", dtype, dtype), weak, strict=True) if not number]
    passed = [Passed(None, item_bytes(dtype))]
    for one, made in zip(sources, wanted, strict=True):
        if one.shape:
            is_cast = one.dtype != made or one.is_odd
            passed.append(Passed(one.along(shape), item_bytes(made), is_cast))
    return buffer_bytes(shape, passed, grows=False)


def _clip_bytes(sources: Sequence[Array], weak: Sequence[str], shape: Shape, dtype: str) -> int:
    """Return the bytes that clipping needs: the larger of value and bound is overwritten, if it is large
    enough.
    """
    first, high = sources[: weak[:2].count("")], sources[weak[:2].count("") :]
    above: Shape = ()
    for one in first:
        above = broadcast(above, one.shape)
    larger = fresh(above, dtype, [one for one in first if one.shape])
    is_whole = above == shape
    passing = ufunc_bytes(shape, [larger, *high], dtype, larger if is_whole else None)
    return max(ufunc_bytes(above, first, dtype), passing) + (0 if is_whole else larger.size)


def _float_bytes(name: str, source: Array, dtype: str) -> int:
    """Return the bytes that an activation, or an error function, needs besides its result."""
    cells, item = source.cells, item_bytes(dtype)
    is_cast = source.dtype != dtype or source.is_swapped
    casts = cells * item if is_cast else 0
    floats = source.cast(dtype) if is_cast else source
    if name in LOGISTIC:
        if cells >= MANY and floats.is_row_major:
            return casts + PART * item
        return casts + cells * item + ufunc_bytes(source.shape, [floats], dtype)
    if name == "softplus":
        return casts + ufunc_bytes(source.shape, [floats], dtype)
    copied = 0 if floats.is_row_major else cells * item
    return casts + copied + min(cells, PART) * IN_FLOAT64[name][item >= WIDE]


def block_bytes(block: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of the values inside a block, computed one after the other, block after block.

    Blocks at an edge are smaller but may need more: the stride of their rows exceeds the row length.
    """
    blocks = max(_pair_bytes(block, sources, result, turns) for turns in _turns(block))
    wide = result.cells * item_bytes(accumulator(block))
    if not block.function or wide <= result.size:
        return blocks
    return max(wide - result.size + blocks, wide)  # the accumulator of blocks, and finally the result


def _pair_bytes(
    block: Instruction, sources: Sequence[Array], result: Array, turns: Sequence[Sequence[int]]
) -> int:
    """Return the bytes alive in a block and the next one, whose sizes are given.

    Names keep the values of the previous block until they are assigned again, as in the loop of
    `nameexpr.backends.numpy.codegen.blocks`.
    """
    varies, overs, home = buffers(block, [source.shape for source in sources])
    count, final = len(sources), len(block.steps) - 1
    local: list[Array] = []
    lies: dict[int, int] = {}
    sizes: dict[int, int] = {}
    peak = 0
    for turn, cut in enumerate(turns):
        local = [_cut(source, cut) for source in sources]
        combined = _kept(block, cut).size if turn and _is_combined(block) else 0
        for number, step in enumerate(block.steps):
            over, axes = overs[number], varies[count + number]
            shape = () if axes is None else tuple(cut[a] if a in axes else 1 for a in range(len(cut)))
            arguments = [local[source] for source in step.sources]
            is_placed = number == home or (
                not block.function and number == final and home is None
                and step.takes_out and step.dtype == block.dtype
            )  # fmt: skip
            out = None
            if is_placed:
                buffer, out = -1, result.part(shape)
            elif over is not None:
                buffer, out = lies[over - count], local[over]
            else:
                buffer = turn * len(block.steps) + number
                sizes[buffer] = prod(shape) * item_bytes(step.dtype)
            local.append(out or fresh(shape, step.dtype, arguments))
            alive = {*lies.values(), buffer} - {-1}
            own = _step_bytes(block, number, arguments, shape, out)
            peak = max(peak, combined + sum(sizes[each] for each in alive) + own)
            lies[number] = buffer
    held = sum(sizes[each] for each in {*lies.values()} - {-1})
    return max(peak, held + _reduced_bytes(block, local, turns[-1]))


def _turns(block: Instruction) -> Iterator[list[list[int]]]:
    """Yield the sizes of each kind of block, preceded by those of the block before it, if any."""
    tiled = [axis for axis, size in enumerate(block.shape) if block.tiles[axis] < size]
    if not tiled:
        yield [list(block.shape)]
        return
    *outer, inner = tiled
    for ends in product((False, True), repeat=len(outer)):
        cut = [min(pair) for pair in zip(block.tiles, block.shape, strict=True)]
        for axis, is_end in zip(outer, ends, strict=True):
            cut[axis] = block.shape[axis] % block.tiles[axis] if is_end else block.tiles[axis]
        if all(cut):
            for sizes in _neighbours(block.shape[inner], block.tiles[inner], is_repeated=bool(outer)):
                yield [[*cut[:inner], size, *cut[inner + 1 :]] for size in sizes]


def _neighbours(size: int, tile: int, *, is_repeated: bool) -> Iterator[tuple[int, int]]:
    """Yield the sizes of consecutive blocks along an axis, repeatedly or once."""
    rest = size % tile
    if size >= 2 * tile:
        yield tile, tile
    if rest:
        yield tile, rest
    if is_repeated:
        yield rest or tile, tile


def _kept(block: Instruction, cut: Sequence[int]) -> Array:
    """Return the result of a block's reducer."""
    return fresh(tuple(size for axis, size in enumerate(cut) if axis not in block.axes), accumulator(block))


def _is_combined(block: Instruction) -> bool:
    """Return whether the results of blocks are combined, because reduced axes are cut."""
    return any(block.tiles[axis] < block.shape[axis] for axis in block.axes)


def _cut(source: Array, cut: Sequence[int]) -> Array:
    """Return the part of a source that belongs to a block; a number belongs to all blocks."""
    if not source.shape:
        return source
    return source.part(tuple(min(pair) for pair in zip(source.shape, cut, strict=True)))


def _step_bytes(
    block: Instruction, number: int, arguments: Sequence[Array], shape: Shape, out: Array | None
) -> int:
    """Return the bytes that a function inside a block needs besides its result."""
    step = block.steps[number]
    if step.primitive == "cast":
        return 0
    if is_or_zero(step.function, step.constants, step.dtype):
        return ufunc_bytes(shape, arguments, step.dtype, out)
    if step.function == WHERE and out is not None:
        return arguments[0].cells
    weak = [_weak(constant) for constant in step.constants]
    return call_bytes(step.function, arguments, weak, shape, step.dtype, out)


def _reduced_bytes(block: Instruction, local: Sequence[Array], cut: Sequence[int]) -> int:
    """Return the bytes that the reducer of a block needs: those of its kernel, and twice its result."""
    if not block.function:
        return 0
    factors = [local[factor] for factor in block.factors]
    dtype = accumulator(block)
    kept_axes = [axis for axis in range(len(cut)) if axis not in block.axes]
    kept = _kept(block, cut)
    if block.function in BY_ROWS:  # float16 arrives already cast, and leaves the kernel so
        kept = fresh(kept.shape, factors[0].dtype)
    if len(factors) > 1:
        if is_inner_product(block, [factor.shape and factor.shape[-1] != 1 for factor in factors]):
            needed = odd_bytes(factors, dtype)
        else:
            letters = [tuple(range(len(factor.shape))) for factor in factors]
            needed = loop_bytes(letters, kept_axes, factors, kept)
    elif block.function in COMBINED and block.function not in {"count_nonzero", "any", "all"}:
        needed = reduce_buffers(factors[0], block.axes, dtype)
    else:
        needed = reducer_bytes(block.function, factors[0], block.axes)
    return (2 if _is_combined(block) else 1) * kept.size + needed
