"""Output of arrays: into files, onto standard output, and as a report with a preview.

A file is written completely or not at all.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from typing import IO, Any, NamedTuple

import numpy as np

from nameexpr.carets import aligned_columns, visible
from nameexpr.compiler.ir.axes import Names
from nameexpr.terminal.arguments import check_place
from nameexpr.terminal.faults import FileError, UsageError, quoted, reason
from nameexpr.terminal.files import FILES, STANDARD
from nameexpr.terminal.screen import Report
from nameexpr.terminal.tables import MAX_DIMS, Array, write_table
from nameexpr.whole_files import replace_file

WHOLE = 200
"""The number of elements from which the middle of an array is left out."""

SMALL = 1000
"""The largest number of elements in JSON."""

SHOWN_DIMS = 4
EDGES = {1: 3, 2: 3, 3: 2}


class OutputFile(NamedTuple):
    """The destination of a result: the argument, the path in it, its suffix, and the key in an archive."""

    text: str
    path: str
    suffix: str
    key: str = "arr_0"  # NumPy's name for an array without one


def find_target(argument: str, *, as_json: bool = False) -> OutputFile:
    """Determine where to write, before anything is computed (UsageError, or FileError if there is no such
    folder).
    """
    if argument == STANDARD:
        if as_json:
            raise UsageError("--json and -o - both want standard output", "write the array to a file")
        if sys.stdout is not None and sys.stdout.isatty():
            hint = "send it on with | or >, or leave out -o to see it"
            raise UsageError("an array is not for the terminal", hint)
        return OutputFile(argument, argument, ".npy")
    head, mark, key = argument.rpartition(".npz:")
    if mark and (not key or "\0" in key):
        raise UsageError(f"{quoted(argument)} has no key", "write FILE.npz:key, or FILE.npz")
    suffix = os.path.splitext(argument)[1].casefold()
    if not mark and suffix not in FILES:
        hint = f"end it in {' '.join(FILES)}, or write - for standard output"
        raise UsageError(f"{quoted(argument)} does not say what kind of file to write", hint)
    target = OutputFile(argument, argument, suffix)
    if mark:
        target = OutputFile(argument, head + ".npz", ".npz", key)
    check_place(target.path, argument)
    return target


def write(array: Array, target: OutputFile) -> None:
    """Write an array (FileError if it cannot be written there, or not in that format)."""
    if target.suffix == ".csv" and (array.ndim > MAX_DIMS or not array.size):
        what = f"{array.ndim} dims" if array.size else f"no elements, of shape {array.shape}"
        hint = "write a .npy file, or merge dims in the expression: (a b)"
        raise FileError(f"cannot write {quoted(target.text)}: a .csv cannot hold {what}", hint)
    if target.path == STANDARD:
        if sys.stdout is not None:
            sys.stdout.flush()
            _dump(sys.stdout.buffer, array)
        return
    try:
        replace_file(target.path, lambda stream: _write_to(stream, array, target))
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise FileError(f"cannot write {quoted(target.text)}: {reason(fault)}", "write elsewhere") from fault


def _write_to(stream: IO[bytes], array: Array, target: OutputFile) -> None:
    if target.suffix == ".csv":
        write_table(stream, array)
    elif target.suffix == ".npz":
        import zipfile  # imported here, as in `nameexpr.terminal.files`

        name = target.key + ".npy"
        with zipfile.ZipFile(stream, "w") as archive, archive.open(name, "w", force_zip64=True) as inner:
            _dump(inner, array)
    else:
        _dump(stream, array)


def _dump(stream: IO[bytes], array: Array) -> None:
    target: Any = stream if stream.seekable() else _Sink(stream.write)
    np.lib.format.write_array(target, array, allow_pickle=False)


class _Sink(NamedTuple):
    """A write-only stream: NumPy asks files for their position, which pipes do not have."""

    write: Callable[[bytes], int]


def of_array(array: Array, names: Names, output: str | None = None) -> Report:
    """Report shape, names and dtype of an array with a preview, unless it is written to a file; as data, its
    elements if they are few.
    """
    is_told = output is None and array.size <= SMALL
    data = {"shape": array.shape, "names": names, "dtype": str(array.dtype)}
    whole = {**data, "data": _plain(array.tolist()) if is_told else None, "output": output}
    head = [[name, str(value)] for name, value in data.items()]
    text = "" if output is not None else "\n".join([*aligned_columns(head), preview(array)])
    return Report(text, whole)


def preview(array: Array) -> str:
    """Preview an array in a few lines: its edges if it is large, one corner if it has many dims."""
    if array.size <= WHOLE:
        return visible(np.array2string(array, threshold=WHOLE))
    extra = max(0, array.ndim - SHOWN_DIMS)
    corner = array[(0,) * extra]
    head = f"the first of many, [{'0, ' * extra}...]:\n" if extra else ""
    edge = next((items for ndim, items in EDGES.items() if corner.ndim <= ndim), 1)
    return head + visible(np.array2string(corner, threshold=WHOLE if not extra else 0, edgeitems=edge))


def _plain(value: Any) -> Any:
    """Convert nested lists to the types of JSON: nan and inf to strings, complex numbers to pairs."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
