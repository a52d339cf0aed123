r"""Text that is safe in HTML and SVG, and the str that notebooks show as a picture.

Whatever a user named passes `escaped` before it stands in markup: it can close no element, no attribute and
no comment, and holds no character that XML forbids or a terminal acts on.

>>> escaped('<b title="x">\x1b[31m')
'&lt;b title=&quot;x&quot;&gt;\\x1b[31m'
"""

from __future__ import annotations

from nameexpr.carets import visible

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """Return the text for HTML or XML, in text and in attributes: unprintable characters as backslash
    escapes, markup as entities. Newlines stay.

    Examples
    --------
    >>> escaped("a < b & c")
    'a &lt; b &amp; c'
    """
    return visible(text).translate(_ENTITIES)


class Picture(str):
    """An SVG document: a str to be written to a file, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """Return the document itself, for notebooks."""
        return str(self)
