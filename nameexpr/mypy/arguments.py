"""The arguments of a call as mypy has them: nodes and types, and the literal values among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mypy.errorcodes import ErrorCode
from mypy.nodes import (
    ARG_NAMED,
    ARG_STAR,
    ARG_STAR2,
    Context,
    DictExpr,
    Expression,
    IntExpr,
    ListExpr,
    NameExpr,
    StrExpr,
    TupleExpr,
    UnaryExpr,
)
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Instance, LiteralType, TupleType, Type, get_proper_type

from nameexpr.lint import OPEN
from nameexpr.lint.diagnose import Problem
from nameexpr.lint.formats import on_one_line

CODE = ErrorCode("nameexpr", "Check the texts given to nameexpr", "Nameexpr")


class CallArguments(NamedTuple):
    """The arguments of a call: how many by position, None for an unknown number, and the keywords."""

    operands: int | None
    nodes: dict[str, Expression]
    is_open: bool

    @property
    def literals(self) -> dict[str, Any]:
        """The values of the keywords, as far as they are literal."""
        return {name: literal(node) for name, node in self.nodes.items()}


def given_of(context: FunctionContext | MethodContext, first: int = 0) -> CallArguments:
    """Return the arguments of a call, from position `first`."""
    kinds = [kind for formal in context.arg_kinds[first:] for kind in formal]
    nodes = {
        name: node
        for formal in zip(context.arg_kinds, context.arg_names, context.args, strict=True)
        for kind, name, node in zip(*formal, strict=True)
        if kind is ARG_NAMED and name is not None
    }
    count = None if ARG_STAR in kinds else sum(kind.is_positional() for kind in kinds)
    return CallArguments(count, nodes, ARG_STAR2 in kinds)


def report(
    problems: list[Problem], given: CallArguments, node: Context, context: FunctionContext | MethodContext
) -> None:
    """Report problems at their keywords, or else at another node."""
    for problem in problems:
        diagnostic = problem.diagnostic
        hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
        place = given.nodes.get(problem.keyword, node)
        context.api.fail(on_one_line(f"{diagnostic.code} {diagnostic.message}{hint}"), place, code=CODE)


def text_of(given: Type) -> str | None:
    """Return the text that a type represents: that of a literal, a Final or a Literal type."""
    kind = get_proper_type(given)
    literal = kind.last_known_value if isinstance(kind, Instance) else kind
    if not isinstance(literal, LiteralType) or literal.fallback.type.fullname != "builtins.str":
        return None
    return str(literal.value)


def literal(node: Expression | None) -> Any:
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
            values = tuple(literal(item) for item in items)
            return OPEN if OPEN in values else values
        case DictExpr(items=pairs):
            is_told = all(isinstance(key, StrExpr) for key, _ in pairs)
            told = {key.value: literal(value) for key, value in pairs if isinstance(key, StrExpr)}
            return told if is_told else OPEN
    return OPEN


def literal_tuple(values: Sequence[str | int], context: FunctionContext | MethodContext) -> TupleType:
    """Return the type of a tuple of literals."""
    string, number = (context.api.named_generic_type(f"builtins.{kind}", []) for kind in ("str", "int"))
    types: list[Type] = [LiteralType(one, string if isinstance(one, str) else number) for one in values]
    return TupleType(types, context.api.named_generic_type("builtins.tuple", [string]))


def literals_in(given: Type) -> list[Any]:
    """Return the values of a literal type, or of a tuple of them; None for other types."""
    kind = get_proper_type(given)
    parts = [get_proper_type(part) for part in kind.items] if isinstance(kind, TupleType) else [kind]
    return [part.value if isinstance(part, LiteralType) else None for part in parts]
