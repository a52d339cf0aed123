"""`nameexpr fmt`: the canonical form of expressions and formulas, with their comments. No NumPy is loaded."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.carets import visible
from nameexpr.syntax.lexer.tokens import kind_of
from nameexpr.terminal.faults import FileError, UsageError

if TYPE_CHECKING:
    from nameexpr.errors import Span

STANDARD = "-"
_COMMENT = re.compile(r"#[^\n]*")
EXAMPLES = """\
examples:
  nameexpr fmt 'N  (C H=2),C->N H : sum'
  nameexpr fmt 'y[N]=sum[C]((x[N C])*(w[C]))' 'a b->b a'
  nameexpr fmt < formula.txt                     standard input is one text of any number of lines
  nameexpr fmt --check - < formula.txt           prints nothing, exit code 1 if it is not canonical

one space between items, none inside brackets, no bracket that does nothing, one statement a line.
comments are kept: those behind a statement behind it, all others on lines above it. Empty lines go.

exit codes: 0 fine, 1 a text is wrong or, with --check, not canonical; 2 the arguments are wrong,
130 interrupted. what comes after -- is no option."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add TEXTs and `--check`."""
    what = "an expression or a formula; - or nothing reads one from standard input"
    parser.add_argument("texts", metavar="TEXT", nargs="*", help=what)
    check = "print nothing, and exit with 1 if a text is not in canonical form"
    parser.add_argument("--check", action="store_true", help=check)


def run(options: Namespace) -> int:
    """Print the canonical form of every text, or check for it."""
    from nameexpr.terminal.screen import Report, tell

    arguments = options.texts or [STANDARD]
    if arguments.count(STANDARD) > 1:
        hint = "give the other texts as arguments"
        raise UsageError("standard input can be read only once", hint, usage=options.usage)
    texts = [_read() if argument == STANDARD else argument for argument in arguments]
    forms = [canonical(text) for text in texts]
    if options.json or not options.check:
        data = [
            {"text": form, "kind": kind_of(text), "is_canonical": text == form}
            for text, form in zip(texts, forms, strict=True)
        ]
        tell(Report("\n".join(forms), {"texts": data}), options)
    return int(options.check and texts != forms)


def _read() -> str:
    """Read standard input, without its final line break."""
    if sys.stdin is None:
        raise FileError("standard input is closed", "give a text")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError:
        raise FileError("standard input is no text", "expressions and formulas are UTF-8") from None


def canonical(text: str) -> str:
    r"""Format an expression or a formula canonically, one statement a line, keeping its comments.

    A comment that ends the line of a statement stays there; any other has a line of its own, above the
    statement that it stands before or in.

    >>> print(canonical("y=x[ N ]*2 # twice\n  # the sum\nsum[N]( y )"))
    y = x[N] * 2  # twice
    # the sum
    sum[N](y)
    """
    statements = _statements(text)
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
    """Find the statement that a comment belongs to, and whether it stands behind or above it."""
    latest = bisect_right(spans, start, key=lambda span: span.start) - 1
    if latest >= 0 and start < spans[latest].end:
        return latest, False
    if latest >= 0 and "\n" not in text[spans[latest].end : start]:
        return latest, True
    return latest + 1, False


def _statements(text: str) -> list[tuple[Span, str]]:
    """Return where each statement stands, and its canonical form; an expression is one."""
    if kind_of(text) == "formula":
        from nameexpr.syntax.parser.formula import parse_formula
        from nameexpr.syntax.unparse import unparse_statement

        return [(one.span, unparse_statement(one)) for one in parse_formula(text).statements]
    from nameexpr.errors import Span
    from nameexpr.syntax.parser.expression import parse
    from nameexpr.syntax.unparse import unparse

    blank = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    start = len(blank) - len(blank.lstrip())
    return [(Span(start, len(blank.rstrip())), unparse(parse(text)))]
