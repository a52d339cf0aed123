"""Files: `save` writes tensors with their names into one `.npz`, `load` reads them back. No pickle, ever.

The archive holds one array per tensor and one entry, `__names__`, with names and dtypes as JSON text,
so that `numpy.load` reads the arrays too.
"""

from __future__ import annotations

import errno
import json
import zipfile
import zlib
from math import prod
from os import PathLike, fspath
from typing import IO, Any

import numpy as np

from nameexpr.dims import dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import shown
from nameexpr.rules.targets import checked_names
from nameexpr.tensors.arguments import bfloat16
from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, wrap
from nameexpr.tensors.ops import checked
from nameexpr.whole_files import memory_of_machine, most_unpacked, replace_file

_HEADER = "__names__"
_ONLY = "tensor"

Path = str | PathLike[str]


@checked
def save(path: Path, *tensor: Any, **tensors: Any) -> None:
    """Write one tensor, or several by keyword, into a `.npz` file; if that fails, the file is unchanged.

    Parameters
    ----------
    path
        The file; its name must end in `.npz`.
    *tensor, **tensors
        `save(path, x)` writes one, `save(path, x=x, y=y)` several. Arrays are written without names.

    Raises
    ------
    OptionError
        NE684 for another ending (`.npy` would lose the names), or no tensor, or arrays of Python objects.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile, nameexpr as ne
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npz")
    >>> save(path, ne.tensor([1, 2], names="N"))
    >>> load(path)
    tensor([1, 2], names=('N',), shape=(2,))
    """
    if not str(fspath(path)).endswith(".npz"):
        hint = "np.save(path, x.numpy()) writes the array alone" if str(path).endswith(".npy") else ""
        message = f"save writes .npz files, which hold names too, not {shown(fspath(path))}"
        raise error(Diagnostic("NE684", message, hint=hint))
    if len(tensor) > 1 or bool(tensor) == bool(tensors):
        hint = "save(path, x) for one, save(path, x=x, y=y) for several"
        raise error(Diagnostic("NE684", "save takes one tensor, or several by keyword", hint=hint))
    checked = {}
    for name, value in ({_ONLY: tensor[0]} if tensor else tensors).items():
        x = as_tensor(value).detach()
        checked[name] = x = x if x._kernels is None else wrap(x.numpy(), x.names)
        if x.dtype.hasobject or name == _HEADER or not name.isidentifier():
            message = f"save: {shown(name)} cannot be stored"
            hint = "a tensor is stored under an identifier, and its elements are numbers"
            raise error(Diagnostic("NE684", message, hint=hint))
    entries = {name: {"names": x.names, "dtype": x.dtype.name} for name, x in checked.items()}
    header = np.array(json.dumps({"only": bool(tensor), "tensors": entries}))
    arrays = {_HEADER: header, **{name: _plain(x) for name, x in checked.items()}}
    replace_file(fspath(path), lambda stream: _write(stream, arrays))


def _write(stream: IO[bytes], arrays: dict[str, Any]) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _plain(x: NamedTensor) -> Any:
    """Return the array; bfloat16, which NumPy does not define, as integers of the same bits."""
    return x.numpy().view(np.uint16) if x.dtype.name == "bfloat16" else x.numpy()


@checked
def load(path: Path) -> Any:
    """Return the tensor that `save` wrote, or a dict of those that it wrote by keyword.

    Nothing in the file is executed. Names are checked as if they were new, and before memory is allocated,
    the size in each array's header is compared with that of its entry and of the machine.

    Raises
    ------
    OptionError
        NE685 if the file was not written by `save`.
    LimitError
        NE707 if it contains more than fits into this machine's memory.
    OSError
        If it cannot be read.

    Examples
    --------
    See `save`.
    """
    try:
        with open(fspath(path), "rb") as file, zipfile.ZipFile(file) as archive:
            header = json.loads(str(_array(archive, _HEADER)))
            entries = header["tensors"].items()
            tensors = {name: _named(_array(archive, name), entry) for name, entry in entries}
            return tensors[_ONLY] if header["only"] is True else tensors
    except NameExprError:
        raise
    except (*_DAMAGE, OSError) as fault:
        if isinstance(fault, OSError) and fault.errno != errno.EINVAL:  # from an invalid seek, in zipfile
            raise
        message = f"{shown(fspath(path))} is not an archive that nameexpr.save wrote, or is damaged"
        hint = "from_numpy(np.load(path), names=...) takes plain arrays"
        raise error(Diagnostic("NE685", message, hint=hint)) from fault


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    """Return an array of an archive, whose header must agree with the size of its entry."""
    member = archive.getinfo(f"{name}.npy")
    if member.file_size > memory_of_machine():
        message = f"load: {shown(name)} needs {member.file_size:,} bytes, more than this machine's memory"
        hint = "np.load(path, mmap_mode='r') reads parts of .npy files"
        raise error(Diagnostic("NE707", message, hint=hint))
    if member.file_size > most_unpacked(member.compress_size):
        raise ValueError(f"{name} would unpack to {member.file_size} bytes, and save packs nothing")
    with archive.open(member) as entry:
        read_header = _HEADERS.get(np.lib.format.read_magic(entry))
        if read_header is not None:
            shape, _, dtype = read_header(entry)
            if prod(shape) * dtype.itemsize != member.file_size - entry.tell():
                raise ValueError(f"the header of {name} promises {shape} of {dtype}")
    with archive.open(member) as entry:
        return np.lib.format.read_array(entry, allow_pickle=False)


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""Readers of the headers of numeric arrays; version 3 is for records with field names beyond Latin-1."""

_DAMAGE = (
    *(KeyError, ValueError, TypeError, AttributeError, EOFError, MemoryError, RecursionError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""The exceptions of json, zipfile, zlib and NumPy for a damaged or malicious file."""


def _named(array: Any, entry: Any) -> NamedTensor:
    data = array.view(bfloat16()) if entry["dtype"] == "bfloat16" else array
    return wrap(data, checked_names(entry["names"], dims_of((None,) * data.ndim, data.shape)))
