"""The functions of `nameexpr.compat.einops` inside functions that `torch.compile` traces.

Each adds one call to the graph, which runs the pattern as usual: on fake tensors while the graph is made, and
again when the operations that it consists of are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from math import prod
from typing import Any, TypeVar

import torch

from nameexpr.compat.patterns import ELLIPSIS, read_pattern, read_side, split
from nameexpr.compat.stars import flattened

Function = TypeVar("Function", bound=Callable[..., Any])
in_graph: Callable[[Function], Function] = torch.compiler.allow_in_graph


def traced_rearrange(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """Trace `rearrange`."""
    return graphed("rearrange", (pattern,), _one(tensor), **axes_lengths)


def traced_reduce(tensor: Any, pattern: str, reduction: str, **axes_lengths: Any) -> Any:
    """Trace `reduce`."""
    return graphed("reduce", (pattern, reduction), _one(tensor), **axes_lengths)


def traced_repeat(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """Trace `repeat`."""
    return graphed("repeat", (pattern,), _one(tensor), **axes_lengths)


def traced_einsum(*tensors_and_pattern: Any) -> Any:
    """Trace `einsum`."""
    return graphed("einsum", tensors_and_pattern[-1:], *tensors_and_pattern[:-1])


def traced_pack(tensors: Sequence[Any], pattern: str) -> tuple[Any, list[tuple[int, ...]]]:
    """Trace `pack`."""
    axis, flat, shapes = flattened(tensors, pattern)
    return torch.cat(flat, dim=axis), shapes


def _one(tensor: Any) -> Any:
    """Return arrays in a list as one."""
    return torch.stack(tensor) if isinstance(tensor, list) else tensor


@in_graph
def graphed(name: str, rest: tuple[str, ...], /, *tensors: Any, **axes_lengths: Any) -> Any:
    """Return the value of a function: one node of a graph."""
    function = getattr(import_module("nameexpr.compat.einops"), name)
    if any(isinstance(size, torch.SymInt) for size in axes_lengths.values()):
        read_pattern(rest[0], rest[1] if len(rest) > 1 else name, tuple(axes_lengths))
        tensor, pattern, axes_lengths = _split(tensors[0], rest[0], axes_lengths)
        tensors, rest = (tensor,), (pattern, *rest[1:])
    return function(*tensors, *rest, **{axis: int(size) for axis, size in axes_lengths.items()})


def _split(tensor: Any, pattern: str, sizes: dict[str, Any]) -> tuple[Any, str, dict[str, Any]]:
    """Return a tensor with a dim for each axis, a pattern for it, and the sizes of other axes."""
    arrow = split(pattern)
    dims = read_side(pattern, 0, arrow)
    under = len(tensor.shape) - (len(dims) - 1)
    given, shape, words = list(tensor.shape), [], []
    for dim in dims:
        own = [axis.word for axis in dim.axes]
        if own == [ELLIPSIS]:
            shape += given[:under]
            del given[:under]
        else:
            known = [int(axis.word) if axis.is_number else sizes.get(axis.word) for axis in dim.axes]
            rest = given.pop(0) // prod([one for one in known if one is not None])
            shape += [rest if one is None else one for one in known] or [1]
        words += own or ["1"]
    left = {axis: size for axis, size in sizes.items() if axis not in words}
    return tensor.reshape(shape), f"{' '.join(words)} {pattern[arrow:]}", left
