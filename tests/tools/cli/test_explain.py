"""`nameexpr explain` and the pages it reads: every code has one, in plain text."""

from __future__ import annotations

import re

import pytest

import nameexpr as ne
from nameexpr.cli.main import main
from nameexpr.terminal import pages
from pages import documents
from tools.cli.helpers import answer, fails, folder  # noqa: F401  every test runs in it

CODES = re.findall(r"^### (NE\d{3})$", documents.read("docs/errors.md"), flags=re.MULTILINE)


def test_every_code_has_a_page() -> None:
    assert list(pages.codes()) == CODES and len(CODES) > 150


@pytest.mark.parametrize("code", CODES)
def test_a_page_is_plain_and_has_all_that_the_document_says(code: str) -> None:
    text = pages.page(code)
    source = documents.read("docs/errors.md").partition(f"### {code}\n")[2]
    source = re.split(r"^##", source, flags=re.MULTILINE)[0]
    first, *lines = text.split("\n")
    assert first.startswith(f"{code} (")
    assert "```" not in text and not text.endswith("\n")
    blocks = documents.fences(source)
    shown = [line[4:] for line in lines if line.startswith("    ")]
    assert [line for line in shown if line] == [
        line.rstrip() for block in blocks for line in block.body.split("\n") if line.strip()
    ]
    prose = re.sub(r"```.*?```", "", source, flags=re.DOTALL).split()
    assert " ".join(prose) in " ".join(" ".join(lines).split())
    assert all(len(line) <= 88 for line in lines if not line.startswith("    "))
    assert pages.summary(code) and pages.summary(code) in " ".join(prose)


@pytest.mark.parametrize("word", ["NE304", "ne304", "304", " NE304 "])
def test_a_code_may_be_written_in_several_ways(word: str) -> None:
    assert pages.page(word) == pages.page("NE304")


def test_pages_are_printed_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "304", "ne217"]) == 0
    assert capsys.readouterr().out == f"{pages.page('NE304')}\n\n\n{pages.page('NE217')}\n"


def test_shorthand_is_explained_where_it_is_used() -> None:
    assert pages.page("NE801").endswith(pages.NOTE)
    assert pages.NOTE not in pages.page("NE304")


def test_families_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^  (NE\d{3})  \S", said, flags=re.MULTILINE) == CODES
    assert re.findall(r"^NE\dxx", said, flags=re.MULTILINE) == [f"NE{n}xx" for n in range(1, 9)]
    for word in ("NE8", "ne8xx", "8"):
        assert main(["explain", word]) == 0
        assert capsys.readouterr().out == pages.listing("NE8") + "\n"


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("NE303", "NE302"),
        ("NE999", "NE805"),
        ("NE3O4", "NE304"),
        ("9", ""),
        ("banana", ""),
        ("３０４", ""),
        ("a -> a", ""),
    ],
)
def test_an_unknown_code_gets_the_nearest_and_the_families(
    word: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fails(capsys, "explain", "NE304", word, code=2)
    assert f"there is no error code '{word}'" in said
    assert f"did you mean '{near}" in said if near else "did you mean" not in said
    assert "NE1xx parsing" in said and "NE8xx positions" in said


def test_a_page_as_data_has_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = answer(capsys, "explain", "304")["pages"]
    assert found["code"] == "NE304" and found["class"] == "SizeError" and found["about"] == "sizes"
    assert found["meaning"].startswith("A label has two different sizes. It must ")
    assert found["example"].startswith("ne.einsum(") and found["output"].startswith("SizeError[NE304]")
    assert found["text"] == pages.page("304")
    listed = answer(capsys, "explain")["pages"]
    assert [one["code"] for one in listed] == CODES


def test_an_expression_is_explained_as_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "i j, j k -> i k", "2,3", "3,4"]) == 0
    assert capsys.readouterr().out == ne.explain("i j, j k -> i k", (2, 3), (3, 4)).rstrip() + "\n"
    assert main(["explain", "y = sum[C](x[N C])", "x=2,3"]) == 0
    assert capsys.readouterr().out == ne.explain("y = sum[C](x[N C])", x=(2, 3)).rstrip() + "\n"
    found = answer(capsys, "explain", "i (j k) -> i j k", "2,6", "--size", "j=2")
    assert "def compute" in found["code"] and found["shape"] == [2, 2, 3]
    assert "NE304" in fails(capsys, "explain", "i j, j k -> i k", "2,3", "4,5")


def test_a_missing_page_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages._sections.cache_clear()
    monkeypatch.setattr(pages, "_PACKAGED", "nowhere")
    monkeypatch.setattr(pages, "_CHECKOUT", "nowhere")
    assert "not installed" in fails(capsys, "explain", "NE304", code=1)
    pages._sections.cache_clear()
