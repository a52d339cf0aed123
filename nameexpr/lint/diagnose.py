"""The errors of one call, as far as its text and the names of its arguments determine them.

The passes are those of the functions themselves, so that the errors are those which the call would raise; a
pass that needs operands is left out. An error is not reported if an argument that is not literal could change
it.

>>> [problem.diagnostic.code for problem in diagnose(LiteralCall("einsum", "a b, b c -> a c", 1))]
['NE501']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from nameexpr.compiler.analysis.faults.binding import has_position, is_bound, no_operand, read_positions
from nameexpr.compiler.analysis.faults.differentiating import value_with_dims
from nameexpr.compiler.analysis.faults.misuse import (
    OPTIONS,
    check_keywords,
    needs_arrow,
    no_reducer,
    no_size,
    operands_by_position,
    takes_no_arrow,
)
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.resolve import resolve
from nameexpr.compiler.analysis.resolve_views import check_given
from nameexpr.compiler.analysis.rules.check import check_text
from nameexpr.compiler.pipeline import read, read_formula
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.lint import GRADIENTS, OPEN, LiteralCall
from nameexpr.lint.graphs import dims_of_value, graph_faults
from nameexpr.ops import REDUCTIONS
from nameexpr.runtime.differentiated import PREFIX, differentiated, read_value
from nameexpr.syntax.parser.expression import parse

FORMULA_OPTIONS = frozenset({"outputs", "sizes", "optimize", "memory_limit", "operands"})
_OF_MADE = frozenset({"call", "bind"})
WHERE_NO_OPERAND_IS = frozenset({"dtype", "order", "tune"})
"""Options of formulas without an operand of that name."""


class Problem(NamedTuple):
    """One error, and whether it is in the text, or in the call: then perhaps in one keyword, or one word of
    its value.
    """

    diagnostic: Diagnostic
    is_call: bool = False
    keyword: str = ""
    word: str = ""


def diagnose(call: LiteralCall) -> list[Problem]:
    """Return the errors of a call, [] if none can be determined."""
    if call.function in _OF_MADE:
        passes = _made_from_formula if call.is_formula else _made_from_expression
    elif call.function in GRADIENTS:
        passes = _gradients
    else:
        passes = _formula if call.is_formula else _assertion if call.function == "check" else _expression
    return next(filter(None, map(list, passes(call))), [])


def _expression(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    """Yield the errors of each pass; after the first pass with errors, the others are left out."""
    yield _option_faults(call)
    yield _text_faults(call)
    tree = parse(call.text)
    if not tree.leaves_inputs_out:
        yield _size_faults(call)
    if tree.outputs is None:
        yield [Problem(needs_arrow(call.text))]
    if call.function != "compile":
        yield _count_faults(call)


def _made_from_expression(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    """Yield the errors in the operands that a compiled expression is called with, or that are bound to it."""
    named = [*call.keywords, *(name for name in call.binds if isinstance(name, str))]
    head = "bind: " if call.function == "bind" else ""
    yield [Problem(has_position(name, call.text, head), is_call=True, keyword=name) for name in named]
    bound, is_known = call.bound or (), call.bound is not None
    if call.function == "bind" and not bound and is_known:
        positions = dict.fromkeys(call.binds)
        yield _problems(lambda: read_positions(parse(call.text), (), positions), is_call=True)
    if call.function == "call":
        count = call.operands + len(bound) if is_known and call.operands is not None else None
        called = replace(call, function="einsum", operands=count, keywords={"reduce": OPEN})
        for problems in _expression(called):
            yield [
                problem._replace(diagnostic=_with_bound(problem.diagnostic, len(bound)))
                for problem in problems
            ]


def _with_bound(diagnostic: Diagnostic, count: int) -> Diagnostic:
    if not count:
        return diagnostic
    return diagnostic._replace(message=f"{diagnostic.message}, {count} of them bound", hint="")


def _made_from_formula(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    """Yield the errors in the operands that a compiled formula is called with, or that are bound to it."""
    yield _problems(lambda: read_formula(call.text))
    operands, bound = read_formula(call.text).operands, call.bound or ()
    if call.operands:
        yield [Problem(operands_by_position(call.text, operands), is_call=True)]
    names = [*map(str, call.binds), *call.keywords, *(_mapping(call) or ())]
    twice = [name for name in names if name in bound]
    yield [Problem(is_bound(name, call.text), is_call=True, keyword=name) for name in twice]
    if call.function == "bind":
        unknown = [name for name in names if name not in operands]
        yield [Problem(no_operand(name, operands, call.text), is_call=True, keyword=name) for name in unknown]
        return
    keywords = {**dict.fromkeys(map(str, bound), OPEN), **call.keywords}
    yield _operand_faults(replace(call, keywords=keywords, is_open=call.is_open or call.bound is None))


def _assertion(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    yield _option_faults(call)
    yield _problems(lambda: parse(call.text))
    tree = parse(call.text)
    if tree.outputs is not None:
        yield [Problem(takes_no_arrow(call.text))]
    yield _problems(lambda: check_text(tree))
    yield _count_faults(call)
    yield _size_faults(call)


def _formula(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    yield _problems(lambda: read_formula(call.text))
    scope = read_formula(call.text)
    if call.operands and call.function != "compile":
        yield [Problem(operands_by_position(call.text, scope.operands), is_call=True)]
    outputs = call.keywords.get("outputs")
    if outputs and isinstance(outputs, tuple) and all(isinstance(name, str) for name in outputs):
        yield _problems(lambda: read_formula(call.text, outputs), keyword="outputs")
    if call.function != "compile":
        yield _operand_faults(call)
    yield map(Problem, graph_faults(scope))


def _gradients(call: LiteralCall) -> Iterator[Iterable[Problem]]:
    """Yield the errors of the formula, of the operands to differentiate by, and of the gradients."""
    yield _problems(lambda: read_value(call.text))
    keywords = {name: value for name, value in call.keywords.items() if name != "wrt"}
    function = "evaluate" if call.function == "check_gradient" else "compile"
    yield from _formula(replace(call, function=function, operands=0, keywords=keywords))
    scope, wrt = read_formula(call.text), call.keywords.get("wrt", OPEN)
    if call.function == "check_gradient" and any(
        (one.name or "").startswith(PREFIX) for one in scope.tree.statements
    ):
        return  # the text may contain its gradients
    dims = dims_of_value(scope)
    if dims:
        yield [Problem(value_with_dims(scope, dims), is_call=True)]
    if isinstance(wrt, str | tuple) and all(isinstance(name, str) for name in wrt):
        wrong = next((name for name in wrt if name not in scope.uses), "")
        problems = _problems(lambda: differentiated(call.text, wrt), keyword="wrt")
        yield [problem._replace(word=wrong) for problem in problems]
        made = differentiated(call.text, wrt)
        faults = map(made.told, graph_faults(read_formula(made.text)))
        yield [Problem(fault, is_call=True, keyword="" if fault.marks else "wrt") for fault in faults]


def _problems(read: Callable[[], object], *, keyword: str = "", is_call: bool = False) -> list[Problem]:
    """Return the errors that a pass raises."""
    try:
        read()
    except NameExprError as fault:
        return [Problem(diagnostic, is_call or bool(keyword), keyword) for diagnostic in fault.diagnostics]
    return []


def _text_faults(call: LiteralCall) -> list[Problem]:
    """Return the errors in an expression's text; if it is unknown whether a reducer is given, only those that
    occur in both cases.
    """
    reduce = call.keywords.get("reduce", OPEN if call.is_open else None)
    if reduce is not OPEN:
        return _problems(lambda: read(call.text, has_reduce=reduce is not None))
    without = _problems(lambda: read(call.text))
    with_one = _problems(lambda: read(call.text, has_reduce=True))
    return [problem for problem in without if problem in with_one]


def given_sizes(call: LiteralCall) -> list[tuple[str, Any, str]]:
    """Return the given sizes of labels: the name, the value, and the keyword of each."""
    options = {"check": ("sizes",), "einsum": OPTIONS}.get(call.function, (*OPTIONS, "outputs"))
    sizes = call.keywords.get("sizes")
    given = [(name, value, "sizes") for name, value in (sizes.items() if isinstance(sizes, dict) else ())]
    return given + [(name, value, name) for name, value in call.keywords.items() if name not in options]


def _option_faults(call: LiteralCall) -> Iterator[Problem]:
    """Yield sizes that are not whole numbers, and unknown reducers."""
    for name, value, keyword in given_sizes(call):
        if value is not OPEN and type(value) is not int:
            yield Problem(no_size(name, value), is_call=True, keyword=keyword)
    reduce = call.keywords.get("reduce")
    if isinstance(reduce, str) and reduce not in REDUCTIONS and call.function != "check":
        yield Problem(no_reducer(reduce), is_call=True, keyword="reduce")


def _size_faults(call: LiteralCall) -> Iterator[Problem]:
    """Yield sizes for labels that the text does not have, and sizes below 0."""
    tree = parse(call.text)
    for name, value, keyword in given_sizes(call):
        size = {normalised(name): value if type(value) is int else 1}
        yield from _problems(partial(check_keywords, tree, size), keyword=keyword)


def _count_faults(call: LiteralCall) -> list[Problem]:
    """Return whether there are too many operands for the terms, or too few."""
    tree = parse(call.text)
    if call.operands in (None, len(tree.inputs)) or tree.leaves_inputs_out:
        return []
    operands = [Operand(())] * (call.operands or 0)  # their number is checked first
    problems = _problems(lambda: resolve(tree, operands), is_call=True)
    return [problem._replace(diagnostic=problem.diagnostic._replace(operands=())) for problem in problems]


def _mapping(call: LiteralCall) -> Mapping[str, Any] | None:
    """Return the operands in a mapping, None if they are not literal."""
    given = call.keywords.get("operands")
    return given if isinstance(given, dict) else {} if given is None else None


def _operand_faults(call: LiteralCall) -> Iterator[Problem]:
    """Yield operands that a formula lacks, or else those that it does not use."""
    scope, dims = read_formula(call.text), Operand(())
    options = FORMULA_OPTIONS | (WHERE_NO_OPERAND_IS - set(scope.operands))
    if call.function == "call":
        options = frozenset({"operands"})
    given = {name: name for name in call.keywords if name not in options}
    more = _mapping(call)
    if call.is_open or more is None:
        return
    given |= dict.fromkeys(more, "operands")
    missing = _problems(lambda: check_given(scope, dict.fromkeys(given, dims)))
    if missing and missing[0].diagnostic.code == "NE521":
        yield from (problem._replace(is_call=True) for problem in missing)
        return
    used = dict.fromkeys(scope.operands, dims)
    for name, keyword in given.items():
        if name not in used:
            yield from _problems(partial(check_given, scope, {**used, name: dims}), keyword=keyword)
