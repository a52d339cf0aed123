r"""A small PNG as a data URI, for HTML (W3C, Portable Network Graphics, third edition; RFC 2397).

>>> data_uri(1, 1, 3, b"\xff\x00\x00")[:30]
'data:image/png;base64,iVBORw0K'
"""

from __future__ import annotations

from base64 import b64encode
from struct import pack
from zlib import compress, crc32

_COLOURS = {1: 0, 3: 2, 4: 6}
"""The colour type for each number of channels: grey, RGB, RGB with opacity."""


def data_uri(wide: int, high: int, channels: int, pixels: bytes) -> str:
    """Return an image of eight bits per channel, whose pixels are given row by row."""
    line = wide * channels
    rows = b"".join(b"\0" + pixels[line * row : line * (row + 1)] for row in range(high))
    head = pack(">IIBBBBB", wide, high, 8, _COLOURS[channels], 0, 0, 0)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", compress(rows, 9)), _chunk(b"IEND", b""))
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">I", len(content)) + kind + content + pack(">I", crc32(kind + content))
