"""Texts inside functions that `torch.compile` and `torch.export` trace.

Dynamo traces Python. It cannot trace the compiler of texts, and it would make its graph depend on the dicts
of functions that have been compiled so far. Instead of a function that calls a text it traces the one that
`traced_as` assigns to it, one of those below. They add a single call to the graph, of `graphed`, which runs
the text as usual: on fake tensors while the graph is made, and again when AOTAutograd records the operations
that the text consists of. Names of tensors are constants of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import torch
from torch._dynamo import eval_frame, types

from nameexpr.compiler.ir.axes import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime import cache
from nameexpr.tensors.core import Core
from nameexpr.tensors.libraries.classes import class_for

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
TENSOR: Any = class_for("torch")
_latest: list[tuple[Names, ...]] = [()]
"""The names of the latest results."""


def traced_compile(text: str, /, **_: Any) -> Any:
    """Trace `compile`."""
    refuse(text, "compile is called", "compile the text once, before the function is traced")


def traced_einsum(text: str, /, *operands: Any, **options: Any) -> Any:
    """Trace `einsum`."""
    return _traced("einsum", text, options, operands, {}, options)


def traced_evaluate(
    text: str, /, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any
) -> Any:
    """Trace `evaluate`."""
    mapped = operands or {}
    return _traced("evaluate", text, tuple(mapped), (*mapped.values(), *misplaced), named, named)


def traced_expression(compiled: Any, /, *operands: Any, out: Any = None) -> Any:
    """Trace a call of a `CompiledExpression`; bound operands become inputs of the graph."""
    entry = compiled._entry
    own = entry.options
    limiting = {"out": out, "optimize": own.optimize, "reduce": own.reduce}
    return _traced("expression", entry.text, tuple(own), tuple(entry.merge(operands)), {}, limiting)


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
    limiting = {"out": out, "optimize": entry.options.optimize}
    return _traced("formula", entry.text, tuple(entry.options), misplaced, every, limiting)


def _traced(
    kind: str,
    text: str,
    options: Any,
    operands: Sequence[Any],
    named: Mapping[str, Any],
    limiting: Mapping[str, Any],
) -> Any:
    """Add a call of a text to the graph; its results have names if an operand has."""
    every = [*operands, *named.values()]
    names = tuple([one._names if isinstance(one, Core) else None for one in every])
    data = [one._data if isinstance(one, Core) else one for one in every]
    _check(text, data, limiting)
    rest = dict(zip(named, data[len(operands) :], strict=True))
    result = graphed(kind, text, options, names, *data[: len(operands)], **rest)
    if not any(isinstance(one, Core) for one in every):
        return result
    made = _names_of_latest()
    if not isinstance(result, tuple):
        return TENSOR._wrap(result, made[0])
    return tuple([TENSOR._wrap(one, own) for one, own in zip(result, made, strict=True)])


@in_graph
def graphed(
    kind: str, text: str, options: Any, names: Sequence[Names | None], /, *operands: Any, **named: Any
) -> Any:
    """Return the value of a text: one node of a graph."""
    every = [
        one if own is None else TENSOR._wrap(one, tuple(own))
        for one, own in zip((*operands, *named.values()), names, strict=True)
    ]
    given = dict(zip(named, every[len(operands) :], strict=True))
    result = _RUN[kind](text, options, every[: len(operands)], given)
    if all(own is None for own in names):
        return result
    results = result if isinstance(result, tuple) else (result,)
    _latest[0] = tuple([one._names for one in results])
    return tuple([one._data for one in results]) if isinstance(result, tuple) else result._data


@constant
def _names_of_latest() -> tuple[Names, ...]:
    return _latest[0]


def _run_einsum(text: str, options: Mapping[str, Any], operands: Sequence[Any], _: Any) -> Any:
    return import_module("nameexpr.runtime.einsum").einsum(text, *operands, **options)


def _run_evaluate(text: str, names: Sequence[str], operands: Sequence[Any], named: Any) -> Any:
    """Run a formula; the operands with `names` are those that are passed as `operands=`."""
    mapped, misplaced = dict(zip(names, operands, strict=False)), operands[len(names) :]
    evaluate = import_module("nameexpr.runtime.evaluate").evaluate
    return evaluate(text, *misplaced, operands=mapped or None, **named)


def _run_expression(text: str, options: Sequence[Any], operands: Sequence[Any], _: Any) -> Any:
    return import_module("nameexpr.runtime.einsum").find_entry(text, _chosen(options)).call(*operands)


def _run_formula(text: str, options: Sequence[Any], misplaced: Sequence[Any], named: Any) -> Any:
    if misplaced:
        raise import_module("nameexpr.runtime.evaluate").by_position(text, misplaced)
    make = import_module("nameexpr.runtime.formula").FormulaEntry
    return cache.find(cache.formulas, text, _chosen(options), make).call_named(named)


_RUN: dict[str, Callable[[str, Any, Sequence[Any], Any], Any]] = {
    "einsum": _run_einsum,
    "evaluate": _run_evaluate,
    "expression": _run_expression,
    "formula": _run_formula,
}


def _chosen(options: Sequence[Any]) -> Any:
    """Return the options of a compiled text, whose numbers PyTorch may have made symbols."""
    own = import_module("nameexpr.runtime.entry").CallOptions(*options)
    sizes = tuple([(name, int(size)) for name, size in own.sizes])
    limit = own.memory_limit if own.memory_limit is None else int(own.memory_limit)
    return own._replace(sizes=sizes, memory_limit=limit).or_none


def _check(text: str, operands: Sequence[Any], options: Mapping[str, Any]) -> None:
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
    torch._dynamo.graph_break(msg=_refusal(text, reason, hint))


@constant
def _refusal(text: str, reason: str, hint: str) -> str:
    """Return the text of NE690 with a reason. The call after the break is not traced, nor what it calls."""
    skip = types.FrameExecStrategy(types.FrameAction.SKIP, types.FrameAction.SKIP)  # type: ignore[attr-defined]
    for home, name in CALLS:
        code = attrgetter(name)(import_module(home)).__code__
        eval_frame.set_code_exec_strategy(code, skip)  # type: ignore[attr-defined]
    message = f"{reason}, which torch.compile cannot trace"
    advice = f"{hint}; or call it outside of the compiled function"
    return str(error(Diagnostic("NE690", message, text, hint=advice)))
