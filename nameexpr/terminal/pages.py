"""The pages about error codes as plain text, parsed from docs/errors.md. No NumPy is loaded.

Headings are left out, fences lose their marks, links their targets, and paragraphs are wrapped. Backquotes
are kept: they mark code in a sentence. The file is inside the package in a wheel, and in docs/ in a checkout,
as the grammar is.

>>> print(page("304").splitlines()[0])
NE304 (SizeError): sizes
>>> summary("NE304")
'A label has two different sizes.'
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from nameexpr.errors import Proposal, did_you_mean, family
from nameexpr.terminal.faults import UsageError, quoted

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGED = os.path.join(_PACKAGE, "docs", "errors.md")
_CHECKOUT = os.path.join(os.path.dirname(_PACKAGE), "docs", "errors.md")
_HEADING = re.compile(r"^(?:## (?P<family>NE\d)xx: (?P<about>.*)|### (?P<code>NE\d{3}))$", re.MULTILINE)
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)
_SHORTHAND = re.compile(r"(?<![\w.])ones\(")
_CODE = re.compile(r"(?:ne)?(\d{3})", re.IGNORECASE | re.ASCII)
_FAMILY = re.compile(r"(?:ne)?(\d)(?:xx)?", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
WIDTH = 88
"""The number of columns at which prose is wrapped, if the terminal is not narrower."""
_QUOTED = re.compile(r"(`[^`]*`)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
_STARS = re.compile(r"\*\*([^*]+)\*\*")
NOTE = 'Here ones(2, 3, names="N C") stands for ne.tensor(np.ones((2, 3)), names="N C").'


class NoPageError(UsageError, LookupError):
    """There is no page about a code; the hint suggests a code."""


class Section(NamedTuple):
    """One code's section of docs/errors.md, in Markdown: `body` has no heading; `about` is the topic of its
    family.
    """

    code: str
    about: str
    body: str


def page(code: str, width: int | None = None) -> str:
    """Return the page about an error code such as "NE304", "ne304" or "304" as text: its meaning, an example,
    and the output of that (NoPageError). Prose is wrapped at `width` columns if that is less than 88.
    """
    section = _found(code)
    parts = [f"{section.code} ({family(section.code).__name__}): {section.about}"]
    parts += _plain_parts(section.body, min(WIDTH, width or WIDTH))
    if any(_SHORTHAND.search(body) for kind, body in _FENCE.findall(section.body) if kind == "python"):
        parts.append(NOTE)
    return "\n\n".join(parts)


def page_data(code: str) -> dict[str, str | None]:
    """Return the parts of the page about an error code, and the whole as `text` (NoPageError)."""
    section = _found(code)
    blocks: dict[str, str] = {kind: body.rstrip("\n") for kind, body in _FENCE.findall(section.body)}
    return {
        "code": section.code,
        "class": family(section.code).__name__,
        "about": section.about,
        "meaning": "\n\n".join(_paragraphs(_FENCE.sub("", section.body), None)),
        "example": blocks.get("python"),
        "output": blocks.get("text"),
        "text": page(code),
    }


def codes(start: str = "") -> tuple[str, ...]:
    """List the codes that have a page, all or those of a family.

    >>> codes("NE8")
    ('NE801', 'NE802', 'NE803', 'NE804', 'NE805')
    """
    return tuple(code for code in _sections() if code.startswith(start))


def summary(code: str) -> str:
    """Return the first sentence of the page about a code."""
    prose = " ".join(_FENCE.sub("", _found(code).body).split())
    sentence = _SENTENCE.match(prose)
    return _unmarked(sentence[0] if sentence else prose)


def listing(start: str = "NE") -> str:
    """List all codes, or those of a family such as "NE3", a line each, under the families' headings.

    >>> print(listing("NE8").splitlines()[0])
    NE8xx (DimRangeError): positions
    """
    parts = []
    for name, about in _families().items():
        if name.startswith(start):
            lines = [f"  {code}  {summary(code)}" for code in codes(name)]
            parts.append("\n".join([f"{name}xx ({family(name).__name__}): {about}", *lines]))
    return "\n\n".join(parts)


def families() -> str:
    """List the families of codes and their topics, on one line."""
    return ", ".join(f"{name}xx {about}" for name, about in _families().items())


def _families() -> dict[str, str]:
    return {section.code[:3]: section.about for section in _sections().values()}


def as_family(word: str) -> str | None:
    """Parse a family of codes such as "NE3xx", "ne3" or "3xx"; None for other words.

    >>> as_family("3xx"), as_family("NE304")
    ('NE3', None)
    """
    match = _FAMILY.fullmatch(word)
    return f"NE{match[1]}" if match and codes(f"NE{match[1]}") else None


def _found(code: str) -> Section:
    if not _sections():
        raise NoPageError("the pages about errors are not installed", "reinstall nameexpr")
    word = _CODE.fullmatch(code.strip())
    section = _sections().get(f"NE{word[1]}") if word else None
    if section is None:
        wanted = f"NE{word[1]}" if word else code.strip().upper().replace("O", "0")
        near = Proposal(wanted) if wanted in _sections() else did_you_mean(wanted, codes())
        if word:  # the nearest number, of the same family if there is one
            beside = codes(wanted[:3]) or codes()
            near = f"did you mean '{min(beside, key=lambda other: abs(int(other[2:]) - int(word[1])))}'?"
        raise NoPageError(f"there is no error code {quoted(code)}", near)
    return section


@cache
def _sections() -> Mapping[str, Section]:
    """Parse the page into sections by code; none if the file is not installed."""
    try:
        with open(_PACKAGED if os.path.exists(_PACKAGED) else _CHECKOUT, encoding="utf-8") as stream:
            text = stream.read()
    except OSError:
        return {}
    return {section.code: section for section in _split(text)}


def _split(text: str) -> Iterator[Section]:
    headings = list(_HEADING.finditer(text))
    about = ""
    for here, behind in zip(headings, [*headings[1:], None], strict=True):
        if here["code"] is None:
            about = here["about"]
            continue
        yield Section(here["code"], about, text[here.end() : behind.start() if behind else None].strip())


def _plain_parts(body: str, width: int) -> Iterator[str]:
    """Yield wrapped paragraphs and indented code blocks, in order."""
    place = 0
    for fence in _FENCE.finditer(body + "\n"):
        yield from _paragraphs(body[place : fence.start()], width)
        yield "\n".join(f"    {line}".rstrip() for line in fence[2].rstrip("\n").split("\n"))
        place = fence.end()
    yield from _paragraphs(body[place:], width)


def _paragraphs(text: str, width: int | None) -> Iterator[str]:
    """Yield paragraphs without markup, wrapped at this width, or each on one line."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        words = _unmarked(" ".join(paragraph.split()))
        if words:
            yield words if width is None else _wrapped(words, width)


def _wrapped(text: str, width: int) -> str:
    """Wrap a paragraph; code in backquotes is not broken."""
    lines = [""]
    for word in re.findall(r"(?:`[^`]*`|\S)+", text):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def _unmarked(text: str) -> str:
    """Remove Markdown's markup except that of code: links become their words, stars are removed.

    >>> _unmarked("**All** of [it](page.md): `sum[C](x)`.")
    'All of it: `sum[C](x)`.'
    """
    parts = _QUOTED.split(text)
    parts[::2] = [_STARS.sub(r"\1", _LINK.sub(r"\1", part)) for part in parts[::2]]
    return "".join(parts)
