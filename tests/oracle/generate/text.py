"""Terms printed as text in many spellings, and valid texts broken in one place."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from oracle.reference.text import Affine, At, Group, Item, Label, Literal, Pack, Parts

WORDLIKE = {"word", "int", "dots"}
GAPS = ["  ", "\n", "\t", " \n  ", " # a dim, -> ( é\n", "\r\n", "   "]
TOKEN = re.compile(r"->|(?:[^\W\d]\w*'*)?\.\.\.|[^\W\d]\w*'*|\d+|\S")
STRAYS = [
    "->",
    "=>",
    "→",
    ",",
    "(",
    ")",
    "=",
    ":",
    "...",
    "_",
    "*",
    "-1",
    "3C",
    "zz",
    "z...",
    "'",
    "7",
    "..",
    "[",
    "1.5",
]
COMPATIBLE = {"fi": "ﬁ"}

Token = tuple[str, str]


def print_text(
    rng: random.Random,
    inputs: Sequence[Sequence[Item]],
    output: Sequence[Item] | None,
    reducer: str | None = None,
    others: Sequence[Sequence[Item]] = (),
) -> str:
    """An expression (an assertion where `output` is None) as text, spaced and commented at random."""
    tokens: list[Token] = []
    for at, term in enumerate(inputs):
        tokens += [("mark", ",")] * (at > 0) + term_tokens(rng, term)
    if output is not None:
        tokens += [("mark", "->"), *term_tokens(rng, output)]
    for term in others:
        tokens += [("mark", ","), *term_tokens(rng, term)]
    if reducer:
        tokens += [("mark", ":"), ("word", reducer)]
    if rng.random() < 0.5:  # one spelling of a name per text: two that normalise alike are rejected
        tokens = [(kind, COMPATIBLE.get(word, word)) for kind, word in tokens]
    return spaced(rng, tokens)


def term_tokens(rng: random.Random, term: Sequence[Item]) -> list[Token]:
    """The tokens of a term."""
    return [token for item in term for token in item_tokens(rng, item)]


def item_tokens(rng: random.Random, item: Item) -> list[Token]:
    """The tokens of an item; a dim of size 1 is sometimes ``()``."""
    if isinstance(item, Label):
        word = item.name
        alias = [("word", item.alias), ("mark", "=")] if item.alias else []
        size = [] if item.size is None else [("mark", "="), ("int", str(item.size))]
        return [*alias, ("word", word), *size]
    if isinstance(item, Literal):
        empty = item.size == 1 and rng.random() < 0.3
        return [("mark", "("), ("mark", ")")] if empty else [("int", str(item.size))]
    if isinstance(item, Pack):
        return [("dots" if item.word == "..." else "word", item.word)]
    if isinstance(item, Group):
        name = [("word", item.name), ("mark", "=")] if item.name else []
        return [*name, ("mark", "("), *term_tokens(rng, item.items), ("mark", ")")]
    if isinstance(item, Parts):
        name = [("word", item.name), ("mark", "=")] if item.name else []
        inside = [token for part in item.parts for token in [("mark", "+"), *term_tokens(rng, part)]]
        return [*name, ("mark", "("), *inside[1:], ("mark", ")")]
    if isinstance(item, At):
        return [*item_tokens(rng, item.base), ("mark", "@"), *place_tokens(rng, item.place)]
    return [("word", "_")]


def place_tokens(rng: random.Random, place: Affine) -> list[Token]:
    """The tokens of a position."""
    if not place.strides and rng.random() < 0.7:
        return [("int", str(place.number))]
    if place.strides == ((1, place.strides[0][1] if place.strides else ""),) and not place.number:
        return [("word", place.strides[0][1])]
    sums = [(slope < 0, [*stride_tokens(abs(slope)), ("word", label)]) for slope, label in place.strides]
    if place.number or not sums:
        sums.append((place.number < 0, [("int", str(abs(place.number)))]))
    rng.shuffle(sums)
    found: list[Token] = []
    for at, (is_negative, word) in enumerate(sums):
        sign = [("mark", "-")] if is_negative else [("mark", "+")] if at else []
        found += [*sign, *word]
    return [("mark", "("), *found, ("mark", ")")]


def stride_tokens(slope: int) -> list[Token]:
    """The tokens of what a label is multiplied by."""
    return [("int", str(slope)), ("mark", "*")] if slope > 1 else []


def spaced(rng: random.Random, tokens: Sequence[Token]) -> str:
    """Tokens joined in one of three manners: as people write, tightly, or with odd white space and
    comments.
    """
    manner = rng.choices(["usual", "tight", "odd"], [5, 2, 3])[0]
    out = rng.choice(["", "\n", " "]) if manner == "odd" else ""
    before: Token = ("start", "")
    for token in tokens:
        out += gap(rng, manner, before, token) + token[1]
        before = token
    return out + (rng.choice(["", "\n", "  ", " # end"]) if manner == "odd" else "")


def gap(rng: random.Random, manner: str, before: Token, after: Token) -> str:
    """What stands between two tokens."""
    needed = before[0] in WORDLIKE and after[0] in WORDLIKE
    if manner == "usual":
        after_open = before[1] in ("", "(", "=")
        return "" if after_open or after[1] in (")", ",", "=") else " "
    if manner == "odd" and rng.random() < 0.3:
        return rng.choice(GAPS)
    return " " if needed or (manner == "odd" and rng.random() < 0.5) else ""


def mutate_text(rng: random.Random, text: str) -> str:
    """Break one token of a text: drop, double, replace, join, swap it or put a stray one beside it.

    The result is nearly always wrong, but may happen to be valid: judge it with the reference.
    """
    spans = [match.span() for match in TOKEN.finditer(text)]
    if not spans:
        return rng.choice(STRAYS)
    at = rng.randrange(len(spans))
    start, stop = spans[at]
    token, head, tail = text[start:stop], text[:start], text[stop:]
    following = spans[min(at + 1, len(spans) - 1)]
    after = text[following[0] : following[1]]
    choices = [
        head + tail,
        f"{head}{token} {token}{tail}",
        head + rng.choice(STRAYS) + tail,
        f"{head}{token} {rng.choice(STRAYS)} {tail}",
        head + token + text[following[0] :] if following != (start, stop) else text + "=",
        f"{head}{after} {token}{text[following[1] :]}" if following != (start, stop) else text + ")",
        head + misspelt(rng, token) + tail,
    ]
    return rng.choice(choices)


def misspelt(rng: random.Random, token: str) -> str:
    """A word with one letter changed, doubled or in the other case."""
    at = rng.randrange(len(token))
    return rng.choice(
        [token + "x", token.swapcase(), token[:at] + token[at:].replace(token[at], "q", 1), token * 2]
    )
