"""nameexpr's own columns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.call import COMPILED, EXPRESSION, STRING, TUNED, Adapter, Call
from benchmarks.workloads.base import Operands, Workload
from benchmarks.workloads.formulas import CALL, FormulaWorkload, called
from benchmarks.workloads.named import NamedWorkload, function_of

IN_ORDER = {"order": "C"}


def _can(ne: Any, call: Callable[[], Any]) -> bool:
    """Return whether this version has the option that the call uses, and gives a result in C order."""
    try:
        return bool(call().flags.c_contiguous)
    except (TypeError, ne.NameExprError):
        return False


@functools.cache
def _can_order(ne: Any) -> bool:
    return _can(ne, lambda: ne.einsum("i j -> j i", np.ones((2, 3)), **IN_ORDER))


@functools.cache
def _can_compile_order(ne: Any) -> bool:
    return _can(ne, lambda: ne.compile("i j -> j i", **IN_ORDER)(np.ones((2, 3))))


@functools.cache
def _can_tune(ne: Any) -> bool:
    x = np.ones((2, 2))
    return _can(ne, lambda: ne.compile("i j, j k -> i k", tune=True)(x, x))


def _string(ne: Any, workload: Workload, operands: Operands) -> Call:
    given = (workload.text, *operands)
    if workload.materialise and _can_order(ne):
        return Call(ne.einsum, given, {**workload.sizes, **IN_ORDER}, is_in_order=True)
    return Call(ne.einsum, given, workload.sizes)


def _compiled(ne: Any, workload: Workload, operands: Operands) -> Call:
    in_order = workload.materialise and _can_compile_order(ne)
    options = IN_ORDER if in_order else {}
    return Call(ne.compile(workload.text, **workload.sizes, **options), operands, is_in_order=in_order)


def _tuned(ne: Any, workload: Workload, operands: Operands) -> Call | None:
    if not _can_tune(ne):
        return None
    return Call(ne.compile(workload.text, tune=True, **workload.sizes), operands)


def _named(ne: Any, workload: NamedWorkload, operands: Operands) -> Call:
    tensors = [ne.from_numpy(x, names) for x, names in zip(operands, workload.names, strict=True)]
    return Call(function_of(workload.text, workload.letters, ne=ne), tuple(tensors))


def _formula(ne: Any, workload: FormulaWorkload, operands: Operands) -> Call:
    space = {"function": ne.evaluate, "text": workload.text}
    if workload.sizes:
        return _by_name("function(text, {}, sizes=sizes)", workload, operands, **space, sizes=workload.sizes)
    return _by_name("function(text, {})", workload, operands, **space)


def _compiled_formula(ne: Any, workload: FormulaWorkload, operands: Operands) -> Call | None:
    if CALL not in workload.tags:
        return None  # the same program runs: only what the call costs can differ
    return _by_name("function({})", workload, operands, function=ne.compile(workload.text))


def _by_name(call: str, workload: FormulaWorkload, operands: Operands, **space: Any) -> Call:
    given = ", ".join(f"{name}={name}" for name in workload.inputs)
    return Call(called(call.format(given), workload.inputs, **space), operands)


def _expression_of_formula(ne: Any, workload: FormulaWorkload, operands: Operands) -> Call | None:
    if not workload.expression:
        return None
    call = f"function(text, {', '.join(workload.inputs)})"
    return Call(called(call, workload.inputs, function=ne.einsum, text=workload.expression), operands)


OURS = (
    Adapter(STRING, "nameexpr", _string, groups="abcderu"),
    Adapter(COMPILED, "nameexpr", _compiled, groups="abcdeu"),
    Adapter(TUNED, "nameexpr", _tuned, groups="ru"),
    Adapter(STRING, "nameexpr", _named, groups="n"),
    Adapter(STRING, "nameexpr", _formula, groups="fl"),
    Adapter(COMPILED, "nameexpr", _compiled_formula, groups="f"),
    Adapter(EXPRESSION, "nameexpr", _expression_of_formula, groups="f"),
)
