"""The sizes of blocks: of runs that are long, for values that are in the cache."""

from __future__ import annotations

import math

import pytest

from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.lowering.tiles import tiles_of
from nameexpr.records import replace

TILES: dict[str, tuple[tuple[int, ...], tuple[int, ...], str | None, tuple[int, ...]]] = {
    "rows": ((20_000, 64), (1,), "sum", (1000, 64)),
    "many rows that are added": ((20_000, 64), (0,), "sum", (1000, 64)),
    "few long rows that are added": ((8, 100_000), (0,), "sum", (8, 7143)),
    "matrices that are added": ((200, 200, 10), (0,), "max", (25, 200, 10)),
    "large matrices that are added": ((16, 3, 20_000), (0,), "sum", (8, 1, 5000)),
    "rows inside that are added": ((16, 3, 20_000), (1,), "sum", (4, 3, 5000)),
    "all pairs": ((100, 1000, 1000), (0,), "sum", (13, 4, 1000)),
    "no reduction": ((1000, 1000), (), None, (63, 1000)),
    "a variance of rows": ((100_000, 64), (1,), "var", (1021, 64)),
    "a variance of long columns": ((8, 100_000), (0,), "var", (8, 7143)),
    "a norm of short columns": ((20_000, 64), (0,), "norm", (20_000, 64)),
    "norms of columns of matrices": ((100, 20_000, 6), (1,), "norm", (1, 20_000, 6)),
}


@pytest.mark.parametrize("case", TILES)
def test_blocks_have_long_runs_and_add_seldom(case: str) -> None:
    shape, reduced, reducer, expected = TILES[case]
    target = replace(TARGET, block_cells=1 << 16, block_rows=4)
    tiles = tiles_of(target, shape, reduced, reducer, 8, is_stored=True)
    assert tiles == expected
    if reducer != "norm":
        assert math.prod(tiles) <= 1 << 16
    wider = tiles_of(target, shape, reduced, reducer, 4, is_stored=True)
    assert math.prod(wider) <= 1 << 17 or reducer == "norm"
    assert all(wide >= tile for wide, tile in zip(wider, tiles, strict=True))
    inside = tiles_of(target, shape, reduced, reducer, 8, is_stored=False)
    assert math.prod(inside) <= 1 << 16


def test_rows_of_a_variance_are_cut_however_short() -> None:
    target = replace(TARGET, block_cells=64)
    assert tiles_of(target, (100, 8), (1,), "var", 8, is_stored=True) == (8, 8)
