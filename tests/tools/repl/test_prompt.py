"""The reader with prompt_toolkit, fed with keys: what is read, coloured, and shown below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory, Suggestion
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
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


def test_escape_then_enter_runs_a_text_of_several_lines(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("sum[N](\rx\r)\x1b[A\x1b\r")  # the cursor is on the second line
        assert lines.read() == "sum[N](\nx\n)"
        keys.send_text("sum[N](\x1b\r")  # whole or not
        assert lines.read() == "sum[N]("


def test_ctrl_o_starts_another_line(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("a = x\x0fb = x * 2\r")
        assert [lines.read(), lines.read()] == ["a = x", "b = x * 2"]


def test_a_suggestion_from_the_history_is_taken_with_right(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("x * 2 + 7\r")
        lines.read()
        lines._prompt.default_buffer.suggestion = Suggestion(" 2 + 7")
        keys.send_text("x *\x1b[C\r")
        assert lines.read() in ("x * 2 + 7", "x *"), "suggestions are made in the background"
        assert isinstance(lines._prompt.auto_suggest, AutoSuggestFromHistory)


def offered(lines: PromptReader, text: str, *, is_typed: bool) -> list[str]:
    event = CompleteEvent(text_inserted=is_typed, completion_requested=not is_typed)
    return [completion.text for completion in lines.get_completions(Document(text), event)]


def test_the_menu_opens_by_itself_for_a_word_that_is_begun(session: Session) -> None:
    with reader(session) as (_, lines):
        assert offered(lines, "y = sof", is_typed=True) == offered(lines, "y = sof", is_typed=False)
        assert offered(lines, ":na", is_typed=True) == [":names"]
        assert offered(lines, "y = x * ", is_typed=True) == []
        assert len(offered(lines, "y = x * ", is_typed=False)) > 50
        assert offered(lines, "x[", is_typed=True) == ["N", "C"], "few words are shown at once"
        assert offered(lines, "exp(x ", is_typed=True) == []
        assert offered(lines, "exp(x ", is_typed=False) == [")"]


def test_while_the_menu_is_open_enter_runs_the_line(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("x\r")
        assert lines.read() == "x"


@pytest.mark.parametrize(("key", "is_yes"), {"y": True, "n": False, "\x03": False}.items())
def test_a_question_is_answered_with_a_key(session: Session, key: str, is_yes: bool) -> None:
    with reader(session) as (keys, lines):
        keys.send_text(key)
        assert lines.confirm("run it?") is is_yes


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
    assert plan_and_code(session, ":gradient x w: sum[C](x)") == said.removesuffix("\n")


def test_the_history_goes_from_session_to_session(session: Session) -> None:
    with reader(session) as (keys, lines):
        keys.send_text("x * 2\r")
        lines.read()
    with reader(session) as (keys, lines):
        keys.send_text("\x12* 2\r\r")  # Ctrl-R
        assert lines.read() == "x * 2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x * 2",
        "N C, C -> N | x, w",
        ":plan x",
        ":g x: x ** 2",
        "!print('x')",
        "a\nb",
        "\x1b[31m",
        "é → ü",
        "\ud800",
    ],
)
@pytest.mark.parametrize("mistake", [None, Span(0, 1), Span(2, 5), Span(90, 99), Span(1, 1)])
def test_colours_change_no_character(text: str, mistake: Span | None) -> None:
    lines = coloured(text, mistake)
    assert "\n".join("".join(piece for _, piece, *_ in line) for line in lines) == text
    marked = sum(len(piece) for line in lines for style, piece, *_ in line if "mistake" in style)
    if mistake is not None and "\n" not in text:
        assert marked == len(text[mistake.start : max(mistake.end, mistake.start + 1)])
