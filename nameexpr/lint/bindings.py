"""What names are bound to, and the scopes that hold these bindings: what one walk over a file finds."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

EACH = -1
"""The step from a collection to one of its elements."""


class Binding(NamedTuple):
    """The value of a name: an imported object (its dotted path), an expression, a definition, or unknown.

    `scope` is where `value` is read, and for a class or function its own scope. `steps` lead from the value
    to the bound element: EACH is one of its elements, a number the element at that index. `node` binds the
    name.
    """

    path: str = ""
    value: ast.expr | None = None
    scope: NameScope | None = None
    steps: tuple[int, ...] = ()
    node: ast.AST | None = None


UNKNOWN = Binding()


@dataclass(slots=True, eq=False)
class NameScope:
    """The bindings of a module, class, function or comprehension; for a class also those of `self.name`.

    A function or class of the module has all `calls` in it. `changed` are the names of lists and dicts that
    are changed in place; those of attributes have a dot.
    """

    parent: NameScope | None = None
    kind: str = "module"
    node: ast.AST | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, NameScope] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)
    attributes: dict[str, list[Binding]] = field(default_factory=dict)
    inner: dict[ast.AST, NameScope] = field(default_factory=dict)
    calls: list[tuple[ast.Call, NameScope]] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    returns: list[ast.expr] = field(default_factory=list)
    is_generator: bool = False

    def bind(self, name: str, binding: Binding = UNKNOWN) -> None:
        """Record a binding, in the scope where `global` or `nonlocal` put the name."""
        self.elsewhere.get(name, self).bindings.setdefault(name, []).append(binding)

    def find(self, name: str) -> list[Binding] | None:
        """Look up all bindings of a name that is read in this scope; None if there are none."""
        if name in self.elsewhere:
            return self.elsewhere[name].bindings.get(name)
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.bindings and (scope is self or scope.kind != "class"):
                return scope.bindings[name]
            scope = scope.parent
        return None

    @property
    def top(self) -> NameScope:
        """The function or class of the module around this scope, or the module itself."""
        scope = self
        while scope.parent is not None and scope.parent.parent is not None:
            scope = scope.parent
        return scope

    @property
    def module(self) -> NameScope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Calls(NamedTuple):
    """Every call of a file in its order, with its scope; the scope of the module; the node around each node;
    what is changed in place: attributes with a dot, and the ids of the bindings of names; and what is read by
    a subscript, with its scope.
    """

    calls: list[tuple[ast.Call, NameScope]]
    module: NameScope
    parents: dict[ast.AST, ast.AST]
    changed: set[int | str]
    subscripts: list[tuple[ast.Subscript, NameScope]]


def class_of_self(binding: Binding, scope: NameScope | None) -> NameScope | None:
    """Return the scope of the class whose method has this binding as its first parameter, if any."""
    while scope is not None:
        node, around = scope.node, scope.parent
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and around and around.kind == "class":
            first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
            if first is not None and first is binding.node and not is_static(node):
                return around
        scope = around
    return None


def is_static(function: ast.AST) -> bool:
    """Return whether a function of a class is not given the object."""
    decorators = getattr(function, "decorator_list", ())
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in decorators)
