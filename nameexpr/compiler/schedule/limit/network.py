"""A plan as the search for loops sees it: items that read values and make one, each value a set of labels.

Values are numbered as in plans: operands first, then what each item makes. The items are the steps of the
plan and a last one that stands for what comes after them: the reducer, a division, a cast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameexpr.compiler.ir.dtypes import ITEM_BYTES, Dtypes
from nameexpr.compiler.ir.strides import Given
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.planning.plan import Plan
from nameexpr.ops import REDUCTIONS

Labels = frozenset[str]
COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine and name != "sum"}
"""Reducers of which parts can be combined, each by a ufunc."""


@dataclass(frozen=True, slots=True)
class Item:
    """One step of a plan, or what comes after all of them.

    `factor` are the flops for each cell of `labels` and `summed` together. `is_linear` says whether it may be
    done to parts of a sum, `is_free` that it makes no new array, `casts` which operands are cast or copied
    first.
    """

    reads: tuple[int, ...]
    labels: Labels
    summed: Labels
    factor: int
    is_linear: bool
    is_free: bool
    casts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """The items of a plan with what the values are: `values` are the labels of each, operands first.

    `width` are the bytes of an element of what is computed; `again` are the bytes of the result where it is
    written out once more at the end, with repeats.
    """

    items: tuple[Item, ...]
    values: tuple[Labels, ...]
    sizes: Mapping[str, int]
    count: int
    width: int
    reducer: str | None
    again: int

    @property
    def last(self) -> int:
        """The number of the last item that makes an array."""
        return len(self.items) - 1 - self.items[-1].is_free


def network_of(plan: Plan, dtypes: Dtypes, given: Sequence[Given] = ()) -> Network:
    """Return the network of a plan; `given` is what is known of the operands' memory."""
    typed = plan.typed
    copied = _copied(plan, given)
    width = ITEM_BYTES.get(dtypes.compute, 8)
    count = len(plan.terms)
    items = []
    for step in plan.steps:
        labels, summed = frozenset(step.labels), frozenset(step.summed)
        cells = max(1, typed.size(tuple(labels | summed)))
        casts = tuple(
            v for v in step.values if v < count and (dtypes.operands[v] != dtypes.compute or v in copied)
        )
        items.append(Item(step.values, labels, summed, step.flops // cells, True, False, casts))  # noqa: FBT003
    items.append(_end(plan, dtypes))
    values = (*map(frozenset, plan.terms), *(item.labels for item in items))
    flat = [label for labels in typed.result for label in labels]
    is_repeated = len(set(flat)) < len(flat) or any(typed.sizes[one] > 1 for one in set(flat) - values[-1])
    again = typed.size(tuple(flat)) * width if is_repeated else 0
    return Network(tuple(items), values, typed.sizes, count, width, typed.reducer, again)


def _copied(plan: Plan, given: Sequence[Given]) -> frozenset[int]:
    """Return the operands that are not in one piece, and may be copied for products."""
    typed = plan.typed
    shapes = [tuple(typed.size(group) for group in axes) for axes in typed.operands]
    found = set()
    for number, (shape, one) in enumerate(zip(shapes, given, strict=False)):
        if one.strides is not None:
            array = Array(shape, one.strides, one.dtype, one.item, one.is_swapped, one.is_uneven)
            found |= {number} if array.is_odd or not array.is_one_piece else set()
    return frozenset(found)


def _end(plan: Plan, dtypes: Dtypes) -> Item:
    """Return the item behind all steps."""
    before = len(plan.terms) + len(plan.steps) - 1 if plan.steps else 0
    labels = frozenset(plan.steps[-1].labels if plan.steps else plan.terms[0])
    is_plain = plan.typed.reducer in {None, "sum"} and dtypes.compute == dtypes.result
    needs_cast = not plan.steps and dtypes.operands[0] != dtypes.compute
    casts = (0,) if needs_cast and plan.typed.reducer not in {None, "sum"} else ()
    reduced = frozenset(plan.reduced)
    return Item((before,), labels - reduced, reduced, int(bool(reduced)), False, is_plain, casts)  # noqa: FBT003
