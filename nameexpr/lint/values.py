"""Values of expressions, as far as a source tells: texts, what holds them, functions and classes; and what
Python makes of constants: elements of containers, and texts of other texts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from inspect import cleandoc
from itertools import chain, islice, product
from typing import Any, Protocol, TypeAlias

from nameexpr.dims import Names
from nameexpr.lint.scopes import EACH, NameScope
from nameexpr.lint.source import Source
from nameexpr.records import record, replace

MOST = 32
"""How many values of one expression are told apart."""
_LONGEST = 1 << 12
"""Characters of a text that others are computed from."""
_WIDE = re.compile(r"[%{][^%{}]*[0-9]{4}")
"""A conversion that would fill a field of thousands of characters."""


class Home(Protocol):
    """The module of a value: what it needs to be located, and read further."""

    path: str
    source: Source

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return what an expression of the module can be."""

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return what an attribute of a class of the module can be."""


@record
class Text:
    """A text: the constants that it is written with, or None if the program makes it of other texts.

    `is_possible` says that it may well never be used where it was found: a default, one of several items.
    """

    value: str
    parts: tuple[ast.Constant, ...] | None
    origin: ast.expr
    module: Home
    is_possible: bool = False


@record
class Constant:
    """A constant that is not text."""

    value: Any


@record
class Items:
    """A list or tuple: the values of each element."""

    items: tuple[tuple[Value, ...], ...]


class Table(dict[Any, tuple["Value", ...]]):
    """A dict with constant keys; it does not change once it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


@record
class Imported:
    """Something that is imported, by its dotted path."""

    path: str


@record
class Definition:
    """A class or function of the program, with its own scope."""

    node: ast.AST
    scope: NameScope
    module: Home


@record
class Instance:
    """An object of a class of the program, or the class as its methods know it."""

    of: Definition


@record
class Parameter:
    """What a function, or a class with fields, is given under a name."""

    owner: ast.AST
    name: str


@record
class Applied:
    """A call that makes something to be called: `functools.partial` of one of our functions, or `compile`."""

    function: str
    call: ast.Call
    scope: NameScope
    module: Home


@record
class Named:
    """A NamedTensor whose names are known."""

    names: Names


Value: TypeAlias = (
    Named | Text | Constant | Items | Table | Imported | Definition | Instance | Parameter | Applied
)
Values: TypeAlias = tuple[Value, ...]


def possible(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values of which it is not known whether they are used."""
    for value in values:
        yield replace(value, is_possible=True) if isinstance(value, Text) else value


def taken_apart(values: Values, steps: Sequence[int]) -> Values:
    """Return the elements that assignments to several names and loops lead to."""
    for step in steps:
        values = tuple(one for value in values for one in _element(value, step))
    return values


def _element(value: Value, step: int) -> Iterator[Value]:
    if isinstance(value, Table) and step == EACH:
        yield from map(Constant, value)
    elif isinstance(value, Items):
        for part in value.items if step == EACH else value.items[step : step + 1]:
            yield from part


def subscript(owners: Values, indices: Values) -> Iterator[Value]:
    """Yield the items of containers that the indices lead to; all of them where these are not known."""
    keys = [index.value for index in indices if isinstance(index, Text | Constant)]
    for owner in owners:
        table: Mapping[Any, Values]
        if isinstance(owner, Items):
            places = range(-len(owner.items), len(owner.items))
            table = {place: owner.items[place] for place in places}
        elif isinstance(owner, Table):
            table = owner
        else:
            continue
        if keys and all(key in table for key in keys):
            yield from (value for key in keys for value in table[key])
        else:
            items = owner.items if isinstance(owner, Items) else owner.values()
            yield from possible(value for item in items for value in item)


def of_table(table: Table, method: str, arguments: Sequence[Values]) -> Iterator[Value]:
    """Yield what a method of a dict returns."""
    if method == "get" and arguments:
        yield from subscript((table,), arguments[0])
        yield from (value for other in arguments[1:] for value in other)
    elif method == "values":
        yield Items(tuple(table.values()))
    elif method == "items":
        yield Items(tuple((Items(((Constant(key),), values)),) for key, values in table.items()))


def made_text(
    value: str, texts: Sequence[Text], origin: ast.expr, module: Home, *, is_joined: bool = False
) -> Text:
    """Return a text that is made of others; where they are merely joined, their places are known."""
    nodes: tuple[ast.Constant, ...] | None = None
    if is_joined and all(text.parts is not None and text.module is module for text in texts):
        nodes = tuple(node for text in texts for node in text.parts or ())
    return Text(value, nodes, origin, module, any(text.is_possible for text in texts))


def added(terms: Iterable[Values], origin: ast.expr, module: Home) -> Iterator[Value]:
    """Yield the sums of values, one for each choice of the terms."""
    for chosen in islice(product(*terms), MOST):
        texts = [one for one in chosen if isinstance(one, Text)]
        lists = [one.items for one in chosen if isinstance(one, Items)]
        if len(texts) == len(chosen):
            yield made_text("".join(text.value for text in texts), texts, origin, module, is_joined=True)
        elif len(lists) == len(chosen):
            yield Items(tuple(chain.from_iterable(lists)))


def computed(
    compute: Callable[..., Any], arguments: Iterable[Iterable[Value]], origin: ast.expr, module: Home
) -> Iterator[Value]:
    """Yield the texts that Python computes from constants, one for each choice of the arguments."""
    for chosen in islice(product(*arguments), MOST):
        texts = [text for one in chosen for text in _texts_in(one)]
        if any(len(text.value) > _LONGEST or _WIDE.search(text.value) for text in texts):
            continue
        try:
            result = compute(*map(_constant, chosen))
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError):
            continue
        if isinstance(result, str):
            yield made_text(result, texts, origin, module)


def constants(arguments: Iterable[Iterable[Value]]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments as Python constants, for each choice of them that are."""
    for chosen in islice(product(*arguments), MOST):
        with suppress(TypeError):
            yield tuple(map(_constant, chosen))


def _texts_in(value: Value) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, Items):
        yield from (text for item in value.items for one in item for text in _texts_in(one))


def _constant(value: Value) -> Any:
    """Return the constant that a value is (TypeError if it is none)."""
    match value:
        case Text(constant) | Constant(constant):
            return constant
        case Items(items) if all(len(item) == 1 for item in items):
            return tuple(_constant(item[0]) for item in items)
    raise TypeError


def joined(*pieces: object) -> str:
    """Return the pieces of an f-string as one text."""
    return "".join(map(str, pieces))


def formatted(text: str, values: object) -> str:
    """Return ``text % values``; a text without a conversion would be an expression with a ``%`` in it."""
    return text % values


_METHODS = "format join lower lstrip removeprefix removesuffix replace rstrip strip upper"
METHODS: Mapping[str, Callable[..., Any]] = {name: getattr(str, name) for name in _METHODS.split()}
"""Methods of str that are run on constants."""
OF_TABLES = frozenset({"get", "items", "values"})
"""Methods of dicts that are followed."""
CLEANED: Mapping[str, Callable[[str], str]] = dict.fromkeys(("textwrap.dedent", "inspect.cleandoc"), cleandoc)
"""Functions that take the indent away, which no expression minds."""
