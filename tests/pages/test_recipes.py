"""The rows of docs/recipes.md, and of the table in the README: all their codes have the same value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compat import einops
from pages import documents

RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "x": RNG.normal(size=(2, 4, 6, 3)),
    "seq": RNG.normal(size=(5, 2, 8)),
    "image": RNG.normal(size=(4, 6)),
    "v": RNG.normal(size=8),
    "w": RNG.normal(size=(8, 3)),
    "m": RNG.normal(size=(8, 8)),
    "ids": np.array([3, 0, 7, 7, 1]),
}
NAMES = {
    **ARRAYS,
    "first": ARRAYS["x"][0],
    "second": ARRAYS["x"][1],
    "np": np,
    "ne": ne,
    **{name: getattr(einops, name) for name in einops.__all__},
}


class Recipe(NamedTuple):
    """A row: what it does, and the code of a library, of NumPy and of nameexpr."""

    what: str
    library: str
    numpy: str
    own: str


def recipes(document: str = "docs/recipes.md") -> list[Recipe]:
    rows = [line.strip("|").split(" | ") for line in documents.read(document).splitlines()]
    rows = [[cell.strip() for cell in row] for row in rows]
    return [Recipe(row[0], *[cell.strip("`") for cell in row[1:]]) for row in rows if _is_recipe(row)]


def _is_recipe(row: list[str]) -> bool:
    return len(row) == 4 and all(cell[:1] == cell[-1:] == "`" for cell in row[1:])


@pytest.mark.parametrize("recipe", [*recipes(), *recipes("README.md")], ids=lambda recipe: recipe.what)
def test_the_line_of_nameexpr_has_the_value_of_the_others(recipe: Recipe) -> None:
    expected = eval(recipe.numpy, dict(NAMES))
    codes = [recipe.own] if recipe.library.startswith("einx") else [recipe.own, recipe.library]
    for code in codes:
        check(eval(code, dict(NAMES)), expected)


def check(value: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(value) == len(expected)
        for one, other in zip(value, expected, strict=True):
            check(one, other)
    elif isinstance(expected, dict):
        assert value == expected
    else:
        assert np.shape(value) == np.shape(expected)
        np.testing.assert_allclose(value, expected)


def test_there_are_recipes_of_both_libraries() -> None:
    counts = [recipe.library.startswith("einx.") for recipe in recipes()]
    assert (counts.count(False), counts.count(True)) == (32, 16)
    assert len(recipes("README.md")) == 4
