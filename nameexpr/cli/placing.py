"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from nameexpr.cli.faults import FileError, quoted


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


def replace_file(path: str, write: Callable[[IO[bytes]], None]) -> None:
    """Write beside the file and then move; a link or a device is written to itself."""
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        with open(path, "wb") as stream:
            write(stream)
        return
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:100]}.{os.getpid()}.part")
    try:
        with open(beside, "xb") as stream:
            write(stream)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
