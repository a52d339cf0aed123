"""Values combined by label: their bins, and how the rows of each bin are combined.

    sum[N](where(label[B N] == index[K], x[B N D], 0))

The rows are those of B N, the bins those of B K, and D are columns. Of several ways to combine rows, the one
that takes the least time by the target's costs is used.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.compiler.ir.axes import Labels, product_label
from nameexpr.compiler.ir.nodes import Place
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.gather import emitted
from nameexpr.compiler.lowering.values import INDEX, counted

SUMS = frozenset({"float32", "float64"})
"""Dtypes whose sums have several ways."""
EMPTY = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
"""What a reducer returns for a bin without rows."""


def place(build: Builder, node: Place, value: Value | None, places: Mapping[str, Value], dtype: str) -> Value:
    """Return a value combined by label; without one, the rows are counted."""
    own = () if value is None else value.labels
    near = {label for one in places.values() for label in one.labels} | {*own} & {*node.labels}
    rows = tuple(dict.fromkeys([*[label for label in own if label in near], *sorted(near)]))
    columns = tuple([label for label in own if label not in near])
    batch = tuple([label for label in rows if label not in node.labels])
    kept = (*batch, *places)
    at = _bins(build, rows, {**{label: counted(build, label) for label in batch}, **places})
    sources = [at] if value is None else [at, _as_matrix(build, value, rows, columns)]
    count, width = build.size(kept), build.size(columns)
    method = _method(build, node.reducer, build.size(rows), width, count, dtype, is_counted=value is None)
    shape = (count,) if value is None else (count, width)
    empty = EMPTY.get(node.reducer, float(node.reducer == "all"))
    made = Instruction("scatter", tuple([one.number for one in sources]), shape, dtype=dtype,
                       function=method, constants=(empty,))  # fmt: skip
    merged = [product_label(kept, " "), *([] if value is None else [product_label(columns, " ")])]
    found = build.emit(made, merged, dtype)
    labels = (*kept, *columns)
    return build.reshape(found, build.shape(labels), labels)


def _bins(build: Builder, rows: Labels, places: Mapping[str, Value]) -> Value:
    """Return the bin of each row, in one axis."""
    numbers = tuple([build.expand(build.cast(one, INDEX), rows).number for one in places.values()])
    shape = build.shape(rows)
    made = Instruction("bins", numbers, shape, constants=build.shape(tuple(places)))
    known, strides = emitted(build, made), build.row_major_strides(rows)
    found = Value(known or 0, rows, INDEX, strides, is_fresh=True)
    if known is None:
        found = build.emit(made, rows, INDEX, strides)
    return found if len(rows) == 1 else build.reshape(found, (build.size(rows),), [product_label(rows, " ")])


def _as_matrix(build: Builder, value: Value, rows: Labels, columns: Labels) -> Value:
    """Return a value with one axis for its rows and one for its columns."""
    order = (*rows, *columns)
    if any(label not in value.labels for label in order):
        source = build.expand(value, order)
        made = Instruction("repeat", (source.number,), build.shape(order))
        value = build.emit(made, order, value.dtype, build.row_major_strides(order))
    value = build.make_mergeable(value, [rows, columns])
    shape = build.size(rows), build.size(columns)
    return build.reshape(value, shape, [product_label(rows, " "), product_label(columns, " ") or "1"])


def _method(
    build: Builder, reducer: str, rows: int, columns: int, bins: int, dtype: str, *, is_counted: bool
) -> str:
    """Return how rows are combined."""
    if reducer in {"any", "all"}:
        return reducer
    if is_counted:
        return "count"
    if reducer != "sum" or dtype not in SUMS:
        return reducer
    methods = ["sum", "by_columns", "by_rows"] if dtype == "float64" else ["sum", "by_rows"]
    cost = build.target.costs.scatter_cost
    return min(methods, key=lambda method: cost(method, rows, columns, bins, dtype))
