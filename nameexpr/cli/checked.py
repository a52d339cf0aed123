"""Findings of `nameexpr check` to standard output, and a line about them to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from nameexpr.lint.findings import Checked
from nameexpr.lint.formats import as_github, as_json, as_text, summary
from nameexpr.lint.sarif import as_sarif
from nameexpr.terminal import screen


def show(checked: Checked, form: str, color: str, *, is_short: bool = False) -> None:
    """Write the findings in a format. Those who read JSON find the summary in it."""
    is_coloured = screen.is_colour_wanted(color, sys.stdout)
    for line in _written(checked, form, is_short=is_short, is_coloured=is_coloured):
        screen.say(line)
    if form != "json":
        screen.complain(summary(checked), color="never")


def _written(checked: Checked, form: str, *, is_short: bool, is_coloured: bool) -> Iterator[str]:
    if form == "json":
        yield as_json(checked)
    elif form == "sarif":
        yield as_sarif(checked)
    elif form == "github":
        yield from map(as_github, checked.findings)
    else:
        for finding in checked.findings:
            yield as_text(finding, is_short=is_short, is_coloured=is_coloured)
