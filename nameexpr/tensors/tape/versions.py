"""Writes to arrays that the tape may have saved.

A node remembers how many writes there were when it was recorded. Writers count only while there are nodes:
`WATCHED` in `nameexpr.tensors.writing` is empty otherwise, which is all that they test. A write is known by
the memory that it touched; since a node keeps the arrays that it saved alive, memory that was written to
since then and overlaps with theirs is theirs.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from nameexpr.tensors.writing import WATCHED

LIMIT = 4096
"""The number of writes from which the older half is joined into one."""


class Write(NamedTuple):
    """A write: its number, the bytes from `low` to `high`, the operator, and the line that called it."""

    number: int
    low: int
    high: int
    verb: str
    where: str


class Epoch:
    """What the nodes between two backward passes hold, so that it is known when all of them are gone."""

    __slots__ = ("__weakref__",)


class _Log:
    """The writes since the oldest node: `count` of them so far."""

    __slots__ = ("alive", "count", "epoch", "writes")

    def __init__(self) -> None:
        self.count = 0
        self.writes: list[Write] = []
        self.epoch: Epoch | None = None
        self.alive: dict[int, weakref.ref[Epoch]] = {}


LOG = _Log()


def new_epoch() -> Epoch:
    """Begin an epoch, and note all writes from now on."""
    epoch = LOG.epoch = Epoch()
    number = id(epoch)
    LOG.alive[number] = weakref.ref(epoch, lambda _: _ended(number))
    WATCHED[:] = [note]
    return epoch


def _ended(number: int) -> None:
    """Forget all writes if no node is left that they could matter to."""
    LOG.alive.pop(number, None)
    if not LOG.alive:
        WATCHED.clear()
        LOG.writes.clear()


def note(array: np.ndarray[Any, Any], verb: str) -> None:
    """Note a write to an array."""
    LOG.count += 1
    low, high = byte_bounds(array)
    LOG.writes.append(Write(LOG.count, low, high, verb, caller()))
    if len(LOG.writes) > LIMIT:
        old, kept = LOG.writes[: LIMIT // 2], LOG.writes[LIMIT // 2 :]
        last = old[-1]
        LOG.writes = [last._replace(low=min(each.low for each in old), high=max(each.high for each in old))]
        LOG.writes += kept


def written_since(array: np.ndarray[Any, Any], count: int) -> Write | None:
    """Return the first write to memory of an array after a number of writes."""
    if not array.size:
        return None
    low, high = byte_bounds(array)
    return next(
        (each for each in LOG.writes if each.number > count and each.low < high and low < each.high), None
    )


def caller() -> str:
    """Return the line of the user's program that is being executed, such as "train.py:12"."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "nameexpr":
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
