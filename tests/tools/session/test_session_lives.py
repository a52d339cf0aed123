"""What a session outlives: random lines, hostile names, interrupts, and wishes to leave."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import pytest

import nameexpr as ne
from nameexpr.session.commands import new_session
from nameexpr.session.feedback import status
from nameexpr.session.session import Session
from tools.session.helpers import said


@pytest.mark.parametrize("line", ["!exit()", "!quit()", "!raise SystemExit(3)", "!raise GeneratorExit", "q"])
def test_nothing_ends_the_session_by_accident(session: Session, line: str) -> None:
    answer = session.run(line)
    assert answer.is_fault and not answer.leaves
    assert ":quit" in answer.text


@pytest.mark.parametrize(
    ("line", "message"),
    {
        "!": "there is no code",
        "z = !": "there is no code",
        "np = !3": "name of a module",
        "z = !None": "no value to name",
        "z = !import os": "no value to name",
        "z = ![[1], [1, 2]]": "not an array",
        "z = !'text'": "not an array of numbers",
        "z = !{}": "not an array of numbers",
        "z[A] = !np.ones((2, 2))": "NE",
        "z[1 A] = !np.ones((2, 2))": "NE",
        "!ne.einsum('a ->', 3)": "RuleError[NE217]",
        "!type('A', (), {'__repr__': lambda self: 1 / 0})()": "cannot be shown",
        "z = !type('A', (), {'__array__': lambda self: 1 / 0})()": "not an array",
        "!raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})": "E",
        "!" + "(" * 500: "too many nested parentheses",
        "!x = '" + "a" * 10: "SyntaxError",
    }.items(),
)
def test_python_that_goes_wrong_is_a_mistake_like_others(session: Session, line: str, message: str) -> None:
    before = dict(session.tensors)
    answer = session.run(line)
    assert answer.is_fault and message in answer.text and "bug" not in answer.text
    assert session.tensors == before


def test_only_quit_ends_it(session: Session) -> None:
    assert session.run(":quit").leaves and not session.run(":quit now").leaves


def test_an_interrupt_passes_and_leaves_the_session_as_it_was(session: Session) -> None:
    before = dict(session.tensors)
    with pytest.raises(KeyboardInterrupt):
        session.run("y = !(_ for _ in ()).throw(KeyboardInterrupt)")
    assert session.tensors == before
    assert not session.run("x * 2").is_fault


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
        text = said(session, line) + status(session, line).text
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


@pytest.mark.slow
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


def test_every_error_class_is_told_in_words() -> None:
    session = new_session()
    assert ne.LimitError.__name__ in said(session, "(" * 300 + "->")
