r"""Findings as text, as JSON, as GitHub's workflow commands, and as SARIF. All text from files is escaped.

SARIF 2.1.0 is the format of code scanning services (OASIS standard, sections 3.13 to 3.30).

>>> from nameexpr.errors import Diagnostic
>>> from nameexpr.lint.findings import no_python
>>> print(as_github(no_python("a,b.py", "100%\nwrong")))
::error file=a%2Cb.py,line=1,endLine=1,col=1,endColumn=1,title=syntax::100%25%0Awrong
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from nameexpr.carets import marked_text, shortened, visible
from nameexpr.errors import family
from nameexpr.lint.findings import FILE, SYNTAX, UNREAD, Checked, Finding
from nameexpr.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEGACY = ("##[", "##\u200b[")
"""GitHub's older commands, which it recognises anywhere in a line, and the same with a zero-width space."""
_OTHER = {
    FILE: "the file cannot be read",
    SYNTAX: "the file is not valid Python",
    UNREAD: "the text is not known before the program runs",
}


def as_text(finding: Finding, *, is_short: bool = False, is_coloured: bool = False) -> str:
    """Format a finding as ``path:line:col: code message``, with the marked text and the hint below it.

    In a notebook, ``path:cell 3:line:col``.
    """
    diagnostic = finding.diagnostic
    path = on_one_line(finding.path)
    place = f"{'./' if _commands(path) else ''}{path}:{_where(finding)}".replace(*_LEGACY)
    strong, plain = ("\x1b[1m", "\x1b[0m") if is_coloured else ("", "")
    red = "\x1b[1;31m" if is_coloured else ""
    message = on_one_line(shortened(diagnostic.message)).replace(*_LEGACY)
    lines = [f"{strong}{place}:{plain} {red}{finding.code}{plain} {message}"]
    if not is_short:
        spans = [(mark.span.start, mark.span.end, mark.note) for mark in diagnostic.marks]
        quoted = marked_text(diagnostic.text, spans)
        margin = "  | " if any(map(_commands, quoted)) else "    "
        lines += [(margin + line).replace(*_LEGACY) for line in quoted]
        hint = on_one_line(shortened(diagnostic.hint or "")).replace(*_LEGACY)
        lines += [f"  help: {hint}"] if hint else []
    return "\n".join(lines)


def _commands(line: str) -> bool:
    """Return whether GitHub, which skips spaces, would run a line of a log as a command instead of showing
    it.
    """
    return line.lstrip().startswith("::")


def _where(finding: Finding) -> str:
    """Format line and column, in a notebook with the cell before them."""
    line, column = finding.region.start
    return f"cell {finding.cell}:{line}:{column}" if finding.cell else f"{line}:{column}"


def on_one_line(text: str) -> str:
    r"""Escape a text for a terminal, newlines included.

    >>> print(on_one_line("a\nb\x1b[31m"))
    a\nb\x1b[31m
    """
    return visible(text).replace("\n", "\\n")


def as_json(checked: Checked) -> str:
    """Serialise everything as one line of JSON."""
    findings = []
    for finding in checked.findings:
        diagnostic, (start, end) = finding.diagnostic, finding.region
        findings.append(
            {
                "path": finding.path,
                "cell": finding.cell or None,
                "line": start.line,
                "column": start.column,
                "end_line": end.line,
                "end_column": end.column,
                "code": finding.code,
                "message": diagnostic.message,
                "hint": diagnostic.hint,
                "text": diagnostic.text,
                "marks": [list(mark.span) for mark in diagnostic.marks],
            }
        )
    counts = {"texts": checked.texts, "files": checked.files, "unread": len(checked.unread)}
    return json.dumps({"findings": findings, **counts})


def as_github(finding: Finding) -> str:
    """Format a finding as the workflow command that annotates a file at GitHub.

    Its columns are those of a line, so that they are left out if a finding spans lines.
    """
    start, end = finding.region
    properties: dict[str, Any] = {"file": finding.path}
    if not finding.cell:
        properties |= {"line": start.line, "endLine": end.line}
        properties |= {"col": start.column, "endColumn": end.column} if start.line == end.line else {}
    properties["title"] = finding.code
    written = [
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    ]
    return f"::error {','.join(written)}::{_escaped(_message(finding))}"


def _message(finding: Finding) -> str:
    """Return message and hint, with the position before them if that is in a cell, whose lines are not those
    of the file.
    """
    hint = f"; {finding.diagnostic.hint}" if finding.diagnostic.hint else ""
    return f"{_where(finding)}: " * bool(finding.cell) + finding.diagnostic.message + hint


def _escaped(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(text)


def summary(checked: Checked) -> str:
    """Summarise what was checked and found, in a line.

    >>> summary(Checked((), 1, 2))
    '1 text in 2 files, no findings'

    Calls whose text is unknown before the program runs are counted.
    """
    count = len(checked.findings)
    findings = f"{count or 'no'} {'finding' if count == 1 else 'findings'}"
    texts = f"{checked.texts} {'text' if checked.texts == 1 else 'texts'}"
    unread = len(checked.unread)
    more = f"; {unread} {'call' if unread == 1 else 'calls'} could not be read" if unread else ""
    return f"{texts} in {checked.files} {'file' if checked.files == 1 else 'files'}, {findings}{more}"


def as_sarif(checked: Checked) -> str:
    """Serialise the findings as a SARIF log, indented."""
    codes = sorted({finding.code for finding in checked.findings})
    driver = {"name": "nameexpr", "version": __version__, "rules": [_rule(code) for code in codes]}
    results = [_result(finding, codes.index(finding.code)) for finding in checked.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, Any]:
    if code in _OTHER:
        return {"id": code, "shortDescription": {"text": _OTHER[code]}}
    kind = family(code)
    about = " ".join((kind.__doc__ or kind.__name__).split())  # its topic follows a colon
    return {
        "id": code,
        "name": kind.__name__,
        "shortDescription": {"text": about.partition(": ")[2] or about},
        "help": {"text": f"`nameexpr explain {code}` explains more."},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(finding.path)}}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.cell:
        location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "cell"}]
    else:
        (line, column), (end_line, end_column) = finding.region
        physical["region"] = {
            "startLine": line,
            "startColumn": column,
            "endLine": end_line,
            "endColumn": end_column,
        }
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": visible(_message(finding))},
        "locations": [location],
    }


def uri(path: str) -> str:
    """Convert a path to a URI reference: a relative one remains relative, an absolute one begins with
    file://.

    >>> uri("a b/ü:1.py")
    'a%20b/%C3%BC%3A1.py'
    """
    written = quote(os.fsencode(path.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return written
    return f"file://{written}" if written.startswith("/") else f"file:///{written}"
