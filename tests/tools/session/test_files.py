"""Transcripts: what is said can be entered again, and says the same."""

from __future__ import annotations

import io

import pytest

from nameexpr.repl.loop import loop, piped_lines
from nameexpr.session.commands import new_session
from nameexpr.session.continuation import lines_of
from nameexpr.session.files import read_script, transcript
from nameexpr.session.session import Answer

SCRIPT = """\
# a comment
x = arange(N=2, C=3)

y[N] = sum[C](
    x * x)
y + q
:names
!for i in range(2):
    print(i)

!'> no prompt'
:quit
x
"""


def told(text: str) -> str:
    return "\n".join(answer.text for answer in transcript(new_session(), lines_of(text))) + "\n"


def test_a_transcript_replays_itself(capsys: pytest.CaptureFixture[str]) -> None:
    once = told(SCRIPT)
    assert told(once) == once
    assert "> y[N] = sum[C](\n.     x * x)\ny: N=2  int64\n" in once
    assert "there is no tensor 'q'" in once
    assert once.endswith("> :quit\n"), "what follows is not run"
    capsys.readouterr()


def test_an_empty_line_ends_what_is_open() -> None:
    assert lines_of("sum[C](\n\nx") == ["sum[C](\n", "x"]
    assert lines_of("sum[C](x") == ["sum[C](x"]


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path: object) -> None:
    path = f"{tmp_path}/a.ne"
    with open(path, "wb") as stream:
        stream.write(b"\xef\xbb\xbfx = ones(N=1)\r\nx\r\n")
    assert read_script(path) == ["x = ones(N=1)", "x"]


def test_a_pipe_is_read_line_by_line_to_its_end() -> None:
    lines = piped_lines(io.StringIO("x = ones(\nN=2)\n\nlast ("))
    assert list(lines) == ["x = ones(\nN=2)", "", "last ("]


def test_the_loop_counts_what_was_wrong_and_goes_on_after_ctrl_c() -> None:
    answers: list[Answer] = []
    stopped = Answer("interrupted", is_fault=True)
    text = "x = ones(N=2)\n!raise KeyboardInterrupt\nq\nx\n:quit\nx\n"
    assert loop(new_session().run, piped_lines(io.StringIO(text)), answers.append, interrupted=stopped) == 2
    assert [answer.text.split("\n")[0] for answer in answers if answer.text] == [
        "x: N=2  float64",
        "interrupted",
        "there is no tensor 'q'",
        "tensor([1., 1.], names=('N',), shape=(2,))",
    ]
    with pytest.raises(KeyboardInterrupt):
        loop(new_session().run, piped_lines(io.StringIO(text)), answers.append)
