"""The reader with prompt_toolkit, fed with keys: what is read, coloured, and shown below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from nameexpr.errors import Span
from nameexpr.repl.prompt import PromptReader, coloured
from nameexpr.session.commands import new_session
from nameexpr.session.feedback import plan_and_code
from nameexpr.session.session import Session


@contextmanager
def reader(session: Session) -> Iterator[tuple[PipeInput, PromptReader]]:
    """Return where keys go, and the reader."""
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys, PromptReader(session)


@pytest.fixture
def session(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = new_session()
    session.run("x = arange(N=2, C=3)")
    return session


def test_enter_hands_over_a_line_and_goes_on_while_a_bracket_is_open(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("x * 2\rsum[N](\rx)\r")
        assert [lines.read(), lines.read()] == ["x * 2", "sum[N](\nx)"]


def test_lines_pasted_at_once_are_read_one_by_one(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("\x1b[200~a = x\n!for i in range(2):\n  print(i)\n\n\nb = a * 2\x1b[201~\r")
        read = [lines.read() for _ in range(4)]
        assert read == ["a = x", "!for i in range(2):\n  print(i)\n", "", "b = a * 2"]


def test_a_pasted_transcript_is_read_without_its_prompts(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("\x1b[200~> a = x + 1\na: N=2, C=3  int64\n> a\x1b[201~\r")
        assert [lines.read(), lines.read()] == ["a = x + 1", "a"]


def test_ctrl_c_drops_the_line_and_ctrl_d_ends(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("half\x03")
        assert lines.read() == ""
        keys.send_text("\x04")
        assert lines.read() is None


def test_f2_shows_plan_and_code_and_keeps_the_line(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("sum[C](x)\x1bOQ\r")
        assert lines.read() == "sum[C](x)"
    said = capsys.readouterr().out
    assert said.startswith("sum[C](x)\n") and "def compute(a0):" in said
    assert session.last_text is None, "looking changes nothing"
    assert plan_and_code(session, "sum[K](x)").startswith("RuleError")


def test_the_history_goes_from_session_to_session(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("x * 2\r")
        lines.read()
    with reader(session) as (keys, lines):
        keys.send_text("\x12* 2\r\r")  # Ctrl-R
        assert lines.read() == "x * 2"


@pytest.mark.parametrize(
    "text",
    ["", "x * 2", "N C, C -> N | x, w", ":plan x", "!print('x')", "a\nb", "\x1b[31m", "é → ü", "\ud800"],
)
@pytest.mark.parametrize("mistake", [None, Span(0, 1), Span(2, 5), Span(90, 99), Span(1, 1)])
def test_colours_change_no_character(text: str, mistake: Span | None) -> None:
    lines = coloured(text, mistake)
    assert "\n".join("".join(piece for _, piece, *_ in line) for line in lines) == text
    marked = sum(len(piece) for line in lines for style, piece, *_ in line if "mistake" in style)
    if mistake is not None and "\n" not in text:
        assert marked == len(text[mistake.start : max(mistake.end, mistake.start + 1)])
