"""`nameexpr fmt`: the canonical form, with every comment in its place, and `--check`."""

from __future__ import annotations

import io
import json
import random
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameexpr.cli.main import main
from nameexpr.errors import NameExprError
from nameexpr.syntax.canonical import canonical
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse
from tools.cli.helpers import answer, fails, folder, process  # noqa: F401  every test runs in it

MESSY = """\
# distances

d = (x[ i D ]   # points
     - y[j D]); e = d**2  # squared
  # the sum
sum[D]( e )
# the end"""
CLEAN = """\
# distances
# points
d = x[i D] - y[j D]
e = d ** 2  # squared
# the sum
sum[D](e)
# the end"""


def read_by(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let standard input hold these bytes."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_texts_are_printed_in_canonical_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "N  (C H=2),C->N   H:sum", "y[N]=((x[N C])*w[C])"]) == 0
    assert capsys.readouterr().out == "N (C H=2), C -> N H : sum\ny[N] = x[N C] * w[C]\n"


def test_comments_stay_with_their_statements(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", MESSY]) == 0
    assert capsys.readouterr().out == CLEAN + "\n"
    assert canonical("# all\na b # rows\n -> b a # done") == "# all\n# rows\na b -> b a  # done"


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_one_text(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by(monkeypatch, b"\xef\xbb\xbf" + MESSY.replace("\n", "\r\n").encode() + b"\r\n")
    assert main(["fmt", *arguments]) == 0
    assert capsys.readouterr().out == CLEAN + "\n"


def test_check_prints_nothing_and_says_by_its_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, status in [("a b -> b a", 0), ("a b->b a", 1), (CLEAN, 0), (MESSY, 1), ("a b -> b a ", 1)]:
        assert main(["fmt", "--check", text]) == status
        read_by(monkeypatch, f"{text}\n".encode())
        assert main(["fmt", "--check"]) == status
    assert main(["fmt", "--check", "a -> a", "a->a"]) == 1
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_json_says_of_each_text_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "fmt", "a->a", "y = x[N]")["texts"]
    assert found == [
        {"text": "a -> a", "kind": "expression", "is_canonical": False},
        {"text": "y = x[N]", "kind": "formula", "is_canonical": True},
    ]
    assert main(["fmt", "--check", "--json", "a->a"]) == 1
    assert json.loads(capsys.readouterr().out)["texts"][0]["is_canonical"] is False


def test_what_is_wrong_is_shown_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ParseError[NE122]" in fails(capsys, "fmt", "a (b -> a")
    assert "ParseError[NE122]" in fails(capsys, "fmt", "--check", "a (b -> a")
    assert "only once" in fails(capsys, "fmt", "-", "-", code=2)
    read_by(monkeypatch, b"\xff\xfe")
    assert "is not text" in fails(capsys, "fmt")
    monkeypatch.setattr(sys, "stdin", None)
    assert "is closed" in fails(capsys, "fmt")


def test_a_comment_cannot_act_on_the_terminal() -> None:
    result = process("fmt", stdin=b"y = x[N] # \x1b[31m\xe2\x80\xae\n")
    assert result.stdout == rb"y = x[N]  # \x1b[31m\u202e" + b"\n"


PIECES = st.sampled_from(
    [
        *"xyN[]()=+*;\n #",
        "\n",
        "\n",
        ";",
        " # n",
        "#m\n",
        "y = ",
        "x[N]",
        "x[N C]",
        "2",
        " + ",
        "sum[C](",
        ")",
    ]
)


def without_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", "", text)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_nothing_is_lost_and_once_is_enough(text: str) -> None:
    try:
        once = canonical(text)
    except NameExprError:
        return
    assert canonical(once) == once
    notes = re.findall(r"#[^\n]*", text)
    assert sorted(re.findall(r"#[^\n]*", once)) == sorted(note.rstrip() for note in notes)
    try:
        assert parse_formula(once) == parse_formula(text)
    except NameExprError:
        assert parse(without_comments(once)) == parse(without_comments(text))


def test_random_formulas_with_comments_keep_their_meaning() -> None:
    draw = random.Random(0)
    lines = ["y = x[N]", "z[N] = (y\n + 1)", "sum[N](y * 2)", "a=1;b=2", "", "w = y"]
    for _ in range(200):
        chosen = [*draw.choices(lines, k=draw.randint(1, 6)), "v = 2"]
        text = "\n".join(f"{line}{draw.choice(['', ' # c', '#d', chr(10) + '# own'])}" for line in chosen)
        once = canonical(text)
        assert parse_formula(once) == parse_formula(text)
        assert canonical(once) == once
        assert text.count("#") == once.count("#")


def test_many_comments_take_little_time() -> None:
    start = time.process_time()
    canonical("a=1\n#\n" * 2000)
    assert time.process_time() - start < 20


def test_an_expression_is_its_unparsed_tree() -> None:
    for text in Path(__file__).parents[2].joinpath("cases").glob("*.txt"):
        for line in text.read_text(encoding="utf-8").splitlines():
            if "->" not in line or "#" in line:
                continue
            try:
                tree = parse(line)
            except NameExprError:
                continue
            assert canonical(line) == unparse(tree)
