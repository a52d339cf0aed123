r"""Output to the terminal: results on standard output, errors on standard error, coloured where wanted.

>>> strong("SizeError[NE304]: no")
'\x1b[1;31mSizeError[NE304]: no\x1b[0m'
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

from nameexpr.carets import visible


def say(text: str) -> None:
    """Write a line to standard output; what its encoding lacks is escaped."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """Write a line to standard error. If that fails, the exit code still says what happened."""
    try:
        _write(sys.stderr, text)
    except (OSError, ValueError):
        return


def warn(message: str, *, color: str = "auto") -> None:
    """Write a warning to standard error, on one line."""
    text = "nameexpr: warning: " + " ".join(visible(message).splitlines())
    complain(emphasis(color, sys.stderr)(text))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed before Python started
        return
    try:
        stream.write(text + "\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def strong(text: str) -> str:
    """Return a text in bold red."""
    return f"\x1b[1;31m{text}\x1b[0m"


def emphasis(choice: str, stream: TextIO | None) -> Callable[[str], str]:
    """Return what sets off the heads and carets of errors on a stream: `strong`, or `str` without colours."""
    return strong if is_colour_wanted(choice, stream) else str


def is_colour_wanted(choice: str, stream: TextIO | None) -> bool:
    """Decide whether to colour: as chosen, else by NO_COLOR, then FORCE_COLOR, else on terminals only.

    Notes
    -----
    An environment variable counts if it is there and not empty: https://no-color.org and https://force-color.org.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and os.environ.get("TERM") != "dumb" and stream.isatty()


def finish() -> None:
    """Flush standard output (OSError if nobody takes it)."""
    if sys.stdout is not None:
        sys.stdout.flush()


def discard() -> None:
    """Discard what standard output still holds, or Python would try to write it again when it ends."""
    try:
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return
