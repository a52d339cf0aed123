"""Where files can be written to."""

from __future__ import annotations

import os

from nameexpr.terminal.faults import FileError, quoted


def check_place(path: str, argument: str) -> None:
    """Refuse a path that no file can be written to, as far as that is known beforehand.

    Raises
    ------
    FileError
        If it is a folder, or lies in none.
    """
    folder = os.path.dirname(path)
    if os.path.isdir(path) or (folder and not os.path.isdir(folder)):
        what = "it is a folder" if os.path.isdir(path) else f"there is no folder {quoted(folder)}"
        raise FileError(f"cannot write {quoted(argument)}: {what}", "make it, or write elsewhere")
