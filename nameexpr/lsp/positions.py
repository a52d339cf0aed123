r"""Conversion of offsets in a source to positions of the protocol, and back.

Both count lines from 0. A column counts code units of the encoding that client and server agree on: UTF-16,
where a character beyond the first 65,536 counts twice, UTF-8 or UTF-32. Lines end as in `Source`, which
agrees with the protocol.

>>> source = Source("a\r\n'\U0001d4b3' b")
>>> to_position(source, 6), to_position(source, 6, "utf-8"), to_position(source, 6, "utf-32")
((1, 5), (1, 7), (1, 4))
>>> to_offset(source, 1, 5), to_offset(source, 0, 99)
(6, 1)
"""

from __future__ import annotations

from nameexpr.lint.source import Source

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The codec of each encoding, and the bytes of one unit."""


def to_position(source: Source, offset: int, encoding: str = "utf-16") -> tuple[int, int]:
    """Convert an offset to a line and a column."""
    line, column = source.place(offset)
    before = source.lines[line - 1][: column - 1]
    if before.isascii():
        return line - 1, len(before)
    codec, unit = _CODECS[encoding]
    return line - 1, len(before.encode(codec, "surrogatepass")) // unit


def to_offset(source: Source, line: int, column: int, encoding: str = "utf-16") -> int:
    """Convert a line and a column to an offset; beyond the end of a line, or of the source, to that end."""
    if line >= len(source.lines):
        return len(source.text)
    written = source.lines[line]
    if not written.isascii():
        codec, unit = _CODECS[encoding]
        before = written.encode(codec, "surrogatepass")[: column * unit]
        column = len(before.decode(codec, "replace"))
    return source.starts[line] + min(column, len(written))
