"""How a text runs on Dask arrays: nothing is computed, the result is lazy.

The text is checked as for NumPy arrays, and becomes the same graph. `nameexpr.backends.dask` splits the graph
into steps, and a step runs the program of its piece of the text, one block at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from nameexpr.backends.dask.fitting import Fitter, NoFitError
from nameexpr.backends.dask.pieces import Subgraph
from nameexpr.backends.dask.splitting import Splitter, arrays_of, moving_among, needed_for, uses_of_labels
from nameexpr.backends.dask.storing import Storer
from nameexpr.compiler.ir.axes import CUSTOM, Labels
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Reduction
from nameexpr.errors import Diagnostic, error
from nameexpr.ops import REDUCTIONS
from nameexpr.runtime.dask.limits import TaskLimits, limits_of
from nameexpr.runtime.dask.operands import read_operands
from nameexpr.runtime.dask.program import BlockProgram, Task
from nameexpr.runtime.dask.results import named_result
from nameexpr.runtime.operands import specs_of
from nameexpr.syntax.ast import Expression

ROUNDS = 8
"""How often a graph is split again because an expensive value would be computed by two steps."""


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
    if entry.options.tune:
        message = "tune= is not supported for Dask arrays"
        raise error(Diagnostic("NE616", message, entry.text, hint="leave it out, or pass NumPy arrays"))
    given = read_operands(entry.tree, operands)
    unwrapped = entry.unwrap(given.samples)
    graph, outputs, names = entry.graph(specs_of(unwrapped))
    limits = limits_of(entry.options.memory_limit, entry.text)
    arrays = _split(entry, graph, outputs, given.stored(unwrapped), limits)
    named = any(getattr(one, "_names", None) is not None for one in unwrapped) or given.has_labels
    if named:
        arrays = [
            named_result(entry.tree, array, own, given) for array, own in zip(arrays, names, strict=True)
        ]
    return tuple(arrays) if entry.options.outputs is not None or len(arrays) > 1 else arrays[0]


def _split(
    entry: Any, graph: Graph, outputs: tuple[int, ...], operands: Any, limits: TaskLimits
) -> list[Any]:
    """Return the lazy results of a graph."""
    kept: frozenset[int] = frozenset()
    size = len(graph.nodes)
    for _ in range(ROUNDS):
        own = Graph(graph.sizes, list(graph.nodes), list(graph.labels), list(graph.dtypes))
        needed = needed_for(own, outputs)
        fitter = Fitter(own, operands, limits.budget, limits.most, moving_among(own, needed))
        storer = Storer(fitter, partial(_dtype_of, own, entry, operands), partial(_kernel, entry, own))
        uses = uses_of_labels(own, needed, outputs)
        splitter = Splitter(fitter, storer, entry.options.optimize, kept, uses)
        try:
            arrays = arrays_of(splitter, needed, outputs)
        except NoFitError as unfit:
            raise error(_too_large(entry.text, unfit, limits)) from None
        again = storer.repeated()
        if not {one for one in again if one < size} - kept:
            break
        kept |= {one for one in again if one < size}
    return arrays


def _kernel(entry: Any, graph: Graph, piece: Subgraph, finish: str, labels: Labels) -> BlockProgram:
    """Return what computes a piece, one block at a time."""
    options = entry.options
    sizes = tuple([(label, graph.sizes[label]) for label in labels]) if finish else ()
    path = options.optimize if isinstance(options.optimize, str | bool | None) else None
    is_formula = not isinstance(entry.tree, Expression)
    task = Task(entry.text, is_formula, piece, path, options.order == "C", finish, sizes)
    return BlockProgram(task, options.reduce if callable(options.reduce) else None)


def _dtype_of(graph: Graph, entry: Any, operands: Any, number: int) -> np.dtype[Any]:
    """Return the dtype of a value as an array."""
    name = strong(graph.dtypes[number])
    if name:
        return np.dtype(name)
    node = graph.nodes[number]
    if isinstance(node, Arrange):
        return _dtype_of(graph, entry, operands, node.value)
    given = [operand.array.dtype for operand in operands]
    if not isinstance(node, Reduction):
        return np.result_type(*given)
    wide = np.dtype(node.compute) if node.compute else np.result_type(*given)
    row = None if node.reducer in (None, CUSTOM) else REDUCTIONS[node.reducer]
    if row is None:
        return np.asarray(entry.options.reduce(np.ones(1, wide), 0)).dtype if node.reducer == CUSTOM else wide
    if row.dtype in ("index", "bool"):
        return np.dtype(np.int64 if row.dtype == "index" else np.bool_)
    dtype = np.dtype(node.result) if node.result and node.result != node.compute else wide
    return np.zeros((), dtype).real.dtype if row.dtype == "real float" else dtype


def _too_large(text: str, unfit: NoFitError, limits: TaskLimits) -> Diagnostic:
    most = unfit.args[1]
    message = (
        f"no blocks are small enough: a task would need more than {most:,} bytes, which is {limits.source}"
    )
    hint = "raise memory_limit, or use workers with more memory; dims that are sorted, or read at positions, "
    hint += "lie in one block"
    return Diagnostic("NE709", message, text, hint=hint)
