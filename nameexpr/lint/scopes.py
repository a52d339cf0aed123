"""The bindings of every name of a file, scope by scope, and every call with its scope.

One walk over the syntax tree, without recursion: what Python can parse may nest deeper than Python can call.
The rules are Python's: a function sees the scopes around it except those of classes, a comprehension has a
scope of its own, `global` and `nonlocal` bind elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Binding(NamedTuple):
    """What a name is bound to: an imported thing (its dotted path), a value, or something unknown."""

    path: str = ""
    value: ast.expr | None = None
    scope: NameScope | None = None


Place = tuple[ast.AST, "NameScope"]
UNKNOWN = Binding()


@dataclass(slots=True, eq=False)
class NameScope:
    """The bindings of a module, class, function or comprehension."""

    parent: NameScope | None = None
    kind: str = "module"
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, NameScope] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)

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
    def module(self) -> NameScope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def read_scopes(tree: ast.Module) -> list[tuple[ast.Call, NameScope]]:
    """Collect every call in the order of the file, with its scope; all scopes are then complete.

    >>> ((call, scope),) = read_scopes(ast.parse("import nameexpr as ne; ne.einsum(text)"))
    >>> scope.find("ne")[0].path
    'nameexpr'
    """
    calls: list[tuple[ast.Call, NameScope]] = []
    stack: list[Place] = [(tree, NameScope())]
    while stack:
        node, scope = stack.pop()
        if isinstance(node, ast.Call):
            calls.append((node, scope))
        stack += _inside(node, scope)[::-1]
    return calls


def _inside(node: ast.AST, scope: NameScope) -> list[Place]:
    """Return the nodes inside a node, each with its scope, after noting what the node binds."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inner, given = _inner(scope, "function", node), node.args
            outside: list[ast.expr | None] = [*given.defaults, *given.kw_defaults]
            for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
                if argument is not None:
                    inner.bind(argument.arg)
                    outside.append(argument.annotation)
            if isinstance(node, ast.Lambda):
                return [*_each(outside, scope), (node.body, inner)]
            scope.bind(node.name)
            return _each([*outside, *node.decorator_list, node.returns], scope) + _each(node.body, inner)
        case ast.ClassDef(name=name):
            scope.bind(name)
            around = _each([*node.decorator_list, *node.bases, *node.keywords], scope)
            return around + _each(node.body, _inner(scope, "class", node))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner = NameScope(scope, "comprehension")
            places: list[Place] = []
            for number, loop in enumerate(node.generators):
                places += [(loop.iter, inner if number else scope), *_each([loop.target, *loop.ifs], inner)]
            values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return places + _each(values, inner)
        case _:
            noted = _note(node, scope)
            return [(child, scope) for child in ast.iter_child_nodes(node) if child is not noted]


def _each(nodes: Sequence[ast.AST | None], scope: NameScope) -> list[Place]:
    return [(node, scope) for node in nodes if node is not None]


def _inner(scope: NameScope, kind: str, node: ast.AST) -> NameScope:
    """Create a nested scope with the type parameters of the node."""
    inner = NameScope(scope, kind)
    for parameter in getattr(node, "type_params", ()):
        inner.bind(parameter.name)
    return inner


def _note(node: ast.AST, scope: NameScope) -> ast.expr | None:
    """Record what a node itself binds, and return the target that is then done with."""
    match node:
        case ast.Import() | ast.ImportFrom():
            _imports(node, scope)
        case (
            ast.Assign(targets=[ast.Name(id=name) as target], value=value)
            | ast.AnnAssign(target=ast.Name(id=name) as target, value=value)
        ):
            scope.bind(name, Binding("", value, scope))
            return target
        case ast.NamedExpr(target=ast.Name(id=name) as target, value=value):
            outside = scope
            while outside.kind == "comprehension" and outside.parent is not None:
                outside = outside.parent
            outside.bind(name, Binding("", value, scope))
            return target
        case ast.Global(names=names):
            scope.elsewhere |= dict.fromkeys(names, scope.module)
        case ast.Nonlocal(names=names):
            scope.elsewhere |= {name: _owner(scope, name) for name in names}
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.MatchMapping(rest=str(name)):
            scope.bind(name)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name)
    return None


def _imports(node: ast.Import | ast.ImportFrom, scope: NameScope) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name, path = alias.asname or alias.name.partition(".")[0], alias.name
            scope.bind(name, Binding(path if alias.asname else name))
        elif alias.name == "*":
            scope.stars.add("." * node.level + (node.module or ""))
        else:
            path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            scope.bind(alias.asname or alias.name, Binding(path))


def _owner(scope: NameScope, name: str) -> NameScope:
    """Find the scope of the enclosing function that binds a name."""
    outer = scope.parent
    while outer is not None and (outer.kind != "function" or name not in outer.bindings):
        outer = outer.parent
    return outer or scope
