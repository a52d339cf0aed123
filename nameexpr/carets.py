r"""Caret rendering: source text with marks below it, and the other text layout that diagnostics need.

This module does not depend on the language. All user text is escaped before it is shown: control characters,
escape sequences, direction overrides and lone surrogates appear as backslash escapes, and carets stay below
their characters, including wide ones.

>>> print("\n".join(marked_text("a b, b c", [(2, 3, "3"), (5, 6, "4")])))
a b, b c
  ^  ^
  3  4
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LINE_LIMIT = 160
CONTEXT = 60
NARROWEST = 16
"""The least number of columns for text, even in a narrower terminal."""
MARK_LIMIT = 24
WORD_LIMIT = 120
TEXT_LIMIT = 1500
_LONG_WORD = re.compile(r"([^\s'\"=,]{60})[^\s'\"=,]{60,}")


def visible(text: str) -> str:
    """Return the text with unprintable characters escaped, so that it cannot control a terminal."""
    if text.isascii() and text.isprintable():
        return text
    characters = (" " if character == "\t" else character for character in text)
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in characters
    )


def shortened(text: str) -> str:
    """Return the text with every word of 120 characters and more truncated, and then the whole text."""
    if len(text) <= WORD_LIMIT:
        return text
    short = _LONG_WORD.sub(r"\1…", text)
    return short if len(short) <= TEXT_LIMIT else f"{short[:TEXT_LIMIT]}…"


def width(text: str) -> int:
    """Return the number of terminal columns that printable text takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # imported here: it is slow to import, and rarely needed

    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def line_limit(columns: int | None) -> int:
    """Return the longest line of source for a terminal of this many columns, None for any length."""
    return LINE_LIMIT if columns is None else max(NARROWEST, min(LINE_LIMIT, columns - len("  ……")))


def marked_text(
    text: str,
    marks: Sequence[tuple[int, int, str]],
    *,
    is_whole: bool = False,
    strong: Callable[[str], str] = str,
    limit: int = LINE_LIMIT,
) -> list[str]:
    """Return the lines of `text` that contain a mark `(start, end, note)`, each followed by its carets, which
    `strong` highlights, and notes.

    A text on one line is shown even without a mark, and one of several lines if `is_whole`; a line of more
    than `limit` characters is cut to the surroundings of its first mark.
    """
    lines: list[str] = []
    ordered = sorted(marks)[:MARK_LIMIT]
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        inside = [
            (max(first, start) - start, min(last, end) - start, note)
            for first, last, note in ordered
            if start <= first <= end
        ]
        if inside or (line and (is_whole or (not ordered and "\n" not in text))):
            lines += _marked_line(line, inside, strong, limit)
        start = end + 1
    return lines


def _marked_line(
    line: str, marks: Sequence[tuple[int, int, str]], strong: Callable[[str], str], limit: int
) -> list[str]:
    line, marks = _window(line, marks, limit)
    columns = [
        (width(visible(line[:first])), max(1, width(visible(line[first:last]))), note)
        for first, last, note in marks
    ]
    carets = ""
    for column, length, _ in columns:
        carets = carets.ljust(column) + "^" * (column + length - max(column, len(carets)))
    notes = _note_rows([(column, visible(shortened(note))) for column, _, note in columns if note])
    return [visible(line), *([strong(carets)] if carets else []), *notes]


def _window(
    line: str, marks: Sequence[tuple[int, int, str]], limit: int
) -> tuple[str, Sequence[tuple[int, int, str]]]:
    """Cut a long line to the surroundings of its first mark, and shift the remaining marks."""
    if len(line) <= limit:
        return line, marks
    start = max(0, marks[0][0] - min(CONTEXT, 3 * limit // 8)) if marks else 0
    end = min(len(line), start + limit)
    head = "…" if start else ""
    tail = "…" if end < len(line) else ""
    shift = start - len(head)
    kept = [
        (first - shift, min(last, end) - shift, note) for first, last, note in marks if start <= first < end
    ]
    return head + line[start:end] + tail, kept


def _note_rows(notes: Sequence[tuple[int, str]]) -> list[str]:
    """Lay notes out below their columns, on as many rows as are needed to separate them."""
    rows: list[str] = []
    for column, note in notes:
        for position, row in enumerate(rows):
            if width(row) < column or not row:
                rows[position] = row + " " * (column - width(row)) + note
                break
        else:
            rows.append(" " * column + note)
    return rows


def wrapped(text: str, limit: int | None, indent: int = 0) -> str:
    r"""Return text broken at spaces into lines of at most `limit` columns, all but the first indented.

    >>> wrapped("  help: there are x, w", 18, 8)
    '  help: there are\n        x, w'
    """
    if limit is None or width(text) <= limit:
        return text
    from textwrap import TextWrapper  # imported here, as it is for terminals only

    wrapper = TextWrapper(
        max(NARROWEST, limit),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(part for line in text.split("\n") for part in wrapper.wrap(line))


def cut(text: str, limit: int) -> str:
    """Return printable text cut to a number of terminal columns, the last of which is then an ellipsis.

    >>> cut("sum[C](x * w)", 8), cut("x * w", 8)
    ('sum[C](…', 'x * w')
    """
    if width(text) <= limit:
        return text
    while text and width(text) >= limit:
        text = text[: limit - 1] if len(text) >= limit else text[:-1]
    return text + "…"


def aligned_columns(rows: Sequence[Sequence[str]], limit: int | None = None) -> list[str]:
    """Return the rows as lines whose cells start in the same column, one space apart.

    With a `limit`, lines have at most that number of terminal columns: the widest cells are cut. Spaces at
    the end of a cell are kept.

    >>> aligned_columns([["1", "dot", "i j, j k -> i k"], ["2", "transpose", "i k"]], 22)
    ['1 dot       i j, j k …', '2 transpose i k']
    """
    widths: dict[int, int] = {}
    for row in rows:
        for position, cell in enumerate(row):
            widths[position] = max(widths.get(position, 0), width(cell))
    if limit is not None:
        widths = _narrowed(widths, limit - len(widths) + 1)
    fitting = ([_cell(cell, widths[position]) for position, cell in enumerate(row)] for row in rows)
    return [" ".join(cells).rstrip() for cells in fitting]


def _narrowed(widths: dict[int, int], available: int) -> dict[int, int]:
    """Return the widths of columns, the widest narrowed equally until their sum is at most `available`."""
    most = max(widths.values(), default=0)
    while most > 1 and sum(min(columns, most) for columns in widths.values()) > available:
        most -= 1
    return {position: min(columns, most) for position, columns in widths.items()}


def _cell(text: str, columns: int) -> str:
    if width(text) > columns:
        stem = text.rstrip()
        gap = text[len(stem) :]
        text = cut(stem, max(1, columns - len(gap))) + gap
    return text + " " * (columns - width(text))
