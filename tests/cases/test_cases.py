"""The words of the errors of expressions and formulas, from tests/cases/{expressions,formulas}_*.txt: no
mistake without a case.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nameexpr
from cases.case_files import Case, fault_of, read_cases
from nameexpr.errors import family

PACKAGE = Path(nameexpr.__file__).parent
FOLDERS = ("syntax", "compiler", "runtime", "backends")
KINDS = {kind: read_cases(kind) for kind in ("expressions", "formulas")}
CASES = [case for cases in KINDS.values() for case in cases]
IDS = [f"{kind}: {case.title}" for kind, cases in KINDS.items() for case in cases]
FALLBACK = {"NE120"}  # for a token that no explanation fits: none is known
OF_LIBRARIES = {
    "NE507",
    "NE508",
    "NE509",
    "NE510",
    "NE511",
    "NE512",
    "NE529",
    "NE616",
    "NE678",
    "NE689",
    "NE690",
}
"""Those of arrays of other libraries, in tests/libraries."""
WHOLE_TEXT = {
    "NE140",
    "NE215",
    "NE312",
}  # what is missing, or wrong beside the text, has no place in it


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_error_is_worded_as_written(case: Case) -> None:
    assert str(fault_of(case.source)) == case.expected


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_error_is_of_its_family_and_its_spans_lie_in_its_text(case: Case) -> None:
    fault = fault_of(case.source)
    assert type(fault) is family(fault.code)
    for diagnostic in fault.diagnostics:
        for mark in diagnostic.marks:
            assert 0 <= mark.span.start <= mark.span.end <= len(diagnostic.text)


@pytest.mark.parametrize(("kind", "least"), [("expressions", 75), ("formulas", 150)])
def test_titles_and_sources_are_unique_and_there_are_many(kind: str, least: int) -> None:
    cases = KINDS[kind]
    assert len({case.title for case in cases}) == len({case.source for case in cases}) == len(cases) >= least


def test_every_code_has_a_case() -> None:
    sources = [
        path.read_text(encoding="utf-8") for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py")
    ]
    codes = {code for source in sources for code in re.findall(r'"(NE\d{3})"', source)}
    shown = {
        code for case in CASES for code in re.findall(r"^\w+\[(NE\d{3})\]:", case.expected, re.MULTILINE)
    }
    assert codes - shown == FALLBACK | OF_LIBRARIES
    assert len(codes) >= 75


def test_every_message_is_one_line_without_a_full_stop() -> None:
    for case in CASES:
        for diagnostic in fault_of(case.source).diagnostics:
            assert "\n" not in diagnostic.message + diagnostic.hint
            assert not diagnostic.message.endswith(".") or diagnostic.message.endswith("...")


def test_no_two_mistakes_are_told_in_the_same_words() -> None:
    for case in CASES:
        told = [(one.code, one.message, one.marks) for one in fault_of(case.source).diagnostics]
        assert len(set(told)) == len(told), case.title


def test_what_is_wrong_with_a_text_is_marked_in_it() -> None:
    for case in CASES:
        fault = fault_of(case.source)
        if fault.code.startswith(("NE1", "NE2", "NE3")) and fault.diagnostics[0].text:
            assert fault.spans or fault.code in WHOLE_TEXT, case.title
