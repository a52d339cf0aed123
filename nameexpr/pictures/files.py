"""A picture as a str, and how it is written to a file.

SVG needs no other package. PNG and PDF are converted by vl-convert, which is self-contained on every system:
it is the extra `nameexpr[pictures]`, and imported on use.
"""

from __future__ import annotations

import os
from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.whole_files import replace_file

SUFFIXES = (".svg", ".png", ".pdf")
SHARPNESS = 2
"""The number of pixels of a PNG per unit of the picture."""


class Picture(str):
    """An SVG document: a str that notebooks show as a picture, and that `save` writes to a file."""

    __slots__ = ("_plain",)
    _plain: tuple[str, str, str]

    def __new__(cls, head: str, style: str = "", plain: str = "", rest: str = "") -> Picture:
        """Join a document from its parts; `plain` is the style for programs that do not support CSS
        of pages.
        """
        self = super().__new__(cls, head + style + rest)
        self._plain = (head, plain, rest)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the document with its plain twin."""
        return _restored, (str(self), self._plain)

    def _repr_svg_(self) -> str:
        """Return the document itself, for notebooks."""
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, as SVG, PNG or PDF by the end of its name.

        Parameters
        ----------
        path : str or path
            A name that ends in .svg, .png or .pdf. An existing file is replaced.

        Raises
        ------
        OptionError
            NE625 for another ending.
        OptionError
            NE686 for .png and .pdf without the extra `nameexpr[pictures]`.

        Examples
        --------
        >>> import nameexpr as ne, os, tempfile
        >>> plan = ne.compile("a b, b c -> a c").plan((2, 3), (3, 4))
        >>> path = os.path.join(tempfile.mkdtemp(), "plan.svg")
        >>> plan.draw().save(path)
        >>> os.path.getsize(path) == len(plan.draw().encode())
        True
        """
        name = os.fspath(path)
        content = self.content(suffix_of(name))
        replace_file(name, lambda stream: stream.write(content))

    def content(self, suffix: str) -> bytes:
        """Return the bytes of a file with this suffix (NE686 without the converter)."""
        if suffix == ".svg":
            return self.encode("utf-8")
        converter = _converter(suffix)
        document = "".join(self._plain)
        if suffix == ".png":
            return bytes(converter.svg_to_png(document, scale=SHARPNESS))
        return bytes(converter.svg_to_pdf(document))


def suffix_of(path: str) -> str:
    """Return the suffix of a file's name in lower case; NE625 for unsupported ones."""
    suffix = os.path.splitext(path)[1].casefold()
    if suffix in SUFFIXES:
        return suffix
    message = f"save: a picture cannot be written as {suffix!r}" if suffix else "save: the name has no suffix"
    raise error(Diagnostic("NE625", message, hint=f"end it in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"))


def _converter(suffix: str) -> Any:
    from importlib import import_module

    try:
        return import_module("vl_convert")
    except ImportError as missing:
        message = f"{suffix[1:].upper()} pictures need vl-convert-python, which is not installed"
        hint = "pip install 'nameexpr[pictures]', or save it as .svg"
        raise error(Diagnostic("NE686", message, hint=hint)) from missing


def _restored(text: str, plain: tuple[str, str, str]) -> Picture:
    picture = Picture(text)
    picture._plain = plain
    return picture
