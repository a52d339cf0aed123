"""Texts for the fuzzer: valid ones to begin with, and a mutator that knows the tokens of the languages.

An input is one byte that chooses the call, and the text in UTF-8; other bytes are lone surrogates.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"[^\W\d]\w*'*|\d+|->|\*\*|//|\.\.\.|\s+|.", re.DOTALL)
_HOSTILE = [
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\x00",
    "\r\n",
    "\u2028",
    "é",
    "𝐚",
    "ﬁ",
    "\u0301",
    "名",
    "'",
    '"',
    "\\",
]

EXPRESSION = [
    *"abNhw_()=,:.#*+-?;[]{}|0123 \n\t",
    *[
        "->",
        "...",
        "a=",
        "N=2",
        "(a b)",
        "a b",
        "b...",
        " : sum",
        " : max",
        ": mean",
        " -> ",
        ", ",
        "2 ",
        "a'",
        "=>",
    ],
    *["[a]", "1", "99999999999999999999", "# a", "a a"],
    *["(a + b)", "(1 + a)", "(_ + ", " + ", "@", "_@", "@0", "@(a + b)", "_@(2*a - b + 1)"],
]
FORMULA = [
    *"xwvNCK_()[]=,;:.+-*/%<>&|~!^@{}0123 \n\t#",
    *[
        "**",
        "//",
        "==",
        "<=",
        "...",
        "->",
        "x[N C]",
        "w[C K]",
        "v[N]",
        "x[C N]",
        "x[(N 2) C]",
        "[N C]",
        " = ",
        "y = ",
    ],
    *[
        "sum[C](",
        "max[N](",
        "argmax[N C](",
        "softmax[N](",
        "cumsum[C](",
        "sort[C](",
        "var[...](",
        "mean[",
        "sqrt(",
    ],
    *[
        "where(",
        "maximum(",
        "clip(",
        "size[N]",
        "index[C]",
        "1e9",
        "1e999",
        ".5",
        "inf",
        "nan",
        "pi",
        "\ny = ",
        ";",
    ],
    *["(1 + N)", "(N + C)", "(_ + ", "_@", "@(N + 1)", "_@(size[C]-1-C)", "@x[N C]", "@v[N]", ", ", "0, "],
    *["y[(1 + N)] = 0, y[_@N] + v[N]", "y[(N + C)] = v[N], w[C K]"],
]
LINE = [
    *FORMULA,
    *[
        " | x",
        " | x, w",
        "N C, C -> N",
        "N C -> C N",
        ", h=8",
        "x = randn(N=2)",
        "ones(",
        "arange(N=2)",
        "dtype=",
    ],
    *[":type ", ":plan ", ":code ", ":names", ":undo", ":set ", "precision 3", ":explain ", ":help ", "_"],
]


def pieces(text: str) -> list[str]:
    """Return a text as tokens, blanks among them."""
    return _TOKEN.findall(text)


def mutated(rng: random.Random, text: str, words: Sequence[str], longest: int) -> str:
    """Return a text with a few tokens taken out, doubled, exchanged, replaced or put in."""
    tokens = pieces(text)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 4))):
        _CHANGES[int(rng.random() * len(_CHANGES))](rng, tokens, words)
    return "".join(tokens)[:longest]


def _insert(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    word = rng.choice(_HOSTILE) if rng.random() < 0.05 else rng.choice(words)
    tokens.insert(rng.randrange(len(tokens) + 1), word)


def _replace(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(words)


def _reuse(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    """Put one of the text's own tokens in the place of another: labels meet again so."""
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(tokens)


def _remove(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    if tokens:
        start = rng.randrange(len(tokens))
        del tokens[start : start + rng.choice((1, 1, 2, 4))]


def _double(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    start, end = sorted((rng.randrange(len(tokens) + 1), rng.randrange(len(tokens) + 1)))
    tokens[end:end] = tokens[start:end][:12]


def _exchange(rng: random.Random, tokens: list[str], words: Sequence[str]) -> None:
    if tokens:
        one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[one], tokens[other] = tokens[other], tokens[one]


_CHANGES: tuple[Callable[[random.Random, list[str], Sequence[str]], None], ...] = (
    _insert,
    _insert,
    _replace,
    _reuse,
    _remove,
    _double,
    _exchange,
)


def split(data: bytes) -> tuple[int, str]:
    """Return the byte that chooses, and the text."""
    return data[0] if data else 0, data[1:].decode("utf-8", "surrogateescape")


def joined(choice: int, text: str) -> bytes:
    """Return the input for a choice and a text; `split` gives them back."""
    return bytes([choice]) + text.encode("utf-8", "surrogatepass")


def mutator(words: Sequence[str], longest: int) -> Callable[[bytes, random.Random], bytes]:
    """Return a function that changes an input: its choice now and then, its text by tokens."""

    def mutate(data: bytes, rng: random.Random) -> bytes:
        choice, text = split(data)
        if rng.random() < 0.2:
            choice = rng.randrange(256)
        return joined(choice, mutated(rng, text, words, longest))

    return mutate


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few of them exchanged, taken out, doubled or put in."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0:
                del changed[place : place + rng.choice((1, 1, 2, 16))]
            case 1:
                changed[place:place] = rng.randbytes(rng.choice((1, 1, 2, 4)))
            case 2:
                start = rng.randrange(len(changed) + 1)
                changed[place:place] = changed[start : start + 16]
            case 3:
                changed[place : place + 1] = bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))])
            case _:
                changed[place : place + 1] = bytes(
                    [changed[place] ^ 1 << rng.randrange(8)] if place < len(changed) else []
                )
    return bytes(changed)
