"""What an expression of a source can be: one value, several where the program chooses between them (a
conditional, a loop over texts), or none where nothing is known.

Nothing is run. Names are followed to what reaches them, attributes to the classes that have them, and
f-strings, `+`, `%`, `format` and `join` are computed where everything in them is constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol

from nameexpr.lint import FUNCTIONS, tensors
from nameexpr.lint import values as made
from nameexpr.lint.flow import reaching
from nameexpr.lint.scopes import Binding, NameScope, class_of_self
from nameexpr.lint.values import (
    Applied,
    Constant,
    Definition,
    Imported,
    Instance,
    Items,
    Named,
    Parameter,
    Table,
    Text,
    Value,
    Values,
)

_DEEPEST = 24
"""How many names and attributes may lead to each other."""


class ReaderHome(made.Home, Protocol):
    """The module that a reader reads."""

    @property
    def is_of_callee(self) -> bool:
        """Whether functions are looked for: only in modules that mention nameexpr."""

    @property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The node around each node."""

    def imported(self, path: str) -> Values:
        """Return what an imported dotted path is."""

    def starred(self, name: str) -> Values:
        """Return what a name is that comes with a star import."""


class Reader:
    """Reads the expressions of one module; what is found is kept."""

    __slots__ = ("_depth", "_known", "module")

    def __init__(self, module: ReaderHome) -> None:
        self.module = module
        self._known: dict[tuple[int, int, bool], Values] = {}
        self._depth = 0

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return what an expression can be, () if that cannot be told."""
        if node is None or scope is None or self._depth > _DEEPEST:
            return ()
        key = (id(node), id(scope), self.module.is_of_callee)
        if key not in self._known:
            self._known[key] = ()  # for a name that leads to itself
            self._depth += 1
            self._known[key] = tuple(dict.fromkeys(islice(self._read(node, scope), made.MOST)))
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
            case ast.Subscript(value=owner, slice=index):
                return made.subscript(self.values(owner, scope), self.values(index, scope))
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return [Items(tuple(self._elements(items, scope)))]
            case ast.Dict():
                return [self._table(node, scope)]
            case ast.Call():
                return self._call(node, scope)
        return self._composed(node, scope)

    def _composed(self, node: ast.expr, scope: NameScope) -> Iterable[Value]:
        """Return what operators and f-strings make of constants."""
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return [Constant(-number)]
            case ast.BinOp(op=ast.Add()):
                terms = [self.values(term, scope) for term in _terms(node)]
                return made.added(terms, node, self.module)
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                arguments = [self.values(left, scope), self.values(right, scope)]
                return made.computed(made.formatted, arguments, node, self.module)
            case ast.JoinedStr(values=pieces):
                holes = [piece for piece in pieces if isinstance(piece, ast.FormattedValue)]
                if not any(hole.conversion != -1 or hole.format_spec for hole in holes):
                    inner = [one.value if isinstance(one, ast.FormattedValue) else one for one in pieces]
                    arguments = [self.values(piece, scope) for piece in inner]
                    return made.computed(made.joined, arguments, node, self.module)
        return ()

    def _named(self, name: str, node: ast.Name, scope: NameScope) -> Iterator[Value]:
        bindings = scope.find(name)
        if bindings is None:
            yield from self.module.starred(name)
            return
        given = [one for one in bindings if isinstance(one.node, ast.arg) or not _is_none(one.value)]
        if len(given) > 1:
            given = reaching(bindings, node, scope, self.module.parents)
        for binding in given:
            yield from self.bound(binding, name, scope)

    def bound(self, binding: Binding, name: str, scope: NameScope) -> Values:
        """Return what a name is bound to, which is read in `scope`."""
        node = binding.node
        if binding.path:
            return self.module.imported(binding.path)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and binding.scope:
            return (Definition(node, binding.scope, self.module),)
        if not isinstance(node, ast.arg):
            return made.taken_apart(self.values(binding.value, binding.scope), binding.steps)
        of_class = class_of_self(binding, scope)
        if of_class is not None and of_class.node is not None:
            return (Instance(Definition(of_class.node, of_class, self.module)),)
        owner = _owner_of(node, scope)
        given: Values = (Parameter(owner, name),) if owner else ()
        return (*given, *made.possible(self.values(binding.value, binding.scope)))

    def attribute(self, owner: Value, name: str) -> Values:
        """Return what an attribute of something can be."""
        match owner:
            case Imported(path):
                return self.module.imported(f"{path}.{name}")
            case Instance(of) | (Definition() as of):
                return of.module.attribute_of(of, name)
            case Text() if name == "value":  # of a member of an Enum
                return (owner,)
        return ()

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return what an attribute of a class of this module, or of its objects, can be."""
        if not isinstance(of.node, ast.ClassDef) or self._depth > _DEEPEST:
            return ()
        bindings = [*of.scope.bindings.get(name, ()), *of.scope.attributes.get(name, ())]
        found: list[Value] = []
        for binding in bindings:
            values = self.bound(binding, name, binding.scope or of.scope)
            if isinstance(binding.node, ast.AnnAssign) and binding.node in of.node.body:
                found.append(Parameter(of.node, name))  # a field, if this is a dataclass
                values = tuple(made.possible(values))
            found += values
        return tuple(found) if bindings else self._inherited(of, name)

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

    def _call(self, node: ast.Call, scope: NameScope) -> Iterator[Value]:
        callee = node.func
        arguments = (self.values(one, scope) for one in node.args)
        if isinstance(callee, ast.Attribute) and callee.attr in made.METHODS:
            texts = [self.values(callee.value, scope)]
            if texts[0] and not node.keywords:
                yield from made.computed(made.METHODS[callee.attr], [*texts, *arguments], node, self.module)
            return
        if isinstance(callee, ast.Attribute) and callee.attr in made.OF_TABLES:
            tables = [one for one in self.values(callee.value, scope) if isinstance(one, Table)]
            for table in tables:
                yield from made.of_table(table, callee.attr, list(arguments))
            return
        if isinstance(callee, ast.Attribute) and callee.attr in tensors.NAMING and not node.keywords:
            owners = [one for one in self.values(callee.value, scope) if isinstance(one, Named)]
            given = list(arguments) if owners else []
            yield from (new for one in owners for new in tensors.renamed_tensor(one, callee.attr, given))
            return
        for value in self.values(callee, scope):
            yield from self._made(value, node, scope)

    def _made(self, function: Value, node: ast.Call, scope: NameScope) -> Iterator[Value]:
        """Yield what a call of a function or class makes."""
        match function:
            case Imported("functools.partial") if node.args:
                for called in self.values(node.args[0], scope):
                    if isinstance(called, Imported) and called.path in FUNCTIONS:
                        yield Applied(FUNCTIONS[called.path], node, scope, self.module)
            case Imported(path) if FUNCTIONS.get(path) == "compile":
                yield Applied("compile", node, scope, self.module)
            case Imported(path) if path in tensors.MAKING:
                yield from tensors.named_tensor(node, lambda given: self.values(given, scope))
            case Imported(path) if path in made.CLEANED:
                arguments = [self.values(one, scope) for one in node.args]
                yield from made.computed(made.CLEANED[path], arguments, node, self.module)
            case Definition(node=ast.ClassDef()):
                yield Instance(function)


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum, however long it is."""
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
            named = (*given.posonlyargs, *given.args, *given.kwonlyargs)
            if argument in named:
                return scope.node
        scope = scope.parent
    return None
