"""Completion candidates: where they come from, and their order.

The names in `Known` may come from anywhere; only those that the grammar can read are ever offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeAlias

from nameexpr.carets import visible
from nameexpr.errors import CHOICES, LONGEST

NamesAndShape: TypeAlias = tuple[tuple[str | None, ...], tuple[int, ...]]

MOST = 200
"""The largest number of completions."""
NEAR = 2
"""The length of the shortest word for which near matches are searched."""


@dataclass(frozen=True, slots=True)
class Known:
    """The contents of a session: tensors (names and shape by name), commands (":names" to their
    descriptions), options of `:set` with their choices, codes of errors and words of the help with their
    descriptions.
    """

    tensors: Mapping[str, NamesAndShape] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


class Completion(NamedTuple):
    """The replacement of the text from `start` up to the cursor, how it is shown, and a note about it."""

    text: str
    start: int
    shown: str
    about: str


class Choice(NamedTuple):
    """A candidate, a note about it, and for a dim its size."""

    text: str
    about: str
    size: int | None = None


def ranked(word: str, choices: Iterable[Choice]) -> list[Choice]:
    """Filter choices by a word: exact prefixes, then prefixes in another case, else near matches. A word that
    is itself a choice is only completed to longer ones.

    >>> [choice.text for choice in ranked("n", [Choice("N", ""), Choice("k", ""), Choice("norm[", "")])]
    ['norm[', 'N']
    """
    unique: dict[str, Choice] = {}
    for choice in choices:
        unique.setdefault(choice.text, choice)
    pool = tuple(unique.values())
    folded = word.casefold()
    fitting = [choice for choice in pool if choice.text.startswith(word)]
    if word not in unique:
        alike = (choice for choice in pool if choice.text.casefold().startswith(folded))
        fitting += [choice for choice in alike if not choice.text.startswith(word)]
    if not fitting and NEAR <= len(word) <= LONGEST:
        from difflib import get_close_matches

        likely = islice((choice for choice in pool if len(choice.text) <= LONGEST), CHOICES)
        words = {choice.text.rstrip("[(=").casefold(): choice for choice in likely}
        fitting = [words[near] for near in get_close_matches(folded, words, cutoff=0.7)]
    return [choice for choice in fitting if choice.text != word][:MOST]


def placed(start: int, choices: Iterable[Choice]) -> tuple[Completion, ...]:
    """Return completions of choices for the word that begins at `start`."""
    return tuple(
        Completion(choice.text, start, visible(choice.text.strip() or choice.text), visible(choice.about))
        for choice in choices
        if choice.text
    )


def is_readable(name: object) -> bool:
    """Return whether the grammar accepts this as one name."""
    return isinstance(name, str) and name != "_" and name.rstrip("'").isidentifier()


def tensors(known: Known) -> list[Choice]:
    """Return the tensors of a session, the last result after the named ones.

    >>> tensors(Known({"x": (("N", None), (2, 3))}))
    [Choice(text='x', about='tensor (N=2, 3)', size=None)]
    """
    named = [Choice(name, _about(tensor)) for name, tensor in known.tensors.items() if is_readable(name)]
    last = known.tensors.get("_")
    return named if last is None else [*named, Choice("_", f"the last result, {_about(last)}")]


def _about(tensor: NamesAndShape) -> str:
    dims = (f"{name}={size}" if name else f"{size}" for name, size in zip(*tensor, strict=False))
    return f"tensor ({', '.join(dims)})"


def dims(known: Known, first: str = "") -> dict[str, Choice]:
    """Return the dims of a session's tensors by name, those of the tensor `first` before the others.

    >>> dims(Known({"x": (("N", None), (2, 3)), "w": (("N", "C"), (2, 3))}))["C"]
    Choice(text='C', about='dim of w, 3', size=3)
    """
    choices: dict[str, Choice] = {}
    for tensor in sorted(known.tensors, key=lambda name: name != first):
        for name, size in zip(*known.tensors[tensor], strict=False):
            if name is not None and is_readable(name):
                choices.setdefault(name, Choice(name, f"dim of {tensor}, {size}", size))
    return choices
