"""The calls of a source that take a text, or an object made from one: functions of nameexpr under any name,
compiled texts, `functools.partial` of them, and functions of the program that pass a text on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from nameexpr.lint import GRADIENTS, MADE, METHODS, OPEN, LiteralCall
from nameexpr.lint.bindings import NameScope
from nameexpr.lint.gradients import wrt_of
from nameexpr.lint.literals import bound_by, keywords_of, literal
from nameexpr.lint.modules import Module
from nameexpr.lint.passing import arguments_of, text_values, used_in
from nameexpr.lint.targets import Targets
from nameexpr.lint.values import Applied, Parameter, Passing, Text
from nameexpr.records import record


@record
class TextCall:
    """A call and a text that reaches it.

    `given` is the argument with the text, or the call itself. `is_certain` means that the text is used here
    if the call is executed; `is_made` that it was passed before, and only its use is checked here. `wrt` is
    the argument that names the operands to differentiate by.
    """

    literal: LiteralCall
    text: Text
    node: ast.Call
    given: ast.expr
    is_certain: bool = True
    is_made: bool = False
    is_first: bool = True
    wrt: ast.expr | None = None

    @property
    def is_written(self) -> bool:
        """Whether the text is written in the call itself."""
        return self.text.origin is self.given


@record
class Unread:
    """A call of a function of nameexpr whose text is unknown."""

    function: str
    node: ast.Call
    given: ast.expr
    swapped: ast.expr | None = None


def text_calls(module: Module) -> Iterator[TextCall | Unread]:
    """Yield the calls in the order of the file, once for each text that can reach them."""
    found = _Calls(module)
    for node, scope in module.scopes.calls:
        yield from found.calls_of(node, scope)


class _Calls:
    def __init__(self, module: Module) -> None:
        self.module, self.targets = module, Targets()

    @cached_property
    def used(self) -> set[tuple[ast.AST, str]]:
        """The parameters that a text of the module reaches."""
        return used_in(self.module)

    def calls_of(self, node: ast.Call, scope: NameScope) -> Iterator[TextCall | Unread]:
        """Yield a call with each text."""
        function = self.targets.function_of(node.func, scope)
        if function is not None:
            yield from self._texts(function, node.args, node, scope)
            return
        applied = [one for one in self.module.called(node.func, scope) if isinstance(one, Applied)]
        for one in applied if len(applied) == 1 else ():
            yield from self._applied(one, node, scope)
        yield from self._method(node, scope)
        for passing, given in arguments_of(node, scope, self.module):
            yield from self._passed(passing, given, node, scope)
        for value in self.module.called(node, scope):
            if isinstance(value, Applied) and value.call is node and value.is_partial:
                yield from self._texts(value.function, node.args[1:], node, scope, is_partial=True)

    def _texts(
        self,
        function: str,
        arguments: list[ast.expr],
        node: ast.Call,
        scope: NameScope,
        *,
        is_partial: bool = False,
    ) -> Iterator[TextCall | Unread]:
        """Yield the texts that are the first of some arguments, of which a `partial` may get more later."""
        if not arguments:
            return
        given = arguments[0]
        values = text_values(given, scope, self.module)
        texts = [one for one in values if isinstance(one, Text) and (one.value or one.origin is given)]
        is_open_ended = is_partial or isinstance(given, ast.Starred)
        count = None if is_open_ended else _counted(arguments[1:])
        keywords, is_open = keywords_of(node)
        wrt = self._wrt(function, arguments[1:], node)
        keywords |= self._named(wrt, scope)
        if function in MADE and function in GRADIENTS and count == 0 and not is_open:
            keywords.setdefault("wrt", OPEN if wrt else ())
        for number, text in enumerate(texts):
            literal = LiteralCall(function, text.value, count, keywords, is_open)
            if is_partial and literal.is_formula:
                literal = replace(literal, is_open=True)  # to the operands of the completed call
            is_certain = len(texts) == 1 and not text.is_possible
            yield TextCall(literal, text, node, given, is_certain, is_first=not number, wrt=wrt)
        keys = [(value.owner, value.name) for value in values if isinstance(value, Parameter)]
        if not texts and not self.used.intersection(keys):
            swapped = None if function in GRADIENTS else self._swapped(arguments[1:], scope)
            yield Unread(function, node, given, swapped)

    def _wrt(self, function: str, arguments: list[ast.expr], node: ast.Call) -> ast.expr | None:
        """Return the argument that names the operands to differentiate by."""
        given = [keyword.value for keyword in node.keywords if keyword.arg == "wrt"] or arguments[:1]
        is_known = function in GRADIENTS and given and not isinstance(given[0], ast.Starred)
        return given[0] if is_known else None

    def _named(self, wrt: ast.expr | None, scope: NameScope) -> dict[str, Any]:
        """Return the operands to differentiate by as a keyword, if they are known."""
        if wrt is None:
            return {}
        names = wrt_of(self.module.values(wrt, scope))
        return {"wrt": names} if names or literal(wrt) in ("", ()) else {}

    def _method(self, node: ast.Call, scope: NameScope) -> Iterator[TextCall]:
        """Yield a call of a method of an object made from a text."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in METHODS:
            return
        method, owners = node.func.attr, self.module.called(node.func.value, scope)
        made = [one for one in owners if isinstance(one, Applied) and not one.is_partial and not one.partials]
        for one in made if len(owners) == 1 else ():
            if method == "gradient":
                yield from self._gradient(one, node, scope)
            elif method != "bind":
                yield from self._called(one, node)
            else:
                yield from self._bound(one, node)

    def _bound(self, made: Applied, node: ast.Call) -> Iterator[TextCall]:
        """Yield a call of the method `bind`, whose keywords are checked even if it binds more."""
        names = [keyword.arg for keyword in node.keywords]
        binds = bound_by(node) or tuple(name for name in names if name not in (None, "operands"))
        for text in made.texts():
            literal = _of_made(made, text, "bind", operands=len(node.args), binds=binds)
            yield TextCall(literal, text, node, node, not text.is_possible, is_made=True, is_first=False)

    def _gradient(self, made: Applied, node: ast.Call, scope: NameScope) -> Iterator[TextCall]:
        """Yield a call of the method `gradient` of a compiled text."""
        wrt = self._wrt("gradient", node.args, node)
        if wrt is None or made.function != "compile":
            return
        for text in made.texts():
            literal = LiteralCall("gradient", text.value, 0, self._named(wrt, scope))
            is_certain = not text.is_possible
            yield TextCall(literal, text, node, wrt, is_certain, is_made=True, is_first=False, wrt=wrt)

    def _swapped(self, operands: list[ast.expr], scope: NameScope) -> ast.expr | None:
        """Return an operand that is a text, as for functions that take the text last."""
        for one in operands:
            values = self.module.values(one, scope)
            if values and all(isinstance(value, Text) for value in values):
                return one
        return None

    def _applied(self, made: Applied, node: ast.Call, scope: NameScope) -> Iterator[TextCall | Unread]:
        """Yield a call of something compiled, or of a `partial`: its text was passed where it was created."""
        if not made.is_partial:
            yield from self._called(made, node)
        elif not made.arguments:  # the text is an argument of the call
            yield from self._texts(made.function, node.args, node, scope)
        else:
            yield from self._completed(made, node, scope)

    def _called(self, made: Applied, node: ast.Call) -> Iterator[TextCall]:
        """Yield a call of an object made from a text, with the arguments of `partial`s of it."""
        texts = made.texts()
        given = [*(one for call in made.partials for one in call.args[1:]), *node.args]
        keywords, is_open = keywords_of(*made.partials, node)
        if made.function == "compile":
            keywords.pop("out", None)
        for text in texts if len(texts) == 1 else ():
            literal = _of_made(
                made, text, "call", operands=_counted(given), keywords=keywords, is_open=is_open
            )
            yield TextCall(literal, text, node, node, not text.is_possible, is_made=True, is_first=False)

    def _completed(self, made: Applied, node: ast.Call, scope: NameScope) -> Iterator[TextCall]:
        """Yield a call of a `partial` of a function of nameexpr that has a text."""
        given, texts = [*made.arguments[1:], *node.args], made.texts()
        wrt = self._wrt(made.function, given, node)
        keywords, is_open = keywords_of(made.call, node)
        keywords |= self._named(wrt, scope)
        for text in texts if len(texts) == 1 else ():
            literal = LiteralCall(made.function, text.value, _counted(given), keywords, is_open)
            is_certain = not text.is_possible
            yield TextCall(literal, text, node, node, is_certain, is_made=True, is_first=False, wrt=wrt)

    def _passed(
        self, passing: Passing, given: ast.expr, node: ast.Call, scope: NameScope
    ) -> Iterator[TextCall]:
        place = node.args.index(given) if given in node.args else len(node.args) - 1
        count = _counted(node.args[place + 1 :]) if passing.is_forwarding else None
        texts = [value for value in self.module.values(given, scope) if isinstance(value, Text)]
        for text in texts:
            literal = LiteralCall(passing.function, text.value, count, *keywords_of(passing.call))
            yield TextCall(literal, text, node, given, len(texts) == 1 and not text.is_possible)


def _counted(given: list[ast.expr]) -> int | None:
    """Return the number of operands, None if a star stands for several."""
    return None if any(isinstance(one, ast.Starred) for one in given) else len(given)


def _of_made(made: Applied, text: Text, function: str, **given: Any) -> LiteralCall:
    """Return a call of an object made from a text, or of its method `bind`."""
    has_formula = made.function in GRADIENTS
    return LiteralCall(function, text.value, bound=made.bound, has_formula=has_formula, **given)
