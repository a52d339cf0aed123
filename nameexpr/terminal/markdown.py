"""Markdown as plain text for a terminal: headings are left out before; fences lose their marks, links their
targets, paragraphs are wrapped. Backquotes stay: they set code apart in a sentence.

>>> print(next(plain_parts("See [the page](page.md): `a b`.")))
See the page: `a b`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
WIDTH = 88
_CODE = re.compile(r"(`[^`]*`)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
_STARS = re.compile(r"\*\*([^*]+)\*\*")


def plain_parts(body: str) -> Iterator[str]:
    """Yield paragraphs, wrapped, and what stands between fences, indented, in order."""
    place = 0
    for fence in FENCE.finditer(body + "\n"):
        yield from paragraphs(body[place : fence.start()], WIDTH)
        yield "\n".join(f"    {line}".rstrip() for line in fence[2].rstrip("\n").split("\n"))
        place = fence.end()
    yield from paragraphs(body[place:], WIDTH)


def paragraphs(text: str, width: int | None) -> Iterator[str]:
    """Yield paragraphs without their marks, in lines of at most this width, or in one."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        words = unmarked(" ".join(paragraph.split()))
        if words:
            yield words if width is None else _wrapped(words, width)


def _wrapped(text: str, width: int) -> str:
    """Return a paragraph in lines; what stands in backquotes stays together."""
    lines = [""]
    for word in re.findall(r"(?:`[^`]*`|\S)+", text):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def unmarked(text: str) -> str:
    """Return Markdown without its marks, but for code: links by their words, and no stars.

    >>> unmarked("**All** of [it](page.md): `sum[C](x)`.")
    'All of it: `sum[C](x)`.'
    """
    parts = _CODE.split(text)
    parts[::2] = [_STARS.sub(r"\1", _LINK.sub(r"\1", part)) for part in parts[::2]]
    return "".join(parts)
