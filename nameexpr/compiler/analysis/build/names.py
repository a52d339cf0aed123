"""The names of the dims of statements."""

from __future__ import annotations

from nameexpr.compiler.analysis.build.values import StatementValue, Values
from nameexpr.compiler.analysis.names import match_names, result_names
from nameexpr.compiler.analysis.operands import Operand, stretch
from nameexpr.compiler.ir.axes import DOTS, Labels, Names, Unnamed, is_under_dots, labels_under
from nameexpr.dims import match, name_fault
from nameexpr.syntax.ast import At, Expression, Term
from nameexpr.syntax.items import dim_name_of, is_renamed


def names_of(values: Values, value: int, term: Term | None, order: Labels) -> Names:
    """Return the names of the dims of a statement's value, which are in this order."""
    own = values.under.get(value, {})
    if term is not None:
        dots = tuple([own.get(label.number) for label in labels_under(DOTS, order)])
        return result_names(term, {**values.views.under, DOTS: dots}, values.tree.text)
    names: list[str | None] = []
    for label in order:
        if not isinstance(label, Unnamed):
            names.append(label if name_fault(label) is None else None)
        elif is_under_dots(label):
            names.append(own.get(label.number))
        else:
            under = values.views.under.get(label.word, ())
            names.append(under[label.number - 1] if 0 < label.number <= len(under) else None)
    return tuple(names)


def check_aliases(values: Values, name: str, term: Term, statement: StatementValue) -> None:
    """Reject a use of a statement that calls a dim by another name than it has (NE401): labels of uses are
    free, names in `name=label` are not.
    """
    if statement.axes is None:
        return
    names = names_of(values, statement.value, statement.term, statement.order)
    items = [item.base if isinstance(item, At) else item for item, _ in stretch(term, len(names))]
    pairs = zip(items, names, strict=True)
    told = tuple([own if is_renamed(item) or match(dim_name_of(item), own) else None for item, own in pairs])
    seen = Operand(tuple(map(values.graph.cells, statement.axes)), told, name)
    match_names(Expression((term,), None, None, values.tree.text), [seen], {})
