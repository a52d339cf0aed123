"""The loop and its readers: lines into a session, and what it says to a writer, until the input ends.

Lines come from a script, a pipe, or a terminal with Python's own line editing (`readline`);
`nameexpr.repl.prompt` has the reader with colours and menus. At a terminal Ctrl-C stops what runs, and the
session goes on; at a prompt the reader drops the line being typed. Only the end of the input, Ctrl-D, or
`:quit` ends a session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TextIO

from nameexpr.session.complete import Completion
from nameexpr.session.continuation import MORE, PROMPT, is_open
from nameexpr.session.session import Answer

INTERRUPTED = Answer("interrupted", is_fault=True)
LONGEST = 1 << 20
"""Characters of a line from a pipe; what is longer is read in pieces."""


class Runner(Protocol):
    """What lines are run by: a session."""

    def run(self, line: str) -> Answer:
        """Return what there is to say to a line."""
        ...


class Reader(Protocol):
    """Where lines come from. `stays` says that Ctrl-C stops a line and not the session, as at a terminal."""

    stays: bool

    def read(self) -> str | None:
        """Return the next line, whole; None at the end."""
        ...


def loop(session: Runner, reader: Reader, write: Callable[[Answer], None]) -> int:
    """Answer every line, and return how many of them were wrong.

    Parameters
    ----------
    session : Session
        What answers them.
    reader : Reader
        Where they come from.
    write : callable
        What is done with each answer, one that says nothing among them.

    Examples
    --------
    >>> from nameexpr.session.commands import new_session
    >>> reader = LineReader(["x = zeros(N=1)", "x +", ":quit"])
    >>> loop(new_session(), reader, lambda answer: print(answer.text.split(" ")[0] or "-"))
    x:
    ParseError[NE144]:
    -
    1
    """
    wrong = 0
    while True:
        try:
            answer = _round(session, reader, write)
        except KeyboardInterrupt:
            if not reader.stays:
                raise
            answer = INTERRUPTED
            write(answer)
        wrong += answer.is_fault
        if answer.leaves:
            return wrong


def _round(session: Runner, reader: Reader, write: Callable[[Answer], None]) -> Answer:
    line = reader.read()
    if line is None:
        return Answer("", leaves=True)
    answer = replace(session.run(line), line=line)
    write(answer)
    return answer


class LineReader:
    """Lines that are there already, those of a script."""

    stays = False

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        return next(self._lines, None)


class PipeReader:
    r"""Lines of a stream, without prompts.

    >>> import io
    >>> reader = PipeReader(io.StringIO("y = f(\n1)\nlast"))
    >>> reader.read(), reader.read(), reader.read()
    ('y = f(\n1)', 'last', None)
    """

    stays = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self) -> str | None:
        """Return the next line, with those it goes on in; None at the end."""
        text = self._line()
        while text is not None and is_open(text):
            more = self._line()
            if more is None:
                break
            text = f"{text}\n{more}"
        return text

    def _line(self) -> str | None:
        line = self._stream.readline(LONGEST)
        return line.rstrip("\r\n") if line else None


class PlainReader:
    """Lines typed at a terminal, with prompts; Tab completes where Python has `readline`."""

    stays = True

    def __init__(self, complete: Callable[[str, int], tuple[Completion, ...]]) -> None:
        self._complete = complete
        self._candidates: list[str] = []
        self._save: Callable[[], None] = lambda: None
        with suppress(ImportError):
            self._edit()

    def _edit(self) -> None:
        import readline

        readline.set_completer(self._candidate)
        readline.set_completer_delims("")
        readline.parse_and_bind("tab: complete")
        path = history_file()
        if path is not None:
            with suppress(OSError):
                readline.read_history_file(path)
            self._save = lambda: readline.write_history_file(path)

    def _candidate(self, text: str, state: int) -> str | None:
        """Return a whole line for `readline`, which is told of no word borders."""
        if state == 0:
            offered = self._complete(text, len(text))
            self._candidates = [text[: completion.start] + completion.text for completion in offered]
        return self._candidates[state] if state < len(self._candidates) else None

    def read(self) -> str | None:
        """Return the next line, with those it goes on in; None at the end. Ctrl-C drops what is typed."""
        try:
            text = input(PROMPT)
            while is_open(text):
                text = f"{text}\n{input(MORE)}"
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            return ""
        except EOFError:
            sys.stdout.write("\n")
            return None
        finally:
            with suppress(OSError):
                self._save()
        return text


def history_file() -> str | None:
    """Return the path of the history, made with mode 0600 if it is not there; None if there can be none.

    It is `nameexpr/history` under XDG_STATE_HOME, which is ~/.local/state if it is not set or not absolute
    (XDG Base Directory Specification).
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    try:
        folder = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
        path = folder / "nameexpr" / "history"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    except (OSError, RuntimeError, ValueError):
        return None
    with suppress(OSError, AttributeError):
        os.fchmod(handle, 0o600)  # an older file may be open to others
    os.close(handle)
    return str(path)
