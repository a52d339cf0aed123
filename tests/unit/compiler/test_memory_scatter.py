"""Memory predicted for reductions by label, beside what tracemalloc measures."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(19)
FORMS = (
    "sum[N](where(label[N] == index[K], x[N D], 0))",
    "max[N](where(label[N] == index[K], x[N D], -inf))",
    "any[N](where(label[N] == index[K], x[N D] > 0.5, 0))",
)
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "narrow": lambda x: x.astype("f4"),
    "whole": lambda x: (9 * x).astype("i4"),
}


def measured_and_predicted(text: str, sizes: dict[str, int], **operands: Array) -> tuple[int, int]:
    formula = ne.compile(text, sizes=sizes)
    formula(**operands)
    tracemalloc.start()
    formula(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return measured, formula.plan(**operands).peak_bytes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("rows", "columns", "bins"), [(50_000, 64, 900), (100_000, 3, 6), (90_000, 1, 70_000)]
)
def test_the_memory_of_a_reduction_by_label_is_predicted(
    form: str, layout: str, rows: int, columns: int, bins: int
) -> None:
    x, label = LAYOUTS[layout](RNG.random((rows, columns))), RNG.integers(-1, bins + 1, rows)
    label[0] = -1  # labels that are all inside are their bins
    measured, predicted = measured_and_predicted(form, {"K": bins}, x=x, label=label)
    assert measured / 1.1 - 70_000 <= predicted <= 2.1 * measured


def test_the_memory_of_counting_is_predicted() -> None:
    a, b = RNG.integers(0, 10, (2, 200_000))
    measured, predicted = measured_and_predicted("sum[N](a[N] == index[K])", {"K": 9}, a=a)
    assert measured / 1.1 <= predicted <= 1.1 * measured
    both = "sum[N]((a[N] == index[K]) & (b[N] == index[L]))"
    measured, predicted = measured_and_predicted(both, {"K": 9, "L": 8}, a=a, b=b)
    assert measured / 1.1 <= predicted <= 1.1 * measured
