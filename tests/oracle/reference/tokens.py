"""The tokens of expressions and of the terms of formulas, and the positions among them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

TOKEN = re.compile(
    r"(?P<space>\s+|\#[^\n]*)|(?P<arrow>->)|(?P<dots>\.\.\.)|(?P<int>[0-9]+)"
    r"|(?P<word>[^\W\d]\w*'*)(?P<pack>\.\.\.)?|(?P<mark>[=(),:+])|(?P<at>@)"
)
GAP = re.compile(r"(?:\s|\#[^\n]*)*")
STRIDES = re.compile(r"\(-?(?:S)(?:[+-](?:S))*\)".replace("S", r"[0-9]+(?:\*[^\W\d]\w*'*)?|[^\W\d]\w*'*"))
STRIDE = re.compile(r"([+-]?)(?:([0-9]+)(?:\*|(?![\w'])))?([^\W\d]\w*'*)?")


class Refused(ValueError):
    """The language rejects this text, or these operands with it.

    Parameters
    ----------
    rule
        The family of the rule: ``"syntax"``, ``"summation"``, ``"size"``, ``"name"`` and so on.
    detail
        What was wrong, for a reader of a failing test.
    """

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule


@dataclass(frozen=True)
class Affine:
    """The position of an expression: a number, and labels with what each is multiplied by."""

    number: int
    strides: tuple[tuple[int, str], ...]


def tokens(text: str) -> list[tuple[str, str]]:
    """The (kind, word) pairs of a text; the kinds are arrow, dots, int, name, blank, pack and the marks."""
    found: list[tuple[str, str]] = []
    at, end_of_word = 0, -1
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Refused("syntax", f"{text[at]!r} at {at}")
        kind, touching = match.lastgroup or "", end_of_word == at
        if kind == "at":
            start = GAP.match(text, match.end()).end()  # type: ignore[union-attr]
            at = end_of_place(text, start)
            found.append(("place", text[start:at]))
            end_of_word = -1 if text[start] == "(" else at
            continue
        if match["word"] or match["int"]:
            if touching:
                raise Refused("syntax", f"white space is missing at {at}")
            found.append(("int", match["int"]) if match["int"] else word_token(match))
            end_of_word = match.end()
        elif kind != "space":
            found.append((match[0] if kind == "mark" else kind, match[0]))
        at = match.end()
    return found


def end_of_brackets(text: str, at: int) -> int:
    """Where the bracket that opens here is closed."""
    depth = 0
    while at < len(text):
        if text[at] == "#":
            at = GAP.match(text, at).end()  # type: ignore[union-attr]
            continue
        depth += (text[at] in "([") - (text[at] in ")]")
        at += 1
        if depth == 0:
            return at
    raise Refused("syntax", "a bracket is open")


def end_of_place(text: str, at: int) -> int:
    """Where the position that begins here ends: a number, a name, a use or what is in brackets."""
    if text[at : at + 1] == "(":
        return end_of_brackets(text, at)
    match = re.compile(r"[0-9]+|[^\W\d]\w*'*").match(text, at)
    if match is None or text.startswith("...", match.end()):
        raise Refused("syntax", f"no position at {at}")
    opening = GAP.match(text, match.end()).end()  # type: ignore[union-attr]
    is_use = not match[0].isdecimal() and text[opening : opening + 1] == "["
    return end_of_brackets(text, opening) if is_use else match.end()


def read_affine(text: str) -> Affine:
    """The position of an expression: a number, a label, or multiples of labels in brackets."""
    bare = re.sub(r"\s*([-+*()])\s*", r"\1", re.sub(r"\#[^\n]*", " ", text))
    bare = unicodedata.normalize("NFKC", bare.strip())
    inside = (
        bare[1:-1] if STRIDES.fullmatch(bare) else bare if re.fullmatch(r"[0-9]+|[^\W\d]\w*'*", bare) else ""
    )
    number, strides = 0, []
    for sign, size, label in STRIDE.findall(inside):
        times = int(size or "1") * (-1 if sign == "-" else 1)
        if label:
            strides.append((times, label))
        elif size:
            number += times
    if not inside or any(label == "_" for _, label in strides):
        raise Refused("syntax", f"{text!r} is no position")
    return Affine(number, tuple(strides))


def word_token(match: re.Match[str]) -> tuple[str, str]:
    """The token of an identifier: a name, a pack, or a blank."""
    word = unicodedata.normalize("NFKC", match["word"])
    if word == "_" and not match["pack"]:
        return "blank", word
    if not word.rstrip("'").isidentifier() or word.rstrip("'") == "_":
        raise Refused("syntax", f"{word!r} is not a name")
    return ("pack" if match["pack"] else "name"), word
