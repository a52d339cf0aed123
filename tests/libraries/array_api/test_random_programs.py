"""Random programs on array-api-strict, which has nothing but the standard, with the results of NumPy.

Each run tests a sample. A failure names the seed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from libraries.agreeing import outcomes

xp = pytest.importorskip("array_api_strict")

SAMPLE = {"expression": 200, "formula": 120}
"""Programs of a run; `PROGRAMS=2000` runs that many of each kind."""
MISSING = {"float16": "float32"}
REFUSED = {"expression": {"NE505", "NE529"}, "formula": {"NE524", "NE529"}}
"""Orders of complex numbers, uint64 with signed integers, bools as numbers: the standard has none."""


@pytest.fixture(params=[True, False], ids=["all", "static"])
def _flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both kinds of libraries: newer ones with shapes that depend on data, and older ones without."""
    xp.set_array_api_strict_flags(
        api_version="2024.12" if request.param else "2023.12",
        boolean_indexing=request.param,
        data_dependent_shapes=request.param,
    )
    yield
    xp.reset_array_api_strict_flags()


@pytest.mark.usefixtures("_flags")
@pytest.mark.parametrize("kind", ["expression", "formula"])
def test_random_programs_equal_those_of_numpy(kind: str) -> None:
    count = int(os.environ.get("PROGRAMS", SAMPLE[kind]))
    start = int(os.environ.get("PROGRAMS_FROM", "0"))
    found = dict(outcomes(kind, range(start, start + count), xp.asarray, numpy_of, MISSING))
    wrong = {seed: one for seed, one in found.items() if one not in REFUSED[kind] | {"equal", "coarse"}}
    assert not wrong, f"{kind}s: {wrong}"
    counts = Counter(found.values())
    assert counts["equal"] > 0.85 * len(found) > 0.6 * count, counts
    print(counts)


def numpy_of(array: Any) -> Any:
    assert type(array).__module__.startswith("array_api_strict")
    return np.from_dlpack(array)
