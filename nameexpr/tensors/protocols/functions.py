"""NumPy's functions on tensors: `np.mean(x, axis="C")` is NumPy's mean, and keeps the names that it should.

The table is `nameexpr.tensors.protocols.calls.TABLE`; its entries stand in `single` and `several`. Values,
dtypes, defaults and warnings are those of NumPy's function, which differ from PyTorch's here and there:
`np.std(x)` divides by n, `np.median(x)` averages two values, `np.mean` of integers is a float.
Whatever is not in the table would lose names, and is refused with the way out.

>>> import numpy as np
>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2], [3, 5]], names="N C")
>>> np.mean(x, axis="C")
tensor([1.5, 4. ], names=('N',), shape=(2,))
>>> np.concatenate([x, x], axis="C").shape
(2, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from nameexpr.tensors.core import Core
from nameexpr.tensors.protocols import several, single
from nameexpr.tensors.protocols.calls import FAULTS, TABLE, FunctionCall, spelt
from nameexpr.tensors.protocols.operands import nameless

ENTRIES = (single, several)
"""The modules that fill the table."""

HINTS: dict[str, str] = {
    "einsum": "ne.einsum takes tensors, and names of more than one letter",
    "einsum_path": "ne.einsum takes tensors, and finds a path itself",
    "reshape": "flatten and unflatten merge and split dims by name",
    "ravel": "x.flatten(dims, name) merges dims into one with a name",
    "resize": "flatten and unflatten merge and split dims by name",
    "save": "ne.save(file, x) keeps the names",
    "savez": "ne.save(file, x) keeps the names",
    "savez_compressed": "ne.save(file, x) keeps the names",
    "copyto": "x[...] = value writes into x, and x.copy_(value) too",
    "put": "x[index] = value writes into x",
    "putmask": "x.masked_fill_(mask, value) writes into x",
    "place": "x.masked_fill_(mask, value) writes into x",
    "nonzero": "x.numpy().nonzero() gives positions, which have no names",
}


def apply_function(
    func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Return what a function of NumPy gives for arguments one of which is a NamedTensor.

    NotImplemented, if one is of a type with a protocol of its own, which NumPy asks then.

    Raises
    ------
    OptionError
        NE658 for a function that knows no names, NE660 for an `out=` that is no NamedTensor, NE661 for
        arguments that NumPy refuses.
    """
    if func in PLAIN and len(args) == len(kwargs) == 1 and type(args[0]) is Core._tensor_class:
        made = _reduced_by_name(func, args[0], kwargs.get("axis"))
        if made is not None:
            return made
    if any(map(_is_foreign, types)):
        return NotImplemented
    entry = TABLE.get(func)
    if entry is None:
        name = spelt(func)
        raise nameless(name, HINTS.get(name.removeprefix("np."), ""))
    return entry(FunctionCall(func, args, kwargs))


PLAIN = frozenset({np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all})
"""Reductions that give an array without the dim of `axis=`, and nothing else to look at."""


def _reduced_by_name(func: Callable[..., Any], x: Core, axis: Any) -> Core | None:
    """Return np.mean(x, axis="C"), as most calls are; None where the long way must say what is wrong."""
    names, data = x._names, x._data
    if type(axis) is not str or axis not in names or not data.size:
        return None
    at = names.index(axis)
    try:
        reduced = np.asarray(func(data, axis=at))
    except FAULTS:
        return None
    return Core._tensor_class._wrap(reduced, names[:at] + names[at + 1 :])


def _is_foreign(kind: type) -> bool:
    if issubclass(kind, Core):
        return False
    return getattr(kind, "__array_function__", None) is not np.ndarray.__array_function__
