"""Values of expressions, as far as a source tells: texts, what holds them, functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from nameexpr.dims import Names
from nameexpr.lint.scopes import Calls, NameScope
from nameexpr.lint.source import Source
from nameexpr.records import record

MOST = 32
"""How many values of one expression are told apart."""


class Home(Protocol):
    """The module of a value: what it needs to be located, and read further."""

    path: str
    source: Source
    passing: dict[tuple[ast.AST, str], Passing] | None

    @property
    def scopes(self) -> Calls:
        """The calls of the module with their scopes, and its own scope."""

    def called(self, node: ast.expr, scope: NameScope) -> Values:
        """Return what is called, or made by a call, from modules that mention nameexpr."""

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return what an expression of the module can be."""

    def attribute(self, owner: Value, name: str) -> Iterable[Value]:
        """Return what an attribute of something can be."""

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return what an attribute of a class of the module can be."""

    def returned(self, of: Definition) -> Values:
        """Return what a function of the module can return."""


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


@record
class Some:
    """A collection of which neither the number of elements nor their order is known: what they can be."""

    elements: tuple[Value, ...]


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
class Passing:
    """A function of the program that passes a text on: its parameter, the call that is given the text, and
    whether all operands go with it.
    """

    function: str
    owner: ast.AST
    parameter: str
    call: ast.Call
    is_forwarding: bool


@record
class Named:
    """A NamedTensor whose names are known."""

    names: Names


Value: TypeAlias = (
    Named | Text | Constant | Items | Some | Table | Imported | Definition | Instance | Parameter | Applied
)
Values: TypeAlias = tuple[Value, ...]
