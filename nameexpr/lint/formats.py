r"""Findings as text, as JSON, as GitHub's workflow commands, and as SARIF. Whatever stood in a file is made
harmless.

SARIF 2.1.0 is what code scanning services read (OASIS standard, sections 3.13 to 3.30).

>>> from nameexpr.errors import Diagnostic
>>> from nameexpr.lint.findings import no_python
>>> print(as_github(no_python("a,b.py", "100%\nwrong")))
::error file=a%2Cb.py,line=1,endLine=1,col=1,endColumn=1,title=syntax::100%25%0Awrong
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from nameexpr.carets import marked_text, shortened, visible
from nameexpr.errors import NameExprError, family
from nameexpr.lint.findings import FILE, SYNTAX, Checked, Finding
from nameexpr.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEGACY = ("##[", "##\u200b[")
"""GitHub's older commands, which it finds anywhere in a line, and the same with a space of no width."""
_OTHER = {FILE: "the file cannot be read", SYNTAX: "the file is no valid Python"}


def as_text(finding: Finding, *, is_short: bool = False, is_coloured: bool = False) -> str:
    """Format a finding as ``path:line:col: code message``, with the marked text and the hint below it.

    In a notebook, ``path:cell 3:line:col``.
    """
    diagnostic = finding.diagnostic
    path = on_one_line(finding.path)
    place = f"{'./' if _commands(path) else ''}{path}:{where(finding)}".replace(*_LEGACY)
    strong, plain = ("\x1b[1m", "\x1b[0m") if is_coloured else ("", "")
    red = "\x1b[1;31m" if is_coloured else ""
    message = on_one_line(shortened(diagnostic.message)).replace(*_LEGACY)
    lines = [f"{strong}{place}:{plain} {red}{finding.code}{plain} {message}"]
    if not is_short:
        spans = [(mark.span.start, mark.span.end, mark.note) for mark in diagnostic.marks]
        lines += _quoted(marked_text(diagnostic.text, spans))
        hint = on_one_line(shortened(diagnostic.hint or "")).replace(*_LEGACY)
        lines += [f"  help: {hint}"] if diagnostic.hint else []
    return "\n".join(lines)


def _commands(line: str) -> bool:
    """Whether GitHub, which skips blanks, would run a line of a log as a command."""
    return line.lstrip().startswith("::")


def _quoted(lines: Sequence[str]) -> list[str]:
    """Quote lines of a checked text, so that GitHub's log shows them and runs none."""
    margin = "  | " if any(map(_commands, lines)) else "    "
    return [(margin + line).replace(*_LEGACY) for line in lines]


def where(finding: Finding) -> str:
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
    findings = [_data(finding) for finding in checked.findings]
    return json.dumps({"findings": findings, "texts": checked.texts, "files": checked.files})


def _data(finding: Finding) -> dict[str, Any]:
    (line, column), (end_line, end_column) = finding.region
    diagnostic = finding.diagnostic
    return {
        "path": finding.path,
        "cell": finding.cell or None,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "code": finding.code,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "text": diagnostic.text,
        "marks": [list(mark.span) for mark in diagnostic.marks],
    }


def as_github(finding: Finding) -> str:
    """Format a finding as the workflow command that annotates a file at GitHub.

    Its columns are those of a line, so they are left out where a finding spans lines. The lines of a cell are
    none of the notebook's file: there the place stands in the message.
    """
    (line, column), (end_line, end_column) = finding.region
    properties: dict[str, Any] = {"file": finding.path}
    message = _said(finding)
    if finding.cell:
        message = f"{where(finding)}: {message}"
    else:
        properties |= {"line": line, "endLine": end_line}
        properties |= {"col": column, "endColumn": end_column} if line == end_line else {}
    properties["title"] = finding.code
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::error {written}::{_escaped(message)}"


def _said(finding: Finding) -> str:
    diagnostic = finding.diagnostic
    return f"{diagnostic.message}; {diagnostic.hint}" if diagnostic.hint else diagnostic.message


def _escaped(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(text)


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def summary(checked: Checked) -> str:
    """Summarise what was checked and found, in a line.

    >>> summary(Checked((), 1, 2))
    '1 text in 2 files, no findings'
    """
    count = len(checked.findings)
    findings = f"{count or 'no'} {'finding' if count == 1 else 'findings'}"
    texts = f"{checked.texts} {'text' if checked.texts == 1 else 'texts'}"
    return f"{texts} in {checked.files} {'file' if checked.files == 1 else 'files'}, {findings}"


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
    return {
        "id": code,
        "name": kind.__name__,
        "shortDescription": {"text": _about(kind)},
        "help": {"text": f"`nameexpr explain {code}` says more."},
    }


def _about(kind: type[NameExprError]) -> str:
    """Return the topic of a class of errors, from its docstring."""
    about = " ".join((kind.__doc__ or kind.__name__).split())
    return about.partition(": ")[2] or about


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    message = _said(finding)
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(finding.path)}}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.cell:  # its lines are none of the file's
        location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "cell"}]
        message = f"{where(finding)}: {message}"
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
        "message": {"text": visible(message)},
        "locations": [location],
    }


def uri(path: str) -> str:
    """Convert a path to a URI reference: a relative one stays relative, an absolute one begins with
    file://.

    >>> uri("a b/ü:1.py")
    'a%20b/%C3%BC%3A1.py'
    """
    written = quote(os.fsencode(path.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return written
    return f"file://{written}" if written.startswith("/") else f"file:///{written}"
