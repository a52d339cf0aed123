"""What may come next in a formula: dims of the operand inside its brackets, else operands and functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from nameexpr.ops import ALONG, CONSTANTS, INDEX, POINTWISE, REDUCTIONS, SIZE
from nameexpr.session.complete.grammar import NAME, Place, accepted, place_in
from nameexpr.session.complete.known import Choice, Known, Tensor, dims, is_readable, tensors
from nameexpr.syntax.faults.stops import open_brackets
from nameexpr.syntax.parser.formula import with_semicolons

_STATEMENT = re.compile(rf"(?:^|;)\s*({NAME})\s*(?:\[([^\[\]]*)\]\s*)?=(?!=)")
_HEAD = re.compile(rf"({NAME})\s*$")
_ONE_DIM = frozenset({SIZE, INDEX})
_BRACKETED = re.compile(r"\[([^\[\]]*)")
_ALIASED = re.compile(rf"(?:{NAME}\s*=\s*)?({NAME})(?!\.)")


def formula_choices(before: str, after: str, known: Known) -> list[Choice]:
    """Return what may stand between two parts of a formula."""
    marked = with_semicolons(before + "x")[:-1]  # a line break counts once something follows it
    statement = marked[marked.rfind(";") + 1 :]
    tokens = accepted(marked, "formula")
    if not tokens and not accepted(before):  # a mistake in an earlier statement is no reason for silence
        tokens = accepted(statement, "formula")
    if not tokens:
        return []
    square = [place for place in open_brackets(statement) if statement[place] == "["]
    if square:
        head = _HEAD.search(statement, max(0, square[-1] - 256), square[-1])
        term = statement[square[-1] + 1 :]
        found = _in_term(head[1] if head else "", term, marked + after, known) if "NAME" in tokens else []
        return found or _closing(tokens)
    if "NAME" not in tokens:
        return _closing(tokens)
    found = [one for one in tensors(known) if one.text != "_" or "ANONYMOUS" in tokens]
    return [*found, *_statements(marked, known), *functions()]


def _closing(tokens: frozenset[str]) -> list[Choice]:
    """Return the bracket that may be closed, if nothing else is there to be offered."""
    return [Choice(sign, "close") for sign, token in (("]", "RSQB"), (")", "RPAR")) if token in tokens][:1]


@cache
def functions() -> tuple[Choice, ...]:
    """Return the functions of formulas, each with the bracket that it opens, and the constants."""
    names = dict.fromkeys((*REDUCTIONS, *ALONG), "")
    return (
        *(Choice(f"{name}[", "function along dims") for name in names),
        *(Choice(f"{name}(", "function") for name in POINTWISE),
        Choice(f"{SIZE}[", "size of a dim"),
        Choice(f"{INDEX}[", "0, 1, ... along a dim"),
        *(Choice(name, "number") for name in CONSTANTS),
    )


def _statements(text: str, known: Known) -> list[Choice]:
    """Return the statements of the text that have ended, the latest first."""
    done = text[: text.rfind(";") + 1]
    names = dict.fromkeys(found[1] for found in _STATEMENT.finditer(done))
    return [Choice(name, "statement") for name in reversed(names) if name not in known.tensors]


def _in_term(head: str, term: str, text: str, known: Known) -> list[Choice]:
    """Return the dims that may come next in the square brackets behind `head`."""
    place = place_in(term)
    if head in _ONE_DIM and place.items:
        return []
    tensor = known.tensors.get(head) or _statement_dims(head, text)
    if tensor is not None and not place.after_equal and not place.in_group:
        return dims_of(head, tensor, place, text, known)
    return [one for one in labels(text, known, head) if one.text not in place.used]


def _statement_dims(name: str, text: str) -> Tensor | None:
    """Return the dims of an earlier statement as far as the text on its left tells them."""
    for found in _STATEMENT.finditer(text[: text.rfind(";") + 1]):
        if found[1] == name and found[2]:
            items = place_in(found[2]).items
            return items, (0,) * len(items)
    return None


def dims_of(head: str, tensor: Tensor, place: Place, text: str, known: Known) -> list[Choice]:
    """Return the dims of a tensor that its term lacks, the one at this very place first.

    Where the tensor's dim has no name, any label may stand.
    """
    names, shape = tensor
    count = len(place.items)
    if place.is_counted and count >= len(names):
        return []
    about = dims(known, head)
    own = [name for name in names if name is not None and is_readable(name) and name not in place.items]
    if place.is_counted and names[count] in own:
        own.sort(key=lambda name: name != names[count])
    found = [about.get(name, Choice(name, f"dim of {head}")) for name in own]
    if None not in (names[count:] if place.is_counted else names):
        return found
    others = [one for one in labels(text, known, head) if one.text not in place.used]
    if place.is_counted and names[count] is None:
        others.sort(key=lambda one: not one.about.endswith(f", {shape[count : count + 1][0]}"))
        return [*others, *found]
    return [*found, *others]


def labels(text: str, known: Known, first: str = "") -> list[Choice]:
    """Return the labels that stand in square brackets of a text, then the dims of the session's tensors."""
    about = dims(known, first)
    written = dict.fromkeys(
        label for term in _BRACKETED.finditer(text) for label in _ALIASED.findall(term[1]) if label != "_"
    )
    return [*(about.get(name, Choice(name, "dim of this text")) for name in written), *about.values()]


def without_brackets(choices: Iterable[Choice], after: str) -> list[Choice]:
    """Return the choices without the brackets that they open, if one stands behind the place already."""
    if not after.startswith(("(", "[")):
        return list(choices)
    return [choice._replace(text=choice.text.rstrip("[(")) for choice in choices]
