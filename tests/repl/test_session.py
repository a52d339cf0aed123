"""A session, line by line: what it keeps, what it says, and what it outlives."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.repl.facts import facts
from nameexpr.repl.session import Session
from nameexpr.repl.settings import read_bytes


@pytest.fixture
def session() -> Session:
    session = Session()
    for line in ("x = arange(N=2, C=3)", "w = ones(C=3)"):
        assert not session.run(line).is_fault
    return session


def said(session: Session, line: str) -> str:
    return session.run(line).text


def test_values_are_those_of_numpy(session: Session) -> None:
    said(session, "y[C N] = x * (w + 1)")
    np.testing.assert_array_equal(session.tensors["y"].data, (np.arange(6).reshape(2, 3) * 2).T)
    said(session, "N C -> C : max | x")
    np.testing.assert_array_equal(session.tensors["_"].data, [3, 4, 5])
    said(session, "_ * _")
    np.testing.assert_array_equal(session.tensors["_"].data, [9, 16, 25])


def test_a_factory_makes_what_it_says(session: Session) -> None:
    assert said(session, "i = zeros(A=2, dtype=int32)") == "i: A=2  int32"
    assert said(session, "s = ones()") == "s: a number  float64"
    said(session, ":set seed 3")
    said(session, "a = randn(N=4)")
    said(session, ":set seed 3")
    said(session, "b = randn(N=4)")
    np.testing.assert_array_equal(session.tensors["a"].data, session.tensors["b"].data)


@pytest.mark.parametrize(
    "line",
    [
        "i = zeros(A)",
        "i = zeros(A=x)",
        "i = zeros(A=2, A=2)",
        "i = zeros(A=-1)",
        "i = randn(A=2, dtype=int8)",
        "i = ones(A=2, dtype=objekt)",
        "i = ones(1=2)",
        "i = zeros(A=100000, B=100000, C=100000, D=100000)",
        "i = " + "ones(" + ", ".join(f"d{n}=1" for n in range(70)) + ")",
    ],
)
def test_a_mistake_changes_nothing(session: Session, line: str) -> None:
    before = dict(session.tensors)
    answer = session.run(line)
    assert answer.is_fault and answer.text
    assert session.tensors == before or all(session.tensors[name] is before[name] for name in before)
    assert "i" not in session.tensors and "bug" not in answer.text


def test_python_sees_and_makes_tensors(session: Session) -> None:
    assert said(session, "!x.data.sum()") == "np.int64(15)"
    assert said(session, "z[A B] = !np.eye(2)") == "z: A=2, B=2  float64"
    assert said(session, "!q = x.sum('C'); r = q + 1") == "q: N=2  int64\nr: N=2  int64"
    assert session.tensors["r"].names == ("N",)
    said(session, "!def twice(a): return a * 2")
    assert "2" in said(session, "!twice(1)")
    said(session, "!del z")
    assert "z" not in session.tensors
    assert said(session, "!1/0") == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    "line", ["!exit()", "!quit()", "!raise SystemExit(3)", "!raise GeneratorExit", "exit", "quit()"]
)
def test_nothing_ends_the_session_by_accident(session: Session, line: str) -> None:
    answer = session.run(line)
    assert answer.is_fault and not answer.leaves
    assert ":quit" in answer.text


def test_only_quit_ends_it(session: Session) -> None:
    assert session.run(":quit").leaves and not session.run(":quit now").leaves


def test_an_interrupt_passes_and_leaves_the_session_as_it_was(session: Session) -> None:
    before = dict(session.tensors)
    with pytest.raises(KeyboardInterrupt):
        session.run("y = !(_ for _ in ()).throw(KeyboardInterrupt)")
    assert session.tensors == before
    assert not session.run("x * 2").is_fault


def test_undo_takes_changes_back_one_by_one(session: Session) -> None:
    said(session, "x = ones(N=5)")
    said(session, "x")
    said(session, ":set precision 9")
    assert said(session, ":undo") == "undone: :set precision 9" and session.settings.precision == 4
    assert said(session, ":undo") == "undone: x = ones(N=5)"
    assert session.tensors["x"].shape == (2, 3)
    said(session, ":undo")
    said(session, ":undo")
    assert session.tensors == {} and session.entered == []
    assert session.run(":undo").is_fault


def test_warnings_are_told_and_not_raised(session: Session) -> None:
    answer = session.run("w / 0")
    assert answer.text.startswith("warning: divide by zero") and "inf" in answer.text
    assert not answer.is_fault


def test_the_line_below_says_what_will_be_and_computes_nothing(session: Session) -> None:
    assert facts(session, "y[N] = sum[C](x * w)").text.startswith("N=2  float64  ")
    assert "y" not in session.tensors
    assert facts(session, "N C, C | x, w").text == "N=2, C=3"
    assert facts(session, "q = zeros(N=4)").text == "N=4  float64  32 B"
    assert facts(session, ":type x * w").text.startswith("N=2, C=3  float64")
    assert facts(session, "sum[C](").kind == "hint"


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("x * q", "q"),
        ("sum[K](x)", "K"),
        (":plan x * q", "q"),
        ("N C, C -> N | x, q", "q"),
        ("N C, K -> N", "C"),
    ],
)
def test_the_line_below_knows_where_the_mistake_is(session: Session, line: str, marked: str) -> None:
    found = facts(session, line)
    assert found.kind == "mistake" and found.span is not None
    assert line[found.span.start : found.span.end] == marked


def test_names_that_terminals_act_on_come_out_harmless(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "\x1b[31mred\x1b]0;title\x07\u202e\x9b2J"
    around = (
        "{}",
        "x * {}",
        ":{}",
        ":load {}",
        "!'{}'",
        "!print and '{}'",
        "N {} -> N",
        "x = ones({}=2)",
        ":set {} 2",
    )
    for line in (one.format(evil) for one in (*around, "# {}", ":save {}", "!raise ValueError('{}')")):
        text = said(session, line) + facts(session, line).text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), line


WORDS = """
x w y _ N C K -> , : | ! [ ] ( ) = + * ** sum max ones randn( N=2 2 1e400 0 ... ' " # ; é → inf
softmax[C] x[N] :plan :undo :set :names :type :explain :draw :help :code NE304
"""
PIECES = [*WORDS.split(), "\x1b", "\t", "\ud800", "\0"]


def random_line(drawn: random.Random) -> str:
    if drawn.random() < 0.2:
        return "".join(drawn.choices(string.printable + "é→\ud800\x00", k=drawn.randrange(60)))
    return drawn.choice(["", " "]).join(drawn.choices(PIECES, k=drawn.randrange(1, 14)))


def is_safe(line: str) -> bool:
    """Whether a random line neither runs Python nor writes to a file nor leaves."""
    return "!" not in line and not re.match(r"\s*:\s*(?:save|script|load|draw|q|quit|exit|time)\b", line)


def test_it_lives_through_ten_thousand_random_lines(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = random.Random(6)
    wrong = 0
    for _ in range(10_000):
        line = random_line(drawn)
        if is_safe(line):
            answer = session.run(line)
            assert "bug of its own" not in answer.text, line
            assert not answer.leaves
            wrong += answer.is_fault
    assert 5_000 < wrong < 10_000, "some lines are right"
    assert said(session, "!1 + 1") == "2"


def test_what_was_entered_can_be_entered_again(session: Session, tmp_path: Path) -> None:
    said(session, "y[N] = sum[C](x * w)")
    said(session, "oops * 2")
    kept = tmp_path / "kept.ne"
    assert said(session, f":save {kept}").startswith("3 lines written")
    again = Session()
    assert not again.run(f":script {kept}").is_fault
    np.testing.assert_array_equal(again.tensors["y"].data, session.tensors["y"].data)


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv"])
def test_tensors_go_to_files_and_come_back(session: Session, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a file.{suffix}"
    assert not session.run(f':save x "{path}"').is_fault
    assert said(session, f':load back[A B] "{path}"') == "back: A=2, B=3  int64"
    np.testing.assert_array_equal(session.tensors["back"].data, session.tensors["x"].data)


@pytest.mark.parametrize(
    "line",
    [
        ":load x nowhere.npy",
        ":load x",
        ":load",
        ":load x[N] {wrong}",
        ":load x[N C] {text}",
        ":save q q.npy",
        ":save x",
        ":save x x.txt",
        ":save",
        ":script nowhere.ne",
        ":script",
        ":script {folder}",
        ":draw memory x * 2",
        ":draw {folder}/no/such/folder.svg x * 2",
        ":explain NE9999",
        ":set precision many",
        ":set precison 4",
        ":set optimize fast",
        ":set dtype object",
        ":set memory_limit lots",
        ":set seed x",
        ":plan",
        ":nmaes",
        ":",
    ],
)
def test_commands_say_what_they_need(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "wrong.npy", np.ones((2, 3)))
    (tmp_path / "text.npy").write_text("no array")
    before = dict(session.tensors)
    answer = session.run(line.format(wrong="wrong.npy", text="text.npy", folder=tmp_path))
    assert answer.is_fault and answer.text and "bug" not in answer.text
    assert session.tensors == before


def test_a_script_that_calls_itself_ends(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "self.ne"
    script.write_text(f"x = ones(N=1)\n:script {script}\n")
    assert session.run(f":script {script}").is_fault
    assert not session.run("x").is_fault


def test_pictures_go_to_files(session: Session, tmp_path: Path) -> None:
    for name, start in {"a.svg": "<svg", "b.dot": "graph", "c.mmd": "flowchart"}.items():
        answer = session.run(f":draw {tmp_path / name} N C, C -> N | x, w")
        assert not answer.is_fault, answer.text
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert said(session, ":draw").splitlines()[1:] == ["├── x  N=2 C=3", "└── w  C=3"]


def test_commands_about_texts_take_the_last_one(session: Session) -> None:
    said(session, "sum[C](x * w)")
    assert said(session, ":plan").startswith("sum[C](x * w)")
    assert "def compute(a0, a1)" in said(session, ":code")
    assert "median of" in said(session, ":time")
    assert said(session, ":type").startswith("N=2  float64")


def test_the_code_runs_where_it_is_pasted(session: Session) -> None:
    for line, operands in {"sum[C](x * w) ** 2": ("x", "w"), "N C, C -> N | x, w": ("x", "w")}.items():
        names: dict[str, object] = {}
        exec(said(session, f":code {line}"), names)
        expected = session.run(line) and session.tensors["_"].data
        computed = names["compute"](*(session.tensors[name].data for name in operands))  # type: ignore[operator]
        np.testing.assert_allclose(computed, expected)


def test_explain_knows_the_last_error(session: Session) -> None:
    assert session.run(":explain").is_fault
    said(session, "sum[K](x)")
    assert said(session, ":explain").startswith("NE241")
    assert said(session, ":explain NE304").startswith("NE304")


def test_settings_matter(session: Session) -> None:
    said(session, ":set dtype float32")
    said(session, "v = ones(C=3, dtype=float32)")
    said(session, "C, C -> | v, v")
    assert session.tensors["_"].dtype == np.float32
    said(session, "k = ones(K=50)")
    said(session, ":set memory_limit 100")
    assert said(session, "x * k").startswith("LimitError")
    assert session.run("big = zeros(N=1000)").is_fault
    said(session, ":set memory_limit auto")
    assert not session.run("big = zeros(N=1000)").is_fault
    assert read_bytes("2GiB") == 2 << 30


def test_helps_names_every_command(session: Session) -> None:
    from nameexpr.repl.commands import ROWS

    text = said(session, ":help")
    page = (Path(__file__).parents[2] / "docs" / "repl.md").read_text(encoding="utf-8")
    for name in ROWS:
        assert f":{name}" in text and f"`:{name}" in page
        assert said(session, f":help {name}").startswith(f":{name}")


def test_every_error_class_is_told_in_words() -> None:
    session = Session()
    assert ne.LimitError.__name__ in said(session, "(" * 300 + "->")
