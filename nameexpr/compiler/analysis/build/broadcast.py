"""Dims under `...` when values meet in a function: those of size 1 give way, and names unify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.faults.words import broadcast_fault
from nameexpr.compiler.ir.dots import position_of
from nameexpr.compiler.ir.graph import Drop
from nameexpr.errors import Diagnostic, Mark, Span, error

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.build import Builder


def unify_under(build: Builder, made: int, values: Sequence[int], span: Span) -> None:
    """Unify the names that values have under `...` (NE402 if two of them differ)."""
    names: dict[str, str | None] = {}
    for value in values:
        for place, name in build.under.get(value, {}).items():
            if None not in (name, names.get(place)) and names[place] != name:
                message = f"under '...' the dim '{name}' meets '{names[place]}'"
                hint = "rename one of the dims, or write these dims out"
                raise error(Diagnostic("NE402", message, build.text, (Mark(span),), hint=hint))
            names[place] = names.get(place) or name
    if names:
        build.under[made] = names


def broadcast(build: Builder, values: Sequence[int], span: Span) -> list[int]:
    """Return values whose dims under `...` fit: those of size 1 give way (NE309 if others differ)."""
    labels = dict.fromkeys(label for value in values for label in build.graph.labels[value])
    by_place: dict[str, list[str]] = {}
    for label in labels:
        if label.startswith("..."):
            by_place.setdefault(position_of(label), []).append(label)
    gone = set()
    for found in by_place.values():
        long = [label for label in found if build.graph.sizes[label] != 1]
        if len(long) > 1:
            raise error(broadcast_fault(build.scope.tree, build.views.axes, build.operands, long, span))
        gone |= {label for label in found if long and label not in long}
    return [_without(build, value, gone) for value in values]


def _without(build: Builder, value: int, gone: set[str]) -> int:
    own = build.graph.labels[value]
    here = tuple(label for label in own if label in gone)
    if not here:
        return value
    kept = [label for label in own if label not in gone]
    dropped = build.graph.add(Drop(value, here), kept, build.graph.dtypes[value])
    build.under[dropped] = build.under.get(value, {})
    return dropped
