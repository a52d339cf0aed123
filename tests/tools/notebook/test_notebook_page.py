"""The sessions of docs/notebook.md, typed into IPython again."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from IPython.core.interactiveshell import InteractiveShell

from pages import documents

PAGE = documents.read("docs/notebook.md")
PROMPT = re.compile(r"^In \[(\d+)\]: ", re.MULTILINE)
MORE = re.compile(r"^ +\.\.\.: ?", re.MULTILINE)


class Entry(NamedTuple):
    number: int
    source: str
    output: str


def entries() -> list[Entry]:
    """Return what the page says was typed, and what was answered."""
    found = []
    for fence in documents.fences(PAGE):
        parts = PROMPT.split(fence.body)
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            lines = text.splitlines()
            count = 1 + sum(1 for line in lines if MORE.match(line))
            source = "\n".join(MORE.sub("", line) for line in lines[:count])
            found.append(Entry(int(number), source, "\n".join(lines[count:])))
    return found


def tidy(text: str) -> str:
    """Return a text without blanks at the ends of lines, or empty lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def test_the_sessions_of_the_page_are_numbered() -> None:
    assert [entry.number for entry in entries()] == list(range(1, len(entries()) + 1))
    assert len(entries()) > 10


@pytest.mark.slow
def test_the_sessions_of_the_page_are_true(
    ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    ipython.reset(new_session=True)
    ipython.execution_count = 1
    for entry in entries():
        ipython.run_cell(entry.source, store_history=True)
        assert tidy(capsys.readouterr().out) == tidy(entry.output), entry.source
