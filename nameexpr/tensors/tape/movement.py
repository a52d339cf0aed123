"""The derivatives of views, copies and conversions: gradients go back the way that elements came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.rules.calls import ShownCall, positions
from nameexpr.tensors.ops import checked
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Scattered
from nameexpr.tensors.tape.pointwise import same
from nameexpr.tensors.tape.recording import Tracked, attached
from nameexpr.tensors.tape.texts import Vjp

VIEWS: dict[str, Callable[..., Any]] = {}
"""The rules of methods whose results share memory with their operand, or may do so."""
COPIES: dict[str, Callable[..., Any]] = {
    name: lambda y, x, *args, **kwargs: same
    for name in ("clone", "copy", "contiguous", "to", "type_as", "astype", "type", "__copy__", "cpu")
}
"""Those of copies, in any dtype: the backward pass converts gradients to that of the operand."""
COPIES |= dict.fromkeys(("half", "float", "double", "bfloat16"), COPIES["to"])


def rule(names: str, table: dict[str, Any] = VIEWS) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that enters a rule into a table under the names of methods."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        table.update(dict.fromkeys(names.split(), function))
        return function

    return enter


@rule("squeeze unsqueeze rename refine_names drop_coords")
def _reshaped(y: Any, x: Any, *args: Any, **kwargs: Any) -> Vjp:
    """Give the gradient the sizes of the operand: the order of elements is the same."""
    shape = x._data.shape
    return lambda g: g.reshape(shape)


@rule("expand")
def _expanded(y: Any, x: Any, *sizes: Any) -> Vjp:
    """Pass the gradient on: the backward pass sums it over repeated dims."""
    return same


@rule("diagonal")
def _diagonal(y: Any, x: Any, offset: int = 0, dim1: Any = 0, dim2: Any = 1) -> Vjp:
    a, b = positions(x._dims, ShownCall("diagonal", (dim1, dim2), (x._dims,)))
    shape = x._data.shape
    limit = max(shape)
    offset = min(max(int(offset), -limit), limit)

    def vjp(g: Any) -> Any:
        whole = np.zeros(shape, g.dtype)
        part = whole.diagonal(offset, a, b)
        part.flags.writeable = True
        part[...] = g
        return whole

    return vjp


@rule("diff", COPIES)
def _diff(y: Any, x: Any, n: Any = 1, dim: Any = -1) -> Vjp:
    n, dim = (1, n) if isinstance(n, str) else (n, dim)
    at, times, shape = x._position(dim, "diff"), int(n), x._data.shape
    if times >= shape[at] and times:
        return lambda g: np.zeros(shape, g.dtype)

    def vjp(g: Any) -> Any:
        zero = np.zeros((), g.dtype)
        for _ in range(times):
            g = -np.diff(g, axis=at, prepend=zero, append=zero)
        return g

    return vjp


@rule("flip")
def _flip(y: Any, x: Any, *dims: Any) -> Vjp:
    axes = x._axes(dims[0] if len(dims) == 1 else dims, "flip")
    return lambda g: np.flip(g, axes)


@rule("roll", COPIES)
def _roll(y: Any, x: Any, shifts: Any, dims: Any = None) -> Vjp:
    back = tuple(-shift for shift in shifts) if isinstance(shifts, list | tuple) else -shifts
    if dims is None:
        total = sum(back) if isinstance(back, tuple) else back
        return lambda g: np.roll(g, total)
    axes = x._axes(dims, "roll")
    return lambda g: np.roll(g, back, axes)


class Moved(Tracked):
    """What the methods of plain tensors that return views call."""

    __slots__ = ()

    def _ordered(self, order: Any) -> Any:
        return self._viewed("permute", super()._ordered(order), reordered(order))  # type: ignore[misc]

    def _swapped(self, a: int, b: int) -> Any:
        return self._viewed("transpose", super()._swapped(a, b), lambda g: g.swapaxes(a, b))  # type: ignore[misc]

    def _aligned(self, alignment: Any) -> Any:
        order = [at for at in alignment.order if at is not None]
        moved, back = [self._data.shape[at] for at in order], reordered(order)
        return self._viewed("align_to", super()._aligned(alignment), lambda g: back(g.reshape(moved)))  # type: ignore[misc]

    def _reshaped(self, names: Any, shape: Any) -> Any:
        own = self._data.shape
        return self._viewed("flatten", super()._reshaped(names, shape), lambda g: g.reshape(own))  # type: ignore[misc]

    def _part(self, at: int, where: Any, *, keep: bool = True) -> Any:
        y = super()._part(at, where, keep=keep)  # type: ignore[misc]
        return self._viewed("select", y, part(at, where))

    @checked
    def split(self, split_size: Any, dim: Any = 0) -> Any:
        """Return views of consecutive parts of a dim."""
        at, end, views = self._position(dim, "split"), 0, []
        for view in self._bare().split(split_size, dim):
            begin, end = end, end + view._data.shape[at]
            views.append(self._viewed("split", view, part(at, slice(begin, end))))
        return tuple(views)

    def _viewed(self, verb: str, y: Any, vjp: Vjp) -> Any:
        return attached(y, verb, self._node, vjp, is_view=True) if MODE.is_on else y


def reordered(order: Any) -> Vjp:
    """Return the function for a transposed tensor: the transposition that reverts it."""
    back = [0] * len(order)
    for to, at in enumerate(order):
        back[at] = to
    return lambda g: g.transpose(back)


def part(at: int, where: Any) -> Vjp:
    """Return the function for one index, or a range, of an axis."""
    places = (*(slice(None),) * at, where)
    return lambda g: Scattered(places, g)
