"""The names of the dims of statements."""

from __future__ import annotations

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.analysis.names import result_names
from nameexpr.compiler.ir.axes import DOTS, Labels, Names, Unnamed, is_under_dots, labels_under
from nameexpr.dims import name_fault
from nameexpr.syntax.ast import Term


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
