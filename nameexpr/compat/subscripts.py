"""Read the texts of `numpy.einsum` and opt_einsum as syntax trees of this package.

A label is one character. Without an arrow the result has the dims under `...`, then the labels that occur
once, in the order of their code points. Labels that the result lacks are summed.

>>> tree = read("jk,ij")
>>> [item.name for item in tree.outputs[0].items]
['i', 'k']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.syntax.ast import Dots, Expression, Item, Label, Term

ARROW = "->"
ELLIPSIS = "..."
LETTERS = "write letters: the subscripts of one operand are one letter for each dim"


def read(text: str, is_label: Callable[[str], bool] = str.isalpha) -> Expression:
    """Return the tree of subscripts such as "ij,jk->ik"; `is_label` determines which characters are labels.

    Raises
    ------
    NameExprError
        A ValueError that marks the characters, the dots or the labels that are wrong.
    """
    left, arrow, right = text.partition(ARROW)
    if ARROW in right:
        places = [Mark(Span(at, at + 2)) for at in range(len(text)) if text.startswith(ARROW, at)]
        raise error(Diagnostic("NE123", "the subscripts have more than one arrow", text, tuple(places)))
    inputs = [*_terms(text, 0, len(left), is_label)]
    if not arrow:
        return Expression(tuple(inputs), (_implied(inputs, len(text)),), None, text)
    outputs = [*_terms(text, len(left) + len(arrow), len(text), is_label)]
    if len(outputs) > 1:
        message = "the result has more than one term"
        hint = (
            "an operand has a term, so commas are left of the arrow; write the labels of the result together"
        )
        raise error(Diagnostic("NE201", message, text, tuple(Mark(term.span) for term in outputs), hint=hint))
    tree = Expression(tuple(inputs), (outputs[0],), None, text)
    check_result(tree)
    return tree


def _terms(text: str, start: int, end: int, is_label: Callable[[str], bool]) -> Iterator[Term]:
    """Yield the terms between two positions of a text, which commas separate."""
    while True:
        comma = text.find(",", start, end)
        stop = end if comma < 0 else comma
        term = Term(tuple(_items(text, start, stop, is_label)), _bare(text, start, stop))
        dots = [item for item in term.items if isinstance(item, Dots)]
        if len(dots) > 1:
            message = "a term has more than one '...'"
            hint = "give all dims but those of one '...' a letter"
            raise error(Diagnostic("NE205", message, text, marks(dots), hint=hint))
        yield term
        if comma < 0:
            return
        start = comma + 1


def _items(text: str, start: int, stop: int, is_label: Callable[[str], bool]) -> Iterator[Label | Dots]:
    at = start
    while at < stop:
        character = text[at]
        if text.startswith(ELLIPSIS, at, stop):
            yield Dots(Span(at, at + 3))
            at += 2
        elif character == ".":
            after = next((place for place in range(at, stop) if text[place] != "."), stop)
            mark = Mark(Span(at, after))
            raise error(Diagnostic("NE107", "'.' is only part of '...'", text, (mark,), hint="write ..."))
        elif character in "->":
            mark = Mark(Span(at, at + 1))
            raise error(
                Diagnostic("NE101", f"'{character}' is only part of '->'", text, (mark,), hint="write ->")
            )
        elif character != " ":
            if not is_label(character):
                message = f"'{character}' is not a subscript"
                raise error(Diagnostic("NE100", message, text, (Mark(Span(at, at + 1)),), hint=LETTERS))
            yield Label(character, Span(at, at + 1))
        at += 1


def _bare(text: str, start: int, stop: int) -> Span:
    """Return the span of a term without the blanks around it."""
    inside = text[start:stop]
    first = start + len(inside) - len(inside.lstrip())
    return Span(first, max(first, start + len(inside.rstrip())))


def _implied(inputs: Sequence[Term], end: int) -> Term:
    """Return the result that is meant without an arrow."""
    items = [item for term in inputs for item in term.items]
    counts = Counter(item.name for item in items if isinstance(item, Label))
    dots = [Dots()] if any(isinstance(item, Dots) for item in items) else []
    once = [Label(name) for name in sorted(counts) if counts[name] == 1]
    return Term((*dots, *once), Span(end, end))


def check_result(tree: Expression) -> None:
    """Raise an error unless each item of the result is there once and in an operand (NE212, NE308)."""
    (output,) = tree.outputs or ()
    inside = {item for term in tree.inputs for item in term.items}
    if repeated := [item for item in output.items if output.items.count(item) > 1]:
        message = f"{shown(repeated[0])} is in the result more than once"
        again = [item for item in repeated if item == repeated[0]]
        hint = "write it once: numpy.diag and the like embed a diagonal"
        raise error(Diagnostic("NE212", message, tree.text, marks(again), hint=hint))
    if unknown := [item for item in output.items if item not in inside]:
        message = f"{shown(unknown[0])} is in the result, but in no operand"
        hint = "write it in the term of the operand that has this dim, or remove it from the result"
        raise error(Diagnostic("NE308", message, tree.text, marks(unknown), hint=hint))


def word(item: Item) -> str:
    """Return an item as it is written."""
    return item.name if isinstance(item, Label) else ELLIPSIS


def shown(item: Item) -> str:
    """Return an item as messages show it."""
    return f"'{word(item)}'"


def marks(items: Sequence[Item]) -> tuple[Mark, ...]:
    """Return a mark under each item."""
    return tuple([Mark(item.span) for item in items])
