"""What can go wrong before and after an expression runs: the arguments, and the files.

>>> print(FileError("there is no file 'x.npy'", "name a .npy file"))
there is no file 'x.npy'; name a .npy file
"""

from __future__ import annotations

from nameexpr.carets import visible

LONGEST = 120


class CommandError(Exception):
    """A mistake to report in one line, with the status to leave with."""

    code = "command"
    status = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return what is wrong and how to mend it."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class FileError(CommandError):
    """A file, or standard input or output, that cannot be used."""

    code = "file"


class UsageError(CommandError):
    """Arguments that make no sense. `usage` is what to print above the message."""

    code = "usage"
    status = 2

    def __init__(self, message: str, hint: str = "", *, usage: str = "") -> None:
        super().__init__(message, hint)
        self.usage = usage


def harmless(text: str) -> str:
    r"""Return a text of the user's on one line, not too long, with nothing in it that a terminal acts on.

    >>> print(harmless("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return visible(text).replace("\n", "\\n")


def unreadable(shown: str, what: str, hint: str = "") -> FileError:
    """Return the error for a file, named as it is to be shown, that holds nothing to compute with."""
    return FileError(f"cannot read {shown}: {what}", hint)


def quoted(text: str) -> str:
    """Return a harmless text in quotes.

    >>> print(quoted("x.npy"))
    'x.npy'
    """
    return f"'{harmless(text)}'"


def reason(fault: BaseException) -> str:
    """Return in a few words why the system or a library refused.

    >>> print(reason(FileNotFoundError(2, "No such file or directory", "x.npy")))
    no such file or directory
    """
    text = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    first = (text.strip().splitlines() or [type(fault).__name__])[0].rstrip(".")
    return harmless(first if first[:2].isupper() else first[:1].lower() + first[1:])
