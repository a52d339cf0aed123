"""Errors in the texts of a file, as found by `nameexpr check`, and the changes that editors offer: the word
that a hint proposes, and the canonical form of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from nameexpr.errors import NameExprError, Proposal
from nameexpr.lint.findings import SYNTAX, Finding
from nameexpr.lint.modules import Modules
from nameexpr.lint.python import check_python
from nameexpr.lint.source import Source
from nameexpr.lsp.programs import TextAt, text_at
from nameexpr.records import record
from nameexpr.syntax.canonical import canonical_statements


@record
class Fix:
    """A change that an editor offers: its title, the replacements of ranges of the file, and the error that
    it fixes, if any.
    """

    title: str
    edits: tuple[tuple[int, int, str], ...]
    mends: Finding | None = None


def problems(source: str, path: str, unsaved: Mapping[str, str] | None = None) -> tuple[Finding, ...] | None:
    """Return the errors in a file, None if it is not valid Python; `unsaved` is as for `Modules`."""
    if "nameexpr" not in source:
        return ()
    checked = check_python(source, path, Modules(unsaved))
    if any(finding.code == SYNTAX for finding in checked.findings):
        return None
    return tuple(finding for finding in checked.findings if finding.path == path)


_remembered = lru_cache(maxsize=8)(problems)


def fixes(source: str, start: int, end: int, path: str) -> Iterator[Fix]:
    """Yield the changes for a range of a source: fixes of errors in it, and formatting of the text in it."""
    read = Source(source)
    for finding in _remembered(source, path) or ():
        first, last = (read.starts[line - 1] + column - 1 for line, column in finding.region)
        hint = finding.diagnostic.hint
        if isinstance(hint, Proposal) and first <= end and start <= last:
            after = problems(source[:first] + hint.word + source[last:], path)
            places = [one.region.start for one in after or ()]
            if after is not None and finding.region.start not in places:
                yield Fix(f"Write '{hint.word}'", ((first, last, hint.word),), finding)
    text = text_at(source, start, path)
    if text is not None and not text.keyword:
        edits = tuple(_formatted(text, source))
        if edits:
            yield Fix("Format the text", edits)


def _formatted(found: TextAt, source: str) -> Iterator[tuple[int, int, str]]:
    """Yield the statements of a text that are not canonical, with their canonical form; those that contain
    comments or escapes, or are split over several strings, are left unchanged.
    """
    try:
        statements = canonical_statements(found.text)
    except NameExprError:
        return
    for span, form in statements:
        written = found.text[slice(*span)]
        start, end = found.written(*span)
        if written != form and "#" not in written and source[start:end] == written:
            yield start, end, form
