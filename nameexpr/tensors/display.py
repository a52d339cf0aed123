"""How a tensor prints: the array as NumPy prints it, then names and sizes, and a dtype that does not show.

Long arrays are elided and lines broken by NumPy's print options. Names are identifiers, and whatever an
object in an array prints is made harmless, so no terminal acts on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nameexpr.carets import visible
from nameexpr.tensors.core import Array, Core

if TYPE_CHECKING:
    from nameexpr.pictures.sheet import Picture

_EVIDENT = frozenset(map(np.dtype, ("bool", "int64", "float64", "complex128")))


class Display(Core):
    """The repr, which is the str as well."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the array with its names and sizes.

        Examples
        --------
        >>> import nameexpr as ne
        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
        tensor([[1, 2, 3],
                [4, 5, 6]], names=('N', 'C'), shape=(2, 3))
        >>> ne.tensor(2.5)
        tensor(2.5)
        """
        tail = _tail(self._data, self._names)
        body = np.array2string(self._data, separator=", ", prefix="tensor(", suffix=")")
        head = "tensor(" + visible(body)
        width = len(head) - (head.rfind("\n") + 1) + 2 + len(tail)
        if not tail:
            return head + ")"
        space = " " if width < np.get_printoptions()["linewidth"] else "\n" + " " * len("tensor(")
        return f"{head},{space}{tail})"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks: names, sizes and dtype, and the corners of the last two dims.

        Everything is escaped, and the whole is below 16 kB, whatever the elements print.
        """
        from nameexpr.pictures.html import html_table
        from nameexpr.tensors.preview import preview

        return html_table(preview(self._data, self._names))

    def draw(self) -> Picture:
        """Return a picture of the tensor as SVG: a box with its names and sizes. Notebooks show it.

        Examples
        --------
        >>> import nameexpr as ne
        >>> ne.zeros(2, 3, names="N C").draw().startswith("<svg")
        True
        """
        from nameexpr.pictures.data import Box
        from nameexpr.pictures.tensor import draw_box

        dims = tuple(zip(self._names, self._data.shape, strict=True))
        return draw_box(Box(dims, str(self._data.dtype)))

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        """Give rich the parts to print: names, shape, dtype and the array."""
        yield "names", self._names
        yield "shape", self._data.shape
        yield "dtype", str(self._data.dtype)
        yield "data", self._data


def _tail(data: Array, names: tuple[str | None, ...]) -> str:
    named = any(name is not None for name in names)
    parts = [f"names={names!r}" if named else "", f"shape={data.shape}" if data.ndim else ""]
    evident = data.dtype in _EVIDENT and data.size
    return ", ".join(filter(None, [*parts, "" if evident else f"dtype={data.dtype}"]))
