"""The picture of a tensor."""

from __future__ import annotations

import random

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.pictures.data import Box
from nameexpr.pictures.tensor import draw_box, edge
from tools.pictures.text import HOSTILE, described, faults, kinds, words


@pytest.mark.parametrize("ndim", range(8))
def test_every_dim_is_written_with_its_size(ndim: int) -> None:
    dims = tuple((f"dim{number}", number + 2) for number in range(ndim))
    shown = [word.text for word in words(draw_box(Box(dims, "float64")))]
    for name, size in dims:
        assert shown.count(f"{name}={size}") == 1
    assert ("for each of" in shown) == (ndim > 3)


def test_dims_without_a_name_are_their_size() -> None:
    picture = ne.tensor(np.zeros((2, 3)), names=("N", None)).draw()
    assert {"N=2", "3"} <= {word.text for word in words(picture)}
    assert "a dim without a name of size 3" in described(picture)


def test_a_scalar_is_one_cell() -> None:
    picture = ne.tensor(2.5).draw()
    assert "one number" in described(picture)
    assert faults(picture) == []


def test_an_empty_tensor_has_a_dashed_outline() -> None:
    assert "held" in kinds(draw_box(Box((("N", 0),), "float64")))
    assert "held" not in kinds(draw_box(Box((("N", 1),), "float64")))


def test_the_dtype_is_said() -> None:
    picture = ne.zeros(2, 3, names="N C", dtype="float32").draw()
    assert "2×3 float32" in [word.text for word in words(picture)]


def test_edges_grow_with_the_logarithm_of_the_size() -> None:
    assert edge(4) - edge(2) == edge(2) - edge(1) == edge(1024) - edge(512) > 0
    assert edge(10**18) == edge(10**9)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless(name: str) -> None:
    assert faults(draw_box(Box(((name, 2), (name, 3), (name, 4), (name, 5)), name))) == []


@pytest.mark.parametrize("seed", range(40))
def test_words_never_meet(seed: int) -> None:
    rng = random.Random(seed)
    dims = tuple(
        (rng.choice([None, "N", "字幕" * 9, "x" * 300, "channel"]), rng.choice([0, 1, 2, 9, 30, 10**12]))
        for _ in range(rng.randint(0, 9))
    )
    assert faults(draw_box(Box(dims, "float64"))) == []
