"""The read-eval-print loop, and its readers of scripts, pipes and plain terminals.

`nameexpr.repl.prompt` contains the reader with colours and menus. At a terminal Ctrl-C stops the running
line, and the session continues; at a prompt it discards the line being typed. Only the end of the input,
Ctrl-D, or `:quit` ends a session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from nameexpr.session.continuation import MORE, PROMPT, is_open, joined
from nameexpr.session.feedback import completions
from nameexpr.session.session import Answer, Session

LONGEST = 1 << 20
"""The largest length of a line from a pipe; longer ones are read in pieces."""


def loop(
    run: Callable[[str], Answer],
    lines: Iterator[str],
    write: Callable[[Answer], None],
    *,
    interrupted: Answer | None = None,
) -> int:
    """Run lines to the end, write their answers, including empty ones, and return how many of them failed.

    `interrupted` is the answer if Ctrl-C stops a line instead of the session, as at a terminal.

    >>> from nameexpr.session.commands import new_session
    >>> lines = iter(["x = zeros(N=1)", "x +", ":quit"])
    >>> loop(new_session().run, lines, lambda answer: print(answer.text.split(" ")[0] or "-"))
    x:
    ParseError[NE144]:
    -
    1
    """
    wrong = 0
    while True:
        try:
            line = next(lines, None)
            if line is None:
                return wrong
            answer = run(line)._replace(line=line)
            write(answer)
        except KeyboardInterrupt:
            if interrupted is None:
                raise
            answer = interrupted
            write(answer)
        wrong += answer.is_fault
        if answer.leaves:
            return wrong


def piped_lines(stream: TextIO) -> Iterator[str]:
    r"""Yield the lines of a stream, each with its continuation lines, as soon as it is whole.

    >>> import io
    >>> list(piped_lines(io.StringIO("y = f(\n1)\nlast")))
    ['y = f(\n1)', 'last']
    """
    return joined(line.rstrip("\r\n") for line in iter(partial(stream.readline, LONGEST), ""))


class PlainReader:
    """Lines typed at a terminal, with prompts; Tab completes if Python has `readline`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._candidates: list[str] = []
        self._save: Callable[[], None] = lambda: None
        try:
            import readline
        except ImportError:
            return
        readline.set_completer(self._candidate)
        readline.set_completer_delims("")
        readline.parse_and_bind("tab: complete")
        path = history_file("plain_history")  # prompt_toolkit has a different format
        if path is not None:
            with suppress(OSError):
                readline.read_history_file(path)
            self._save = partial(readline.write_history_file, path)

    def _candidate(self, text: str, state: int) -> str | None:
        """Return a completed line for `readline`, which does not split words here."""
        if state == 0:
            offered = completions(self._session, text, len(text))
            self._candidates = [text[: completion.start] + completion.text for completion in offered]
        return self._candidates[state] if state < len(self._candidates) else None

    def read(self) -> str | None:
        """Return the next line with its continuation lines, None at the end, "" after Ctrl-C."""
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

    def confirm(self, question: str) -> bool:
        """Ask a question that y or n answers; Ctrl-C and Ctrl-D mean no."""
        try:
            return input(f"{question} (y/n) ").strip().casefold() in ("y", "yes")
        except (KeyboardInterrupt, EOFError):
            sys.stdout.write("\n")
            return False


def history_file(name: str) -> str | None:
    """Return the path of a history file, created with mode 0600, or None if it cannot be.

    It is `nameexpr/NAME` under XDG_STATE_HOME, which is ~/.local/state if it is not set or not absolute
    (XDG Base Directory Specification).
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    try:
        folder = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
        path = folder / "nameexpr" / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    except (OSError, RuntimeError, ValueError):
        return None
    with suppress(OSError, AttributeError):
        os.fchmod(handle, 0o600)  # an older file may be open to others
    os.close(handle)
    return str(path)
