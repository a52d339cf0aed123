"""`nameexpr fmt`: the canonical form of expressions and formulas, with their comments. No NumPy is loaded."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from nameexpr.syntax.canonical import canonical
from nameexpr.syntax.lexer.tokens import kind_of
from nameexpr.terminal.faults import FileError, UsageError

STANDARD = "-"
EXAMPLES = """\
examples:
  nameexpr fmt 'N  (C H=2),C->N H : sum'
  nameexpr fmt 'y[N]=sum[C]((x[N C])*(w[C]))' 'a b->b a'
  nameexpr fmt < formula.txt                     standard input is one text of any number of lines
  nameexpr fmt --check - < formula.txt           prints nothing, exit code 1 if it is not canonical

The canonical form has one space between items, none inside brackets, no redundant brackets, and one
statement per line. Comments stay with their statement. Empty lines are removed.

exit codes: 0 success, 1 a text is wrong or, with --check, not canonical, 2 the arguments are wrong,
130 interrupted. Arguments after -- are not options."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add TEXTs and `--check`."""
    what = "an expression or a formula; without one, or with -, standard input is read"
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
        raise FileError("standard input is not text", "expressions and formulas are UTF-8") from None
