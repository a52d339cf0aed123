"""Memory predicted for reading at positions, beside what tracemalloc measures."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(17)
TABLE, ROWS, CELLS = RNG.random((60, 500, 30)), RNG.integers(0, 250, (60, 50)), RNG.integers(0, 30, (60, 50))
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "reversed": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    "every other": lambda x: np.repeat(x, 2, 0)[::2],
    "narrow": lambda x: x.astype("f4" if x.dtype.kind == "f" else "i2"),
}
FORMS = (
    "y[B K D] = x[B T@i[B K] D]",
    "y[B K] = x[B T@i[B K] W@j[B K]]",
    "y[b K D B] = x[B T@i[b K] D]",
    "y[b K T] = x[B@j[b K] T W@j[b K]]",
    "y[b K D] = 3 * x[_@0 T@i[b K] D]",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("table", "places"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_the_memory_of_a_gather_is_predicted(form: str, table: str, places: str) -> None:
    operands = {"x": LAYOUTS[table](TABLE), "i": LAYOUTS[places](ROWS), "j": LAYOUTS[places](CELLS)}
    operands = {name: value for name, value in operands.items() if f"{name}[" in form}
    formula = ne.compile(form)
    formula(**operands)
    tracemalloc.start()
    formula(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = formula.plan(**operands).peak_bytes
    assert measured / 1.1 - 20_000 <= predicted <= 1.1 * measured
