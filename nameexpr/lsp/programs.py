r"""The text at an offset of a Python source, and the call that it is passed to.

A source that is being typed is often not valid Python. Then only its imports of nameexpr and the call around
the offset are read, with the string and the brackets closed that are still open there.

>>> source = "import nameexpr as ne\nif ne.einsum('a b, b ->"
>>> found = text_at(source, len(source), "x.py")
>>> found.call.literal.function, found.text, found.place
('einsum', 'a b, b ->', 9)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from nameexpr.lint.calls import TextCall, text_calls
from nameexpr.lint.modules import Module
from nameexpr.lint.notebook import TOKEN
from nameexpr.lint.source import (
    Source,
    SourceError,
    literal_parts,
    parse_python,
    read_at,
    text_of,
    written_at,
)
from nameexpr.records import record

_IMPORT = re.compile(r"^[ \t]*((?:import|from)\b[^\n]*\bnameexpr\b[^\n]*)$", re.MULTILINE)
_CALLEE = re.compile(r"[\w.]+\s*\Z")
_PREFIX = re.compile(r"[A-Za-z]{0,2}('''|\"\"\"|'|\")")


@record
class TextAt:
    """A text and a position in it: the character at the requested offset.

    `shift` is added to an offset of `source`, which may be a part of the file, to get that in the file.
    `keyword` is that of an option whose value the string is, "" for the text of the call itself.
    """

    call: TextCall
    parts: tuple[ast.Constant, ...]
    text: str
    place: int
    source: Source
    shift: int = 0
    keyword: str = ""

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of some characters of the text in the file."""
        first, last = written_at(self.parts, self.source, start, end)
        return first + self.shift, last + self.shift


@lru_cache(maxsize=8)
def read_program(source: str, path: str) -> tuple[Source, tuple[TextCall, ...]]:
    """Return a source and the calls that are passed texts (SourceError if it is not valid Python)."""
    read = Source(source)
    module = Module(path, read, parse_python(read))
    return read, tuple([call for call in text_calls(module) if isinstance(call, TextCall)])


def text_at(source: str, offset: int, path: str) -> TextAt | None:
    """Return the text that is written at an offset of a source, with the line breaks of Python."""
    try:
        read, calls = read_program(source, path)
        return _text_in(read, calls, offset)
    except SourceError:
        mended = _mended(source, offset)
    if mended is None:
        return None
    statement, shift = mended
    try:
        read, calls = read_program(statement, path)
    except SourceError:
        return None
    found = _text_in(read, calls, offset - shift)
    return found and TextAt(found.call, found.parts, found.text, found.place, read, shift, found.keyword)


def _text_in(source: Source, calls: tuple[TextCall, ...], offset: int) -> TextAt | None:
    for call in calls:
        parts = call.text.parts
        if parts is not None and call.text.module.source is source:
            place = read_at(parts, source, offset)
            if place is not None:
                return TextAt(call, parts, call.text.value, place, source)
        for keyword, strings in _options(call):
            place = read_at(strings, source, offset)
            if place is not None:
                return TextAt(call, tuple(strings), text_of(strings), place, source, keyword=keyword)
    return None


def _options(call: TextCall) -> Iterator[tuple[str, list[ast.Constant]]]:
    """Yield the strings that are options of a call, with the keyword of each."""
    for given in call.node.keywords:
        strings = literal_parts(given.value)
        if strings and given.arg:
            yield given.arg, strings
    for node in ast.walk(call.wrt) if call.wrt is not None else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "wrt", [node]


def _mended(source: str, offset: int) -> tuple[str, int] | None:
    """Return a source that contains the call around an offset and ends with it, and the difference of offsets
    in it to those in the file; None if there is no string at the offset, or no call around it.
    """
    brackets: list[int] = []
    for token in TOKEN.finditer(source):
        if token.start() >= offset:
            return None
        if token[0] in "([{":
            brackets.append(token.start())
        elif token[0] in ")]}" and brackets:
            brackets.pop()
        elif token.end() >= offset and (opening := _PREFIX.match(token[0])):
            break
    else:
        return None
    callee = _CALLEE.search(source, 0, brackets[-1]) if brackets else None
    if callee is None:
        return None
    quote = opening[1]
    is_closed = token[0].endswith(quote) and len(token[0]) >= opening.end() + len(quote)
    end = token.end() if is_closed else offset
    imports = "".join(
        f"{found[1]}\n" for found in _IMPORT.finditer(source, 0, offset) if _is_python(found[1])
    )
    call = source[callee.start() : end] + ("" if is_closed else quote) + ")"
    return imports + call, callee.start() - len(imports)


def _is_python(line: str) -> bool:
    try:
        parse_python(Source(line))
    except SourceError:
        return False
    return True
