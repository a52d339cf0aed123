"""Operands seen through their terms: the labels of every dim, all sizes, and the names under packs.

Terms that consist only of labels are read here in one pass, all others in
`nameexpr.compiler.analysis.resolve_views`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.operands import Operand, View, Views, measured
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import Axes
from nameexpr.syntax.limits import limits


def read_views(scope: Scope, operands: Mapping[str, Operand], sizes: Mapping[str, int]) -> Views:
    """Return labels and sizes of everything that a formula uses."""
    views = None if sizes or scope.plain is None else _plain_views(scope, scope.plain, operands)
    if views is None:
        from nameexpr.compiler.analysis.resolve_views import resolve_views

        views = resolve_views(scope, operands, sizes)
        if scope.has_readings or views.has_unknown:
            from nameexpr.compiler.analysis.statement_sizes import settle

            settle(scope.tree, views)
    return views


def _plain_views(scope: Scope, plain: Sequence[View], operands: Mapping[str, Operand]) -> Views | None:
    """Return the views of a formula whose terms consist of labels only, if everything fits; else None."""
    if operands.keys() != scope.uses.keys():
        return None
    sizes: dict[str, int] = {}
    axes: dict[View, Axes] = {}
    most = limits().dims
    for view in plain:
        labels = measured(view[1], operands[view[0]], sizes, most)
        if labels is None:
            return None
        axes[view] = labels
    left: list[Axes | None] = []
    for statement in scope.tree.statements:
        term = statement.term
        left.append(None if term is None else tuple([(item.name,) for item in term.items]))  # type: ignore[union-attr]
    if not all(label in sizes for group in left for (label,) in group or ()):
        return None
    default = {name: uses[0].term for name, uses in scope.uses.items() if uses[0].term is not None}
    return Views(operands, axes, default, tuple(left), sizes, {}, {})
