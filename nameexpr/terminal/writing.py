"""Arrays into files and onto standard output. A file appears whole or not at all."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nameexpr.terminal.atomic_write import check_place
from nameexpr.terminal.faults import FileError, UsageError, quoted, reason
from nameexpr.terminal.files import FILES, STANDARD
from nameexpr.terminal.tables import MAX_DIMS, write_table
from nameexpr.whole_files import replace_file

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class OutputFile:
    """Where a result goes: the argument, the path in it, its suffix, and the key in an archive."""

    text: str
    path: str
    suffix: str
    key: str = "arr_0"  # NumPy's name for an array without one


def find_target(argument: str, *, as_json: bool = False) -> OutputFile:
    """Return where to write, before anything is computed.

    Raises
    ------
    UsageError
        If the suffix says nothing, or standard output is wanted for two things.
    FileError
        If there is no such folder.
    """
    if argument == STANDARD:
        _check_standard_output(as_json=as_json)
        return OutputFile(argument, argument, ".npy")
    head, mark, key = argument.rpartition(".npz:")
    if mark and (not key or "\0" in key):
        raise UsageError(f"{quoted(argument)} has no key", "write FILE.npz:key, or FILE.npz")
    target = OutputFile(argument, head + ".npz", ".npz", key) if mark else _plain_target(argument)
    check_place(target.path, argument)
    return target


def _plain_target(argument: str) -> OutputFile:
    suffix = os.path.splitext(argument)[1].casefold()
    if suffix not in FILES:
        hint = f"end it in {' '.join(FILES)}, or write - for standard output"
        raise UsageError(f"{quoted(argument)} does not say what kind of file to write", hint)
    return OutputFile(argument, argument, suffix)


def _check_standard_output(*, as_json: bool) -> None:
    if as_json:
        raise UsageError("--json and -o - both want standard output", "write the array to a file")
    if sys.stdout is not None and sys.stdout.isatty():
        hint = "send it on with | or >, or leave out -o to see it"
        raise UsageError("an array is not for the terminal", hint)


def write(array: Array, target: OutputFile) -> None:
    """Write an array.

    Raises
    ------
    FileError
        If it cannot be written there, or not in that format.
    """
    if target.suffix == ".csv" and (array.ndim > MAX_DIMS or not array.size):
        what = f"{array.ndim} dims" if array.size else f"no elements, of shape {array.shape}"
        hint = "write a .npy file, or merge dims in the expression: (a b)"
        raise FileError(f"cannot write {quoted(target.text)}: a .csv cannot hold {what}", hint)
    if target.path == STANDARD:
        _write_standard_output(array)
        return
    try:
        replace_file(target.path, lambda stream: _write_to(stream, array, target))
    except (OSError, ValueError) as fault:
        if isinstance(fault, BrokenPipeError):
            raise
        raise FileError(f"cannot write {quoted(target.text)}: {reason(fault)}", "write elsewhere") from fault


def _write_standard_output(array: Array) -> None:
    if sys.stdout is not None:
        sys.stdout.flush()
        _dump(sys.stdout.buffer, array)


def _write_to(stream: IO[bytes], array: Array, target: OutputFile) -> None:
    if target.suffix == ".csv":
        write_table(stream, array)
    elif target.suffix == ".npz":
        import zipfile  # late, as in `nameexpr.terminal.files`

        name = target.key + ".npy"
        with zipfile.ZipFile(stream, "w") as archive, archive.open(name, "w", force_zip64=True) as inner:
            _dump(inner, array)
    else:
        _dump(stream, array)


def _dump(stream: IO[bytes], array: Array) -> None:
    target: Any = stream if stream.seekable() else _Sink(stream)
    np.lib.format.write_array(target, array, allow_pickle=False)


class _Sink:
    """A stream that can only be written to: NumPy asks files for their position, which pipes do not have."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        """Write bytes."""
        return self._stream.write(data)
