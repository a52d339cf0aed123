"""How a text runs on Dask arrays: nothing is computed, the result is lazy.

The text is checked as for NumPy arrays, and becomes the same graph. `nameexpr.backends.dask` splits the graph
into steps, and a step runs the program of its piece of the text, one block at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nameexpr.compiler.ir.axes import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.dask.building import Request, build
from nameexpr.runtime.dask.limits import limits_of
from nameexpr.runtime.dask.operands import Given, read_operands
from nameexpr.runtime.dask.plan import ChunkedPlan, plan_of_built
from nameexpr.runtime.dask.results import named_result
from nameexpr.runtime.operands import names_of, specs_of


def call(entry: Any, operands: Sequence[Any]) -> Any:
    """Return the lazy result of a text for all of its operands, in the order of the text.

    Parameters
    ----------
    entry : ExpressionEntry or FormulaEntry
        A checked text with its options.
    operands : sequence
        Dask arrays of any shapes and dtypes, DataArrays that hold them, NumPy arrays of up to 10 MB, and
        numbers.

    Returns
    -------
    dask.array.Array or DataArray
        Of the shape and dtype that the text gives NumPy arrays; a tuple if it has several results. A
        DataArray if an operand is one.

    Raises
    ------
    NameExprError
        NE507 for a large NumPy array, NE510 for chunks of unknown size, NE512 for a cluster that is gone,
        NE616 for `tune=`, NE709 if no blocks are small enough, and the errors of the text on NumPy arrays.
    """
    request, given, names = _read(entry, operands)
    limits = limits_of(entry.options.memory_limit, entry.text)
    results = build(request, limits, is_measured=False).arrays
    if names is not None:
        pairs = zip(results, names, strict=True)
        results = tuple([named_result(entry.tree, array, own, given) for array, own in pairs])
    return results if entry.options.outputs is not None or len(results) > 1 else results[0]


def plan(entry: Any, operands: Sequence[Any]) -> ChunkedPlan:
    """Return the plan of the same call, which raises the same errors."""
    request, _, _ = _read(entry, operands)
    built = build(request, limits_of(entry.options.memory_limit, entry.text), is_measured=True)
    return plan_of_built(entry.text, request.operands, built)


def _read(entry: Any, operands: Sequence[Any]) -> tuple[Request, Given, tuple[Names, ...] | None]:
    """Return what is to be built, the operands, and the names of each result if operands have names."""
    if entry.options.tune:
        message = "tune= is not supported for Dask arrays"
        raise error(Diagnostic("NE616", message, entry.text, hint="leave it out, or pass NumPy arrays"))
    given = read_operands(entry.tree, operands)
    unwrapped = entry.unwrap(given.samples)
    graph, outputs, names = entry.graph(specs_of(unwrapped))
    request = Request(entry, graph, outputs, given.stored(unwrapped))
    is_named = given.has_labels or any(names_of(one) is not None for one in unwrapped)
    return request, given, names if is_named else None
