"""An expression as a graph of one statement: its operands' views, their product reduced, and its result."""

from __future__ import annotations

from nameexpr.compiler.ir.axes import Typed
from nameexpr.compiler.ir.dtypes import SAME_DTYPE, Dtypes, counting_dtype
from nameexpr.compiler.ir.graph import Arrange, Graph, Reduction, View


def build_expression(typed: Typed, dtypes: Dtypes) -> tuple[Graph, int]:
    """Return the graph of an expression, and the number of its result.

    Whether any product of bools is true is said by their number, where they can be counted in floats.
    """
    graph = Graph(dict(typed.sizes))
    terms = [tuple(dict.fromkeys(label for group in axes for label in group)) for axes in typed.operands]
    views = [
        graph.add(View(position, -1, axes), labels, dtype)
        for position, (axes, labels, dtype) in enumerate(
            zip(typed.operands, terms, dtypes.operands, strict=True)
        )
    ]
    reducer, compute, result = typed.reducer, dtypes.compute, dtypes.result
    if reducer == "any" and typed.dropped:
        compute = counting_dtype(dtypes.operands, typed.size(tuple(typed.sizes))) or compute
        result = "bool" if compute != dtypes.compute else result
    kept = dict.fromkeys(label for labels in terms for label in labels if label not in typed.dropped)
    reduction = Reduction(reducer, tuple(views), typed.dropped, compute, result)
    # Indices, truth values and what a caller's function gives have dtypes of their own.
    is_known = reducer in {None, "sum"} or reducer in SAME_DTYPE or reduction.is_counted
    known = result if is_known else ""
    value = graph.add(reduction, tuple(kept), known)
    flat = dict.fromkeys(label for group in typed.result for label in group)
    return graph, graph.add(Arrange(value, typed.result), tuple(flat), known)
