"""Findings as SARIF 2.1.0, which code scanning services read (OASIS standard, sections 3.13 to 3.30)."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from nameexpr.carets import visible
from nameexpr.errors import NameExprError, family
from nameexpr.lint.findings import FILE, SYNTAX, Checked, Finding
from nameexpr.lint.formats import where
from nameexpr.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_OTHER = {FILE: "the file cannot be read", SYNTAX: "the file is no valid Python"}


def as_sarif(checked: Checked) -> str:
    """Return the findings as a SARIF log, indented."""
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
    """Return what the errors of a class are about: the sentence of its docstring."""
    said = " ".join((kind.__doc__ or kind.__name__).split())
    return said.partition(": ")[2] or said


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    message = f"{diagnostic.message}; {diagnostic.hint}" if diagnostic.hint else diagnostic.message
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
    """Return a path as a reference: relative as it is, absolute as file://.

    >>> uri("a b/ü:1.py")
    'a%20b/%C3%BC%3A1.py'
    """
    written = quote(os.fsencode(path.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return written
    return f"file://{written}" if written.startswith("/") else f"file:///{written}"
