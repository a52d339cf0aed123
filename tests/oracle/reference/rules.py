"""The rules of the language that a text (and ``reduce=``) breaks or keeps before any array is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from oracle.reference.text import (
    Affine,
    At,
    Blank,
    Group,
    Item,
    Label,
    Literal,
    Pack,
    Parts,
    Refused,
    Term,
    Text,
    parts,
)


def refuse_bad_text(text: Text, reduced: bool, left_out: bool) -> None:
    """Raise `Refused` if the text alone breaks a rule.

    Parameters
    ----------
    text
        What was parsed.
    reduced
        Whether a reducer is written, in the text or as ``reduce=``.
    left_out
        Whether nothing stands left of the arrow and the operands' own names are the inputs.
    """
    refuse_words_of_two_kinds(text)
    for term in text.inputs:
        refuse_bad_input(term)
    if text.output is None:
        if reduced:
            raise Refused("reducer", "an assertion drops nothing")
        return
    refuse_bad_output(text.output)
    refuse_repeated_names(text.output)
    refuse_blanks(text, reduced)
    refuse_output_packs(text, left_out)
    if not left_out:
        refuse_drops(text, reduced)


def labels_of(term: Term) -> list[str]:
    """The labels of a term in reading order, with repetitions."""
    return [part.name for part in parts(term) if isinstance(part, Label)]


def no_labels(place: Any) -> list[str]:
    """The labels of a position that is no value of a formula."""
    return [name for _, name in place.strides] if isinstance(place, Affine) else []


def live_labels(term: Term, in_place: Callable[[Any], list[str]] = no_labels) -> list[str]:
    """The labels that a value has which is read by this term, with repetitions: those of positions instead of
    the dim's, those of the live part among parts.
    """
    found: list[str] = []
    for item in term:
        if isinstance(item, At):
            found += in_place(item.place)
        elif isinstance(item, Parts):
            found += live_labels(item.parts[live_part(item)], in_place)
        elif isinstance(item, Group):
            found += live_labels(item.items, in_place)
        elif isinstance(item, Label):
            found.append(item.name)
    return found


def live_literals(term: Term) -> list[int]:
    """The numbers that are dims of a value, or factors of one."""
    found: list[int] = []
    for item in term:
        inside = item.items if isinstance(item, Group) else ()
        inside = item.parts[live_part(item)] if isinstance(item, Parts) else inside
        found += [item.size] if isinstance(item, Literal) else live_literals(inside)
    return found


def live_part(item: Parts) -> int:
    """Which part is read: the only one that has a label."""
    live = [at for at, part in enumerate(item.parts) if labels_of(part)]
    rests = [part for part in item.parts if Blank() in part]
    if len(live) != 1 or len(rests) > 1:
        raise Refused("NE220", f"{len(live)} parts are live")
    return live[0]


def packs_of(term: Term) -> list[str]:
    """The words of the packs of a term, `...` among them."""
    return [part.word for part in parts(term) if isinstance(part, Pack)]


def count_blanks(term: Term) -> int:
    """How many dims of a term are `_`."""
    return sum(
        count_blanks(item.items) if isinstance(item, Group) else isinstance(item, Blank) for item in term
    )


def refuse_words_of_two_kinds(text: Text) -> None:
    """No word is a pack here and a label there."""
    terms = [*text.inputs, text.output or ()]
    words = {word.removesuffix("...") for term in terms for word in packs_of(term)}
    for label in (label for term in terms for label in labels_of(term)):
        if label in words:
            raise Refused("pack", f"{label} is a pack and a label")


def refuse_bad_input(term: Term) -> None:
    """No `_` or pack inside a group of an input, and one pack in all; parts have one live part, and only a
    single dim has positions.
    """
    for item in term:
        if isinstance(item, At) and (packs_of((item.base,)) or isinstance(item.base, Parts)):
            raise Refused("NE226", "a position in what is no single dim")
        refuse_bad_factors(item.base if isinstance(item, At) else item)
    if len(packs_of(term)) > 1:
        raise Refused("pack", "more than one pack in an input")


def refuse_bad_factors(item: Item, *, allows_place: bool = True) -> None:
    """What is inside groups and parts is a label, a number or a group; a part may be ``_``."""
    if isinstance(item, Parts):
        live_part(item)
        for part in (part for part in item.parts if part != (Blank(),)):
            refuse_bad_factors(Group(part), allows_place=False)
    if isinstance(item, Group):
        for part in item.items:
            if isinstance(part, Blank | Pack) or (isinstance(part, At) and not allows_place):
                raise Refused("group", "no _, pack or position in the group of an input")
            refuse_bad_factors(part.base if isinstance(part, At) else part, allows_place=allows_place)


def refuse_bad_output(term: Term) -> None:
    """A result has no positions, and parts only as whole dims."""
    if any(isinstance(item, At) for item in inner_items(term)):
        raise Refused("NE224", "the result has no positions")
    if any(isinstance(item, Parts) for item in inner_items(term)):
        raise Refused("NE222", "parts without values")


def inner_items(term: Term) -> list[Item]:
    """All items, also those in groups and parts."""
    found = list(term)
    for item in term:
        for part in item.parts if isinstance(item, Parts) else ():
            found += inner_items(part)
        found += inner_items(item.items) if isinstance(item, Group) else []
    return found


def refuse_repeated_names(output: Term) -> None:
    """No alias or group name that another dim of the output bears too."""
    implicit = {item.name for item in output if isinstance(item, Label) and not item.alias}
    explicit = [item.alias for item in output if isinstance(item, Label) and item.alias]
    explicit += [item.name for item in output if isinstance(item, Group | Parts) and item.name]
    if len(set(explicit)) < len(explicit) or implicit & set(explicit):
        raise Refused("name", "one name twice in the output")


def refuse_blanks(text: Text, reduced: bool) -> None:
    """With an arrow, `_` needs a single input, and the output has no more of them than that input."""
    given = sum(count_blanks(term) for term in text.inputs)
    wanted = count_blanks(text.output or ())
    if (given or wanted) and len(text.inputs) > 1:
        raise Refused("blank", "_ with several inputs")
    if wanted > given or (wanted < given and not reduced):
        raise Refused("blank", f"{wanted} of {given} _ in the output")


def refuse_output_packs(text: Text, left_out: bool) -> None:
    """A pack of the output stands in an input, but for the `...` of left-out inputs."""
    known = {word for term in text.inputs for word in packs_of(term)} | ({"..."} if left_out else set())
    wanted = packs_of(text.output or ())
    if not set(wanted) <= known:
        raise Refused("pack", "a pack only in the output")
    if left_out and len(wanted) > 1:
        raise Refused("pack", "the ... of left-out inputs stands once")


def refuse_drops(text: Text, reduced: bool) -> None:
    """What the output lacks must be contracted, freely droppable, or reduced; a reducer needs something to
    drop.
    """
    counts = Counter(label for term in text.inputs for label in live_labels(term))
    dropped = set(counts) - set(labels_of(text.output or ()))
    packs = {word for term in text.inputs for word in packs_of(term)} - set(packs_of(text.output or ()))
    literals = [size for term in text.inputs for size in live_literals(term)]
    blanks = sum(map(count_blanks, text.inputs)) - count_blanks(text.output or ())
    if reduced:
        if not (dropped or packs or literals or blanks):
            raise Refused("reducer", "nothing is dropped")
        return
    refuse_single_drops(counts, dropped)
    if packs:
        raise Refused("pack", f"{packs} dropped without a reducer")
    if any(size != 1 for size in literals):
        raise Refused("literal", "dropped without a reducer")


def refuse_single_drops(counts: Counter[str], dropped: set[str]) -> None:
    """Rule 2: only a label that occurs twice is summed without being asked."""
    for label in sorted(dropped):
        if counts[label] == 1:
            raise Refused("summation", f"{label} occurs once and is not in the output")
