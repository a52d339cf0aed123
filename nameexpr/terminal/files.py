"""Read arrays from .npy, .npz and .csv files, and from standard input. Nothing is ever unpickled.

The suffix determines the format of a file; without one of these suffixes, and on standard input, its first
bytes do. The size in a header is compared with the size of the file before memory is allocated.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from typing import IO, Any

import numpy as np

from nameexpr.terminal.faults import FileError, harmless, quoted, reason, unreadable
from nameexpr.terminal.tables import Array, read_table
from nameexpr.whole_files import memory_of_machine, most_unpacked

Header = tuple[tuple[int, ...], np.dtype[Any]]
STANDARD = "-"
FILES = (".npy", ".npz", ".csv")
_SIGNS = {np.lib.format.MAGIC_PREFIX: ".npy", b"PK\x03\x04": ".npz", b"PK\x05\x06": ".npz"}
_PART = 1 << 16
_LENGTH = len(np.lib.format.MAGIC_PREFIX)


def split_key(argument: str) -> tuple[str, str | None]:
    """Split `file.npz:key` into path and key; a file of exactly that name takes precedence.

    >>> split_key("arrays.npz:weights")
    ('arrays.npz', 'weights')
    """
    head, mark, key = argument.rpartition(".npz:")
    if not mark or os.path.exists(argument):
        return argument, None
    return head + ".npz", key


def read_array(argument: str, limit: int | None = None) -> Array:
    """Read the array in a file; `-` is standard input (FileError if there is no readable array).

    Compressed data, and data from a pipe, may take no more bytes than the limit, by default the machine's
    memory.
    """
    path, key = split_key(argument)
    shown = "standard input" if path == STANDARD else quoted(path)
    most = memory_of_machine() if limit is None else limit
    with _translated(shown), _opened(path, most, shown) as stream:
        kind, length = _kind(path, stream), stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if not length:
            raise unreadable(shown, "it is empty", "write the array again")
        if kind == ".csv":
            return read_table(stream, shown)
        most = max(most, length)  # the file's own length is always allowed: the limit is for compressed data
        if kind == ".npz":
            return _read_archive(stream, key, shown, most)
        return _read_npy(stream, length, shown, most)


def read_header(argument: str) -> Array | tuple[int, ...]:
    """Read shape and dtype of the array in a file: an array whose elements need not be loaded (FileError).

    For a .npy file that is shorter than its header states, only the shape is returned.
    """
    path, _ = split_key(argument)
    shown = quoted(path)
    with _translated(shown):
        with _opened(path, memory_of_machine(), shown) as stream:
            if _kind(path, stream) != ".npy" or not os.path.isfile(path):
                return read_array(argument)
            shape, dtype = _header(stream, shown)
        if not prod(shape):
            return np.empty(shape, dtype)
        try:
            return np.lib.format.open_memmap(path, mode="r")
        except (OSError, ValueError):
            return shape


@contextmanager
def _translated(shown: str) -> Iterator[None]:
    """Translate the exceptions of NumPy, zipfile or the system about a file to a `FileError`."""
    try:
        yield
    except FileError:
        raise
    except OSError as fault:
        raise unreadable(shown, reason(fault), "check its name and permissions") from fault
    except MemoryError as fault:
        raise unreadable(shown, "it needs more memory than there is") from fault
    except Exception as fault:  # for a damaged file zipfile, zlib and NumPy raise nearly anything
        raise unreadable(shown, reason(fault), "it seems damaged: write or copy it again") from fault


@contextmanager
def _opened(path: str, most: int, shown: str) -> Iterator[IO[bytes]]:
    """Open a file that can be read twice; a stream that cannot, such as a pipe, is read into memory."""
    if path == STANDARD:
        if sys.stdin is None:
            raise FileError("standard input is closed", "give a file")
        yield _kept(sys.stdin.buffer, most, shown)
        return
    with open(path, "rb") as stream:
        is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        yield stream if is_file else _kept(stream, most, shown)


def _kept(stream: IO[bytes], most: int, shown: str) -> IO[bytes]:
    """Read a stream into memory; an endless pipe is rejected once it is too long."""
    kept = io.BytesIO()
    with suppress(OSError):
        status = os.fstat(stream.fileno())
        most = max(most, status.st_size if stat.S_ISREG(status.st_mode) else 0)
    while part := stream.read(_PART):
        if kept.tell() > most:  # by more than one part: a header may be added
            _check_fits(kept.tell() + len(part), most, shown)
        kept.write(part)
    kept.seek(0)
    return kept


def _check_fits(needed: int, most: int, shown: str) -> None:
    if needed > most:
        what = f"it takes {needed:,} bytes, and {most:,} are to be had"
        hint = "--memory-limit sets how many may be used, by default the machine's memory"
        raise unreadable(shown, what, hint)


def _kind(path: str, stream: IO[bytes]) -> str:
    suffix = os.path.splitext(path)[1].casefold()
    if suffix in FILES:
        return suffix
    start = _start(stream)
    return next((kind for sign, kind in _SIGNS.items() if start.startswith(sign)), ".csv")


def _start(stream: IO[bytes]) -> bytes:
    start = stream.read(_LENGTH)
    stream.seek(0)
    return start


def _read_npy(stream: IO[bytes], length: int, shown: str, most: int) -> Array:
    shape, dtype = _header(stream, shown)
    held, promised = length - stream.tell(), prod(shape) * dtype.itemsize
    if held < promised:
        what = f"its header promises {promised:,} bytes, {shape} of {dtype.str}, and {held:,} are there"
        raise unreadable(shown, what, "it was cut short: write or copy it again")
    _check_fits(promised, most, shown)
    stream.seek(0)
    array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _header(stream: IO[bytes], shown: str) -> Header:
    """Read shape and dtype of a .npy file, and leave the stream at the first element."""
    if _start(stream) != np.lib.format.MAGIC_PREFIX:
        raise unreadable(shown, "it is not a .npy file, despite its name", "write it with numpy.save")
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise unreadable(shown, f"it is of version {version} of the format", "write plain numbers to it")
    shape, _, dtype = readers[version](stream)
    if dtype.hasobject:
        hint = "write numbers to it: numpy.save(file, array.astype(float))"
        raise unreadable(shown, "it holds pickled objects, which may run code and are never loaded", hint)
    if any(size < 0 for size in shape) or not dtype.itemsize:
        raise unreadable(shown, f"no array has shape {shape} and dtype {dtype}", "write it again")
    return shape, dtype


def _read_archive(stream: IO[bytes], key: str | None, shown: str, most: int) -> Array:
    import zipfile  # imported here: with its dependencies it takes as long as all other imports

    if not zipfile.is_zipfile(stream):
        raise unreadable(shown, "it is not a .npz file, or was cut short", "write it with numpy.savez")
    with zipfile.ZipFile(stream) as archive:
        files = [member for member in archive.infolist() if not member.is_dir()]
        members = {file.filename.removesuffix(".npy"): file for file in files}
        member = members[_chosen(list(members), key, shown)]
        if most == memory_of_machine():  # no explicit limit was given
            most = min(most, most_unpacked(member.compress_size))
        with archive.open(member) as inner:
            return _read_npy(inner, member.file_size, shown, most)


def _chosen(keys: list[str], key: str | None, shown: str) -> str:
    """Return the requested key, or the only one."""
    if not keys:
        raise unreadable(shown, "it holds no array", "write it with numpy.savez")
    names = harmless(" ".join(keys))
    if key is None and len(keys) > 1:
        hint = f"say which: FILE.npz:{harmless(keys[0])}"
        raise FileError(f"{shown} holds {len(keys)} arrays: {names}", hint)
    if key is not None and key not in keys:
        raise FileError(f"{shown} holds no array {quoted(key)}", f"it holds {names}")
    return keys[0] if key is None else key
