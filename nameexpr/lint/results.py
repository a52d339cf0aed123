"""The results of the calls of a source: texts from other texts, tables, objects, tensors whose names are
known, and the results of functions of the program.

Functions are not evaluated with their arguments: a function returns those values of its `return` statements
that do not depend on its parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nameexpr.lint import FUNCTIONS, MADE, constants, gradients, library, tensors
from nameexpr.lint.bindings import NameScope
from nameexpr.lint.literals import bound_by
from nameexpr.lint.values import (
    Applied,
    Definition,
    Home,
    Imported,
    Instance,
    Named,
    Parameter,
    Table,
    Text,
    Value,
    Values,
)
from nameexpr.records import replace


def results(node: ast.Call, scope: NameScope, module: Home) -> Iterator[Value]:
    """Yield what a call can return, as far as the source determines it."""
    callee = node.func
    if isinstance(callee, ast.Attribute):
        yield from _of_method(callee.attr, module.values(callee.value, scope), node, scope, module)
    for function in module.values(callee, scope):
        yield from _of_function(function, node, scope, module)


def _of_method(
    method: str, owners: Values, node: ast.Call, scope: NameScope, module: Home
) -> Iterator[Value]:
    """Yield the results of methods of texts, tables and tensors."""
    kinds = {type(one) for one in owners}
    yield from (new for one in owners if isinstance(one, Applied) for new in _of_made(one, method, node))
    if not kinds & {Text, Table, Named}:
        return
    arguments = [module.values(one, scope) for one in node.args]
    if method in constants.METHODS and Text in kinds:
        if not node.keywords:
            yield from constants.computed(constants.METHODS[method], [owners, *arguments], node, module)
        elif method == "format":
            names = Table(_keywords(node, scope, module))
            given = [owners, (names,), *arguments]
            yield from constants.computed(constants.formatted_by_name, given, node, module)
    for one in owners:
        if isinstance(one, Table) and method in constants.OF_TABLES:
            yield from constants.of_table(one, method, arguments)
        elif isinstance(one, Named) and method in tensors.NAMING and not node.keywords:
            yield from tensors.renamed_tensor(one, method, arguments)


def _of_made(made: Applied, method: str, node: ast.Call) -> Iterator[Applied]:
    """Yield the result of a method of an object made from a text, which has this text, too."""
    if method == "gradient" and made.function == "compile":
        yield made
    elif method == "bind" and not made.is_partial:
        names = bound_by(node)
        is_known = names is not None and made.bound is not None and not made.partials
        yield replace(made, bound=(*(made.bound or ()), *(names or ())) if is_known else None)


def _of_function(function: Value, node: ast.Call, scope: NameScope, module: Home) -> Iterator[Value]:
    """Yield the results of a call of a function or class."""
    match function:
        case Definition(node=ast.ClassDef()):
            yield Instance(function)
        case Definition() if not isinstance(function.node, ast.AsyncFunctionDef):
            yield from function.module.returned(function)
        case Imported("functools.partial") if node.args:
            yield from _of_partial(module.values(node.args[0], scope), node, scope, module)
        case Imported(path) if FUNCTIONS.get(path) in MADE:
            yield Applied(FUNCTIONS[path], node, scope, module)
        case Applied(is_partial=False):
            yield from gradients.returned(function, _keywords(node, scope, module))
        case Imported(path) if path in tensors.MAKING:
            yield from tensors.named_tensor(node, lambda given: module.values(given, scope))
        case Imported(path) if path in library.OF_OBJECTS:
            yield from _of_object(path, node, scope, module)
        case Imported(path) if path in library.FUNCTIONS or path in library.TEXTS:
            arguments = [module.values(one, scope) for one in node.args]
            if path in library.TEXTS:
                yield from constants.computed(library.TEXTS[path], arguments, node, module)
            else:
                yield from library.FUNCTIONS[path](arguments, _keywords(node, scope, module))


def _of_partial(functions: Values, node: ast.Call, scope: NameScope, module: Home) -> Iterator[Applied]:
    """Yield what `functools.partial` returns."""
    for function in functions:
        if isinstance(function, Imported) and function.path in FUNCTIONS:
            yield Applied(FUNCTIONS[function.path], node, scope, module, is_partial=True)
        elif isinstance(function, Applied) and not function.is_partial:
            yield replace(function, partials=(*function.partials, node))


def _of_object(path: str, node: ast.Call, scope: NameScope, module: Home) -> Iterator[Value]:
    """Yield what `getattr` returns for a name that is known, `type` of an object, and `super`."""
    given = [module.values(one, scope) for one in node.args]
    if path == "builtins.getattr" and given[1:]:
        for name in given[1]:
            if isinstance(name, Text):
                yield from (new for one in given[0] for new in module.attribute(one, name.value))
        yield from (value for other in given[2:] for value in other)
    elif path == "builtins.type" and given:
        yield from (one.of for one in given[0] if isinstance(one, Instance))
    elif path == "builtins.super" and not given:
        around: NameScope | None = scope
        while around is not None and around.kind != "class":
            around = around.parent
        bases = around.node.bases if around and isinstance(around.node, ast.ClassDef) else []
        values = [value for base in bases for value in module.values(base, around and around.parent)]
        yield from (Instance(value) for value in values if isinstance(value, Definition))


def _keywords(node: ast.Call, scope: NameScope, module: Home) -> dict[str, Values]:
    """Return the keyword arguments of a call, and those of the tables that it unpacks."""
    given: dict[str, Values] = {}
    for keyword in node.keywords:
        values = module.values(keyword.value, scope)
        if keyword.arg is not None:
            given[keyword.arg] = values
        elif len(values) == 1 and isinstance(values[0], Table):
            given |= values[0]
    return given


def property_of(value: Value) -> Iterable[Value]:
    """Return the values of an attribute of an object: for a property the results of its function."""
    if isinstance(value, Definition) and library.OF_PROPERTIES & _decorators(value):
        return value.module.returned(value)
    return (value,)


def returned(of: Definition) -> Iterator[Value]:
    """Yield the results of a function that do not depend on its parameters."""
    if isinstance(of.node, ast.Lambda):
        values = of.module.values(of.node.body, of.scope)
    elif of.scope.returns and not of.scope.is_generator and _decorators(of) <= library.TRANSPARENT:
        values = tuple(value for one in of.scope.returns for value in of.module.values(one, of.scope))
    else:
        return
    for value in values:
        if not isinstance(value, Parameter) and not (isinstance(value, Text) and value.is_possible):
            yield value


def _decorators(of: Definition) -> frozenset[str]:
    """Return the dotted paths of a function's decorators, "" for unknown ones."""
    around = of.scope.parent
    nodes = [one.func if isinstance(one, ast.Call) else one for one in getattr(of.node, "decorator_list", ())]
    found = [of.module.values(one, around) for one in nodes]
    return frozenset(
        values[0].path if len(values) == 1 and isinstance(values[0], Imported) else "" for values in found
    )
