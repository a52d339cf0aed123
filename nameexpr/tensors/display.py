"""How a tensor prints: the array as NumPy prints it, then names and sizes, and a dtype that does not show.

A notebook shows a table instead: names, sizes and dtype, and the corners of the last two dims.

Long arrays are elided and lines broken by NumPy's print options. Names are identifiers, and the text of
objects in an array is escaped, so that it cannot control a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.carets import visible
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import checked

if TYPE_CHECKING:
    from nameexpr.pictures.files import Picture
    from nameexpr.pictures.html import HtmlTable

_EVIDENT = frozenset(map(np.dtype, ("bool", "int64", "float64", "complex128")))


class Display(Core):
    """The repr, which is the str as well."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the array with its names and sizes.

        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
        tensor([[1, 2, 3],
                [4, 5, 6]], names=('N', 'C'), shape=(2, 3))
        >>> ne.tensor(2.5)
        tensor(2.5)
        """
        data, names = self._data, self._names
        parts = [f"names={names!r}"] if self.has_names() else []
        parts += [f"shape={data.shape}"] if data.ndim else []
        parts += [] if data.dtype in _EVIDENT and data.size else [f"dtype={data.dtype}"]
        tail = ", ".join(parts)
        body = np.array2string(data, separator=", ", prefix="tensor(", suffix=")")
        head = "tensor(" + visible(body)
        width = len(head) - (head.rfind("\n") + 1) + 2 + len(tail)
        if not tail:
            return head + ")"
        space = " " if width < np.get_printoptions()["linewidth"] else "\n" + " " * len("tensor(")
        return f"{head},{space}{tail})"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks: names, sizes and dtype, and the corners of the last two dims;
        for an image a thumbnail, its least and its largest element.

        Everything is escaped, and the result is below 16 kB for any elements; with a thumbnail, below 64 kB.
        """
        from nameexpr.pictures.html import html_table

        return html_table(preview(self._data, self._names))

    @checked
    def draw(self) -> Picture:
        """Return a picture of the tensor as SVG: a box with its names and sizes. Notebooks show it.

        >>> ne.zeros(2, 3, names="N C").draw().startswith("<svg")
        True
        """
        from nameexpr.pictures.data import Box
        from nameexpr.pictures.tensor import draw_box

        dims = tuple(zip(self._names, self._data.shape, strict=True))
        return draw_box(Box(dims, str(self._data.dtype)))

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        """Yield the parts that rich prints: names, shape, dtype and the array."""
        yield "names", self._names
        yield "shape", self._data.shape
        yield "dtype", str(self._data.dtype)
        yield "data", self._data


_ELIDED = "…"
WHOLE = 8
"""The number of rows or columns from which the middle ones are left out."""
EDGE = 3
DIMS = 12
SIDES = 2

_NUMBERS = {"f": ".5g", "c": ".5g"}


def preview(array: np.ndarray[Any, Any], names: tuple[str | None, ...], kind: str = "") -> HtmlTable:
    """Return the table of a tensor with these names; if it has more than two dims, of a slice of two, and for
    an image with a thumbnail.

    >>> table = preview(np.arange(6).reshape(1, 2, 3), ("batch", "N", None))
    >>> print(table.caption)
    NamedTensor  batch=1, N=2, 3  int64
    shown: batch at 0
    >>> table.rows, table.columns, table.lines[1][1]
    ('N', 'axis 2', ('3', '4', '5'))
    """
    from nameexpr.pictures.html import HtmlTable
    from nameexpr.tensors.thumbnail import extremes, image_axes, thumbnail

    caption = f"NamedTensor  {_dims(array.shape, names)}  {kind or array.dtype}"
    sides = [name or f"axis {axis}" for axis, name in enumerate(names)]
    ahead = max(0, array.ndim - SIDES)
    if not array.size:
        return HtmlTable(f"{caption}\nno elements")
    image = image_axes(array, names)
    if image is not None:
        others = _listed(f"{side} at 0" for axis, side in enumerate(sides) if axis not in image)
        parts = [caption, extremes(array), f"shown: {others}" if others else ""]
        return HtmlTable("\n".join(filter(None, parts)), thumbnail=thumbnail(array, image))
    if ahead:
        caption += f"\nshown: {_listed(f'{side} at 0' for side in sides[:ahead])}"
    plane = array[(0,) * ahead + (...,)]  # an array even if no dim is left
    if not plane.ndim:
        return HtmlTable(caption, (("", _cells(plane.reshape(1))),))
    columns = tuple(map(_number, _kept(plane.shape[-1])))
    if plane.ndim < SIDES:
        return HtmlTable(caption, (("", _cells(plane)),), "", sides[-1], columns)
    elided = (_ELIDED,) * len(columns)
    lines = [(_number(row), elided if row is None else _cells(plane[row])) for row in _kept(len(plane))]
    return HtmlTable(caption, tuple(lines), sides[-2], sides[-1], columns)


def _dims(shape: tuple[int, ...], names: tuple[str | None, ...]) -> str:
    if not shape:
        return "a number"
    return _listed(f"{name}={size}" if name else str(size) for name, size in zip(names, shape, strict=True))


def _listed(words: Any) -> str:
    """Return words separated by commas, few enough for a caption."""
    listed = [word if len(word) <= 2 * WHOLE * EDGE else word[: 2 * WHOLE * EDGE] + _ELIDED for word in words]
    return ", ".join(listed[:DIMS]) + (f", {_ELIDED}" if len(listed) > DIMS else "")


def _kept(size: int) -> list[int | None]:
    """Return the positions that are shown, None for those left out.

    >>> _kept(3), _kept(100)
    ([0, 1, 2], [0, 1, 2, None, 97, 98, 99])
    """
    if size <= WHOLE:
        return [*range(size)]
    return [*range(EDGE), None, *range(size - EDGE, size)]


def _number(index: int | None) -> str:
    return _ELIDED if index is None else str(index)


def _cells(elements: np.ndarray[Any, Any]) -> tuple[str, ...]:
    return tuple(_ELIDED if index is None else _text(elements[index]) for index in _kept(len(elements)))


def _text(element: Any) -> str:
    """Return an element as text: five digits of a fraction, all of an integer.

    >>> _text(np.float64(1) / 3), _text(np.int64(-123456)), _text(np.bool_(True)), _text("x")
    ('0.33333', '-123456', 'True', "'x'")
    """
    kind = element.dtype.kind if isinstance(element, np.generic) else ""
    if kind in _NUMBERS:
        return format(element, _NUMBERS[kind])
    return str(element) if kind else repr(element)
