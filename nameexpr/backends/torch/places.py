"""What generated code calls to read, write and combine elements at positions, without reading values.

>>> window(torch.arange(6), (1,), ((2, 1),), (2, 3))
tensor([[1, 2, 3],
        [3, 4, 5]])
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor

from nameexpr.backends.torch.functions import common_dtype

Shape = tuple[int, ...]


def window(x: Tensor, offsets: Shape, rows: tuple[Shape, ...], shape: Shape) -> Tensor:
    """Return a tensor in which axis k of x is read at `offsets[k]` plus `rows[k]` times the index."""
    if 0 in shape:
        return x.new_zeros(shape)
    letters: list[int] = []
    for axis, (offset, row) in enumerate(zip(offsets, rows, strict=True)):
        own = [letter for letter, step in enumerate(row) if step]
        x = _axis(x, len(letters), offset, [(row[letter], shape[letter]) for letter in own])
        letters += own
        assert axis < len(rows)
    x, distinct = diagonal(x, tuple(letters)), list(dict.fromkeys(letters))
    missing = [letter for letter in range(len(shape)) if letter not in distinct]
    x = x.reshape((1,) * len(missing) + tuple(x.shape))
    order = [*missing, *distinct]
    return x.permute([order.index(letter) for letter in range(len(shape))]).expand(shape)


def _axis(x: Tensor, axis: int, offset: int, steps: list[tuple[int, int]]) -> Tensor:
    """Return x with an axis read at an offset plus steps along new axes, of these lengths."""
    if not steps:
        return x.select(axis, offset)
    if len(steps) == 1 or (len(steps) == 2 and min(step for step, _ in steps) > 0):  # noqa: PLR2004
        (step, length), (inner, count) = steps[0], (steps[1] if len(steps) > 1 else (1, 1))
        if step > 0:
            last = offset + step * (length - 1) + inner * (count - 1)
            x = x.narrow(axis, offset, last - offset + 1)
            windows = x.unfold(axis, inner * (count - 1) + 1, step)
            inside = windows[..., ::inner]
            return inside.movedim(-1, axis + 1) if len(steps) > 1 else inside.select(-1, 0)
    at = torch.tensor(offset, device=x.device)
    for step, length in steps:
        at = at.unsqueeze(-1) + step * torch.arange(length, device=x.device)
    lengths = [length for _, length in steps]
    found = torch.index_select(x, axis, at.reshape(-1))
    return found.reshape((*x.shape[:axis], *lengths, *x.shape[axis + 1 :]))


def diagonal(x: Tensor, letters: Shape) -> Tensor:
    """Return the elements where axes of the same letter have the same index, an axis for each letter in the
    order of their first axes.
    """
    own, distinct = list(letters), list(dict.fromkeys(letters))
    while len(own) > len(distinct):
        letter = next(one for one in own if own.count(one) > 1)
        first, second = [axis for axis, one in enumerate(own) if one == letter][:2]
        x = torch.diagonal(x, dim1=first, dim2=second)
        own = [one for axis, one in enumerate(own) if axis not in (first, second)] + [letter]
    order = [own.index(letter) for letter in distinct]
    return x if order == sorted(order) else x.permute(order)


def embed(x: Tensor, shape: Shape, inner: Shape, letters: Shape) -> Tensor:
    """Return zeros of a shape with `x`, broadcast, where axes of the same letter have the same index."""
    sizes = dict(zip(letters, shape, strict=True))
    x, own = x.expand([sizes[letter] for letter in inner]), list(inner)
    for letter in inner:
        for _ in range(letters.count(letter) - 1):
            axis = own.index(letter)
            x = torch.diag_embed(x.movedim(axis, -1))
            own = [*own[:axis], *own[axis + 1 :], letter, letter]
    rest, order = list(enumerate(own)), []
    for letter in letters:
        place = next(pair for pair in rest if pair[1] == letter)
        rest.remove(place)
        order.append(place[0])
    return x.permute(order).clone(memory_format=torch.contiguous_format)


def inside(positions: Tensor, size: int, outside: int) -> Tensor:
    """Return positions; those that are not at least 0 and below `size` become `outside`, which no axis has,
    so that reading them is an error of PyTorch.
    """
    return torch.where((positions < 0) | (positions >= size), outside, positions)


def take(x: Tensor, positions: Tensor, axis: int) -> Tensor:
    """Return x at positions along an axis, which their axes replace; all of them must be inside."""
    found = torch.index_select(x, axis, positions.reshape(-1))
    if positions.ndim == 1:
        return found
    return found.reshape((*x.shape[:axis], *positions.shape, *x.shape[axis + 1 :]))


def index(x: Tensor, *positions: Tensor) -> Tensor:
    """Return x at positions along its first axes, which are broadcast."""
    if any(one.ndim for one in positions):
        return x[positions]
    return x[tuple([one.reshape(1) for one in positions])][0]


def bins(sizes: Shape, shape: Shape, *positions: Tensor) -> Tensor:
    """Return the number of the bin of each element, the product of all sizes for those that are in none."""
    flat: Any = 0
    is_outside: Any = None
    for position, size in zip(positions, sizes, strict=True):
        wrong = (position < 0) | (position >= size)
        is_outside = wrong if is_outside is None else is_outside | wrong
        flat = flat * size + position
    return torch.where(is_outside, prod(sizes), flat).expand(shape)


def scatter(at: Tensor, rows: Tensor | None, size: int, method: str, empty: float) -> Tensor:
    """Return the rows of each bin combined: "sum", "prod", "max", "min", "any", "all", or their "count"."""
    if method in {"any", "all"}:
        return _flags(at, rows, size, is_all=method == "all")
    if rows is None:
        return at.new_zeros(size + 1).index_add(0, at, torch.ones_like(at))[:size]
    start = rows.new_full((size + 1, rows.shape[1]), empty)
    if method not in {"prod", "max", "min"}:
        return start.index_add(0, at, rows)[:size]
    how = {"prod": "prod", "max": "amax", "min": "amin"}[method]
    places = at.unsqueeze(1).expand(rows.shape)
    return start.scatter_reduce(0, places, rows, how)[:size]


def _flags(at: Tensor, rows: Tensor | None, size: int, *, is_all: bool) -> Tensor:
    """Return whether any row of a bin is true, or all of them."""
    if rows is None:
        return torch.full((size + 1,), is_all, device=at.device).index_fill(0, at, not is_all)[:size]
    wrong = ~rows if is_all else rows
    count = at.new_zeros((size + 1, rows.shape[1])).index_add(0, at, wrong.to(torch.int64))
    return (count == 0 if is_all else count > 0)[:size]


def joined(
    like: Any, shape: Shape, dtype: Any, pieces: tuple[tuple[Shape, Shape, Shape], ...], *values: Any
) -> Tensor:
    """Return a tensor of which each value has the part that begins at `starts` and is `lengths` long.

    A part is written in the shape `split`; what is in no part is 0. Without a dtype it is one that can hold
    all values.
    """
    if dtype is None:
        dtype = common_dtype(*values)
    blocks = [
        (starts, lengths, _block(like, dtype, split, lengths, value))
        for (starts, lengths, split), value in zip(pieces, values, strict=True)
        if 0 not in lengths
    ]
    axes = [axis for axis, size in enumerate(shape) if any(one[1][axis] != size for one in blocks)]
    if len(axes) == 1:
        return _in_line(like, dtype, shape, axes[0], blocks)
    if not axes and len(blocks) == 1:
        return blocks[0][2].clone(memory_format=torch.contiguous_format)
    result = torch.zeros(shape, dtype=dtype, device=like)
    for starts, lengths, block in blocks:
        result = _written(result, starts, lengths, block)
    return result


def _block(like: Any, dtype: torch.dtype, split: Shape, lengths: Shape, value: Any) -> Tensor:
    """Return a value, or a number, as a part of these lengths."""
    if not isinstance(value, Tensor):
        return torch.full(lengths, value, dtype=dtype, device=like)
    return value.to(dtype).expand(split).reshape(lengths)


def _in_line(like: Any, dtype: torch.dtype, shape: Shape, axis: int, blocks: list[Any]) -> Tensor:
    """Return blocks that lie one after the other along an axis, with zeros between them."""
    parts, end = [], 0
    for starts, lengths, block in sorted(blocks, key=lambda one: one[0][axis]):
        if starts[axis] > end:
            parts.append(
                torch.zeros((*shape[:axis], starts[axis] - end, *shape[axis + 1 :]), dtype=dtype, device=like)
            )
        parts.append(block)
        end = starts[axis] + lengths[axis]
    if end < shape[axis]:
        parts.append(
            torch.zeros((*shape[:axis], shape[axis] - end, *shape[axis + 1 :]), dtype=dtype, device=like)
        )
    return torch.cat(parts, axis)


def _written(x: Tensor, starts: Shape, lengths: Shape, block: Tensor, axis: int = 0) -> Tensor:
    """Return x with a block in it; the block is first put into the part along the axes after `axis`."""
    if axis == len(starts):
        return block
    start, end = starts[axis], starts[axis] + lengths[axis]
    inner = _written(x.narrow(axis, start, lengths[axis]), starts, lengths, block, axis + 1)
    return torch.slice_scatter(x, inner, axis, start, end)
