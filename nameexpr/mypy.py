"""The mypy plugin: literal texts passed to nameexpr's functions are checked together with types.

In the configuration of mypy: ``plugins = ["nameexpr.mypy"]``. It reports the findings of `nameexpr check`, at
the text, under the error code ``nameexpr``; texts that are ``Final`` or of a ``Literal`` type are read, too.
The type of a compiled text includes the text and the operands bound to it, so that its calls are checked
anywhere, and literal `outputs` determine the number of results. It is only loaded by mypy, and does not need
NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.types import Instance, LiteralType, TupleType, Type, get_proper_type

from nameexpr.compiler.analysis.faults.misuse import operand_is_bound
from nameexpr.compiler.pipeline import read_formula
from nameexpr.errors import Diagnostic
from nameexpr.lint import FUNCTIONS, OPEN, LiteralCall
from nameexpr.lint.diagnose import Problem, diagnose
from nameexpr.lint.formats import on_one_line
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.parser.expression import parse
from nameexpr.version import __version__

__all__ = ["CODE", "NameExprPlugin", "__version__", "plugin"]  # mypy recognises an old cache by its version

CODE = ErrorCode("nameexpr", "Check the texts given to nameexpr", "Nameexpr")


_RUNTIME = "nameexpr.runtime"
_COMPILED = {
    f"{_RUNTIME}.compiled.Compiled",
    f"{_RUNTIME}.compiled_expression.CompiledExpression",
    f"{_RUNTIME}.compiled_expression.BoundExpression",
    f"{_RUNTIME}.compiled_formula.CompiledFormula",
    f"{_RUNTIME}.compiled_formula.BoundFormula",
}
"""The classes of compiled texts: the last of their type arguments is the text."""


class NameExprPlugin(Plugin):
    """Reports errors in texts and in their calls, and knows the operands and results of compiled texts."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Return the hook for calls of a function of nameexpr, and None for other functions."""
        function = FUNCTIONS.get(fullname)
        return None if function is None else lambda context: _checked(function, context)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Return the hook for calls of a compiled text and of its methods."""
        home, _, method = fullname.rpartition(".")
        hooks = {"__call__": _applied, "plan": _applied, "outline": _applied, "bind": _bound}
        return hooks.get(method) if home in _COMPILED else None


def plugin(version: str) -> type[Plugin]:
    """Return the plugin's class for any version of mypy: mypy calls this."""
    return NameExprPlugin


class _Given(NamedTuple):
    """The arguments of a call: how many by position, None for an unknown number, and the keywords."""

    operands: int | None
    nodes: dict[str, Expression]
    is_open: bool

    @property
    def literals(self) -> dict[str, Any]:
        return {name: _literal(node) for name, node in self.nodes.items()}


def _given(context: FunctionContext | MethodContext, first: int = 0) -> _Given:
    """Return the arguments of a call, from position `first`."""
    kinds = [kind for formal in context.arg_kinds[first:] for kind in formal]
    nodes = {
        name: node
        for formal in zip(context.arg_kinds, context.arg_names, context.args, strict=True)
        for kind, name, node in zip(*formal, strict=True)
        if kind is ARG_NAMED and name is not None
    }
    count = None if ARG_STAR in kinds else sum(kind.is_positional() for kind in kinds)
    return _Given(count, nodes, ARG_STAR2 in kinds)


def _checked(function: str, context: FunctionContext) -> Type:
    """Report the errors of a call whose text is literal, and return the type that follows from the text."""
    if not context.args or len(context.args[0]) != 1 or context.arg_kinds[0][0].is_star():
        return context.default_return_type
    text = _text(context.arg_types[0][0])
    if text is None:
        return context.default_return_type
    given = _given(context, 1)
    literals = given.literals
    problems = diagnose(LiteralCall(function, text, given.operands, literals, given.is_open))
    _report(problems, given, context.args[0][0], context)
    returned = _of_outputs(get_proper_type(context.default_return_type), literals.get("outputs"))
    if not problems and function in {"einsum", "compile"} and isinstance(returned, Instance):
        returned = _of_results(returned, text, function, context)
    if function == "compile" and not problems and isinstance(returned, Instance):
        return _of_text(text, returned, context)
    return returned


def _report(
    problems: list[Problem], given: _Given, node: Context, context: FunctionContext | MethodContext
) -> None:
    """Report problems at their keywords, or else at another node."""
    for problem in problems:
        diagnostic = problem.diagnostic
        hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
        place = given.nodes.get(problem.keyword, node)
        context.api.fail(on_one_line(f"{diagnostic.code} {diagnostic.message}{hint}"), place, code=CODE)


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
    if count < 2 or "out" in _given(context, 1).nodes:  # noqa: PLR2004
        return returned

    def several(result: Type) -> Type:
        return TupleType([result] * count, context.api.named_generic_type("builtins.tuple", [result]))

    if function == "einsum":
        return several(returned)
    *results, last = returned.args
    return returned.copy_modified(args=[*map(several, results), last])


def _of_text(text: str, returned: Instance, context: FunctionContext) -> Type:
    """Return the type of a compiled text."""
    kind = "CompiledFormula" if looks_like_formula(text) else "CompiledExpression"
    args = [*returned.args[:-1], LiteralType(text, context.api.named_generic_type("builtins.str", []))]
    return context.api.named_generic_type(f"nameexpr.{kind}", args)


def _applied(context: MethodContext) -> Type:
    """Report the errors of a call of a compiled text, or of a plan for one."""
    known = _known(context.type)
    if known is not None:
        given = _given(context)
        given.nodes.pop("out", None)
        _report(_call_faults(*known, given), given, context.context, context)
    return context.default_return_type


def _call_faults(text: str, bound: Sequence[str | int], given: _Given) -> list[Problem]:
    """Return the errors in the operands that a compiled text is called with."""
    literals = given.literals
    if looks_like_formula(text):
        twice = [
            Problem(operand_is_bound(str(name)), keyword=str(name)) for name in bound if name in literals
        ]
        call = LiteralCall(
            "evaluate", text, given.operands, literals | dict.fromkeys(map(str, bound), OPEN), given.is_open
        )
        return twice or [problem for problem in diagnose(call) if problem.is_call]
    if literals:
        return [Problem(_has_position(name), keyword=name) for name in literals]
    count = None if given.operands is None else given.operands + len(bound)
    problems = diagnose(LiteralCall("einsum", text, count, {"reduce": OPEN}))
    if bound:
        problems = [
            problem._replace(diagnostic=_with_bound(problem.diagnostic, len(bound))) for problem in problems
        ]
    return [problem for problem in problems if problem.is_call]


def _has_position(name: str) -> Diagnostic:
    message = f"{name}= is a name, and the operands of an expression have positions"
    return Diagnostic("NE624", message, hint="give the operands in the order of the text")


def _with_bound(diagnostic: Diagnostic, count: int) -> Diagnostic:
    return diagnostic._replace(message=f"{diagnostic.message}, {count} of them bound", hint="")


def _bound(context: MethodContext) -> Type:
    """Return the type of a compiled text with operands, which includes the bound ones."""
    known, returned = _known(context.type), get_proper_type(context.default_return_type)
    given = _given(context)
    names = _bound_names(given, context)
    if known is None or names is None or not isinstance(returned, Instance):
        return returned
    text, before = known
    _report(_bind_faults(text, names), given, context.context, context)
    string, number = (context.api.named_generic_type(f"builtins.{kind}", []) for kind in ("str", "int"))
    parts: list[Type] = [LiteralType(text, string)]
    parts += [LiteralType(name, string if isinstance(name, str) else number) for name in (*before, *names)]
    whole = TupleType(parts, context.api.named_generic_type("builtins.tuple", [string]))
    return returned.copy_modified(args=[*returned.args[:-1], whole])


def _bind_faults(text: str, names: Sequence[str | int]) -> list[Problem]:
    """Return the errors in the operands bound to a compiled text."""
    keywords = [name for name in names if isinstance(name, str)]
    if not looks_like_formula(text):
        return [Problem(_has_position(name), keyword=name) for name in keywords]
    unknown = set(keywords).difference(read_formula(text).operands)
    message = "bind: the formula has no operand '{}'"
    return [Problem(Diagnostic("NE624", message.format(name)), keyword=name) for name in sorted(unknown)]


def _bound_names(given: _Given, context: MethodContext) -> list[str | int] | None:
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
            name = _literal(key)
            if not isinstance(name, str | int):
                return None
            names.append(name)
    return None if given.is_open or given.operands is None else names


def _known(given: Type) -> tuple[str, tuple[str | int, ...]] | None:
    """Return the text of a compiled text from its type, and the names or positions of its bound operands."""
    kind = get_proper_type(given)
    last = get_proper_type(kind.args[-1]) if isinstance(kind, Instance) and kind.args else None
    parts = [get_proper_type(part) for part in last.items] if isinstance(last, TupleType) else [last]
    text, *bound = [part.value if isinstance(part, LiteralType) else None for part in parts]
    if not isinstance(text, str):
        return None
    return text, tuple(name for name in bound if isinstance(name, str | int))


def _text(given: Type) -> str | None:
    """Return the text that a type represents: that of a literal, a Final or a Literal type."""
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
