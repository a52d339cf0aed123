"""The names that a formula's results have, where any operand is a NamedTensor: those of dims on the left, or
the labels; under packs and `...` those of the operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.axes import DOTS, Axes, Names, Under, Unnamed, labels_under
from nameexpr.dims import another_name, duplicate, name_fault
from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.syntax.ast import Dots, Item, Pack, Term
from nameexpr.syntax.unparse import unparse_item


def result_names(
    term: Term | None, labels: Sequence[str], axes: Axes, packs: Mapping[str, Names], under: Under, text: str
) -> Names:
    """Return the names of a statement's result.

    Parameters
    ----------
    term : Term or None
        The term on the left.
    labels : sequence of str
        The labels of the result's dims, in order, where there is no term.
    axes : Axes
        The axes of the term.
    packs, under : mappings
        The names under packs, and those of this value under `...`.
    """
    if term is None:
        return tuple(_name_of(label, packs, under) for label in labels)
    names: list[str | None] = []
    items: list[Item] = []
    rest = list(axes)
    for item in term.items:
        if isinstance(item, Dots | Pack):
            here = labels_under(unparse_item(item), [labels[0] for labels in rest if len(labels) == 1])
            names += [_name_of(label, packs, under) for label in here]
            items += [item] * len(here)
            rest = rest[len(here) :]
            continue
        rest.pop(0)
        names.append(getattr(item, "dim", None) or getattr(item, "name", None))
        items.append(item)
    _check_twice(names, items, text)
    return tuple(names)


def _check_twice(names: Sequence[str | None], items: Sequence[Item], text: str) -> None:
    """Raise NE403 if the result would carry a name twice."""
    twice = duplicate(names)
    if twice is not None:
        name, one, other = twice
        marks = (Mark(items[one].span), Mark(items[other].span))
        message = f"the result would carry the name '{name}' twice"
        hint = f"give each dim a name of its own on the left, such as row={name} col={name}"
        if any(isinstance(items[place], Dots | Pack) for place in (one, other)):
            hint = (
                f"'{name}' is a name under an ellipsis or pack: write {another_name(name)}={name} on the left"
            )
        raise error(Diagnostic("NE403", message, text, marks, hint=hint))


def _name_of(label: str, packs: Mapping[str, Names], under: Under) -> str | None:
    """Return the name of a dim that has a label; under a pack, that which the operands have there."""
    if not isinstance(label, Unnamed):
        return label if name_fault(label) is None else None
    if label.word == DOTS:
        return under.get(label.number)
    names = packs.get(label.word, ())
    return names[label.number - 1] if 0 < label.number <= len(names) else None
