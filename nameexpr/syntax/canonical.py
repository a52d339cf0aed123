"""The canonical form of a text with its comments: the output of `nameexpr fmt` and of editors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from nameexpr.carets import visible
from nameexpr.errors import Span
from nameexpr.syntax.lexer.tokens import kind_of

_COMMENT = re.compile(r"#[^\n]*")


def canonical(text: str) -> str:
    r"""Format an expression or a formula canonically, one statement a line, keeping its comments.

    A comment that ends the line of a statement stays there; any other gets its own line, above the statement
    that follows or contains it.

    >>> print(canonical("y=x[ N ]*2 # twice\n  # the sum\nsum[N]( y )"))
    y = x[N] * 2  # twice
    # the sum
    sum[N](y)
    """
    statements = canonical_statements(text)
    above: list[list[str]] = [[] for _ in range(len(statements) + 1)]
    lines, spans = [line for _, line in statements], [span for span, _ in statements]
    for comment in _COMMENT.finditer(text):
        place, is_behind = _place(text, comment.start(), spans)
        note = visible(comment[0].rstrip())
        if is_behind:
            lines[place] += f"  {note}"
        else:
            above[place].append(note)
    parted = [[*notes, line] for notes, line in zip(above, lines, strict=False)]
    return "\n".join(line for part in (*parted, above[-1]) for line in part)


def _place(text: str, start: int, spans: Sequence[Span]) -> tuple[int, bool]:
    """Return the statement that a comment belongs to, and whether the comment is after it rather
    than above.
    """
    latest = bisect_right(spans, start, key=lambda span: span.start) - 1
    if latest >= 0 and start < spans[latest].end:
        return latest, False
    if latest >= 0 and "\n" not in text[spans[latest].end : start]:
        return latest, True
    return latest + 1, False


def canonical_statements(text: str) -> list[tuple[Span, str]]:
    """Return the span of each statement, and its canonical form; an expression is one statement."""
    if kind_of(text) == "formula":
        from nameexpr.syntax.parser.formula import parse_formula
        from nameexpr.syntax.unparse import unparse_statement

        return [(one.span, unparse_statement(one)) for one in parse_formula(text).statements]
    from nameexpr.syntax.parser.expression import parse
    from nameexpr.syntax.unparse import unparse

    blank = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    start = len(blank) - len(blank.lstrip())
    return [(Span(start, len(blank.rstrip())), unparse(parse(text)))]
