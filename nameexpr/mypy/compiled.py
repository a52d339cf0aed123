"""Calls of compiled texts and of their methods. The last argument of their types is the text, or a tuple of
the text and the operands bound to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mypy.nodes import DictExpr
from mypy.plugin import MethodContext
from mypy.types import Instance, Type, get_proper_type

from nameexpr.lint import LiteralCall
from nameexpr.lint.diagnose import diagnose
from nameexpr.mypy.arguments import CallArguments, given_of, literal, literal_tuple, literals_in, report
from nameexpr.syntax.lexer.tokens import looks_like_formula

GRADIENT_TYPES = "nameexpr.runtime.gradient_types."
"""The module of the types of gradients and of the functions that return them."""


class KnownText(NamedTuple):
    """The text of a compiled text, the names or positions of its bound operands, and whether it is a
    formula.
    """

    text: str
    bound: tuple[str | int, ...]
    is_formula: bool


def applied(context: MethodContext) -> Type:
    """Report the errors of a call of a compiled text, or of a plan for one."""
    compiled = known(context.type)
    if compiled is not None:
        given = given_of(context)
        given.nodes.pop("out", None)
        operands, keywords = given.operands, given.literals
        call = _call("call", compiled, operands=operands, keywords=keywords, is_open=given.is_open)
        problems = [problem for problem in diagnose(call) if problem.is_call]
        report(problems, given, context.context, context)
    return context.default_return_type


def _call(function: str, compiled: KnownText, **given: Any) -> LiteralCall:
    """Return a call of a compiled text, or of its method `bind`."""
    bound, has_formula = compiled.bound, compiled.is_formula
    return LiteralCall(function, compiled.text, bound=bound, has_formula=has_formula, **given)


def bound(context: MethodContext) -> Type:
    """Return the type of a compiled text with operands, which includes the bound ones."""
    compiled, returned = known(context.type), get_proper_type(context.default_return_type)
    given = given_of(context)
    names = _bound_names(given, context)
    if compiled is None or names is None or not isinstance(returned, Instance):
        return returned
    report(diagnose(_call("bind", compiled, binds=tuple(names))), given, context.context, context)
    whole = literal_tuple([compiled.text, *compiled.bound, *names], context)
    return returned.copy_modified(args=[*returned.args[:-1], whole])


def _bound_names(given: CallArguments, context: MethodContext) -> list[str | int] | None:
    """Return the operands that a call of `bind` binds: names, or positions; None if that is not literal."""
    names: list[str | int] = [name for name in given.nodes if name != "operands"]
    positional = [
        node
        for kinds, nodes in zip(context.arg_kinds, context.args, strict=True)
        for kind, node in zip(kinds, nodes, strict=True)
        if kind.is_positional()
    ]
    mappings = [*positional, *([given.nodes["operands"]] if "operands" in given.nodes else [])]
    for mapping in mappings:
        if not isinstance(mapping, DictExpr):
            return None
        for key, _ in mapping.items:
            name = literal(key)
            if not isinstance(name, str | int):
                return None
            names.append(name)
    return None if given.is_open or given.operands is None else names


def known(given: Type) -> KnownText | None:
    """Return what the type of a compiled text contains, None if its text is not literal."""
    kind = get_proper_type(given)
    if not isinstance(kind, Instance) or not kind.args:
        return None
    text, *bound = literals_in(kind.args[-1])
    if not isinstance(text, str):
        return None
    is_of_gradients = kind.type.fullname.startswith(GRADIENT_TYPES)
    names = tuple(name for name in bound if isinstance(name, str | int))
    return KnownText(text, names, is_of_gradients or looks_like_formula(text))
