"""The possible values of an expression of a source: one value, several if the program chooses between them (a
conditional, a loop over texts), or none if nothing is known.

Nothing is executed. Names are followed to the assignments that reach them, attributes to the classes that
have them, and f-strings, `+`, `%`, `format` and `join` are computed if all their parts are constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from nameexpr.lint import constants, library
from nameexpr.lint.bindings import Binding, NameScope, class_of_self
from nameexpr.lint.flow import is_repeated, reaching
from nameexpr.lint.results import property_of, results, returned
from nameexpr.lint.values import (
    MOST,
    Constant,
    Definition,
    Home,
    Imported,
    Instance,
    Items,
    Parameter,
    Some,
    Table,
    Text,
    Value,
    Values,
)

_DEEPEST = 24
"""The number of names and attributes that may lead to each other."""
_AS_TEXT = (-1, ord("s"))
"""The conversions of f-strings that make no difference to a text."""
_PARAMETRIZE = Imported("pytest.mark.parametrize")


class ReaderHome(Home, Protocol):
    """The module of a reader."""

    @property
    def is_of_callee(self) -> bool:
        """Whether called functions are followed: only in modules that mention nameexpr."""

    def imported(self, path: str) -> Values:
        """Return the value of an imported dotted path."""

    def starred(self, name: str) -> Values:
        """Return the value of a name from a star import."""


class Reader:
    """The evaluation of the expressions of one module; results are cached."""

    __slots__ = ("_depth", "_known", "module")

    def __init__(self, module: ReaderHome) -> None:
        self.module = module
        self._known: dict[tuple[int, int, bool], Values] = {}
        self._depth = 0

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return the possible values of an expression, () if unknown."""
        if node is None or scope is None or self._depth > _DEEPEST:
            return ()
        key = (id(node), id(scope), self.module.is_of_callee)
        if key not in self._known:
            self._known[key] = ()  # for circular definitions
            self._depth += 1
            self._known[key] = tuple(dict.fromkeys(islice(self._read(node, scope), MOST)))
            self._depth -= 1
        return self._known[key]

    def _read(self, node: ast.expr, scope: NameScope) -> Iterable[Value]:
        match node:
            case ast.Constant(value=value):
                return [
                    Text(value, (node,), node, self.module) if isinstance(value, str) else Constant(value)
                ]
            case ast.Name(id=name):
                return self._named(name, node, scope)
            case ast.Attribute(value=owner, attr=name):
                return (one for value in self.values(owner, scope) for one in self.attribute(value, name))
            case ast.IfExp(body=body, orelse=other):
                return (*self.values(body, scope), *self.values(other, scope))
            case ast.BoolOp(values=parts):
                return (value for part in parts for value in self.values(part, scope))
            case ast.NamedExpr(value=value):
                return self.values(value, scope)
            case ast.Subscript(value=owner, slice=ast.Slice() as part):
                bounds = [self.values(one, scope) for one in (part.lower, part.upper, part.step) if one]
                return constants.part(self.values(owner, scope), part, bounds, node, self.module)
            case ast.Subscript(value=owner, slice=index):
                return constants.subscript(self.values(owner, scope), self.values(index, scope))
            case ast.Lambda() if node in scope.inner:
                return [Definition(node, scope.inner[node], self.module)]
            case ast.Call():
                return results(node, scope, self.module)
        return self._contained(node, scope) or self._composed(node, scope)

    def _contained(self, node: ast.expr, scope: NameScope) -> list[Value]:
        """Return the container that an expression makes."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return [Items(tuple(self._elements(items, scope)))]
            case ast.Dict():
                return [self._table(node, scope)]
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return [Some(self.values(item, scope.inner.get(node)))]
        return []

    def _composed(self, node: ast.expr, scope: NameScope) -> Iterable[Value]:
        """Return the results of operators and f-strings on constants."""
        arguments: list[Values]
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return [Constant(-number)]
            case ast.BinOp(op=ast.Add()):
                terms = [self.values(term, scope) for term in _terms(node)]
                return constants.added(terms, node, self.module)
            case ast.BinOp(left=left, op=ast.Mod() | ast.Mult() as op, right=right):
                arguments = [self.values(left, scope), self.values(right, scope)]
                rule = constants.formatted if isinstance(op, ast.Mod) else constants.times
                return constants.computed(rule, arguments, node, self.module)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                arguments = [self.values(left, scope), self.values(right, scope)]
                if all(isinstance(one, Table) for values in arguments for one in values):
                    return library.FUNCTIONS["builtins.dict"](arguments, {})
            case ast.JoinedStr(values=pieces):
                holes = [piece for piece in pieces if isinstance(piece, ast.FormattedValue)]
                if not any(hole.conversion not in _AS_TEXT or hole.format_spec for hole in holes):
                    inner = [one.value if isinstance(one, ast.FormattedValue) else one for one in pieces]
                    arguments = [self.values(piece, scope) for piece in inner]
                    return constants.computed(constants.joined, arguments, node, self.module)
        return ()

    def _named(self, name: str, node: ast.Name, scope: NameScope) -> Iterator[Value]:
        bindings = scope.find(name)
        if bindings is None:
            yield from self.module.starred(name) or map(Imported, filter(None, [library.builtin(name)]))
            return
        given = [one for one in bindings if isinstance(one.node, ast.arg) or not _is_none(one.value)]
        if len(given) > 1:
            given = reaching(bindings, node, scope, self.module.scopes.parents)
        if any(self._is_grown_again(binding, name) for binding in given):
            return
        for binding in given:
            yield from self.unchanged(self.bound(binding, name, scope), id(bindings))

    def unchanged(self, values: Iterable[Value], place: int | str) -> Iterator[Value]:
        """Yield values that are not changed in place where they are kept."""
        is_changed = place in self.module.scopes.changed
        yield from (one for one in values if not (is_changed and isinstance(one, Items | Table | Some)))

    def _is_grown_again(self, binding: Binding, name: str) -> bool:
        """Whether an assignment in a loop, like ``+=``, reads the name that it assigns."""
        if not isinstance(binding.node, ast.Assign | ast.AugAssign) or binding.value is None:
            return False
        names = (one.id for one in ast.walk(binding.value) if isinstance(one, ast.Name))
        return name in names and is_repeated(binding.node, self.module.scopes.parents)

    def bound(self, binding: Binding, name: str, scope: NameScope) -> Values:
        """Return the values of a binding of a name, which is read in `scope`."""
        node = binding.node
        if binding.path:
            return self.module.imported(binding.path)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and binding.scope:
            return (Definition(node, binding.scope, self.module),)
        if isinstance(node, ast.AugAssign) and len(self.values(node.target, binding.scope)) != 1:
            return ()  # if it is chosen what grows, it may be chosen what comes after that, too
        if not isinstance(node, ast.arg):
            return constants.taken_apart(self.values(binding.value, binding.scope), binding.steps)
        of_class = class_of_self(binding, scope)
        if of_class is not None and of_class.node is not None:
            return (Instance(Definition(of_class.node, of_class, self.module)),)
        owner = _owner_of(node, scope)
        given: Values = (Parameter(owner, name),) if owner else ()
        tested = self._parametrised(owner, name, binding.scope)
        return (*given, *tested, *constants.possible(self.values(binding.value, binding.scope)))

    def _parametrised(self, owner: ast.AST | None, name: str, scope: NameScope | None) -> Iterator[Value]:
        """Yield what the decorators of a test give one of its parameters."""
        for node in getattr(owner, "decorator_list", ()):
            if isinstance(node, ast.Call) and scope and _PARAMETRIZE in self.values(node.func, scope):
                yield from library.parametrised([self.values(one, scope) for one in node.args], name)

    def attribute(self, owner: Value, name: str) -> Iterable[Value]:
        """Return the possible values of an attribute of something."""
        match owner:
            case Imported(path):
                return self.module.imported(f"{path}.{name}")
            case Instance(of):
                given = of.module.attribute_of(of, name)
                return (new for one in given for new in property_of(one))
            case Definition():
                return owner.module.attribute_of(owner, name)
            case Text() if name == "value":  # of a member of an Enum
                return (owner,)
        return ()

    def returned(self, of: Definition) -> Values:
        """Return what a function of this module can return."""
        if self._depth > _DEEPEST:
            return ()
        self._depth += 1
        values = tuple(dict.fromkeys(islice(returned(of), MOST)))
        self._depth -= 1
        return values

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return the possible values of an attribute of a class of this module, or of its objects."""
        if not isinstance(of.node, ast.ClassDef) or self._depth > _DEEPEST:
            return ()
        bindings = [*of.scope.bindings.get(name, ()), *of.scope.attributes.get(name, ())]
        found: list[Value] = []
        for binding in bindings:
            values = self.bound(binding, name, binding.scope or of.scope)
            if isinstance(binding.node, ast.AnnAssign) and binding.node in of.node.body:
                found.append(Parameter(of.node, name))  # a field, if this is a dataclass
                values = tuple(constants.possible(values))
            found += values
        return tuple(self.unchanged(found, f".{name}")) if bindings else self._inherited(of, name)

    def _inherited(self, of: Definition, name: str) -> Values:
        assert isinstance(of.node, ast.ClassDef)
        self._depth += 1
        bases = [base for node in of.node.bases for base in self.values(node, of.scope.parent)]
        known = (base.module.attribute_of(base, name) for base in bases if isinstance(base, Definition))
        found = next(filter(None, known), ())
        self._depth -= 1
        return found

    def _elements(self, items: list[ast.expr], scope: NameScope) -> Iterator[Values]:
        for item in items:
            if isinstance(item, ast.Starred):
                for value in self.values(item.value, scope)[:1]:
                    yield from value.items if isinstance(value, Items) else ()
            else:
                yield self.values(item, scope)

    def _table(self, node: ast.Dict, scope: NameScope) -> Table:
        table = Table()
        for key, item in zip(node.keys, node.values, strict=True):
            values = self.values(item, scope)
            if key is None:
                table.update(next((one for one in values if isinstance(one, Table)), {}))
            for one in self.values(key, scope):
                if isinstance(one, Text | Constant):
                    table[one.value] = values
        return table


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum of any length."""
    terms = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms.append(node.right)
        node = node.left
    return [node, *reversed(terms)]


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _owner_of(argument: ast.arg, scope: NameScope | None) -> ast.AST | None:
    """Return the function whose parameter this is, seen from a scope inside it."""
    while scope is not None:
        given = getattr(scope.node, "args", None)
        if isinstance(given, ast.arguments):
            named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg)
            if argument in named:
                return scope.node
        scope = scope.parent
    return None
