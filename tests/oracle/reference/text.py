"""The text side of the reference evaluator: tokens, syntax and the rules decided from the text alone.

Nothing here is shared with the package. A text becomes a `Text` by recursive descent over a list of tokens;
`reference_rules` judges it and `reference.einsum` then walks it with nested loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from oracle.reference.tokens import Affine, Refused, end_of_brackets, read_affine, tokens

__all__ = ["Affine", "Refused", "Text", "end_of_brackets", "parse", "parts"]

REDUCERS = (
    "sum mean prod max min any all var std median logsumexp norm argmax argmin count_nonzero".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Label:
    """``C``, ``C=3`` or ``batch=C``."""

    name: str
    size: int | None = None
    alias: str | None = None


@dataclass(frozen=True)
class Literal:
    """``1``, ``3``; also ``()``."""

    size: int


@dataclass(frozen=True)
class Blank:
    """``_``."""


@dataclass(frozen=True)
class Pack:
    """``batch...``, or ``...`` with the word ``"..."``."""

    word: str


@dataclass(frozen=True)
class Group:
    """``(C H W)`` or ``features=(C H W)``."""

    items: tuple[Item, ...]
    name: str | None = None


@dataclass(frozen=True)
class Parts:
    """``(a + b)`` or ``features=(a + b)``: one behind the other."""

    parts: tuple[Term, ...]
    name: str | None = None


@dataclass(frozen=True)
class At:
    """``H@(h + dh)``: the position is an `Affine` in an expression, a tree in a formula."""

    base: Item
    place: Any


Item = Label | Literal | Blank | Pack | Group | Parts | At
Term = tuple[Item, ...]


@dataclass(frozen=True)
class Text:
    """A parsed expression: input terms, the output term if there is an arrow, the reducer after the colon.

    `others` are the outputs after the first.
    """

    inputs: tuple[Term, ...]
    output: Term | None
    reducer: str | None
    others: tuple[Term, ...] = ()


def parts(items: Term) -> Iterator[Item]:
    """All items of a term in reading order, those inside groups in place of the groups.

    Positions are left out: their labels are no dims.
    """
    for item in items:
        if isinstance(item, Group):
            yield from parts(item.items)
        elif isinstance(item, Parts):
            for part in item.parts:
                yield from parts(part)
        elif isinstance(item, At):
            yield from parts((item.base,))
        else:
            yield item


class Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = [*tokens(text), ("end", "")]
        self.at = 0

    def kind(self, ahead: int = 0) -> str:
        """The kind of the token that is next, or of one further on."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def take(self, *kinds: str) -> str:
        """Consume one token of one of these kinds and return its word."""
        kind, word = self.tokens[self.at]
        if kind not in kinds:
            raise Refused("syntax", f"{word or 'end'!r} where one of {kinds} should be")
        self.at += 1
        return word

    def text(self) -> Text:
        """Read a whole text."""
        inputs, output, reducer = self.terms(), None, None
        others: list[Term] = []
        if self.kind() == "arrow":
            self.take("arrow")
            output, *others = self.terms()
        if self.kind() == ":":
            self.take(":")
            reducer = self.take("name")
            if reducer not in REDUCERS:
                raise Refused("reducer", f"{reducer!r} is not a reducer")
        self.take("end")
        return Text(inputs, output, reducer, tuple(others))

    def terms(self) -> tuple[Term, ...]:
        """Read terms up to what is not a comma."""
        found = [self.items()]
        while self.kind() == ",":
            self.take(",")
            found.append(self.items())
        return tuple(found)

    def items(self) -> Term:
        """Read items as long as there are any."""
        found: list[Item] = []
        while self.kind() in ("name", "int", "blank", "dots", "pack", "("):
            found.append(self.item())
        return tuple(found)

    def item(self) -> Item:
        """Read one item, with its position if it has one."""
        base = self.base()
        return At(base, self.place(self.take("place"))) if self.kind() == "place" else base

    def place(self, text: str) -> Any:
        """Read a position."""
        return read_affine(text)

    def base(self) -> Item:
        """Read an item without a position."""
        kind = self.kind()
        if kind == "(":
            return self.group()
        word = self.take("name", "int", "blank", "dots", "pack")
        if kind == "int":
            return Literal(int(word))
        if kind == "blank":
            return Blank()
        if kind in ("dots", "pack"):
            return Pack(word)
        return self.equation(word) if self.kind() == "=" else Label(word)

    def equation(self, name: str) -> Item:
        """Read what follows ``name`` from its equals sign on."""
        self.take("=")
        if self.kind() == "(":
            group = self.group()
            return replace(group, name=name) if isinstance(group, Group | Parts) else Group((group,), name)
        kind, word = self.kind(), self.take("int", "name")
        return Label(name, size=int(word)) if kind == "int" else Label(word, alias=name)

    def group(self) -> Group | Parts | Literal:
        """Read a bracketed list of items, or several with plus signs between them; a factor has no name of
        its own.
        """
        self.take("(")
        inside = [self.items()]
        while self.kind() == "+":
            self.take("+")
            inside.append(self.items())
        self.take(")")
        for item in (item for part in inside for item in part):
            if (isinstance(item, Label) and item.alias) or (isinstance(item, Group | Parts) and item.name):
                raise Refused("group", "a factor of a group cannot have a name of its own")
        if len(inside) > 1:
            if not all(inside):
                raise Refused("syntax", "an empty part")
            return Parts(tuple(inside))
        return Group(inside[0]) if inside[0] else Literal(1)


def parse(text: str) -> Text:
    """Parse an expression or an assertion."""
    return Reader(text).text()
