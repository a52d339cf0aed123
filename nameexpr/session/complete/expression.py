"""What may come next in an expression: dims in its inputs, labels of the inputs in its result, reducers, and
behind the bar the tensors that fit its terms.
"""

from __future__ import annotations

import re

from nameexpr.ops import REDUCTIONS
from nameexpr.session.complete.grammar import NAME, Place, accepted, place_in
from nameexpr.session.complete.known import Choice, Known, Tensor, dims, is_readable, tensors

_NAMES = re.compile(rf"(?:{NAME}\s*=\s*(?={NAME}))?({NAME})(?!\.)")
_COMMENT = re.compile(r"#[^\n]*")


def expression_choices(before: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return what may stand between two parts of an expression; `word` is what has been typed of it."""
    before, after = (_COMMENT.sub(lambda found: " " * len(found[0]), part) for part in (before, after))
    text, bar, written = before.partition("|")
    if bar:
        return _operands(text, written, known)
    if "NAME" not in accepted(before):
        return []
    inputs, arrow, output = before.partition("->")
    if before.rstrip().endswith(":"):
        return [Choice(name, "reducer") for name in REDUCTIONS]
    if arrow:
        used = place_in(output).used
        about = dims(known)
        found = [about.get(name, Choice(name, "dim of this text")) for name in _names(inputs)]
        return [one for one in found if one.text not in used]
    return _in_input(inputs, after.partition("|")[0], word, known)


def _names(text: str) -> list[str]:
    """Return the labels of a text, each once."""
    return [name for name in dict.fromkeys(_NAMES.findall(text)) if name != "_"]


def _in_input(inputs: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return the dims for an input term; where a tensor's names are complete, what goes on from there."""
    place = place_in(inputs.rpartition(",")[2])
    about = dims(known)
    tensors_here = () if place.in_group or place.after_equal else tuple(known.tensors.values())
    following = [name for tensor in tensors_here if (name := _next(tensor, place))]
    is_complete = bool(place.items) and any(place.items == names for names, _ in tensors_here)
    if is_complete and not following and not word and "->" not in after:
        space = "" if inputs[-1:].isspace() else " "
        return [Choice(f"{space}-> ", "then the result"), Choice(", ", "then another input")]
    others = [*about, *_names(f"{inputs} {after.partition(':')[0]}")]
    names = [name for name in dict.fromkeys([*following, *others]) if name not in place.used]
    return [about.get(name, Choice(name, "dim of this text")) for name in names]


def _next(tensor: Tensor, place: Place) -> str | None:
    """Return the tensor's next dim, if the term is its beginning."""
    names, count = tensor[0], len(place.items)
    if names[:count] != place.items or count >= len(names) or not is_readable(names[count]):
        return None
    return names[count]


def _operands(text: str, written: str, known: Known) -> list[Choice]:
    """Return the tensors for the operand at the end, those whose names are the term's labels first."""
    terms = text.partition("->")[0].split(",")
    index = written.count(",")
    if "$END" not in accepted(text) or written.rpartition(",")[2].strip():
        return []
    if index >= len(terms):
        return _sizes(text, terms, written)
    items = place_in(terms[index]).items

    def misfit(choice: Choice) -> int:
        names = known.tensors[choice.text][0]
        alike = [a in (None, b) or b is None for a, b in zip(names, items, strict=False)]
        return (names != items) + (not all(alike) or len(names) != len(items))

    return sorted(tensors(known), key=misfit)


def _sizes(text: str, terms: list[str], written: str) -> list[Choice]:
    """Return the labels whose sizes no operand tells: those that are no dim of their own in any input."""
    told = {item for term in terms for item in place_in(term).items}
    text = text.partition(":")[0]
    given = {piece.partition("=")[0].strip() for piece in written.split(",")}
    return [Choice(f"{name}=", "size") for name in _names(text) if name not in told | given]
