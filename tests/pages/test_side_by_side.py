"""In tables that show one computation in two libraries, both give the same."""

import re
from typing import Any

import numpy as np
import opt_einsum as oe
import pytest

import nameexpr as ne
from pages import documents

ROW = re.compile(r"^\| `(?P<theirs>(?:np|oe)\.\w+\(.*?\))`[^|]*\| `(?P<ours>ne\..*?)`[^|]*\|", re.MULTILINE)
PAGE = documents.read("docs/from-einsum.md")
ROWS = [
    (row["theirs"], row["ours"])
    for row in ROW.finditer(PAGE)
    if not re.search(r"\(\.\.\.|, \.\.\.", row["theirs"])
]


def names() -> dict[str, Any]:
    """Return what the calls refer to, as on the page."""
    rng = np.random.default_rng(0)
    found = {"np": np, "oe": oe, "ne": ne, "x": rng.normal(size=(8, 3)), "w": rng.normal(size=(3, 4))}
    found |= {"v": rng.normal(size=3), "batch": rng.normal(size=(5, 8, 3)), "square": rng.normal(size=(4, 4))}
    return found | {"a": rng.normal(size=(2, 3)), "b": rng.normal(size=(3, 4)), "c": rng.normal(size=(4, 2))}


def test_rows_are_found() -> None:
    assert len(ROWS) >= 8


@pytest.mark.parametrize(("theirs", "ours"), ROWS)
def test_both_sides_are_equal(theirs: str, ours: str) -> None:
    left, right = (eval(call, names()) for call in (theirs, ours))
    if callable(left):
        left, right = (call(names()["a"], names()["b"]) for call in (left, right))
    np.testing.assert_allclose(np.asarray(right), np.asarray(left))
