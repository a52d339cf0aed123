"""Readers without prompt_toolkit: a pipe, and a terminal with Python's own line editing (`readline`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TextIO

from nameexpr.repl.history import history_file
from nameexpr.session.complete.complete import Completion
from nameexpr.session.continuation import is_open
from nameexpr.session.script import MORE, PROMPT

LONGEST = 1 << 20
"""Characters of a line from a pipe; what is longer is read in pieces."""


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


class LineReader:
    """Lines that are there already, those of a script."""

    stays = False

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        return next(self._lines, None)


class PlainReader:
    """Lines typed at a terminal, with prompts; Tab completes where Python has `readline`."""

    stays = True

    def __init__(self, complete: Callable[[str, int], tuple[Completion, ...]]) -> None:
        self._complete = complete
        self._found: list[str] = []
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
            self._found = [text[: one.start] + one.text for one in self._complete(text, len(text))]
        return self._found[state] if state < len(self._found) else None

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
