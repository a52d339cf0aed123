"""From arguments to operands: the name of a file, `-`, a number, or a shape.

>>> read_shape("32, 3,64,64")
(32, 3, 64, 64)
>>> read_shape("scalar")
()
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nameexpr.terminal.arguments import MAX_SIZE
from nameexpr.terminal.faults import FileError, UsageError, quoted
from nameexpr.terminal.files import FILES, STANDARD, read_array, read_header, split_key
from nameexpr.terminal.tables import Number, as_number

if TYPE_CHECKING:
    import numpy.typing as npt

_SHAPE = re.compile(r"\s*\d+(\s*,\s*\d+)*\s*,?\s*", re.ASCII)
_SCALARS = ("scalar", "()", "[]")


def read_operands(arguments: Sequence[str], limit: int | None = None) -> list[npt.NDArray[Any] | Number]:
    """Read an array for each argument, or a number if there is no such file; `limit` is that of `read_array`.
    Otherwise FileError; UsageError if standard input would be read twice.
    """
    if arguments.count(STANDARD) > 1:
        raise UsageError("standard input can be read only once", "give the other operands as files")
    return [_operand(argument, limit) for argument in arguments]


def _operand(argument: str, limit: int | None) -> npt.NDArray[Any] | Number:
    if argument == STANDARD or os.path.exists(split_key(argument)[0]):
        return read_array(argument, limit)
    number = as_number(argument)
    if number is None:
        raise _missing(argument)
    return number


def read_shapes(arguments: Sequence[str]) -> list[tuple[int, ...] | npt.NDArray[Any]]:
    """Read a shape for each argument, or for a file an array with its shape and dtype (UsageError if it is
    neither).
    """
    shapes: list[tuple[int, ...] | npt.NDArray[Any]] = []
    for argument in arguments:
        shape, path = read_shape(argument), split_key(argument)[0]
        if shape is None and not os.path.exists(path):
            if path.casefold().endswith(FILES):
                raise _missing(argument)
            hint = "write sizes with commas, 32,3,64,64, or () for a scalar, or name a .npy file"
            raise UsageError(f"{quoted(argument)} is not a shape", hint)
        shapes.append(read_header(argument) if shape is None else shape)
    return shapes


def read_shape(text: str) -> tuple[int, ...] | None:
    """Parse a shape, in brackets or without; None for other texts, UsageError if a size is larger than any
    array.
    """
    inner = text.strip()
    if inner in _SCALARS:
        return ()
    if inner[:1] + inner[-1:] in _SCALARS:
        inner = inner[1:-1]
    if not _SHAPE.fullmatch(inner):
        return None
    parts = [part.strip().lstrip("0") or "0" for part in inner.strip().removesuffix(",").split(",")]
    if any(len(part) > len(str(MAX_SIZE)) or int(part) > MAX_SIZE for part in parts):
        hint = f"sizes end at {MAX_SIZE}"
        raise UsageError(f"the shape {quoted(text)} has a size that no array can have", hint)
    return tuple(map(int, parts))


def _missing(argument: str) -> FileError:
    """Return the error for a file that does not exist, suggesting one with a similar name."""
    path = split_key(argument)[0]
    name, equals, file = path.partition("=")
    if _SHAPE.fullmatch(argument):
        hint = "for shapes without arrays there are plan and code"
    elif equals and name.isidentifier() and os.path.exists(file):
        hint = f"operands have no names, they come in the order of the terms: {quoted(file)}"
    else:
        hint = _nearest(path)
    return FileError(f"there is no file {quoted(path)}", hint)


def _nearest(path: str) -> str:
    """Return a file of a similar name in the same folder."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    there: list[str] = []
    try:
        there += [name for name in os.listdir(folder or ".") if name.casefold().endswith(FILES)]
    except (OSError, ValueError):
        if folder:
            return f"there is no folder {quoted(folder)} either"
    for meant in get_close_matches(name, there, n=1, cutoff=0.75):
        return f"did you mean {quoted(os.path.join(folder, meant))}?"
    return f"name a file that is there ({' '.join(FILES)}), or give a number"
