"""Operands of a text on Dask: what is lazy, what is in memory, and their names.

The rules for operands are those of NumPy arrays: each lazy array is checked as an array of its shape and
dtype that takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array

from nameexpr.backends.dask.steps import Stored
from nameexpr.errors import Diagnostic, error
from nameexpr.records import record
from nameexpr.runtime.operands import array_of
from nameexpr.syntax.ast import Expression
from nameexpr.tensors import NamedTensor, wrap

LARGEST = 10_000_000
"""The bytes of the largest NumPy array that is put into a graph, which goes to the scheduler as a whole."""


@record
class Given:
    """The operands: arrays to read, and `samples` of the same shapes, dtypes and names without memory."""

    arrays: tuple[Any, ...]
    samples: tuple[Any, ...]
    has_labels: bool

    def stored(self, unwrapped: Sequence[Any]) -> tuple[Stored, ...]:
        """Return the operands as steps read them; `unwrapped` are the samples as arrays and numbers."""
        return tuple([_stored(array, one) for array, one in zip(self.arrays, unwrapped, strict=True)])


def read_operands(tree: Any, operands: Sequence[Any]) -> Given:
    """Return what a text on Dask arrays is called with (NE503, NE507, NE510)."""
    arrays: list[Any] = []
    samples: list[Any] = []
    for position, operand in enumerate(operands):
        title = _title(tree, position)
        array = lazy_array(operand)
        arrays.append(array)
        if array is None:
            _check_small(operand, title, tree.text)
            samples.append(operand)
            continue
        _check_known(array, title, tree.text)
        _check_blocks(array, title, tree.text)
        samples.append(_sample_of(operand, array))
    has_labels = any(map(is_data_array, operands))
    for position, operand in enumerate(operands):
        if not has_labels and isinstance(operand, NamedTensor) and lazy_array(operand) is None:
            raise error(_named(_title(tree, position), tree.text))
    return Given(tuple(arrays), tuple(samples), has_labels)


def _named(title: str, text: str) -> Diagnostic:
    message = f"{title} is a NamedTensor of NumPy, among Dask arrays"
    hint = "ne.tensor(da.from_array(x.data), names=x.names) is one of Dask; or pass x.data"
    return Diagnostic("NE507", message, text, hint=hint)


def _title(tree: Any, position: int) -> str:
    return f"operand {position}" if isinstance(tree, Expression) else f"'{tuple(tree.uses)[position]}'"


def lazy_array(operand: Any) -> Any:
    """Return the Dask array that an operand is, or holds; None for others."""
    if isinstance(operand, da.Array):
        return operand
    data = getattr(operand, "data", None) if is_data_array(operand) else getattr(operand, "_data", None)
    return data if isinstance(data, da.Array) else None


def is_data_array(operand: Any) -> bool:
    """Return whether an operand is a `DataArray` or a `Variable` of xarray, which may not be installed."""
    return any(
        base.__name__ in ("DataArray", "Variable") and base.__module__.partition(".")[0] == "xarray"
        for base in type(operand).__mro__
    )


def without_elements(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array that takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def _sample_of(operand: Any, array: Any) -> Any:
    empty = without_elements(array.shape, array.dtype)
    if isinstance(operand, da.Array):
        return empty
    if not is_data_array(operand):
        return wrap(empty, operand._names)
    return operand.copy(deep=False, data=empty)


def _check_known(array: Any, title: str, text: str) -> None:
    unknown = [dim for dim, size in enumerate(array.shape) if math.isnan(size)]
    if unknown:
        message = f"{title} has chunks of unknown size along dim {unknown[0]}"
        hint = "x.compute_chunk_sizes() computes the sizes"
        raise error(Diagnostic("NE510", message, text, hint=hint))


def _check_blocks(array: Any, title: str, text: str) -> None:
    kind = type(meta_from_array(array))
    if kind is not np.ndarray:
        name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        what = "da.ma.filled(x, 0)" if issubclass(kind, np.ma.MaskedArray) else "x.map_blocks(...)"
        hint = f"make them NumPy arrays: {what}"
        raise error(Diagnostic("NE503", f"the chunks of {title} are of class {name}", text, hint=hint))


def _check_small(operand: Any, title: str, text: str) -> None:
    size = getattr(operand, "nbytes", 0)
    if size > LARGEST:
        message = f"{title} is an array in memory of {size:,} bytes, among Dask arrays"
        hint = f"above {LARGEST:,} bytes, make it one, in chunks: da.from_array(x, chunks=...)"
        raise error(Diagnostic("NE507", message, text, hint=hint))


def _stored(array: Any, unwrapped: Any) -> Stored:
    """Return an operand as steps read it, its labels unknown: small arrays become part of the graph."""
    if array is None:
        array = array_of(unwrapped)
        if not isinstance(array, np.ndarray):
            return Stored(array, (), votes=False)
        return Stored(da.from_array(array, chunks=-1), (), votes=False)
    return Stored(array, ())
