"""Files: `save` writes tensors with their names into one `.npz`, `load` reads them back. No pickle, ever.

The archive holds one array per tensor and one entry, `__names__`, with names and dtypes as JSON text,
so that `numpy.load` reads the arrays too.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from os import PathLike, fspath
from typing import Any

import numpy as np

from nameexpr.dims import dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.calls import shown
from nameexpr.inference.targets import checked_names
from nameexpr.tensors.coerce import bfloat16
from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, wrap

_HEADER = "__names__"
_ONLY = "tensor"

Path = str | PathLike[str]


def save(path: Path, *tensor: Any, **tensors: Any) -> None:
    """Write one tensor, or several by keyword, into a `.npz` file.

    Parameters
    ----------
    path
        Where to; the name must end in `.npz`.
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
    _check_ending(path)
    if len(tensor) > 1 or bool(tensor) == bool(tensors):
        hint = "save(path, x) for one, save(path, x=x, y=y) for several"
        raise error(Diagnostic("NE684", "save takes one tensor, or several by keyword", hint=hint))
    named = {_ONLY: tensor[0]} if tensor else tensors
    checked = {name: _storable(name, value) for name, value in named.items()}
    entries = {name: {"names": x.names, "dtype": x.dtype.name} for name, x in checked.items()}
    header = np.array(json.dumps({"only": bool(tensor), "tensors": entries}))
    with zipfile.ZipFile(fspath(path), "w") as archive:
        for name, array in [(_HEADER, header), *((name, _plain(x)) for name, x in checked.items())]:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _storable(name: str, value: Any) -> NamedTensor:
    tensor = as_tensor(value)
    if tensor.dtype.hasobject or name == _HEADER or not name.isidentifier():
        message = f"save: {shown(name)} cannot be stored"
        hint = "a tensor is stored under an identifier, and its elements are numbers"
        raise error(Diagnostic("NE684", message, hint=hint))
    return tensor


def _plain(x: NamedTensor) -> Any:
    """Return the array; bfloat16, which NumPy does not know, as integers of the same bits."""
    return x.numpy().view(np.uint16) if x.dtype.name == "bfloat16" else x.numpy()


def _check_ending(path: Path) -> None:
    if not str(fspath(path)).endswith(".npz"):
        hint = "np.save(path, x.numpy()) writes the array alone" if str(path).endswith(".npy") else ""
        message = f"save writes .npz files, which hold names too, not {shown(fspath(path))}"
        raise error(Diagnostic("NE684", message, hint=hint))


def load(path: Path) -> Any:
    """Return the tensor that `save` wrote, or a dict of those that it wrote by keyword.

    Nothing in the file is executed. Names are checked as if they were given anew.

    Raises
    ------
    OptionError
        NE685, if the file was not written by `save`.
    OSError
        If it cannot be read.

    Examples
    --------
    See `save`.
    """
    try:
        with open(fspath(path), "rb") as file, np.load(file, allow_pickle=False) as archive:
            header = json.loads(str(archive[_HEADER]))
            entries = header["tensors"].items()
            tensors = {name: _named(archive[name], entry) for name, entry in entries}
            return tensors[_ONLY] if header["only"] is True else tensors
    except NameExprError:
        raise
    except _DAMAGE as fault:
        message = f"{shown(fspath(path))} is no archive that nameexpr.save wrote, or is damaged"
        hint = "from_numpy(np.load(path), names=...) takes plain arrays"
        raise error(Diagnostic("NE685", message, hint=hint)) from fault


_DAMAGE = (
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    RecursionError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a file that is damaged, or made with ill intent, raises in json, zipfile, zlib and NumPy."""


def _named(array: Any, entry: Any) -> NamedTensor:
    data = array.view(bfloat16()) if entry["dtype"] == "bfloat16" else array
    return wrap(data, checked_names(entry["names"], dims_of((None,) * data.ndim, data.shape)))
