"""The rules of the language that a text (and ``reduce=``) breaks or keeps before any array is seen."""

from __future__ import annotations

from collections import Counter

from oracle.reference.text import (
    Blank,
    Group,
    Label,
    Literal,
    Pack,
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
    refuse_repeated_names(text.output)
    refuse_blanks(text, reduced)
    refuse_output_packs(text, left_out)
    if not left_out:
        refuse_drops(text, reduced)


def labels_of(term: Term) -> list[str]:
    """The labels of a term in reading order, with repetitions."""
    return [part.name for part in parts(term) if isinstance(part, Label)]


def packs_of(term: Term) -> list[str]:
    """The words of the packs of a term, `...` among them."""
    return [part.word for part in parts(term) if isinstance(part, Pack)]


def count_blanks(term: Term) -> int:
    """How many `_` a term has."""
    return sum(isinstance(part, Blank) for part in parts(term))


def refuse_words_of_two_kinds(text: Text) -> None:
    """No word is a pack here and a label there."""
    terms = [*text.inputs, text.output or ()]
    words = {word.removesuffix("...") for term in terms for word in packs_of(term)}
    for label in (label for term in terms for label in labels_of(term)):
        if label in words:
            raise Refused("pack", f"{label} is a pack and a label")


def refuse_bad_input(term: Term) -> None:
    """No `_` or pack inside a group of an input, and one pack in all."""
    for item in term:
        if isinstance(item, Group) and any(isinstance(part, Blank | Pack) for part in parts(item.items)):
            raise Refused("group", "no _ or pack in the group of an input")
    if len(packs_of(term)) > 1:
        raise Refused("pack", "more than one pack in an input")


def refuse_repeated_names(output: Term) -> None:
    """No alias or group name that another dim of the output bears too."""
    implicit = {item.name for item in output if isinstance(item, Label) and not item.alias}
    explicit = [item.alias for item in output if isinstance(item, Label) and item.alias]
    explicit += [item.name for item in output if isinstance(item, Group) and item.name]
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
    counts = Counter(label for term in text.inputs for label in labels_of(term))
    dropped = set(counts) - set(labels_of(text.output or ()))
    packs = {word for term in text.inputs for word in packs_of(term)} - set(packs_of(text.output or ()))
    literals = [part.size for term in text.inputs for part in parts(term) if isinstance(part, Literal)]
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
