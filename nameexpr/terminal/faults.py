"""Errors of the command line and of sessions: arguments, files and lines that cannot be used.

>>> print(FileError("there is no file 'x.npy'", "name a .npy file"))
there is no file 'x.npy'; name a .npy file
"""

from __future__ import annotations

from collections.abc import Callable

from nameexpr.carets import line_limit, marked_text, shortened, visible, wrapped
from nameexpr.errors import Span

LONGEST = 120


class CommandError(Exception):
    """An error that is reported in one line, with its exit status."""

    code = "command"
    status = 1
    text = ""
    detail = ""
    span: Span | None = None

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message with its hint."""
        between = " " if self.message.endswith("?") else "; "
        return f"{self.message}{between}{self.hint}" if self.hint else self.message

    def render(self, strong: Callable[[str], str] = str, columns: int | None = None) -> str:
        """Return the message, the line that it is about and the hint, in the form of `NameExprError`."""
        lines = [strong(wrapped(visible(shortened(self.message)), columns, 2))]
        if self.span is not None:
            limit = line_limit(columns)
            marked = marked_text(self.text, [(*self.span, "")], strong=strong, limit=limit)
            lines += ["  " + line for line in marked]
        if self.hint:
            lines.append(wrapped(f"  help: {visible(shortened(self.hint))}", columns, len("  help: ")))
        return "\n".join(lines)


class FileError(CommandError):
    """A file, or standard input or output, that cannot be used."""

    code = "file"


class UsageError(CommandError):
    """Invalid arguments. `usage` is printed above the message."""

    code = "usage"
    status = 2

    def __init__(self, message: str, hint: str = "", *, usage: str = "") -> None:
        super().__init__(message, hint)
        self.usage = usage


class LineError(CommandError):
    """An error in a line of a session, with its span in `text` if known.

    `code` is the kind of mistake (`nameexpr.session.explaining.KINDS`); `detail` is a Python traceback.

    >>> print(LineError("there is no tensor 'w'", "N C -> N | w", Span(11, 12), "make it: w = randn(N=2)"))
    there is no tensor 'w'
      N C -> N | w
                 ^
      help: make it: w = randn(N=2)
    """

    def __init__(
        self,
        message: str,
        text: str = "",
        span: Span | None = None,
        hint: str = "",
        *,
        code: str = "command",
        detail: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.text = text
        self.span = span
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        """Return the message, the line with carets, and the hint."""
        return self.render()


def harmless(text: str, most: int = LONGEST) -> str:
    r"""Escape and shorten a user's text to one line that a terminal can show safely.

    >>> print(harmless("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if len(text) > most:
        text = text[: most - 1] + "…"
    return visible(text).replace("\n", "\\n")


def unreadable(shown: str, what: str, hint: str = "") -> FileError:
    """Return the error for a file that contains nothing to compute with."""
    return FileError(f"cannot read {shown}: {what}", hint)


def quoted(text: str) -> str:
    """Quote a user's text, escaped.

    >>> print(quoted("x.npy"))
    'x.npy'
    """
    return f"'{harmless(text)}'"


def reason(fault: BaseException) -> str:
    """Describe in a few words why the system or a library failed.

    >>> print(reason(FileNotFoundError(2, "No such file or directory", "x.npy")))
    no such file or directory
    """
    text = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    first = (text.strip().splitlines() or [type(fault).__name__])[0].rstrip(".")
    return harmless(first if first[:2].isupper() else first[:1].lower() + first[1:])
