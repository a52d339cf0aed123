"""Where a string can leave: whether a text is safe where it is shown, by parsers that are none of ours."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from xml.etree import ElementTree

from hardening.hostile_strings import MARK

_COLOURS = re.compile(r"\x1b\[(?:0|1|1;31|1;32|1;33|2|31|32|33|34|36)?m")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TAGS = frozenset(
    [
        *["svg", "title", "desc", "style", "defs", "pattern", "path", "g", "rect", "text", "line", "circle"],
        *["polygon", "polyline", "div", "code", "table", "caption", "thead", "tbody", "tr", "th", "td"],
        *["br", "span", "pre"],
    ]
)
"""Elements of our pictures and tables."""
_SCRIPTED = re.compile(r"\s*(?:javascript|data|vbscript|https?|file):", re.IGNORECASE)
_RESOURCES = re.compile(r"href|src|srcset|action|style|id|class|clip-path|fill")


def terminal(text: str) -> Iterator[str]:
    """Yield what a terminal would act on."""
    for character in text:
        if not character.isprintable() and character != "\n":
            yield f"{character!r} is shown"
            return


def ansi(text: str) -> Iterator[str]:
    """Yield what a terminal would act on beside our own colours."""
    yield from terminal(_COLOURS.sub("", text))


def svg(text: str) -> Iterator[str]:
    """Yield what is wrong with a picture: it must be XML, with elements of ours only."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as fault:
        yield f"no XML: {fault}"
        return
    for element in root.iter():
        tag = str(element.tag).rpartition("}")[2].lower()
        yield from _element(tag, dict(element.attrib))
    yield from html(text)
    if "<!" in text or "<?" in text.removeprefix("<?xml"):
        yield "a declaration"


def html(text: str) -> Iterator[str]:
    """Yield what is wrong with a table or picture in a page: other elements than ours, scripts, open ones."""
    parser = _Elements()
    parser.feed(text)
    parser.close()
    yield from parser.wrong
    if parser.open:
        yield f"<{parser.open[-1]}> is not closed"
    yield from terminal(text)


class _Elements(HTMLParser):
    _EMPTY = frozenset({"br"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.wrong += _element(tag, {name: value or "" for name, value in attrs})
        if tag not in self._EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.wrong += _element(tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"a comment: {data[:60]!r}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"a declaration: {decl[:60]!r}")

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(f"a declaration: {data[:60]!r}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"an instruction: {data[:60]!r}")


def _element(tag: str, attributes: dict[str, str]) -> Iterator[str]:
    if tag not in _TAGS:
        yield f"an element <{tag}>"
    for name, value in attributes.items():
        bare = name.rpartition("}")[2].lower()
        is_resource = _RESOURCES.fullmatch(bare) is not None
        if (
            bare.startswith("on")
            or MARK in bare
            or (is_resource and (MARK in value or _SCRIPTED.match(value)))
        ):
            yield f"an attribute {name}={value[:60]!r}"


def dot(text: str) -> Iterator[str]:
    """Yield what stands outside quotes and is none of ours."""
    outside = _STRING.sub("", text)
    if MARK in outside or '"' in outside:
        yield f"outside quotes: {outside[:200]!r}"
    if "\\N" in text or "\\G" in text or re.search(r"(?<!\\)(?:\\\\)*\\[^n\\\"]", text):
        yield "an escape of Graphviz's"
    yield from terminal(text)


def mermaid(text: str) -> Iterator[str]:
    """Yield what stands outside quotes, or is markup inside them."""
    outside = re.sub(r'"[^"\n]*"', "", text)
    if MARK in outside or '"' in outside:
        yield f"outside quotes: {outside[:200]!r}"
    inside = "".join(re.findall(r'"([^"\n]*)"', text)).replace("<br/>", "")
    if found := re.search(r"[<>`$%&{}\[\]*~]", inside):
        yield f"{found[0]!r} inside quotes"
    yield from terminal(text)


def data(text: str) -> Iterator[str]:
    """Yield what is wrong with JSON: whatever is in it, it is ASCII."""
    for line in text.splitlines() if not text.startswith("{\n") else [text]:
        try:
            json.loads(line)
        except ValueError as fault:
            yield f"no JSON: {fault}"
    if not text.isascii():
        yield "it is not ASCII"
    yield from terminal(text)


def sarif(text: str) -> Iterator[str]:
    """Yield what is wrong with a SARIF log: addresses that are none, messages that a terminal acts on."""
    yield from data(text)
    for result in json.loads(text)["runs"][0]["results"]:
        yield from terminal(result["message"]["text"])
        address = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        if not re.fullmatch(r"[\w.~%/:-]*", address, re.ASCII):
            yield f"no address: {address!r}"


def github(text: str) -> Iterator[str]:
    """Yield what is wrong with workflow commands: each line is one of ours."""
    for line in text.splitlines():
        head, _, rest = line.partition("::")[2].partition("::")
        if (
            not line.startswith("::error file=")
            or not rest
            or re.search(r"[^\w.%=,/ ~<>-]", head.replace("title=", ""))
        ):
            properties = re.fullmatch(r"error file=[^,:]*(?:,\w+=[^,:]*)*", head)
            if properties is None or not line.startswith("::error file="):
                yield f"no command of ours: {line[:200]!r}"
    yield from terminal(text)


def code(text: str) -> Iterator[str]:
    """Yield what is wrong with rendered source: names that are none of ours, imports of others than NumPy."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as fault:
        yield f"no Python: {fault}"
        return
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
            ):
                if MARK in name:
                    yield f"a name {name!r}"
            case ast.FunctionDef(name=name) if MARK in name:
                yield f"a function {name!r}"
            case ast.Import(names=names) if any(one.name != "numpy" for one in names):
                yield "an import"
            case ast.Call(func=ast.Name(id="open" | "eval" | "exec" | "__import__")):
                yield "a call of Python's own"
    yield from terminal(text)


KINDS: dict[str, Callable[[str], Iterator[str]]] = {
    "terminal": terminal,
    "ansi": ansi,
    "svg": svg,
    "html": html,
    "dot": dot,
    "mermaid": mermaid,
    "json": data,
    "sarif": sarif,
    "github": github,
    "code": code,
}
