"""The buffers of NumPy's iterator while it visits arrays.

An operand that is cast, not aligned or in another byte order passes through a buffer of up to `CELLS`
elements; so does one whose elements are not one stride apart, if longer runs of the others are worth it.
Which operands are buffered is determined as in NumPy (2.3 and later), in `nditer_constr.c`; earlier releases
had fewer buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.ir.strides import Strides, compact_strides, iteration_order
from nameexpr.records import record

CELLS = 8192
"""The largest number of elements of a buffer."""


@record
class Passed:
    """An array as an iterator sees it: a stride for each axis of the loop, 0 where it does not vary.

    `strides` are None for a result that is allocated; `item` is the size of an element in the loop, `is_cast`
    means that elements are converted, `is_reduced` that the array is written to repeatedly.
    """

    strides: Strides | None
    item: int
    is_cast: bool = False
    is_reduced: bool = False


@record
class _Core:
    """How far an iterator advances with one call of its inner loop: the elements of a core, the axis around
    it, and the elements of both.
    """

    cells: int
    around: int
    size: int


def buffer_bytes(shape: Shape, arrays: Sequence[Passed], *, grows: bool = True, direct: int = 1) -> int:
    """Return the bytes of all buffers of an iterator.

    `grows` means that a loop may be longer than a buffer. `direct` is the number of axes, after contiguous
    axes are joined, up to which no buffer is needed if nothing is cast.

    Examples
    --------
    >>> buffer_bytes((400, 500), [Passed((500, 1), 8), Passed((500, 1), 8, is_cast=True)])
    65536
    >>> buffer_bytes((400, 500), [Passed((500, 1), 8), Passed((1, 0), 8), Passed(None, 8)])
    64000
    """
    if prod(shape) < 2:  # noqa: PLR2004  nothing to loop over
        return 0
    axes, strides = _coalesced(shape, arrays)
    if len(axes) <= direct and not any(one.is_cast for one in arrays):
        return 0
    core, single, reduces = _core(axes, strides, arrays, grows=grows)
    kept = [_is_buffered(*facts, core, reduces) for facts in zip(arrays, strides, single, strict=True)]
    size = core.size
    if (any(kept) or not grows) and size > CELLS:
        size = core.cells * (CELLS // core.cells)
    held = size * sum(one.item for one, is_kept in zip(arrays, kept, strict=True) if is_kept)
    return held + _reused_bytes(arrays, strides, core)


def _reused_bytes(arrays: Sequence[Passed], strides: Sequence[Sequence[int]], core: _Core) -> int:
    """Return the bytes by which the buffers of operands cast once for many cores exceed the others.

    Such an operand is the same for all steps of the axis around a core, while another one is read in place:
    its buffer has room for one core more (observed in NumPy 2.4 and 2.5, not documented there).
    """
    if not core.around:
        return 0
    sources = list(zip(arrays, strides, strict=True))[:-1]
    if not any(not one.is_cast and own[core.around] for one, own in sources):
        return 0
    reused = (one.item for one, own in sources if one.is_cast and not own[core.around] and any(own))
    return core.cells * sum(reused)


def _coalesced(shape: Shape, arrays: Sequence[Passed]) -> tuple[list[int], list[list[int]]]:
    """Return the sizes of the axes, the innermost first, after joining those that are contiguous in all
    arrays, and the strides of each array along them.
    """
    known = [one.strides for one in arrays if one.strides is not None]
    order = iteration_order(known) if known else list(range(len(shape)))
    fresh = compact_strides(shape, order)
    every = [fresh if one.strides is None else one.strides for one in arrays]
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in arrays]
    for axis in reversed(order):
        if shape[axis] == 1:
            continue
        here = [one[axis] for one in every]
        if sizes and all(own[-1] * sizes[-1] == step for own, step in zip(strides, here, strict=True)):
            sizes[-1] *= shape[axis]
            continue
        sizes.append(shape[axis])
        for own, step in zip(strides, here, strict=True):
            own.append(step)
    return sizes, strides


def _core(
    sizes: Sequence[int], strides: Sequence[Sequence[int]], arrays: Sequence[Passed], *, grows: bool
) -> tuple[_Core, list[int], list[int]]:
    """Return the core that an iterator uses, for each array the number of axes along which it has one stride,
    and the axis from which on it is reduced, 0 for none.
    """
    cost = 1 + sum(one.is_cast for one in arrays)
    single, reduces = [1] * len(arrays), [0] * len(arrays)
    best, best_cost, size = _Core(1, 0, sizes[0]), cost, sizes[0]
    for axis in range(1, len(sizes)):
        if any(reduces) or (size >= CELLS and (cost > 1 or not grows)):
            break
        for number, (one, own) in enumerate(zip(arrays, strides, strict=True)):
            if single[number] == axis:
                if own[axis - 1] * sizes[axis - 1] == own[axis]:
                    single[number] += 1
                    continue
                cost += not one.is_cast
            if one.is_reduced and 0 in (own[axis], own[axis - 1]):
                reduces[number] = axis
        cells, size = size, size * sizes[axis]
        most = min(size, CELLS) if cost > 1 or not grows else size
        if cost * best.size <= best_cost * most:
            best, best_cost = _Core(cells, axis, size), cost
    return best, single, reduces


def _is_buffered(
    one: Passed, strides: Sequence[int], single: int, core: _Core, reduces: Sequence[int]
) -> bool:
    """Return whether an array passes through a buffer."""
    if one.is_cast:
        return True
    is_reducing = core.around > 0 and core.around in reduces
    is_free = is_reducing and (
        single == core.around or (one.is_reduced and core.around in reduces)
        or (strides[core.around] == 0 and single <= core.around)
    )  # fmt: skip
    return single + is_free <= core.around
