"""New tensors from the sizes of their dims: `x = randn(N=2, C=3)`, `i = arange(N=4, dtype=int32)`.

>>> from nameexpr.session.lines import read_line
>>> make(read_line("x = arange(N=2, C=3)"), limit=10**6)
tensor([[0, 1, 2],
        [3, 4, 5]], names=('N', 'C'), shape=(2, 3))
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np

import nameexpr as ne
from nameexpr.dims import normalised
from nameexpr.pictures.words import bytes_text
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Make, Word
from nameexpr.tensors import NamedTensor

_PIECE = re.compile(r"([^\s=]+)\s*=\s*(\S+)")
_SIZE = re.compile(r"[0-9]{1,15}", re.ASCII)


def make(line: Make, *, limit: int) -> NamedTensor:
    """Return the tensor that a line makes.

    Raises
    ------
    LineError
        If a piece is no size, or the tensor would not fit into `limit` bytes.
    NameExprError
        If the names are none that dims can have.
    """
    sizes, dtype = read_pieces(line)
    needed = prod(sizes.values()) * (dtype or np.dtype(float)).itemsize
    if needed > limit:
        hint = "take smaller sizes, or allow more: :set memory_limit 8GB"
        raise LineError(
            f"{line.target} would take {bytes_text(needed)}, and the limit is {bytes_text(limit)}", hint=hint
        )
    return _filled(line.factory, tuple(sizes), tuple(sizes.values()), dtype)


def read_pieces(line: Make) -> tuple[dict[str, int], np.dtype[Any] | None]:
    """Return the sizes by name, and the dtype if one is given.

    Raises
    ------
    LineError
        If a piece is neither.
    """
    sizes: dict[str, int] = {}
    dtype = None
    for piece in line.pieces:
        name, value = _pair(line, piece)
        if name == "dtype" and not _SIZE.fullmatch(value):
            dtype = _dtype(line, piece, value)
        elif not _SIZE.fullmatch(value):
            raise _wrong(line, piece, f"'{value}' is no size")
        elif name in sizes:
            raise _wrong(line, piece, f"the dim '{name}' is given twice")
        else:
            sizes[name] = int(value)
    return sizes, dtype


def _pair(line: Make, piece: Word) -> tuple[str, str]:
    found = _PIECE.fullmatch(piece.text)
    if found is None:
        raise _wrong(line, piece, f"'{piece.text}' is no named size")
    return normalised(found[1]), found[2]


def _dtype(line: Make, piece: Word, value: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(value.strip("'\""))
    except (TypeError, ValueError, SyntaxError):
        raise _wrong(line, piece, f"'{value}' is no dtype", "such as dtype=float32") from None
    if dtype.kind not in "biufc" or (line.factory in ("rand", "randn") and dtype.kind != "f"):
        raise _wrong(
            line, piece, f"{line.factory} makes no numbers of dtype {dtype}", "such as dtype=float32"
        )
    return dtype


def _wrong(line: Make, piece: Word, message: str, hint: str = "") -> LineError:
    example = f"names and whole numbers: {line.target} = {line.factory}(N=2, C=3)"
    return LineError(f"{line.factory}: {message}", hint=hint or example)


def _filled(factory: str, names: tuple[str, ...], shape: tuple[int, ...], dtype: Any) -> NamedTensor:
    given = names or None
    if factory == "arange":
        counted = np.arange(prod(shape), dtype=dtype).reshape(shape)
        return ne.as_tensor(counted, names=given)
    made: NamedTensor = getattr(ne, factory)(shape, names=given, dtype=dtype)
    return made
