"""Reductions over windows: not of a view, which has every element once for each window that it is in, but of
the value itself, axis by axis (`nameexpr.backends.numpy.rolling`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from nameexpr.compiler.ir.dtypes import ITEM_BYTES, Dtypes, needs_narrowing
from nameexpr.compiler.ir.nodes import Read
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.rolling import doubles, move_of, passes_of
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Strategy
from nameexpr.compiler.lowering.reduction import lower_mean, lower_reducer, lower_sum
from nameexpr.records import record, replace

ADDING = frozenset({"sum", "mean"})
COMBINING = frozenset({*ADDING, "max", "min", "any", "all", "prod"})
"""Reducers of windows that can be combined from those of parts."""
TRUTHS = frozenset({"any", "all"})


@record
class Rolling:
    """A reduction over `reduced`, which only one position has, along with the one label that is kept."""

    read: Read
    kept: str
    reduced: str

    def window(self, count: int) -> tuple[int, int, int, int]:
        """Return where windows begin, the distances of them and of their elements, and their size."""
        strides = dict(self.read.strides)
        return self.read.offset, strides[self.kept], strides[self.reduced], count


def lower_rolling(
    build: Builder, value: Value, reducer: str, reduced: Sequence[str], dtypes: Dtypes
) -> Value | None:
    """Emit a reduction of a window over some of its labels; None if the view is faster, or the only way."""
    window = build.window_of(value)
    if window is None:
        return None
    source, reads = window
    found = _rollings(build, source, reads, reduced)
    compute = "bool" if reducer in TRUTHS else dtypes.compute
    if not found or reducer not in COMBINING or compute not in ITEM_BYTES:
        return None
    if not _is_chosen(build, value, source, found, reducer):
        return None
    others = [read for read in reads if all(read is not one.read for one in found)]
    made = build.cast(build.window(source, others) if others else source, compute)
    rest = [label for label in reduced if all(label != one.reduced for one in found)]
    if rest and reducer in ADDING:
        made = lower_sum(build, made, rest, compute)
    elif rest:
        made = lower_reducer(build, made, reducer, rest, replace(dtypes, compute=compute, result=compute))
    found.sort(key=lambda one: -abs(dict(one.read.strides)[one.kept]))
    made = _rolled(build, made, found, "sum" if reducer in ADDING else reducer)
    if reducer == "mean":
        made = lower_mean(build, made, build.size(reduced), dtypes)
    is_cast = reducer in ADDING or needs_narrowing(reducer, dtypes)
    return build.cast(made, dtypes.result) if is_cast else made


def _rollings(
    build: Builder, source: Value, reads: Sequence[Read], reduced: Collection[str]
) -> list[Rolling]:
    """Return how the reduced labels of positions go along their dims; none if one of them is elsewhere."""
    own = Counter(dict.fromkeys(source.labels, 1))
    own.update([label for read in reads for label, _ in read.strides])
    found = []
    for read in reads:
        gone = [label for label, _ in read.strides if label in reduced]
        kept = [label for label, _ in read.strides if label not in reduced]
        if not gone:
            continue
        is_alone = len(gone) == len(kept) == 1 and own[gone[0]] == own[kept[0]] == 1
        if not is_alone or not build.sizes[gone[0]] or not all(stride for _, stride in read.strides):
            return []
        found.append(Rolling(read, kept[0], gone[0]))
    return found


def _is_chosen(build: Builder, value: Value, source: Value, found: Sequence[Rolling], reducer: str) -> bool:
    """Return whether windows are reduced along their axes, rather than through a view of all of them."""
    cells, cost, costs = build.size(source.labels), 0.0, build.target.costs
    for one in found:
        count, size = build.sizes[one.reduced], build.sizes[one.kept]
        stride, _, _ = move_of(one.window(count))
        passes = passes_of(count) if doubles(stride, count, size) else count - 1
        cost += costs.slices_cost(passes + 1, cells, value.dtype, is_near=True)
        cells = cells * size // max(1, build.sizes[one.read.label])
    whole = costs.sum_cost if reducer in ADDING else costs.maximum_cost
    view = whole(build.sizes, build.steps(value), value.dtype) if build.size(value.labels) else 0.0
    found_both = [Strategy("rolling", cost), Strategy("view", view)]
    return build.choose(sorted(found_both, key=lambda strategy: strategy.cost)).kind == "rolling"


def _rolled(build: Builder, value: Value, found: Sequence[Rolling], reducer: str) -> Value:
    """Emit the reduction of the windows along their axes."""
    kept = {one.read.label: one.kept for one in found}
    labels = tuple([kept.get(label, label) for label in value.labels])
    axes = tuple([value.axis(one.read.label) for one in found])
    windows = tuple([one.window(build.sizes[one.reduced]) for one in found])
    shape = build.shape(labels)
    made = Instruction("window_reduce", (value.number,), shape, axes, windows, function=reducer)
    strides = build.compact_strides(replace(value, labels=labels))
    bound = value.bound
    if bound is not None and reducer == "sum":
        bound *= build.size([one.reduced for one in found])
    return build.emit(made, labels, value.dtype, strides, bound=None if reducer == "prod" else bound)
