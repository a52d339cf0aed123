"""Files: `save` writes tensors with their names into one `.npz`, `load` reads them back. No pickle, ever.

The archive holds one array per tensor and one entry, `__names__`, with the names of all as JSON text, so that
`numpy.load` reads the arrays too.
"""

from __future__ import annotations

import json
import zipfile
from os import PathLike, fspath
from typing import Any

import numpy as np

from nameexpr.dims import dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.calls import shown
from nameexpr.inference.targets import checked_names
from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, wrap

_NAMES = "__names__"
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
    checked = {name: as_tensor(value) for name, value in named.items()}
    for name, value in checked.items():
        if value.dtype.kind == "O" or name == _NAMES:
            message = (
                f"save: {name!r} cannot be stored: its elements are Python objects, or its name is taken"
            )
            raise error(Diagnostic("NE684", message))
    names = json.dumps({"only": bool(tensor), "names": {name: x.names for name, x in checked.items()}})
    arrays = {name: x.numpy() for name, x in checked.items()}
    np.savez(fspath(path), allow_pickle=False, **{_NAMES: np.array(names)}, **arrays)


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
        with np.load(fspath(path), allow_pickle=False) as archive:
            header = json.loads(str(archive[_NAMES]))
            tensors = {name: _named(archive[name], names) for name, names in header["names"].items()}
            return tensors[_ONLY] if header["only"] is True else tensors
    except (KeyError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as fault:
        if isinstance(fault, NameExprError):
            raise
        message = f"{shown(fspath(path))} was not written by nameexpr.save: {fault}"
        hint = "from_numpy(np.load(path), names=...) takes plain arrays"
        raise error(Diagnostic("NE685", message, hint=hint)) from fault


def _named(array: Any, names: Any) -> NamedTensor:
    return wrap(array, checked_names(names, dims_of((None,) * array.ndim, array.shape)))
