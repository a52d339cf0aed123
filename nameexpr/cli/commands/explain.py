"""`nameexpr explain`: the page about an error code, or signature, plan and code of an expression."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.terminal.arguments import add_options
from nameexpr.terminal.faults import FileError, UsageError

if TYPE_CHECKING:
    from nameexpr.terminal.screen import Report

EXAMPLES = """\
examples:
  nameexpr explain NE304
  nameexpr explain 304 ne217                     several pages
  nameexpr explain NE3                           all codes of a family, a line each
  nameexpr explain                               all codes
  nameexpr explain 'batch chan, chan out -> batch out' 32,64 64,10
  nameexpr explain 'y[N] = sum[C](x[N C] * w[C])' x=32,3 w=3

The page about a code has an example and its message. Of an expression or a formula, the signature, the
plan and the NumPy code are shown; shapes are given as for plan.

exit codes: 0 success, 1 the expression or the data is wrong, 2 the arguments are wrong, or there is no
such code, 130 interrupted."""
_WORD = re.compile(r"\w+")


def add_arguments(parser: ArgumentParser) -> None:
    """Add CODEs, or EXPR and SHAPEs, and options."""
    help_ = "error codes such as NE304, or an expression or formula"
    parser.add_argument("words", metavar="CODE", nargs="*", help=help_)
    add_options(parser)


def run(options: Namespace) -> Report:
    """Return pages about codes, or the plan and code of a text."""
    # A single word is not an expression to plan: it has no arrow.
    if all(_WORD.fullmatch(word) for word in options.words[:1]):
        return _pages(options.words)
    from nameexpr.cli.computing import plan
    from nameexpr.terminal.screen import Report, of_plan

    options.expression, *options.operands = options.words
    planned = plan(options)
    text = f"{planned}\n\n{planned.code.rstrip()}"
    return Report(text, {**of_plan(planned).data, "code": planned.code})


def _pages(words: Sequence[str]) -> Report:
    from nameexpr.terminal import pages
    from nameexpr.terminal.screen import Report

    if not pages.codes():
        raise FileError("the pages about errors are not installed", "reinstall nameexpr")
    texts: list[str] = []
    data = []
    try:
        for word in words or ("NE",):
            start = pages.as_family(word) if words else word
            if start is None:
                texts.append(pages.page(word))
                data.append(pages.page_data(word))
            else:
                texts.append(pages.listing(start))
                data += [{"code": code, "meaning": pages.summary(code)} for code in pages.codes(start)]
    except pages.NoPageError as fault:
        hint = f"{fault.hint} Families: {pages.families()}".strip()
        raise UsageError(fault.message, hint) from None
    return Report("\n\n\n".join(texts), {"pages": data})
