"""einops' functions, with the same patterns, results and types of errors; einops need not be installed.

A pattern is an expression of this package: `rearrange`, `reduce` and `repeat` check it by einops' rules, and
run it as it is, on arrays of NumPy, PyTorch, JAX, Dask and the array API standard.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import Any, SupportsIndex, TypeVar, overload

import numpy as np

from nameexpr.compat.contraction import SubscriptsEntry, spelled
from nameexpr.compat.einops_errors import EinopsError, UnsupportedError
from nameexpr.compat.einsum_patterns import einsum_tree
from nameexpr.compat.packing import namespace, pack, unpack
from nameexpr.compat.patterns import (
    ARROW,
    REDUCTIONS,
    Operation,
    fault,
    read_pattern,
)
from nameexpr.compat.reducing import Mean, ReducedDots, reducer
from nameexpr.compat.shapes import asnumpy, parse_shape
from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.runtime import traced_as
from nameexpr.runtime.cache import TEXTS, others
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.entry import CallOptions

__all__ = [
    "EinopsError", "asnumpy", "einsum", "pack", "parse_shape", "rearrange", "reduce", "repeat", "unpack",
]  # fmt: skip
Array = TypeVar("Array")
_entries: dict[Any, Any] = {}
others.append(_entries)


def _trace(name: str, *args: Any, **named: Any) -> Any:
    from nameexpr.compat import traced

    return getattr(traced, f"traced_{name}")(*args, **named)


@overload
def rearrange(tensor: list[Array], pattern: str, **axes_lengths: SupportsIndex) -> Array: ...
@overload
def rearrange(tensor: Array, pattern: str, **axes_lengths: SupportsIndex) -> Array: ...
@traced_as(lambda *args, **named: _trace("rearrange", *args, **named))
def rearrange(tensor: Any, pattern: str, **axes_lengths: SupportsIndex) -> Any:
    """Return an array with its axes in another order, and split or merged; a view if there can be one.

    Parameters
    ----------
    tensor : array or list of arrays
        Arrays of a list are stacked: the first axis of the pattern is their number.
    pattern : str
        Both sides have the same axes.
    **axes_lengths : int
        Sizes of axes that the array does not determine.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or does not fit. An empty list is a TypeError.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import rearrange
    >>> rearrange(np.ones((2, 6, 3)), "b (h w) c -> (b h) w c", h=2).shape
    (4, 3, 3)
    """
    return _run(tensor, pattern, "rearrange", axes_lengths)


@overload
def reduce(
    tensor: list[Array], pattern: str, reduction: Operation, **axes_lengths: SupportsIndex
) -> Array: ...
@overload
def reduce(tensor: Array, pattern: str, reduction: Operation, **axes_lengths: SupportsIndex) -> Array: ...
@traced_as(lambda *args, **named: _trace("reduce", *args, **named))
def reduce(tensor: Any, pattern: str, reduction: Operation, **axes_lengths: SupportsIndex) -> Any:
    """Return an array rearranged, with the axes combined that the right side lacks.

    Parameters
    ----------
    tensor, pattern, **axes_lengths
        As for `rearrange`.
    reduction : {"min", "max", "sum", "mean", "prod", "any", "all"} or callable
        How they are combined; a function is called as ``f(array, axes)`` and returns the array without axes.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or does not fit. The mean of integers is a NotImplementedError.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import reduce
    >>> reduce(np.arange(8.0).reshape(2, 4), "b (t 2) -> b t", "max")
    array([[1., 3.],
           [5., 7.]])
    """
    return _run(tensor, pattern, reduction, axes_lengths)


@overload
def repeat(tensor: list[Array], pattern: str, **axes_lengths: SupportsIndex) -> Array: ...
@overload
def repeat(tensor: Array, pattern: str, **axes_lengths: SupportsIndex) -> Array: ...
@traced_as(lambda *args, **named: _trace("repeat", *args, **named))
def repeat(tensor: Any, pattern: str, **axes_lengths: SupportsIndex) -> Any:
    """Return an array rearranged, and repeated along the axes that the left side lacks.

    Parameters
    ----------
    tensor, pattern
        As for `rearrange`.
    **axes_lengths : int
        Sizes of new axes, and of those that the array does not determine.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import repeat
    >>> repeat(np.arange(2), "a -> a k", k=3)
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    return _run(tensor, pattern, "repeat", axes_lengths)


def _run(tensor: Any, pattern: str, operation: Operation, sizes: dict[str, Any]) -> Any:
    try:
        entry = _entries.get((pattern, operation, *sizes.items())) or _new(pattern, operation, sizes)
        if type(tensor) is list:
            tensor = _stacked(tensor)
        return entry.call(tensor)
    except (EinopsError, UnsupportedError) as wrong:
        wrong._forget_frames()
        raise
    except NameExprError as wrong:
        if type(tensor) is list:
            raise
        raise EinopsError(*wrong.diagnostics) from None
    except TypeError:
        if isinstance(pattern, str):
            raise
        raise _not_a_pattern(pattern) from None


def _not_a_pattern(pattern: Any) -> EinopsError:
    """Return the error for an argument that is in the place of the pattern, such as the array."""
    message = f"the pattern is a {type(pattern).__name__}, and must be a text"
    return EinopsError(Diagnostic("NE506", message, hint="the array comes first: rearrange(x, 'a b -> b a')"))


def _new(pattern: str, operation: Operation, sizes: dict[str, Any]) -> Any:
    """Return the entry of a pattern that is new."""
    if not isinstance(pattern, str):
        raise _not_a_pattern(pattern)
    if not callable(operation) and operation not in ("rearrange", "repeat", *REDUCTIONS):
        hint = did_you_mean(str(operation), REDUCTIONS) or f"one of {', '.join(REDUCTIONS)}, or a function"
        raise fault("NE202", f"there is no reduction {operation!r}", pattern, hint=hint)
    checked = read_pattern(pattern, operation, tuple(sizes))
    given = tuple([(name, index(size)) for name, size in sizes.items()])
    entry: Any = find_entry(pattern, CallOptions(given, reduce=reducer(checked, operation)).or_none)
    if checked.is_reduced and operation == "mean":
        entry = Mean(entry)
    if checked.reduced_dots is not None:
        start, stop = checked.reduced_dots
        rest = find_entry(pattern[:start] + pattern[stop:], CallOptions(given).or_none)
        entry = ReducedDots(entry, rest, len(checked.left) - 1)
    if len(_entries) >= TEXTS:
        _entries.clear()
    _entries[(pattern, operation, *sizes.items())] = entry
    return entry


def _stacked(arrays: list[Any]) -> Any:
    """Return a list of arrays as one, along a new first axis."""
    if not arrays:
        hint = "give at least one array"
        raise error(Diagnostic("NE501", "an empty list cannot be rearranged", hint=hint))
    return namespace(arrays[0]).stack(arrays)


@traced_as(lambda *args: _trace("einsum", *args))
def einsum(*tensors_and_pattern: Any) -> Any:
    """Return the sum of products that a pattern describes; arrays come first, then the pattern.

    Parameters
    ----------
    *tensors_and_pattern : array, ..., str
        The arrays, and a pattern of names and ``...``; axes that the result lacks are summed.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or does not fit. Groups and numbers are a NotImplementedError.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import einsum
    >>> einsum(np.ones((4, 2, 3)), np.ones((5, 3)), "... d, out d -> ... out").shape
    (4, 2, 5)
    """
    *tensors, pattern = tensors_and_pattern or ("",)
    try:
        entry = _entries.get(pattern) if type(pattern) is str else None
        if entry is None or not tensors:
            entry = _new_einsum(tensors, pattern)
        return entry.call(*tensors)
    except (EinopsError, UnsupportedError) as wrong:
        wrong._forget_frames()
        raise
    except NameExprError as wrong:
        raise EinopsError(*wrong.diagnostics) from None


def _new_einsum(tensors: Sequence[Any], pattern: Any) -> SubscriptsEntry:
    """Return the entry of a pattern of `einsum` that is new."""
    if not tensors:
        message = "`einops.einsum` takes the arrays, at least one, and then the pattern"
        raise EinopsError(Diagnostic("NE501", message, hint="einsum(x, y, 'a b, b c -> a c')"))
    if not isinstance(pattern, str):
        message = f"The last argument is a {type(pattern).__name__}, and must be the pattern"
        raise EinopsError(Diagnostic("NE506", message, hint="einsum(x, y, 'a b, b c -> a c')"))
    if ARROW not in pattern:
        hint = "write the result: i j -> i"
        raise EinopsError(Diagnostic("NE218", "Einsum pattern without an arrow", pattern, hint=hint))
    tree = einsum_tree(pattern)
    peer = partial(np.einsum, spelled(tree))
    _entries[pattern] = entry = SubscriptsEntry(tree, peer, is_general=True)
    return entry
