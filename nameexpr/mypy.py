"""The mypy plugin: literal texts given to nameexpr's functions are checked where types are.

In the configuration of mypy: ``plugins = ["nameexpr.mypy"]``. It reports what `nameexpr check` reports, at
the text, under the error code ``nameexpr``; texts that are ``Final`` or of a ``Literal`` type are read, too.
It is loaded by mypy alone, and needs no NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy.errorcodes import ErrorCode
from mypy.nodes import (
    ARG_NAMED,
    ARG_STAR,
    ARG_STAR2,
    DictExpr,
    Expression,
    IntExpr,
    ListExpr,
    NameExpr,
    StrExpr,
    TupleExpr,
    UnaryExpr,
)
from mypy.plugin import FunctionContext, Plugin
from mypy.types import Instance, LiteralType, Type, get_proper_type

from nameexpr.lint import FUNCTIONS, OPEN, LiteralCall
from nameexpr.lint.formats import on_one_line
from nameexpr.version import __version__

__all__ = ["CODE", "NameExprPlugin", "__version__", "plugin"]  # by its version mypy tells an old cache

CODE = ErrorCode("nameexpr", "Check the texts given to nameexpr", "Nameexpr")


class NameExprPlugin(Plugin):
    """Reports mistakes of texts; no type is changed."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Return what looks at calls of a function of nameexpr, and None for other functions."""
        function = FUNCTIONS.get(fullname)
        return None if function is None else lambda context: _checked(function, context)


def plugin(version: str) -> type[Plugin]:
    """Return the plugin's class, whatever the version of mypy: mypy calls this."""
    return NameExprPlugin


def _checked(function: str, context: FunctionContext) -> Type:
    """Report what is wrong with a call if its text is literal, and return the type that it has anyway."""
    from nameexpr.lint.diagnose import diagnose

    if not context.args or len(context.args[0]) != 1 or context.arg_kinds[0][0].is_star():
        return context.default_return_type
    text = _text(context.arg_types[0][0])
    if text is None:
        return context.default_return_type
    kinds = [kind for formal in context.arg_kinds[1:] for kind in formal]
    count = None if ARG_STAR in kinds else sum(kind.is_positional() for kind in kinds)
    keywords = {
        name: value
        for formal in zip(context.arg_kinds, context.arg_names, context.args, strict=True)
        for kind, name, value in zip(*formal, strict=True)
        if kind is ARG_NAMED and name is not None
    }
    literals = {name: _literal(value) for name, value in keywords.items()}
    for problem in diagnose(LiteralCall(function, text, count, literals, ARG_STAR2 in kinds)):
        diagnostic = problem.diagnostic
        hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
        place = keywords.get(problem.keyword, context.args[0][0])
        context.api.fail(on_one_line(f"{diagnostic.code} {diagnostic.message}{hint}"), place, code=CODE)
    return context.default_return_type


def _text(given: Type) -> str | None:
    """Return the text that a type stands for: a literal's, a Final's or that of a Literal type."""
    kind = get_proper_type(given)
    literal = kind.last_known_value if isinstance(kind, Instance) else kind
    if not isinstance(literal, LiteralType) or literal.fallback.type.fullname != "builtins.str":
        return None
    return str(literal.value)


def _literal(node: Expression | None) -> Any:
    """Return the value of a literal, as `nameexpr.lint.python.literal` does; else `OPEN`."""
    match node:
        case StrExpr(value=text):
            return text
        case IntExpr(value=number):
            return number
        case UnaryExpr(op="-", expr=IntExpr(value=number)):
            return -number
        case NameExpr(name="None"):
            return None
        case ListExpr(items=items) | TupleExpr(items=items):
            values = tuple(_literal(item) for item in items)
            return OPEN if OPEN in values else values
        case DictExpr(items=pairs):
            is_told = all(isinstance(key, StrExpr) for key, _ in pairs)
            told = {key.value: _literal(value) for key, value in pairs if isinstance(key, StrExpr)}
            return told if is_told else OPEN
    return OPEN
