"""How a tensor prints: the array as NumPy prints it, then names and sizes, and a dtype that does not show.

Long arrays are elided and lines broken by NumPy's print options. Names are identifiers, and whatever an
object in an array prints is made harmless, so no terminal acts on it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nameexpr.carets import visible
from nameexpr.tensors.core import Array, Core

HTML_DIMS = 16
HTML_ELEMENTS = 60
HTML_CHARACTERS = 400
HTML_NAME = 40

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
        """Return a small table for notebooks: names, sizes, dtype, and the array's text, cut short.

        Everything is escaped, and the whole is below 4 kB.
        """
        from html import escape

        head = "".join(f"<th>{escape(str(name)[:HTML_NAME])}</th>" for name in self._names[:HTML_DIMS])
        sizes = "".join(f"<td>{size}</td>" for size in self._data.shape[:HTML_DIMS])
        more = "<th>...</th>" if self._data.ndim > HTML_DIMS else ""
        body = np.array2string(self._data, separator=", ", threshold=HTML_ELEMENTS, edgeitems=2)
        text = escape(visible(body)[:HTML_CHARACTERS])
        table = f"<table><tr>{head}{more}</tr><tr>{sizes}</tr></table>" if self._data.ndim else ""
        return f"<div>NamedTensor {escape(str(self._data.dtype))}{table}<pre>{text}</pre></div>"

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
