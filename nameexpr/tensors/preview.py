"""What a notebook shows of a tensor: names, sizes and dtype, and the corners of its last two dims.

NumPy's part of the work: elements become texts here, and `nameexpr.pictures.html` makes them a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.pictures.html import ELIDED, HtmlRow, HtmlTable

WHOLE = 8
"""Rows or columns that are shown before the middle ones are left out."""
EDGE = 3
DIMS = 12
SIDES = 2

_NUMBERS = {"f": ".5g", "c": ".5g"}


def preview(array: np.ndarray[Any, Any], names: tuple[str | None, ...]) -> HtmlTable:
    """Return the table of a tensor with these names; of one with more than two dims a slice of two.

    Examples
    --------
    >>> table = preview(np.arange(6).reshape(1, 2, 3), ("batch", "N", None))
    >>> print(table.caption)
    NamedTensor  batch=1, N=2, 3  int64
    shown: batch at 0
    >>> table.rows, table.columns, table.lines[1].cells
    ('N', 'axis 2', ('3', '4', '5'))
    """
    caption = f"NamedTensor  {_dims(array.shape, names)}  {array.dtype}"
    sides = [name or f"axis {axis}" for axis, name in enumerate(names)]
    ahead = max(0, array.ndim - SIDES)
    if not array.size:
        return HtmlTable(f"{caption}\nno elements")
    if ahead:
        caption += f"\nshown: {_listed(f'{side} at 0' for side in sides[:ahead])}"
    plane = array[(0,) * ahead + (...,)]  # an array even where no dim is left
    if plane.ndim < SIDES:
        return HtmlTable(caption, (HtmlRow("", _cells(plane.reshape(-1))),), "", *_columns(plane, sides))
    rows = _kept(len(plane))
    lines = tuple(_line(plane, row) for row in rows)
    return HtmlTable(caption, lines, sides[-2], *_columns(plane, sides))


def _dims(shape: tuple[int, ...], names: tuple[str | None, ...]) -> str:
    if not shape:
        return "a number"
    return _listed(f"{name}={size}" if name else str(size) for name, size in zip(names, shape, strict=True))


def _listed(words: Any) -> str:
    """Return words between commas, few enough for a caption."""
    listed = [word if len(word) <= 2 * WHOLE * EDGE else word[: 2 * WHOLE * EDGE] + ELIDED for word in words]
    return ", ".join(listed[:DIMS]) + (f", {ELIDED}" if len(listed) > DIMS else "")


def _columns(plane: np.ndarray[Any, Any], sides: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the dim above the columns, and their numbers."""
    if not plane.ndim:
        return "", ()
    return sides[-1], tuple(ELIDED if place is None else str(place) for place in _kept(plane.shape[-1]))


def _kept(size: int) -> list[int | None]:
    """Return the places that are shown, None for those left out.

    >>> _kept(3), _kept(100)
    ([0, 1, 2], [0, 1, 2, None, 97, 98, 99])
    """
    if size <= WHOLE:
        return [*range(size)]
    return [*range(EDGE), None, *range(size - EDGE, size)]


def _line(plane: np.ndarray[Any, Any], row: int | None) -> HtmlRow:
    if row is None:
        return HtmlRow(ELIDED, (ELIDED,) * len(_kept(plane.shape[1])))
    return HtmlRow(str(row), _cells(plane[row]))


def _cells(elements: np.ndarray[Any, Any]) -> tuple[str, ...]:
    return tuple(ELIDED if place is None else _text(elements[place]) for place in _kept(len(elements)))


def _text(element: Any) -> str:
    """Return an element as text: five digits of a fraction, all of an integer.

    >>> _text(np.float64(1) / 3), _text(np.int64(-123456)), _text(np.bool_(True)), _text("x")
    ('0.33333', '-123456', 'True', "'x'")
    """
    kind = element.dtype.kind if isinstance(element, np.generic) else ""
    if kind in _NUMBERS:
        return format(element, _NUMBERS[kind])
    return str(element) if kind else repr(element)
