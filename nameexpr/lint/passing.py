"""Functions of a program that pass a text on, and the arguments of their calls for it.

A function passes a text on if one of its parameters, or the first argument that a star collects, reaches one
of nameexpr's functions, or a function that passes it on; a class does if its `__init__` or a field does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from nameexpr.lint.bindings import NameScope, is_static
from nameexpr.lint.targets import Targets
from nameexpr.lint.values import Definition, Home, Instance, Items, Parameter, Passing, Text, Value, Values

_DEEPEST = 16
"""The number of functions that may pass a text on to each other."""
Key = tuple[ast.AST, str]
"""A function, and one of its parameters."""


def passing_in(scope: NameScope, module: Home) -> list[Passing]:
    """Return what passes a text on in a function or class of a module."""
    if scope not in module.passing:
        found = module.passing[scope] = []
        if module.modules.depth > _DEEPEST:
            return found
        module.modules.depth += 1
        targets = Targets()
        for _ in range(_DEEPEST):  # functions in it that call each other
            before = len(found)
            for node, inner in scope.calls:
                found += [one for one in _noted(node, inner, module, targets) if one not in found]
            if len(found) == before:
                break
        module.modules.depth -= 1
    return module.passing[scope]


def used_in(module: Home) -> set[Key]:
    """Return the parameters that a text of the module reaches."""
    used = set()
    for node, scope in module.scopes.calls:
        for passing, given in arguments_of(node, scope, module):
            if any(isinstance(one, Text) for one in module.values(given, scope)):
                used.add((passing.owner, passing.parameter))
    return used


def arguments_of(node: ast.Call, scope: NameScope, module: Home) -> Iterator[tuple[Passing, ast.expr]]:
    """Yield the functions that a call leads to and that pass a text on, with the argument for the text."""
    for value in module.called(node.func, scope):
        passing = _passing_of(value)
        given = _argument(passing.parameter, value, node) if passing else None
        if passing and given:
            yield passing, given


def _noted(node: ast.Call, scope: NameScope, module: Home, targets: Targets) -> Iterator[Passing]:
    """Yield the functions around a call whose text is one of their parameters."""
    function = targets.function_of(node.func, scope)
    if function is None:
        given = [(one.function, text, one.call, False) for one, text in arguments_of(node, scope, module)]
    else:
        given = [(function, text, node, _is_star_last(node)) for text in node.args[:1]]
    for called, text, call, is_forwarding in given:
        for value in text_values(text, scope, module):
            if isinstance(value, Parameter):
                yield Passing(called, value.owner, value.name, call, is_forwarding)


def _is_star_last(node: ast.Call) -> bool:
    """Return whether all operands of a call are unpacked from one star."""
    return [isinstance(one, ast.Starred) for one in node.args] == [False, True]


def text_values(given: ast.expr, scope: NameScope, module: Home) -> Values:
    """Return the possible values of the first argument of a call; for a star, of its first element."""
    if not isinstance(given, ast.Starred):
        return module.values(given, scope)
    values = module.values(given.value, scope)
    spread = (one.items[0] for one in values if isinstance(one, Items) and one.items)
    collected = (one for one in values if isinstance(one, Parameter) and one.name == _star(one.owner))
    return (*chain.from_iterable(spread), *collected)


def _passing_of(value: Value) -> Passing | None:
    """Return the text that a function or class of the program passes on."""
    owners: list[Definition] = []
    if isinstance(value, Instance):
        made = value.of.module.attribute_of(value.of, "__call__")
        owners = [one for one in made if isinstance(one, Definition)]
    elif isinstance(value, Definition):
        owners = [value, *_init(value)]
    places = dict.fromkeys((of.scope.top, of.module) for of in owners)
    nodes = [of.node for of in owners]
    return next((one for place in places for one in passing_in(*place) if one.owner in nodes), None)


def _init(of: Definition) -> list[Definition]:
    """Return the function that initialises the objects of a class, [] if there is none."""
    if not isinstance(of.node, ast.ClassDef):
        return []
    return [one for one in of.module.attribute_of(of, "__init__") if isinstance(one, Definition)]


def _argument(parameter: str, value: Value, node: ast.Call) -> ast.expr | None:
    """Return the argument of a call for a parameter of a function, a method or a class with fields."""
    by_name = next((keyword.value for keyword in node.keywords if keyword.arg == parameter), None)
    of = value.of if isinstance(value, Instance) else value
    if by_name is not None or not isinstance(of, Definition):
        return by_name
    names = _parameters(of)
    place = names.index(parameter) if parameter in names else len(node.args)
    before = node.args[: place + 1]
    is_known = len(before) > place and not any(isinstance(one, ast.Starred) for one in before)
    return before[place] if is_known else None


def _parameters(of: Definition) -> list[str]:
    """Return the names of the positional parameters, with the one that collects the rest."""
    if isinstance(of.node, ast.ClassDef):
        made = _init(of)
        if made:
            return _parameters(made[0])
        fields = [one.target for one in of.node.body if isinstance(one, ast.AnnAssign)]
        return [field.id for field in fields if isinstance(field, ast.Name)]
    node = of.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    names = [one.arg for one in [*node.args.posonlyargs, *node.args.args]]
    names += [node.args.vararg.arg] if node.args.vararg else []
    around = of.scope.parent
    is_method = around is not None and around.kind == "class"
    return names[1:] if is_method and not (is_static(node)) else names


def _star(owner: ast.AST) -> str:
    """Return the name of the parameter that collects arguments by position, "" if there is none."""
    given = getattr(owner, "args", None)
    return given.vararg.arg if isinstance(given, ast.arguments) and given.vararg else ""
