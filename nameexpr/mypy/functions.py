"""Calls of nameexpr's functions: the errors of their texts, and the types of their results."""

from __future__ import annotations

from typing import Any

from mypy.plugin import FunctionContext
from mypy.types import Instance, LiteralType, TupleType, Type, get_proper_type

from nameexpr.lint import GRADIENTS, MADE, OPEN, LiteralCall
from nameexpr.lint.diagnose import diagnose
from nameexpr.mypy.arguments import given_of, report, text_of
from nameexpr.mypy.gradients import function_of, wrt_of
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.parser.expression import parse


def checked(function: str, context: FunctionContext) -> Type:
    """Report the errors of a call whose text is literal, and return the type that follows from the text."""
    if not context.args or len(context.args[0]) != 1 or context.arg_kinds[0][0].is_star():
        return context.default_return_type
    text = text_of(context.arg_types[0][0])
    if text is None:
        return context.default_return_type
    given = given_of(context, 1)
    literals = given.literals
    if function in GRADIENTS & MADE and not context.args[1] and not given.is_open:
        literals["wrt"] = ()
    elif function in GRADIENTS and len(context.args[1]) == 1:
        given.nodes["wrt"] = context.args[1][0]
        wrt = wrt_of(context.args[1][0], context.arg_types[1][0])
        literals["wrt"] = OPEN if wrt is None else wrt
    problems = diagnose(LiteralCall(function, text, given.operands, literals, given.is_open))
    report(problems, given, context.args[0][0], context)
    returned = _of_outputs(get_proper_type(context.default_return_type), literals.get("outputs"))
    if not problems and function in {"einsum", "compile"} and isinstance(returned, Instance):
        returned = _of_results(returned, text, function, context)
    if function == "compile" and not problems and isinstance(returned, Instance):
        return of_text(text, returned, context)
    if function in GRADIENTS & MADE and not problems and isinstance(returned, Instance):
        return function_of(text, returned, context)
    return returned


def _of_outputs(returned: Type, outputs: Any) -> Type:
    """Return a type with tuples of as many results as there are outputs, if these are literal."""
    if not isinstance(returned, Instance) or not isinstance(outputs, tuple):
        return returned
    if returned.type.fullname == "builtins.tuple":
        return TupleType([returned.args[0]] * len(outputs), returned)
    results = (_of_outputs(get_proper_type(result), outputs) for result in returned.args)
    return returned.copy_modified(args=[*results])


def _of_results(returned: Instance, text: str, function: str, context: FunctionContext) -> Type:
    """Return a type with tuples of as many results as an expression has, if it has several."""
    count = 1 if looks_like_formula(text) else len(parse(text).outputs or ())
    if count < 2 or "out" in given_of(context, 1).nodes:  # noqa: PLR2004
        return returned

    def several(result: Type) -> Type:
        return TupleType([result] * count, context.api.named_generic_type("builtins.tuple", [result]))

    if function == "einsum":
        return several(returned)
    *results, last = returned.args
    return returned.copy_modified(args=[*map(several, results), last])


def of_text(text: str, returned: Instance, context: FunctionContext) -> Type:
    """Return the type of a compiled text."""
    kind = "CompiledFormula" if looks_like_formula(text) else "CompiledExpression"
    args = [*returned.args[:-1], LiteralType(text, context.api.named_generic_type("builtins.str", []))]
    return context.api.named_generic_type(f"nameexpr.{kind}", args)
