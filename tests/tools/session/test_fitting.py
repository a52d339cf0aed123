"""What a session prints fits the terminal, and is whole in scripts and pipes."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.carets import aligned_columns, cut, width
from nameexpr.session.commands import new_session
from nameexpr.session.layout import columns, filled
from nameexpr.session.session import Session
from tools.session.helpers import said

FORMULA = "a = log_softmax[Channel](photos * 2.0) + 1; a * a + exp(a) - logsumexp[Channel](a)"
TABLES = (
    ":names",
    ":set",
    ":help",
    ":explain python",
    ":help NE304",
    f":plan {FORMULA}",
    ":plan",
    ":draw",
    ":set",
)


def wide_session(columns: int | None) -> Session:
    session = new_session()
    session.width = lambda: columns
    for line in ("photos = arange(Batch=2, Height=3, Width=4, Channel=5)", FORMULA):
        assert not session.run(line).is_fault
    return session


@pytest.mark.parametrize("columns", [40, 60, 80, 110, 200])
@pytest.mark.parametrize("line", TABLES)
def test_no_line_of_a_table_is_wider_than_the_terminal(columns: int, line: str) -> None:
    text = said(wide_session(columns), line)
    too_wide = [one for one in text.split("\n") if width(one) > columns and not one.startswith("    ")]
    assert text and not too_wide  # lines of code on a page are not wrapped


MISTAKES = {
    f"{FORMULA} + phtos": "phtos",
    "Batch Height Width Channel -> Batch Height Width Channel Colour | photos": "Colour",
    f"sum[Nothing](photos) * ({FORMULA.rpartition('; ')[2]})": "Nothing",
    "y = zeros(Batch=2, Height=3, Width=4, Channel)": "",
    ":load photos[Batch Height Width Channel] a/very/long/path/to/a/file/that/is/not/there.npy": "",
    ":set optimise greedy": "",
}


@pytest.mark.parametrize("columns", [60, 80, 110])
@pytest.mark.parametrize(("line", "marked"), MISTAKES.items())
def test_the_lines_of_an_error_fit_and_its_carets_mark_the_same_words(
    columns: int, line: str, marked: str
) -> None:
    lines = said(wide_session(columns), line).split("\n")
    assert max(map(width, lines)) <= columns
    source = next((at for at, one in enumerate(lines) if set(one) == {" ", "^"}), None)
    if marked:
        assert source is not None
        start = lines[source].index("^")
        assert lines[source - 1][start:].startswith(marked)
    whole = said(wide_session(None), line)
    assert "".join(lines[0].split()) in "".join(whole.split())


def test_an_error_in_a_script_is_not_wrapped(session: Session) -> None:
    long = "q" + " * x" * 60
    assert said(session, long).split("\n")[0] == "there is no tensor 'q'"
    assert any(len(line) > 150 and "…" in line for line in said(session, long).split("\n"))


@pytest.mark.parametrize("line", [":names", ":set", f":plan {FORMULA}", ":draw"])
def test_a_table_that_fits_is_whole(line: str) -> None:
    assert said(wide_session(500), line) == said(wide_session(None), line)


def test_each_statement_of_a_plan_is_cut_by_itself() -> None:
    head = said(wide_session(30), f":plan {FORMULA}").split("\n")[:2]
    assert [line[:4] for line in head] == ["a = ", "a * "]
    assert all("…" in line and len(line) <= 30 for line in head)


def test_a_plan_keeps_its_short_columns() -> None:
    plan = ne.compile("batch in, in out -> batch out").plan((2, 3), (3, 4))
    whole, narrow = str(plan).split("\n"), plan.fitted(60).split("\n")
    assert [line.split()[:2] for line in narrow[1:3]] == [line.split()[:2] for line in whole[1:3]]
    assert " 48 " in narrow[2] and narrow[2].count("…") == 1
    assert plan.fitted(None) == str(plan)


def test_an_array_is_as_wide_as_the_terminal_at_most(session: Session) -> None:
    said(session, "r = arange(N=50)")
    session.width = lambda: 30
    lines = said(session, "r * 1000").split("\n")
    assert len(lines) > 5 and max(map(len, lines[:-1])) <= 30


@pytest.mark.parametrize("limit", range(1, 12))
@pytest.mark.parametrize("text", ["abcdefgh", "日本語の名前", "a日b本c", "", "é́é́é́é́é́"])
def test_cut_text_has_at_most_so_many_columns(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert width(short) <= limit
    assert short == text if width(text) <= limit else short.endswith("…") and text.startswith(short[:-1])


@pytest.mark.parametrize("limit", [20, 31, 64, None])
def test_columns_keep_their_order_and_their_words(limit: int | None) -> None:
    rows = [("x", "a short one"), ("a rather long head", "words " * 12), ("日本", ""), ("y", "1")]
    lines = columns(rows, limit)
    assert " ".join(" ".join(lines).split()) == " ".join(
        " ".join(f"{head} {about}" for head, about in rows).split()
    )
    assert limit is None or limit < 40 or max(map(width, lines)) <= limit


def test_wide_characters_are_counted_in_columns() -> None:
    lines = aligned_columns([["日本語の名前 ", "1"], ["x ", "2"]], 10)
    assert lines == ["日本語…  1", "x        2"]


def test_a_paragraph_is_one_line_without_a_limit() -> None:
    assert filled("a\nb  c", None, "  ") == ["  a b c"] and filled("", None) == []
    assert filled("a b " * 20, 20) == ["a b a b a b a b a b"] * 4


def test_a_pair_of_results_is_printed_as_two_tensors(session: Session) -> None:
    lines = said(session, "!x.max('C')").split("\n")
    assert lines == [
        "values:",
        "tensor([2, 5], names=('N',), shape=(2,))",
        "indices:",
        "tensor([2, 2], names=('N',), shape=(2,))",
    ]
    for call in ("min('C')", "sort('C')", "median('C')", "topk(2, 'C')", "cummax('C')"):
        value = getattr(session.tensors["x"], call.split("(")[0])(*((2, "C") if "topk" in call else ("C",)))
        text = said(session, f"!x.{call}")
        assert text.startswith("values:\ntensor(") and "\nindices:\ntensor(" in text
        assert repr(value.values) in text and repr(value.indices) in text


def test_other_tuples_of_python_are_printed_as_python_has_them(session: Session) -> None:
    assert said(session, "!(1, 2)") == "(1, 2)" and said(session, "!()") == "()"
    assert said(session, "!(x, w)").startswith("(tensor(")


def test_the_parts_of_a_pair_can_be_assigned(session: Session) -> None:
    assert said(session, "!largest, where = x.max('C')") == "largest: N=2  int64\nwhere: N=2  int64"
    np.testing.assert_array_equal(session.tensors["where"].data, [2, 2])
