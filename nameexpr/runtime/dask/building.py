"""From the graph of a text to lazy arrays whose tasks fit into the memory that they may take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from nameexpr.backends.dask.fitting import Fitter, NoFitError
from nameexpr.backends.dask.pieces import Subgraph
from nameexpr.backends.dask.splitting import Splitter, arrays_of, moving_among, needed_for, uses_of_labels
from nameexpr.backends.dask.steps import Stored
from nameexpr.backends.dask.storing import Made, Storer
from nameexpr.backends.numpy.arrays import number_name
from nameexpr.compiler.ir.axes import CUSTOM, Labels
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Reduction, View, Window, is_moved
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.ops import REDUCTIONS
from nameexpr.records import record
from nameexpr.runtime.dask.limits import TaskLimits
from nameexpr.runtime.dask.program import BlockProgram, Task, program_of, task_bytes
from nameexpr.syntax.ast import Expression

ROUNDS = 8
"""How often a graph is split again because an expensive value would be computed by two steps."""
SHRINKS = 6
"""How often blocks are made smaller because a task would need too much memory."""


@record
class Built:
    """Lazy arrays, the steps that they consist of, and the predicted bytes of a task of each, if known."""

    arrays: tuple[Any, ...]
    steps: tuple[Made, ...]
    peaks: tuple[int, ...] = ()


@record
class Request:
    """What is built: the graph of an entry, its results, and the operands."""

    entry: Any
    graph: Graph
    outputs: tuple[int, ...]
    operands: Sequence[Stored]


def build(request: Request, limits: TaskLimits, *, is_measured: bool) -> Built:
    """Return the results of a text; NE709 if a task would need more memory than it may. Without a limit,
    memory is only predicted if `is_measured`.
    """
    budget, most = limits.budget, limits.most
    for _ in range(SHRINKS):
        built = _split(request, limits, budget)
        if most is None and not is_measured:
            return built
        peaks = tuple([task_bytes(made.step) for made in built.steps])
        largest = max(peaks, default=0)
        if most is None or largest <= most:
            return Built(built.arrays, built.steps, peaks)
        budget = max(1, int(budget * min(0.9, most / largest)))
    raise _too_large(request.entry.text, limits, f"{largest:,}")


def _split(request: Request, limits: TaskLimits, budget: int) -> Built:
    kept: frozenset[int] = frozenset()
    graph, size = request.graph, len(request.graph.nodes)
    for _ in range(ROUNDS):
        own = Graph(graph.sizes, list(graph.nodes), list(graph.labels), list(graph.dtypes))
        needed = needed_for(own, request.outputs)
        fitter = Fitter(own, request.operands, budget, limits.most, moving_among(own, needed))
        storer = Storer(fitter, partial(_dtype_of, request, own), partial(_kernel, request.entry, own))
        uses = uses_of_labels(own, needed, request.outputs)
        splitter = Splitter(fitter, storer, request.entry.options.optimize, kept, uses)
        try:
            arrays = arrays_of(splitter, needed, request.outputs)
        except NoFitError as unfit:
            raise _too_large(request.entry.text, limits, f"more than {unfit.args[1]:,}") from None
        again = {one for one in storer.repeated() if one < size}
        if again <= kept:
            break
        kept |= again
    return Built(tuple(arrays), tuple(storer.made))


def _kernel(
    entry: Any, graph: Graph, piece: Subgraph, dtypes: tuple[Any, ...], finish: str, labels: Labels
) -> BlockProgram:
    """Return what computes a piece, one block at a time."""
    options = entry.options
    sizes = tuple([(label, graph.sizes[label]) for label in labels]) if finish else ()
    path = options.optimize if isinstance(options.optimize, str | bool | None) else None
    is_formula = not isinstance(entry.tree, Expression)
    task = Task(entry.text, is_formula, piece, dtypes, path, options.order == "C", finish, sizes)
    return program_of(task, options.reduce if callable(options.reduce) else None)


def _dtype_of(request: Request, graph: Graph, number: int) -> np.dtype[Any]:
    """Return the dtype of a value as an array; elements that are only moved keep their byte order."""
    name, node = strong(graph.dtypes[number]), graph.nodes[number]
    given = [getattr(operand.array, "dtype", None) for operand in request.operands]
    moved = None
    if isinstance(node, View) and node.position >= 0:
        moved = given[node.position]
    elif isinstance(node, Arrange | Window):
        moved = _dtype_of(request, graph, node.value)
    elif isinstance(node, Reduction) and is_moved(node) and {node.compute, node.result} <= {"", name}:
        moved = _dtype_of(request, graph, node.factors[0])
    if moved is not None and name in ("", number_name(moved)):
        return moved
    if name:
        return np.dtype(name)
    if not isinstance(node, Reduction):
        return np.result_type(*given)
    wide = np.dtype(node.compute) if node.compute else np.result_type(*given)
    if node.reducer == CUSTOM:
        return np.asarray(request.entry.options.reduce(np.ones(1, wide), 0)).dtype
    row = None if node.reducer is None else REDUCTIONS[node.reducer]
    if row is None:
        return wide
    if row.dtype in ("index", "bool"):
        return np.dtype(np.int64 if row.dtype == "index" else np.bool_)
    dtype = np.dtype(node.result) if node.result and node.result != node.compute else wide
    return np.zeros((), dtype).real.dtype if row.dtype == "real float" else dtype


def _too_large(text: str, limits: TaskLimits, needed: str) -> NameExprError:
    message = f"no blocks are small enough: a task would need {needed} bytes, and {limits.source} is "
    message += f"{limits.most:,}"
    hint = "raise memory_limit, or use workers with more memory; dims that are sorted, or read at positions, "
    hint += "lie in one block"
    return error(Diagnostic("NE709", message, text, hint=hint))
