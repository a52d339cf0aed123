"""Values of expressions, as far as a source determines them: texts, containers of texts, functions and
classes; and the results of operations on constants: elements of containers, and texts from other texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from nameexpr.dims import Names
from nameexpr.lint import Bound
from nameexpr.lint.bindings import Calls, NameScope
from nameexpr.lint.source import Source
from nameexpr.records import record

MOST = 32
"""The number of values of one expression that are distinguished."""


class Home(Protocol):
    """The module of a value, as needed to locate it and to evaluate further."""

    path: str
    source: Source
    modules: Any
    passing: dict[NameScope, list[Passing]]

    @property
    def scopes(self) -> Calls:
        """The calls of the module with their scopes, and its own scope."""

    def called(self, node: ast.expr, scope: NameScope) -> Values:
        """Return the called function or object, from modules that mention nameexpr."""

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return the possible values of an expression of the module."""

    def attribute(self, owner: Value, name: str) -> Iterable[Value]:
        """Return the possible values of an attribute of something."""

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return the possible values of an attribute of a class of the module."""

    def returned(self, of: Definition) -> Values:
        """Return the possible results of a function of the module."""


@record
class Text:
    """A text: the constants that it consists of in the source, or None if the program computes it from other
    texts.

    `is_possible` means that it may never be used where it was found: a default, one of several items.
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
    """A collection whose length and order are unknown: its possible elements."""

    elements: tuple[Value, ...]


class Table(dict[Any, tuple["Value", ...]]):
    """A dict with constant keys, which does not change after its creation."""

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class GradientTable(Table):
    """A dict of gradients by the names of operands."""


@record
class Imported:
    """An imported object, by its dotted path."""

    path: str


@record
class Definition:
    """A class or function of the program, with its own scope."""

    node: ast.AST
    scope: NameScope
    module: Home


@record
class Instance:
    """An object of a class of the program, or the class as its methods see it."""

    of: Definition


@record
class Parameter:
    """A parameter of a function, or a field of a class."""

    owner: ast.AST
    name: str


@record
class Applied:
    """A call that returns a callable: `compile`, `grad` or `value_and_grad`, or `functools.partial` of a
    function of nameexpr.

    `bound` are the operands that `bind` has fixed, None if they are unknown, and `partials` the calls of
    `functools.partial` whose arguments precede those of a call.
    """

    function: str
    call: ast.Call
    scope: NameScope
    module: Home
    is_partial: bool = False
    bound: Bound = ()
    partials: tuple[ast.Call, ...] = ()

    @property
    def arguments(self) -> list[ast.expr]:
        """The arguments of nameexpr's function: a text, and what follows it."""
        return self.call.args[1:] if self.is_partial else self.call.args

    def texts(self) -> list[Text]:
        """Return the possible texts."""
        found = self.module.values(self.arguments[0], self.scope) if self.arguments else ()
        return [one for one in found if isinstance(one, Text)]


@record
class Passing:
    """A function of the program that passes a text on: its parameter, the call that takes the text, and
    whether all operands are passed with it.
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
