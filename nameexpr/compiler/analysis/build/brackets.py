"""The dims that a reduction or a function along dims has in its brackets: they must be those of its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.faults import build as faults
from nameexpr.compiler.ir.dots import number_of
from nameexpr.compiler.ir.graph import Labels
from nameexpr.errors import error
from nameexpr.ops import NEED_ELEMENTS
from nameexpr.syntax.ast import CallAlong, Dots, Label, Pack

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.build import Builder


def check_elements(build: Builder, node: CallAlong, labels: Labels) -> None:
    """Raise NE330 if a reduction that needs elements has none."""
    if node.function in NEED_ELEMENTS and any(build.graph.sizes[label] == 0 for label in labels):
        empty = next(label for label in labels if build.graph.sizes[label] == 0)
        raise error(faults.no_elements(build.text, node, empty))


def bound_labels(build: Builder, node: CallAlong, value: int) -> Labels:
    """Return the labels that stand in the brackets, every one of them in the value."""
    own = build.graph.labels[value]
    labels: list[str] = []
    for item in node.term.items:
        if isinstance(item, Dots | Pack):
            word = f"{item.name}..." if isinstance(item, Pack) else "..."
            labels += sorted(
                (one for one in own if one.startswith(word)), key=lambda one: number_of(one, word)
            )
            if word not in build.views.under:
                raise error(faults.foreign(build.scope.tree, node, item.span, word, own))
        elif isinstance(item, Label):
            if item.name not in own:
                raise error(faults.foreign(build.scope.tree, node, item.span, item.name, own))
            labels.append(item.name)
    return tuple(labels)
