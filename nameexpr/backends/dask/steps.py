"""Steps as Dask arrays: a task for each block, and trees of sums, by public functions of `dask.array` alone.

The keys of a step are `nameexpr-<step>-<token>`, so that the dashboard shows its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Protocol

import dask.array as da
import numpy as np
from dask.base import tokenize

from nameexpr.backends.dask import partials
from nameexpr.backends.dask.blocks import Cuts
from nameexpr.backends.dask.pieces import Sizes, lead, without_lead
from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.records import record


class BlockKernel(Protocol):
    """A function of blocks; equal ones have the same digest."""

    @property
    def digest(self) -> str:
        """What distinguishes the function from others."""

    def __call__(self, *blocks: Any) -> Any:
        """Return the block of the result, or its contribution to one."""

    def peak(self, shapes: Sequence[tuple[int, ...]]) -> int:
        """Return the predicted peak memory for blocks of these shapes, which are included."""


@record
class Stored:
    """A lazy array, or a Python number, with the labels of its dims. Its chunks have no say in those of
    other arrays unless `votes`.
    """

    array: Any
    axes: Axes
    votes: bool = True


@record
class BlockStep:
    """One call of a kernel for each block: the arrays that it reads, and the labels of its result's dims.

    Blocks of the labels `summed` each contribute to one, in dims of size 1 after those of the result.
    """

    name: str
    kernel: BlockKernel
    inputs: tuple[Stored, ...]
    axes: Axes
    summed: Labels
    dtype: Any
    cuts: Cuts
    sizes: Sizes


def chunks_of(axes: Axes, cuts: Cuts, sizes: Sizes) -> tuple[tuple[int, ...], ...]:
    """Return the chunks of dims that are products of labels."""
    chunks = []
    for group in axes:
        label = lead(group, sizes)
        inner = prod([sizes[one] for one in without_lead(group, sizes)])
        chunks.append((inner,) if label is None else tuple([block * inner for block in cuts[label]]))
    return tuple(chunks)


def largest_blocks(step: BlockStep) -> list[tuple[int, ...]]:
    """Return the shape of the largest block of each input."""
    every = [chunks_of(stored.axes, step.cuts, step.sizes) for stored in step.inputs]
    return [tuple(map(max, chunks)) for chunks in every]


def recut(stored: Stored, cuts: Cuts, sizes: Sizes) -> Any:
    """Return an array in blocks that fit the cuts."""
    if not isinstance(stored.array, da.Array):
        return stored.array
    wanted = chunks_of(stored.axes, cuts, sizes)
    if stored.array.chunks == wanted:
        return stored.array
    if not stored.array.size:  # which Dask does not rechunk
        return da.zeros(stored.array.shape, dtype=stored.array.dtype, chunks=wanted)
    return stored.array.rechunk(wanted)


def is_cut(label: str | None, cuts: Cuts) -> bool:
    """Return whether a label has several blocks."""
    return label is not None and len(cuts.get(label, ())) > 1


def emitted(step: BlockStep) -> Any:
    """Return the array of a step."""
    cuts, sizes = step.cuts, step.sizes
    arguments: list[Any] = []
    for position, stored in enumerate(step.inputs):
        array = recut(stored, cuts, sizes)
        dims = tuple(
            [_index(f"/{position}/{number}", group, step) for number, group in enumerate(stored.axes)]
        )
        arguments += [array, dims if isinstance(array, da.Array) else None]
    indices: list[str] = []
    new_axes: dict[str, int] = {}
    adjusted: dict[str | None, tuple[int, ...] | int] = {}
    for number, (group, chunks) in enumerate(zip(step.axes, chunks_of(step.axes, cuts, sizes), strict=True)):
        label = lead(group, sizes)
        if label is not None and is_cut(label, cuts):
            indices.append(label)
            adjusted[label] = chunks
        else:  # a name of its own, as several dims may have the same label
            indices.append(f"/{number}")
            new_axes[f"/{number}"] = chunks[0]
    for label in step.summed:
        indices.append(label)
        adjusted[label] = 1
    name = f"nameexpr-{step.name}-{tokenize(step.kernel, arguments, indices, sorted(cuts.items()))}"
    return da.blockwise(
        step.kernel,
        tuple(indices),
        *arguments,
        name=name,
        new_axes=new_axes,
        adjust_chunks=adjusted,
        align_arrays=False,
        concatenate=False,
        dtype=step.dtype,
        meta=np.empty((0,) * len(indices), step.dtype),
    )


def _index(own: str, group: Labels, step: BlockStep) -> str:
    """Return the name of a dim in Dask's terms: the label that it is cut along, or one of its own."""
    label = lead(group, step.sizes)
    return label if label is not None and is_cut(label, step.cuts) else own


def summed_up(step: BlockStep, reducer: str | None, count: int) -> Any:
    """Return the array of a reduction whose blocks contribute to it."""
    array = emitted(step)
    axis = tuple(range(len(step.axes), array.ndim))
    return da.reduction(
        array,
        partials.same,
        partial(partials.finished, reducer=reducer, dtype=step.dtype, count=count),
        axis=axis,
        dtype=step.dtype,
        combine=partial(partials.combined, reducer=reducer),
        concatenate=False,
        name=f"nameexpr-{reducer or 'sum'}",
        meta=np.empty((0,) * len(step.axes), step.dtype),
    )


def along(label: str, cuts: Cuts) -> Stored:
    """Return the positions along a label, in its blocks."""
    return Stored(da.arange(sum(cuts[label]), chunks=(cuts[label],), dtype=np.int64), ((label,),))


def labels_to_axes(labels: Labels) -> Axes:
    """Return the dims of a value with one dim for each label."""
    return tuple([(label,) for label in labels])
