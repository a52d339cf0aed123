"""Texts inside functions that `torch.compile` and `torch.export` trace.

Dynamo traces Python. It cannot trace the compiler of texts, and it would make its graph depend on the dicts
of functions that have been compiled so far. Instead of a function that calls a text it traces the one that
`traced_by` assigns to it, one of those below. They add a single call to the graph, of a function that runs
the text as usual: on fake tensors while the graph is made, and again when AOTAutograd records the operations
that the text consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import torch
from torch._dynamo import eval_frame, types

from nameexpr.errors import Diagnostic, error
from nameexpr.runtime import cache

Function = TypeVar("Function", bound=Callable[..., Any])
in_graph: Callable[[Function], Function] = torch.compiler.allow_in_graph
constant: Callable[[Function], Function] = torch.compiler.assume_constant_result


CALLS = (
    ("nameexpr.runtime.einsum", "einsum"),
    ("nameexpr.runtime.evaluate", "evaluate"),
    ("nameexpr.runtime.compile", "compile"),
    ("nameexpr.runtime.compiled_expression", "CompiledExpression.__call__"),
    ("nameexpr.runtime.compiled_formula", "CompiledFormula.__call__"),
)
"""The functions that call texts."""


@in_graph
def graphed_einsum(text: str, *operands: Any, **options: Any) -> Any:
    """Return the value of an expression: one node of a graph."""
    return import_module("nameexpr.runtime.einsum").einsum(text, *operands, **options)


@in_graph
def graphed_evaluate(text: str, /, **named: Any) -> Any:
    """Return the value of a formula: one node of a graph."""
    return import_module("nameexpr.runtime.evaluate").evaluate(text, **named)


@in_graph
def graphed_expression(text: str, options: tuple[Any, ...], *operands: Any) -> Any:
    """Return the value of a compiled expression: one node of a graph."""
    return import_module("nameexpr.runtime.einsum").find_entry(text, chosen(options)).call(*operands)


@in_graph
def graphed_formula(text: str, options: tuple[Any, ...], /, **named: Any) -> Any:
    """Return the value of a compiled formula: one node of a graph."""
    make = import_module("nameexpr.runtime.formula").FormulaEntry
    return cache.find(cache.formulas, text, chosen(options), make).call_named(named)


def chosen(options: tuple[Any, ...]) -> Any:
    """Return the options of a compiled text, whose numbers PyTorch may have made symbols."""
    own = import_module("nameexpr.runtime.entry").CallOptions(*options)
    sizes = tuple([(name, int(size)) for name, size in own.sizes])
    limit = own.memory_limit if own.memory_limit is None else int(own.memory_limit)
    return own._replace(sizes=sizes, memory_limit=limit).or_none


def traced_compile(text: str, /, **options: Any) -> Any:
    """Trace `compile`."""
    refuse(text, "compile is called", "compile the text once, before the function is traced")


def traced_einsum(text: str, /, *operands: Any, **options: Any) -> Any:
    """Trace `einsum`."""
    check(text, operands, options)
    return graphed_einsum(text, *operands, **options)


def traced_evaluate(text: str, /, *misplaced: Any, **named: Any) -> Any:
    """Trace `evaluate`."""
    check(text, (*misplaced, *named.values(), *(named.get("operands") or {}).values()), named)
    return graphed_evaluate(text, *misplaced, **named)


def traced_expression(compiled: Any, /, *operands: Any, out: Any = None) -> Any:
    """Trace a call of a `CompiledExpression`; bound operands become inputs of the graph."""
    entry = compiled._entry
    every = entry.merge(operands)
    check(entry.text, every, {"out": out, "optimize": entry.options.optimize, "reduce": entry.options.reduce})
    return graphed_expression(entry.text, tuple(entry.options), *every)


def traced_formula(
    compiled: Any,
    /,
    *misplaced: Any,
    out: Any = None,
    operands: Mapping[str, Any] | None = None,
    **named: Any,
) -> Any:
    """Trace a call of a `CompiledFormula`; bound operands become inputs of the graph."""
    entry = compiled._entry
    every = {**entry.bound, **(operands or {}), **named}
    check(entry.text, (*misplaced, *every.values()), {"out": out, "optimize": entry.options.optimize})
    return graphed_formula(entry.text, tuple(entry.options), *misplaced, **every)


def check(text: str, operands: Any, options: Mapping[str, Any]) -> None:
    """Refuse what a graph cannot contain: options that are functions, `out=`, and NumPy arrays."""
    for name in ("optimize", "reduce"):
        if callable(options.get(name)):
            refuse(text, f"{name}= is a function", "give the name of one, or leave it out")
    if options.get("out") is not None:
        refuse(text, "out= is given", "write it after the call: out.copy_(result)")
    if any(isinstance(operand, np.ndarray) for operand in operands):
        refuse(text, "an operand is a NumPy array", "pass tensors: torch.as_tensor(x)")


def refuse(text: str, reason: str, hint: str) -> None:
    """Break the graph, with the text of NE690: only `fullgraph=True` makes that an error."""
    torch._dynamo.graph_break(msg=refusal(text, reason, hint))


@constant
def refusal(text: str, reason: str, hint: str) -> str:
    """Return the text of NE690 with a reason. The call after the break is not traced, nor what it calls."""
    skip = types.FrameExecStrategy(types.FrameAction.SKIP, types.FrameAction.SKIP)  # type: ignore[attr-defined]
    for home, name in CALLS:
        code = attrgetter(name)(import_module(home)).__code__
        eval_frame.set_code_exec_strategy(code, skip)  # type: ignore[attr-defined]
    message = f"{reason}, which torch.compile cannot trace"
    advice = f"{hint}; or call it outside of the compiled function"
    return str(error(Diagnostic("NE690", message, text, hint=advice)))
