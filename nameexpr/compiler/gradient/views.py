"""The gradient of an operand: the sum over all uses, each of which sees the operand through its own term."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.deltas import joined, renamed, with_label
from nameexpr.compiler.ir.axes import Axes, flat, whole_dim
from nameexpr.compiler.ir.nodes import Arrange, Map, View
from nameexpr.records import field, record

Seen = list[tuple[int, Axes]]
"""Gradients of an array, each with the dims through which it was seen."""


@record(frozen=False)
class Found:
    """The gradients that a walk has found: of operands by position, of identities by number, of the rows that
    the steps of a recurrence read by statement and offset.
    """

    operands: dict[int, Seen] = field(default_factory=dict)
    identities: dict[int, int] = field(default_factory=dict)
    rows: dict[tuple[int, int], Seen] = field(default_factory=dict)


def seen_through(algebra: Algebra, found: Seen, axes: Axes, shape: Sequence[int], dtype: str) -> int:
    """Return the gradient of an array with this shape as it is seen through `axes`, in its dtype; `found` are
    the gradients of its uses.
    """
    by_axes: dict[Axes, list[int]] = {}
    for gradient, own in found:
        by_axes.setdefault(own, []).append(gradient)
    sums = {own: algebra.as_array(algebra.added(values), dtype) for own, values in by_axes.items()}
    if list(sums) == [axes] and is_plain(axes):
        return algebra.spread(sums[axes], flat(axes))
    common = (
        axes if is_plain(axes) else next((own for own in sums if is_plain(own)), fresh_axes(algebra, shape))
    )
    parts = [value if own == common else seen_as(algebra, value, own, common) for own, value in sums.items()]
    whole = algebra.spread(algebra.added(parts), flat(common))
    return whole if common == axes else seen_as(algebra, whole, common, axes)


def is_plain(axes: Axes) -> bool:
    """Return whether every element of an array is seen once: no label occurs twice."""
    every = [label for labels in axes for label in labels]
    return len(set(every)) == len(every)


def fresh_axes(algebra: Algebra, shape: Sequence[int]) -> Axes:
    """Return labels of their own for the dims of an array."""
    labels = tuple([whole_dim("_", f"{number}.{size}") for number, size in enumerate(shape)])
    algebra.graph.sizes.update(zip(labels, shape, strict=True))
    return tuple([(label,) for label in labels])


def seen_as(algebra: Algebra, value: int, axes: Axes, others: Axes) -> int:
    """Return a value, arranged as an array with some dims, as that array is seen through others; labels of
    the basis are dims before them.
    """
    names = _renaming(algebra, axes, others)
    if names is not None:
        return _relabelled(algebra, value, names)
    graph, dtype = algebra.graph, algebra.graph.strong(value)
    basis = tuple([(label,) for label in graph.labels[value] if label in algebra.basis])
    axes, others = (*basis, *axes), (*basis, *others)
    array = graph.add(Arrange(value, axes), flat(axes), dtype)
    return graph.add(View(-1, array, others), flat(others), dtype)


def _renaming(algebra: Algebra, axes: Axes, others: Axes) -> dict[str, str] | None:
    """Return the other label for each one, if that is all in which the dims differ."""
    pairs = list(zip(flat(axes), flat(others), strict=False))
    sizes = algebra.graph.sizes
    is_same = list(map(len, axes)) == list(map(len, others)) and is_plain(axes) and is_plain(others)
    return dict(pairs) if is_same and all(sizes[one] == sizes[other] for one, other in pairs) else None


def _relabelled(algebra: Algebra, value: int, names: dict[str, str]) -> int:
    """Return a value with other labels, its deltas outside of the rest."""
    match algebra.graph.nodes[value]:
        case Map("+." | "-." as sign, parts) if any(algebra.apart(part)[0] for part in parts):
            return algebra.map(sign, *[_relabelled(algebra, part, names) for part in parts])
    deltas, rest = algebra.apart(value)
    moved = [with_label(algebra.values, delta, algebra.basis, names, algebra.span) for delta in deltas]
    return joined(algebra.values, moved, renamed(algebra.graph, rest, names), algebra.span)
