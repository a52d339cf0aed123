"""Random texts on Dask arrays in random chunks, with and without a limit of what a task may hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("dask.array")
pytest.importorskip("xarray")

from libraries.dask.random_texts import SKIPPED, wrong_expression, wrong_formula

EXPRESSIONS, FORMULAS = 300, 200


@pytest.mark.parametrize(
    ("count", "wrong"), [(EXPRESSIONS, wrong_expression), (FORMULAS, wrong_formula)], ids=["expr", "formula"]
)
def test_random_texts_agree_with_nested_loops(count: int, wrong: Callable[[int], str]) -> None:
    found = {seed: wrong(seed) for seed in range(count)}
    assert sum(why == SKIPPED for why in found.values()) < count / 2
    assert not {seed: why for seed, why in found.items() if why not in ("", SKIPPED)}
