"""A session, line by line: what it keeps and what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nameexpr.session.feedback import status
from nameexpr.session.session import Session
from tools.session.helpers import said


def test_values_are_those_of_numpy(session: Session) -> None:
    said(session, "y[C N] = x * (w + 1)")
    np.testing.assert_array_equal(session.tensors["y"].data, (np.arange(6).reshape(2, 3) * 2).T)
    said(session, "N C -> C : max | x")
    np.testing.assert_array_equal(session.tensors["_"].data, [3, 4, 5])
    said(session, "_ * _")
    np.testing.assert_array_equal(session.tensors["_"].data, [9, 16, 25])


def test_every_result_of_an_expression_is_shown(session: Session) -> None:
    answer = session.run("N (a + b) -> N a, b N | x, a=1")
    assert not answer.is_fault
    assert answer.text.count("tensor(") == 2
    assert session.tensors["_"].names == ("b", "N")


def test_shapes_in_parts_and_at_positions_are_checked(session: Session) -> None:
    assert session.run("N (a + b) | x, a=1").text == "N=2, a=1, b=2"
    assert session.run("N C@(c+d) | x, d=2").text == "N=2, C=3, c=2, d=2"
    assert session.run("x + w | 0").is_fault


def test_a_term_with_positions_finds_its_tensor(session: Session) -> None:
    assert session.run("N C@(c+1) -> c N").text.startswith("of x\n")
    assert session.tensors["_"].names == ("c", "N")


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
    ("line", "help"),
    {
        "np.ones(3)": "!np.ones(3)",
        "x.shape": "!x.shape",
        "import numpy": "!import numpy",
        'einsum("N -> N", x)': '!ne.einsum("N -> N", x)',
        "q = np.ones(3)": "q = !np.ones(3)",
        "q = [1, 2]": "q = !",
        "q": ":quit",
        "N C.. -> N": "",
    }.items(),
)
def test_what_is_python_is_told_where_python_goes(session: Session, line: str, help: str) -> None:
    answer = session.run(line)
    advice = [one for one in answer.text.split("\n") if one.startswith("  help: ")]
    assert answer.is_fault and len(advice) == 1 and help in advice[0]
    assert ("!" in advice[0]) == ("!" in help)


def test_of_a_large_tensor_of_many_dims_the_first_page_is_shown(session: Session) -> None:
    said(session, "d = arange(A=20, B=3, C=4)")
    lines = said(session, "d").split("\n")
    assert lines[0] == "A=20, B=3, C=4  int64, the first page, A: 0"
    assert [line.strip(" []").split() for line in lines[1:]] == np.arange(12).reshape(3, 4).astype(
        str
    ).tolist()
    assert said(session, "d[A B C] * 0").count("\n") == 3
    said(session, "e = arange(A=2, B=2, C=3)")
    assert said(session, "e").startswith("tensor(")


def test_warnings_are_told_and_not_raised(session: Session) -> None:
    answer = session.run("w / 0")
    assert answer.text.startswith("warning: divide by zero") and "inf" in answer.text
    assert not answer.is_fault


def test_the_line_below_says_what_will_be_and_computes_nothing(session: Session) -> None:
    assert status(session, "y[N] = sum[C](x * w)").text.startswith("N=2  float64  ")
    assert "y" not in session.tensors
    assert status(session, "N C, C | x, w").text == "N=2, C=3"
    assert status(session, "q = zeros(N=4)").text == "N=4  float64  32 B"
    assert status(session, ":type x * w").text.startswith("N=2, C=3  float64")
    assert status(session, ":gradient x: sum[N C](x * w)").text.startswith("a number  float64")
    assert status(session, ":gradient x w").text == ":gradient [NAMES:] [TEXT]  " + (
        "write out the gradients of a formula by these tensors"
    )
    assert status(session, "sum[C](").kind == "hint"


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("x * q", "q"),
        ("sum[K](x)", "K"),
        (":plan x * q", "q"),
        (":gradient x w: x * q", "q"),
        ("N C, C -> N | x, q", "q"),
        ("N C, K -> N", "C"),
    ],
)
def test_the_line_below_knows_where_the_mistake_is(session: Session, line: str, marked: str) -> None:
    found = status(session, line)
    assert found.kind == "mistake" and found.span is not None
    assert line[found.span.start : found.span.end] == marked


@pytest.mark.parametrize("line", ["exit", "quit", "exit()", "quit()", " exit ", "exit  # done"])
def test_exit_and_quit_leave_unless_a_tensor_has_that_name(session: Session, line: str) -> None:
    answer = session.run(line)
    assert answer.leaves and not answer.is_fault and answer.text == ""
    said(session, "exit = ones(N=2)")
    said(session, "quit = ones(N=2)")
    assert not session.run(line).leaves
    assert said(session, "exit * 2").startswith("tensor([2., 2.]")


def test_help_is_a_word_unless_a_tensor_has_that_name(session: Session) -> None:
    said(session, "help = ones(N=2)")
    assert said(session, "help").startswith("tensor(") and said(session, ":help").startswith("  x = randn")


@pytest.mark.parametrize("line", ["exit now", "exit * 2", "y = exit", "quit(1)", "exit()()"])
def test_exit_is_a_command_only_alone(session: Session, line: str) -> None:
    answer = session.run(line)
    assert answer.is_fault and not answer.leaves


SLOW = "sum[A B K](exp(big * mat))"


@pytest.fixture
def slow_session(session: Session) -> Session:
    """A session in which `SLOW` is expected to take long; its arrays take no memory."""
    said(session, "big[A B] = !np.broadcast_to(1.0, (9000, 9000))")
    said(session, "mat[B K] = !np.broadcast_to(1.0, (9000, 9000))")
    return session


def test_a_slow_line_is_run_only_after_it_is_confirmed(
    slow_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("session", "commands"):
        monkeypatch.setattr(f"nameexpr.session.{module}.value_of", lambda ready: pytest.fail("it was run"))
    asked: list[str] = []
    slow_session.confirm = lambda question: bool(asked.append(question))
    answer = slow_session.run(SLOW)
    assert answer.is_fault and answer.text.startswith("not run")
    assert SLOW not in slow_session.entered and "_" not in slow_session.tensors
    assert said(slow_session, ":explain").startswith("Lines that were not run")
    assert slow_session.run(f":time {SLOW}").is_fault
    assert [question.split("; ")[1] for question in asked] == ["run it?"] * 2
    assert said(slow_session, ":plan").startswith(SLOW), "the plan of what was not run can be asked for"


def test_a_quick_line_is_not_asked_about(session: Session) -> None:
    session.confirm = lambda question: pytest.fail(question)
    assert said(session, "sum[C](x * w)").startswith("tensor(")
    assert said(session, "N C, C | x, w") == "N=2, C=3"


def test_a_confirmed_line_runs(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nameexpr.session.session.SLOW", 0.0)
    session.confirm = lambda question: True
    assert said(session, "sum[C](x)").startswith("tensor(")


def test_scripts_and_pipes_are_not_asked(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nameexpr.session.session.SLOW", 0.0)
    assert session.confirm is None
    assert said(session, "sum[C](x)").startswith("tensor(")
    session.confirm = lambda question: pytest.fail(question)
    (tmp_path / "s.ne").write_text("sum[C](x)\n")
    assert not session.run(f":script {tmp_path / 's.ne'}").is_fault


def test_the_line_below_shows_the_expected_time(slow_session: Session) -> None:
    assert status(slow_session, SLOW).text.endswith("minutes  Enter asks before it runs")
    assert status(slow_session, "x * w").text.endswith(" us")


def test_several_results_are_shown_and_the_last_is_kept(session: Session) -> None:
    shown = said(session, "N C=(a=1 + b) -> a N, N b | x")
    assert shown.count("tensor(") == 2 and "names=('a', 'N')" in shown and "names=('N', 'b')" in shown
    np.testing.assert_array_equal(session.tensors["_"].data, [[1, 2], [4, 5]])
