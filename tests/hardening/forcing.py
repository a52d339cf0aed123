"""Fusion and loops that the cost model chooses for large arrays only, forced on small ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import nameexpr as ne
from nameexpr.compiler.schedule import fusion as fuse
from nameexpr.compiler.schedule import tiling as slices
from nameexpr.compiler.schedule.fusion import FusionPlan

MANNERS = ("usual", "fused", "looped")


@contextmanager
def forced(manner: str, block: int = 3) -> Iterator[None]:
    """Compile in a manner: as usual, with every region in blocks of so many cells, or in loops over axes."""
    with ExitStack() as changes:
        if manner == "fused":
            changes.enter_context(mock.patch.object(fuse, "MOST_FUNCTIONS", 1))
            changes.enter_context(mock.patch.object(fuse, "FusionPlan", _small_blocks(block)))
        elif manner == "looped":
            for name, value in (("LEAST_BYTES", 1), ("LEAST_CELLS", 1), ("CACHED", 8)):
                changes.enter_context(mock.patch.object(slices, name, value))
        if manner != "usual":
            ne.cache_clear()
        yield
    if manner != "usual":
        ne.cache_clear()


def _small_blocks(block: int) -> object:
    return lambda graph, uses: FusionPlan(graph, uses, block=block, large=1)
