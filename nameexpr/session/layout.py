r"""Prose that fits a terminal: paragraphs and explanations, wrapped at a number of columns.

None means no limit, as for scripts and pipes, whose output must not depend on a terminal.

>>> print("\n".join(columns([("x * 2", "the elementwise product of both"), ("x", "x")], 30)))
x * 2  the elementwise product
       of both
x      x
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.carets import cut, width, wrapped


def columns(rows: Sequence[tuple[str, str] | list[str]], limit: int | None) -> list[str]:
    """Return pairs of a word and its explanation as two columns; explanations are wrapped.

    A word that is wider than half of a line gets a separate line.
    """
    most = max((width(word) for word, _ in rows), default=0)
    head = most if limit is None else min(most, max(1, (limit - 2) // 2))
    lines: list[str] = []
    for word, about in rows:
        parts = filled(about, None if limit is None else limit - head - 2)
        if width(word) > head:
            lines.append(word if limit is None else cut(word, limit))
            word = ""
        lines += _beside(word, parts, head)
    return lines


def _beside(word: str, parts: Sequence[str], head: int) -> list[str]:
    """Return a word in a column of `head` characters, and the lines of its explanation to the right."""
    words = [word, *[""] * max(0, len(parts) - 1)]
    return [
        f"{one}{' ' * (head - width(one))}  {part}".rstrip()
        for one, part in zip(words, parts or [""], strict=True)
    ]


def filled(text: str, limit: int | None, indent: str = "") -> list[str]:
    """Return a paragraph as indented lines, wrapped at `limit` columns."""
    words = " ".join(text.split())
    return wrapped(indent + words, limit, len(indent)).split("\n") if words else []
