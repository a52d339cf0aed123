"""Every row of `nameexpr.ops` is complete, and says what the backend does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nameexpr.backends.numpy.codegen.statements import callee_of
from nameexpr.backends.numpy.costs.passes import CELLS
from nameexpr.backends.numpy.promotion import ARITHMETIC, function_of
from nameexpr.ops import ALONG, COSTS, FUNCTIONS, KERNELS, POINTWISE, REDUCTIONS, Function

ROWS = {**FUNCTIONS, **REDUCTIONS, **ALONG}
EXAMPLES = {"i": "int64", "f": "float32", "c": "complex64"}
FLOAT = {"i": "float64", "f": "float32", "c": "complex64"}
REAL = {"i": "int64", "f": "float32", "c": "float32"}
GIVEN = {
    "promoted": EXAMPLES,
    "sum": EXAMPLES,
    "float": FLOAT,
    "real": REAL,
    "real float": {**FLOAT, "c": "float32"},
    "bool": dict.fromkeys("ifc", "bool"),
    "index": dict.fromkeys("ifc", "int64"),
}
"""By a row's `dtype`, what comes out of each kind of numbers."""


def dtype_of(row: Function) -> Callable[[str], str]:
    """Return what asks the backend for the dtype of a row's result."""
    if row.kind == "reduction":
        return lambda dtype: ARITHMETIC.reduced(row.name, (dtype,))
    return lambda dtype: ARITHMETIC.dtype_of(row.kernel, (dtype,) * row.arity)


@pytest.mark.parametrize("name", ROWS)
def test_every_column_of_the_row_is_filled(name: str) -> None:
    row = ROWS[name]
    assert row.doc
    assert row.kernel
    assert row.cost
    assert set(row.takes) <= set("ifc")
    assert row.name.strip(".") in row.usage or name == "integer."
    if row.kind == "pointwise":
        assert row.cost in CELLS
        assert (row.form == "ufunc") == isinstance(function_of(row.kernel), np.ufunc)
        assert (callee_of(row.kernel).module == "np") == (row.kernel not in KERNELS)


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("name", [name for name in ROWS if name != "integer."])
def test_the_dtype_is_what_the_backend_gives(name: str, kind: str) -> None:
    row, ask = ROWS[name], dtype_of(ROWS[name])
    if kind not in row.takes:
        with pytest.raises(TypeError):
            ask(EXAMPLES[kind])
        return
    assert ask(EXAMPLES[kind]) == GIVEN[row.dtype][kind]


def test_reductions_repeat_a_function_that_there_is() -> None:
    kernels = {row.kernel for row in FUNCTIONS.values()}
    assert {row.combine for row in REDUCTIONS.values() if row.combine} <= kernels


def test_no_name_of_another_library_is_a_function_or_meant_twice() -> None:
    names = [name for row in ROWS.values() for name in row.also.split()]
    assert len(names) == len(set(names))
    assert not {*names} & {*POINTWISE, *REDUCTIONS, *ALONG}


def test_costs_are_those_of_kernels_with_figures_of_their_own() -> None:
    assert all(COSTS.get(cost, cost) == cost for cost in COSTS.values())
