"""Atomic replacement of files, files of JSON, and limits on their size in memory.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "numbers.txt")
>>> replace_file(str(path), lambda stream: stream.write(b"1 2 3"))
>>> path.read_text()
'1 2 3'
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import IO, Any

_ASSUMED_MEMORY = 4 << 30


def replace_file(path: str, write: Callable[[IO[bytes]], object]) -> None:
    """Write to a temporary file and then move it, so that a full disk or Ctrl-C leaves the old file.

    The target of a link is replaced, and its permissions are kept; a device or a pipe is written directly.
    """
    path = os.path.realpath(path) if os.path.islink(path) else path
    if os.path.lexists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            write(stream)
        return
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.part")
    try:
        with open(beside, "xb") as stream:
            if os.path.exists(path):  # keep its permissions, and fail if it is read-only
                with open(path, "ab"):  # fails as writing into the file would
                    pass
                with suppress(OSError):
                    os.chmod(beside, stat.S_IMODE(os.stat(path).st_mode))
            write(stream)
        os.replace(beside, path)
    except BaseException as fault:
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(fault, OSError) and fault.filename == beside:
            fault.filename = path  # the caller does not know the other one
        raise


def read_json(path: str, most: int) -> Any:
    """Return what is in a file of JSON of at most `most` characters.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is longer, or is not JSON; the message is the reason.
    """
    import json

    with open(path, encoding="utf-8") as file:
        try:
            text = file.read(most + 1)
            if len(text) <= most:
                return json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError("it is not JSON") from None
    raise ValueError(f"it has more than {most:,} characters")


def most_unpacked(packed: int) -> int:
    """Return the bytes that this many compressed ones may become without an explicit limit: numbers shrink to
    a hundredth at best, zeros and malicious data to a thousandth.
    """
    return 100 * packed + (1 << 26)


@cache
def memory_of_machine() -> int:
    """Return the bytes of memory that this machine has, or a guess."""
    try:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_MEMORY
