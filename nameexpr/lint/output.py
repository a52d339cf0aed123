"""Findings to standard output, and a line about them to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

from nameexpr.lint.findings import Checked
from nameexpr.lint.formats import as_github, as_json, as_text, summary
from nameexpr.lint.sarif import as_sarif


def show(checked: Checked, form: str, color: str, *, is_short: bool = False) -> None:
    """Write the findings in a format. Those who read JSON find the summary in it."""
    for line in _written(checked, form, is_short=is_short, is_coloured=_is_coloured(color)):
        _write(sys.stdout, line)
    if form != "json":
        with suppress(OSError, ValueError):  # the exit code says the same
            _write(sys.stderr, summary(checked))


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


def _is_coloured(choice: str) -> bool:
    """Whether to colour standard output, as `nameexpr.cli.screen` decides it for every command."""
    if choice != "auto" or os.environ.get("NO_COLOR"):
        return choice == "always"
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def _write(stream: TextIO | None, text: str) -> None:
    """Write a text and a newline; what the encoding lacks is written as escapes."""
    if stream is None:  # closed before Python started
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
