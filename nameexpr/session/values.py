"""Values of a session, and how they are shown: tensors with a preview, all else by its repr.

>>> import nameexpr as ne
>>> print(described(ne.ones(2, 3, names="N C")))
N=2, C=3  float64
>>> print(described(ne.tensor(2.5)))
a number  float64
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.carets import visible
from nameexpr.runtime.check import Sizes
from nameexpr.tensors import NamedTensor, as_tensor

WHOLE = 60
"""Elements that are shown before the middle of a tensor is left out."""
EDGE = 3
PAGE = 2
"""Dims of which all is shown; of a large tensor with more the first page is."""
LONGEST = 4000
NUMBERS = (bool, int, float, complex)


def is_tensor_like(value: object) -> bool:
    """Return whether a value of Python's becomes a tensor of the session: arrays of numbers, numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, NamedTensor) or type(value) in NUMBERS


def as_named(value: Any, names: object = None) -> NamedTensor:
    """Return a value as a tensor; an array keeps its memory.

    Raises
    ------
    NameExprError
        If it is no array, or does not have as many dims as there are names.
    """
    if isinstance(value, NamedTensor) and names is None:
        return value
    return as_tensor(value.data if isinstance(value, NamedTensor) else value, names=names)


def dims_text(names: tuple[str | None, ...] | None, shape: tuple[int, ...]) -> str:
    """Return names and sizes on one line.

    >>> dims_text(("N", None), (2, 3)), dims_text(None, ())
    ('N=2, 3', 'a number')
    """
    if not shape:
        return "a number"
    pairs = zip(names or (None,) * len(shape), shape, strict=True)
    return ", ".join(f"{visible(name)}={size}" if name else str(size) for name, size in pairs)


def described(tensor: NamedTensor) -> str:
    """Return names, sizes and dtype of a tensor on one line."""
    return f"{dims_text(tensor.names, tensor.shape)}  {tensor.dtype}"


def shown(value: object, precision: int = 4) -> str:
    r"""Return a value as text to read: harmless, and not too long.

    >>> print(shown(np.ones(3) / 3), shown("a\x1b[31m"), shown(Sizes({"N": 2}, {"batch": (2, 3)})))
    array([0.3333, 0.3333, 0.3333]) 'a\x1b[31m' N=2, batch...=(2, 3)
    """
    if isinstance(value, Sizes):
        packs = [f"{name.removesuffix('...')}...={shape}" for name, shape in value.packs.items()]
        return (
            visible(", ".join([*(f"{label}={size}" for label, size in value.items()), *packs]))
            or "the shapes fit"
        )
    with np.printoptions(threshold=WHOLE, edgeitems=EDGE, precision=precision):
        text = _slice_text(value) if _is_deep(value) else repr(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    return visible(text)


def _is_deep(value: object) -> bool:
    return isinstance(value, NamedTensor) and value.ndim > PAGE and value.numel() > WHOLE


def _slice_text(tensor: Any) -> str:
    """Return the first page of a tensor of many dims, and which one it is."""
    outer = tensor.ndim - PAGE
    place = ", ".join(f"{name or dim}: 0" for dim, name in enumerate(tensor.names[:outer]))
    return f"{described(tensor)}, the first page, {place}\n{np.array2string(tensor.data[(0,) * outer])}"
