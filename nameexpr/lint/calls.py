"""The calls of a source that are given a text, or made of one: functions of nameexpr under any name, compiled
texts, `functools.partial` of them, and functions of the program that pass a text on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from nameexpr.lint import OPEN, LiteralCall
from nameexpr.lint.modules import Module
from nameexpr.lint.scopes import NameScope
from nameexpr.lint.targets import Targets
from nameexpr.lint.values import Applied, Definition, Instance, Parameter, Text, Value, Values
from nameexpr.records import record
from nameexpr.syntax.lexer.tokens import looks_like_formula

_DEEPEST = 16
"""How many functions may pass a text on to each other."""


@record
class TextCall:
    """A call and a text that reaches it.

    `given` is the expression that the call is given for the text, or the call itself. `is_certain` says that
    the text is used here if anything is; `is_made` that it was given before, and only its use is looked at.
    """

    literal: LiteralCall
    text: Text
    node: ast.Call
    given: ast.expr
    is_certain: bool = True
    is_made: bool = False
    is_first: bool = True

    @property
    def is_written(self) -> bool:
        """Whether the text is written in the call itself."""
        return self.text.origin is self.given


@record
class Unread:
    """A call of one of our functions whose text is not known."""

    function: str
    node: ast.Call
    given: ast.expr


@record
class _Passing:
    """A function of the program that passes a text on: its parameter, the call that is given the text, and
    whether all operands go with it.
    """

    function: str
    owner: ast.AST
    parameter: str
    call: ast.Call
    is_forwarding: bool


def text_calls(module: Module) -> Iterator[TextCall | Unread]:
    """Yield the calls in the order of the file, once for each text that can reach them."""
    found = _Calls(module)
    for node, scope in module.scopes.calls:
        yield from found.calls_of(node, scope)


class _Calls:
    __slots__ = ("module", "passing", "targets")

    def __init__(self, module: Module) -> None:
        self.module, self.targets = module, Targets()
        self.passing: dict[tuple[ast.AST, str], _Passing] = {}
        for _ in range(_DEEPEST):  # functions that call such functions
            before = len(self.passing)
            for node, scope in module.scopes.calls:
                self._note(node, scope)
            if len(self.passing) == before:
                break

    def calls_of(self, node: ast.Call, scope: NameScope) -> Iterator[TextCall | Unread]:
        """Yield a call with each text."""
        function = self.targets.function_of(node.func, scope)
        if function is not None:
            yield from self._direct(function, node, scope)
            return
        for value in self._called(node.func, scope):
            if isinstance(value, Applied):
                yield from self._applied(value, node, scope)
            elif passing := self._passing_of(value):
                yield from self._passed(passing, value, node, scope)
        for value in self._called(node, scope):
            if (
                isinstance(value, Applied)
                and value.call is node
                and value.function != "compile"
                and node.args[1:]
            ):
                yield from self._texts(value.function, node.args[1], node, scope, count=None)  # of a partial

    def _direct(self, function: str, node: ast.Call, scope: NameScope) -> Iterator[TextCall | Unread]:
        if node.args:
            yield from self._texts(function, node.args[0], node, scope, count=_counted(node.args[1:]))

    def _texts(
        self, function: str, given: ast.expr, node: ast.Call, scope: NameScope, *, count: int | None
    ) -> Iterator[TextCall | Unread]:
        values = self.module.values(given, scope)
        texts = [value for value in values if isinstance(value, Text)]
        keywords, is_open = keywords_of(node)
        for number, text in enumerate(texts):
            literal = LiteralCall(function, text.value, count, keywords, is_open)
            yield TextCall(literal, text, node, given, not text.is_possible, is_first=not number)
        is_passed = any(isinstance(value, Parameter) and self._is_used(value) for value in values)
        if not texts and not is_passed:
            yield Unread(function, node, given)

    def _applied(self, made: Applied, node: ast.Call, scope: NameScope) -> Iterator[TextCall | Unread]:
        """Yield a call of something compiled, or of a `partial`: its text was given where it was made."""
        is_compiled = made.function == "compile"
        place = 0 if is_compiled else 1
        if len(made.call.args) <= place:
            if node.args and not is_compiled:  # the text comes with the call
                yield from self._texts(
                    made.function, node.args[0], node, scope, count=_counted(node.args[1:])
                )
            return
        texts = made.module.values(made.call.args[place], made.scope)
        given = [*made.call.args[place + 1 :], *node.args]
        count = _counted(given)
        keywords, is_open = keywords_of(node)
        if is_compiled:
            keywords.pop("out", None)
        before, was_open = keywords_of(made.call)
        for text in texts:
            if isinstance(text, Text) and len(texts) == 1:
                kind = "evaluate" if looks_like_formula(text.value) else "einsum"
                function = kind if is_compiled else made.function
                literal = LiteralCall(
                    function, text.value, count, {**before, **keywords}, is_open or was_open
                )
                yield TextCall(literal, text, node, node, not text.is_possible, is_made=True, is_first=False)

    def _passed(
        self, passing: _Passing, value: Value, node: ast.Call, scope: NameScope
    ) -> Iterator[TextCall]:
        given = _argument(passing.parameter, value, node)
        if given is None:
            return
        place = node.args.index(given) if given in node.args else len(node.args) - 1
        rest = node.args[place + 1 :]
        for text in self.module.values(given, scope):
            if isinstance(text, Text):
                count = _counted(rest) if passing.is_forwarding else None
                literal = LiteralCall(passing.function, text.value, count, *keywords_of(passing.call))
                yield TextCall(literal, text, node, given, not text.is_possible)

    def _called(self, node: ast.expr, scope: NameScope) -> Values:
        """Return what is called, or made by a call, from modules that mention nameexpr."""
        modules = self.module.modules
        modules.is_of_callee = True
        try:
            return self.module.values(node, scope)
        finally:
            modules.is_of_callee = False

    # Functions that pass a text on

    def _note(self, node: ast.Call, scope: NameScope) -> None:
        """Note the function around a call that is given one of its parameters as the text."""
        function = self.targets.function_of(node.func, scope)
        is_forwarding = [isinstance(one, ast.Starred) for one in node.args[1:]] == [True]
        arguments = [(function, node.args[0], node, is_forwarding)] if function and node.args else []
        if function is None:
            for value in self._called(node.func, scope):
                passing = self._passing_of(value)
                given = _argument(passing.parameter, value, node) if passing else None
                if passing and given:
                    arguments.append((passing.function, given, passing.call, False))
        for called, given, call, forwards in arguments:
            for value in self.module.values(given, scope):
                if isinstance(value, Parameter):
                    passing = _Passing(called, value.owner, value.name, call, forwards)
                    self.passing.setdefault((value.owner, value.name), passing)

    def _passing_of(self, value: Value) -> _Passing | None:
        """Return what a function or class of this module passes on."""
        if not isinstance(value, Definition | Instance):
            return None
        if isinstance(value, Instance):
            made = value.of.module.attribute_of(value.of, "__call__")
            value = next((one for one in made if isinstance(one, Definition)), value.of)
            if isinstance(value.node, ast.ClassDef):
                return None
        owners = [value.node]
        if isinstance(value.node, ast.ClassDef):
            init = value.module.attribute_of(value, "__init__")
            owners += [one.node for one in init if isinstance(one, Definition)]
        return next((one for (owner, _), one in self.passing.items() if owner in owners), None)

    def _is_used(self, parameter: Parameter) -> bool:
        """Whether a text of this module reaches a parameter."""
        for node, scope in self.module.scopes.calls:
            for value in self._called(node.func, scope):
                passing = self._passing_of(value)
                if passing and (passing.owner, passing.parameter) == (parameter.owner, parameter.name):
                    given = _argument(passing.parameter, value, node)
                    if any(isinstance(one, Text) for one in self.module.values(given, scope)):
                        return True
        return False


def _counted(given: list[ast.expr]) -> int | None:
    """Return the number of operands, None where a star stands for several."""
    return None if any(isinstance(one, ast.Starred) for one in given) else len(given)


def _argument(parameter: str, value: Value, node: ast.Call) -> ast.expr | None:
    """Return what a call gives for a parameter of a function, a method or a class with fields."""
    by_name = next((keyword.value for keyword in node.keywords if keyword.arg == parameter), None)
    if by_name is not None:
        return by_name
    of = value.of if isinstance(value, Instance) else value
    if not isinstance(of, Definition):
        return None
    names = _parameters(of)
    place = names.index(parameter) if parameter in names else len(node.args)
    before = node.args[: place + 1]
    return (
        before[place]
        if len(before) > place and not any(isinstance(one, ast.Starred) for one in before)
        else None
    )


def _parameters(of: Definition) -> list[str]:
    """Return the names of what is given by position."""
    if isinstance(of.node, ast.ClassDef):
        init = next(iter(of.scope.bindings.get("__init__", ())), None)
        if init is None or not isinstance(init.node, ast.FunctionDef):
            fields = [one.target for one in of.node.body if isinstance(one, ast.AnnAssign)]
            return [field.id for field in fields if isinstance(field, ast.Name)]
        return [one.arg for one in [*init.node.args.posonlyargs, *init.node.args.args]][1:]
    arguments = of.node.args  # type: ignore[attr-defined]
    names = [one.arg for one in [*arguments.posonlyargs, *arguments.args]]
    around = of.scope.parent
    is_static = any(
        isinstance(one, ast.Name) and one.id == "staticmethod"
        for one in getattr(of.node, "decorator_list", ())
    )
    return names[1:] if around is not None and around.kind == "class" and not is_static else names


def keywords_of(node: ast.Call) -> tuple[dict[str, Any], bool]:
    """Return the keywords of a call as far as they are literal, and whether ``**`` brings more."""
    keywords = {keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg is not None}
    return keywords, any(keyword.arg is None for keyword in node.keywords)


def literal(node: ast.expr | None) -> Any:
    """Evaluate a literal number, string, None, or a list, tuple or dict of them; else `OPEN`.

    >>> literal(ast.parse("{'x': array, 'y': -2}", mode="eval").body)["y"]
    -2
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            values = tuple(_scalar(item) for item in items)
            return OPEN if OPEN in values else values
        case ast.Dict(keys=keys, values=items):
            names = [_scalar(key) for key in keys]
            is_told = all(isinstance(name, str) for name in names)
            return dict(zip(names, map(_scalar, items), strict=True)) if is_told else OPEN
    return OPEN


def _scalar(node: ast.expr | None) -> Any:
    """Evaluate a literal that holds no others: nested ones are not followed."""
    return literal(node) if isinstance(node, ast.Constant | ast.UnaryOp) else OPEN
