"""Fusion and loops that the cost model chooses for large arrays only, forced on small ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from unittest import mock

import nameexpr as ne
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering import fusion as fuse
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.schedule import tiling
from nameexpr.compiler.schedule.tiling import tile_leading_axes
from nameexpr.records import replace

MANNERS = ("usual", "fused", "looped")


@contextmanager
def forced(manner: str, block: int = 3) -> Iterator[None]:
    """Compile in a manner: as usual, with every region in blocks of so many cells, or in loops over axes."""
    with ExitStack() as changes:
        if manner == "fused":
            changes.enter_context(mock.patch.object(fuse, "FusionPlan", _small_blocks(block)))
        elif manner == "looped":
            changes.enter_context(mock.patch.object(tiling, "tile_leading_axes", _small_slices))
        if manner != "usual":
            ne.cache_clear()
        yield
    if manner != "usual":
        ne.cache_clear()


def _small_blocks(block: int) -> object:
    few = {"block_cells": block, "fused_cells": 1, "chain_length": 1}
    return lambda graph, uses, target: FusionPlan(graph, uses, replace(target, **few))


def _small_slices(program: Program, shapes: Sequence[tuple[int, ...]], target: Target) -> Program:
    return tile_leading_axes(program, shapes, replace(target, tiled_bytes=1, tile_cells=1, cached_cells=8))
