"""Checks of values: made where values are known, after the computation, and left out while tracing.

Code that is traced records what has to be checked, in `found`; the function that JAX compiles returns it with
the result. Positions that are outside read nan, or the least integer, as with `jax.numpy.take`.

>>> with collecting() as found:
...     _ = inside(jnp.array([0, 5]), 3, 1)
>>> [(bool(is_wrong), size, number) for is_wrong, size, number in found]
[(True, 3, 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Check = tuple[Any, Any, Any]
"""Whether anything is wrong, the size of the dim, and the number of the positions in the graph; -1 for
numbers that no integer holds.
"""
ITEM = 4
"""The bytes of integers that hold the size of any dim."""
_found: ContextVar[list[Check] | None] = ContextVar("found", default=None)


@contextmanager
def collecting() -> Iterator[list[Check]]:
    """Collect the checks of the code that runs inside."""
    found: list[Check] = []
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def record(is_wrong: Any, size: int, number: int) -> None:
    """Add a check, if any are collected."""
    found = _found.get()
    if found is not None:
        found.append((is_wrong, size, number))


def inside(positions: Any, size: int, number: int) -> Any:
    """Return positions, of which those that are outside a dim are its size."""
    if positions.dtype.itemsize < ITEM:
        positions = positions.astype("int32")  # which holds the size
    is_outside = (positions < 0) | (positions >= size)
    record(jnp.any(is_outside), size, number)
    return jnp.where(is_outside, size, positions)


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]], first: Any, read: Any, *, length: int | None = None
) -> Any:
    """Return `lax.scan`, with the checks of its steps."""
    kept: list[tuple[Any, Any]] = []

    def checked(carried: Any, given: Any) -> tuple[Any, Any]:
        with collecting() as found:
            after, row = step(carried, given)
        kept[:] = [(size, number) for _, size, number in found]
        return after, (row, tuple([is_wrong for is_wrong, _, _ in found]))

    last, (rows, wrong) = lax.scan(checked, first, read, length=length)
    for is_wrong, (size, number) in zip(wrong, kept, strict=True):
        record(jnp.any(is_wrong), size, number)
    return last, rows


def first_wrong(found: tuple[Check, ...]) -> tuple[int, int] | None:
    """Return the size and the number of the first check that failed; None while tracing, or if none did."""
    for is_wrong, size, number in found:
        if not isinstance(is_wrong, jax.core.Tracer) and bool(is_wrong):
            return int(size), int(number)
    return None
