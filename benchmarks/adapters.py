"""Who runs a workload: nameexpr, and the peers that are installed; other ones for named tensors.

An adapter binds a workload to a call, *before* the clock starts: a function with its arguments, so that the
timed statement is the call a user writes and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.workloads.base import Operands, Workload
from benchmarks.workloads.formulas import CALL, FormulaWorkload, called
from benchmarks.workloads.named import NamedWorkload, function_of


@dataclass(frozen=True)
class Call:
    """A function and what it is called with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Adapter:
    """A column of the table: ``bind`` returns a call, or None where this peer has no such thing."""

    name: str
    module: str
    bind: Callable[[Any, Any, Operands], Call | None]
    groups: str = "abcegr"

    def load(self) -> Any:
        """Import the module; raises ImportError."""
        return importlib.import_module(self.module)


def _string(ne: Any, workload: Workload, operands: Operands) -> Call:
    return Call(ne.einsum, (workload.text, *operands), workload.sizes)


def _compiled(ne: Any, workload: Workload, operands: Operands) -> Call:
    return Call(ne.compile(workload.text, **workload.sizes), operands)


def _np_einsum(_: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return None if text is None else Call(np.einsum, (text, *operands), workload.np_options)


def _np_optimize(_: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return (
        None
        if text is None
        else Call(np.einsum, (text, *operands), {**workload.np_options, "optimize": True})
    )


def _contract(oe: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return None if text is None else Call(oe.contract, (text, *operands))


def _expression(oe: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return (
        None if text is None else Call(oe.contract_expression(text, *(x.shape for x in operands)), operands)
    )


def _einops(einops: Any, workload: Workload, operands: Operands) -> Call | None:
    verb = workload.einops_verb
    if verb is None:
        return None
    extra = (workload.reducer,) if verb == "reduce" else ()
    return Call(getattr(einops, verb), (*operands, workload.terms, *extra), workload.sizes)


def _named(ne: Any, workload: NamedWorkload, operands: Operands) -> Call:
    tensors = [ne.from_numpy(x, names) for x, names in zip(operands, workload.names, strict=True)]
    return Call(function_of(workload.text, workload.letters, ne=ne), tuple(tensors))


def _xarray(xr: Any, workload: NamedWorkload, operands: Operands) -> Call | None:
    if not workload.xarray:
        return None
    given = zip(operands, workload.names, strict=True)
    arrays = [xr.DataArray(x, dims=names.split()) for x, names in given if names]
    return Call(function_of(workload.xarray, workload.letters, xr=xr), tuple(arrays))


def _formula(ne: Any, workload: FormulaWorkload, operands: Operands) -> Call:
    return _by_name("function(text, {})", workload, operands, function=ne.evaluate, text=workload.text)


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


def _naive(_: Any, workload: FormulaWorkload, operands: Operands) -> Call | None:
    return Call(workload.naive, operands) if workload.naive else None


def _numexpr(numexpr: Any, workload: FormulaWorkload, operands: Operands) -> Call | None:
    if not workload.numexpr:
        return None
    given = ", ".join(f'"{name}": {name}' for name in workload.inputs)
    function = called(
        f"function(text, {{{given}}})", workload.inputs, function=numexpr.evaluate, text=workload.numexpr
    )
    return Call(function, workload.views(*operands) if workload.views else operands)


STRING, COMPILED, XARRAY = "nameexpr", "nameexpr.compile", "xarray"
EXPRESSION, NAIVE, NUMEXPR = "ne.einsum", "np.naive", "numexpr"
OURS = (
    Adapter(STRING, "nameexpr", _string),
    Adapter(COMPILED, "nameexpr", _compiled),
    Adapter(STRING, "nameexpr", _named, groups="n"),
    Adapter(STRING, "nameexpr", _formula, groups="f"),
    Adapter(COMPILED, "nameexpr", _compiled_formula, groups="f"),
    Adapter(EXPRESSION, "nameexpr", _expression_of_formula, groups="f"),
)
PEERS = (
    Adapter("np.einsum", "numpy", _np_einsum),
    Adapter("np.einsum.optimize", "numpy", _np_optimize),
    Adapter("opt_einsum.expression", "opt_einsum", _expression),
    Adapter("opt_einsum.contract", "opt_einsum", _contract),
    Adapter("einops", "einops", _einops),
    Adapter(XARRAY, "xarray", _xarray, groups="n"),
    Adapter(NAIVE, "numpy", _naive, groups="f"),
    Adapter(NUMEXPR, "numexpr", _numexpr, groups="f"),
)


def columns(group: str, peers: Iterable[Adapter]) -> list[Adapter]:
    """Return nameexpr's adapters for a group, and those of the peers."""
    return [adapter for adapter in (*OURS, *peers) if group in adapter.groups]


def installed(names: list[str] | None, groups: set[str]) -> tuple[tuple[Adapter, ...], list[str]]:
    """Return the peers asked for that can be imported, and a note for each that cannot.

    A peer that has nothing to do in these groups is not imported.
    """
    found, notes = [], []
    for adapter in PEERS:
        if (names is not None and adapter.name not in names) or not groups & set(adapter.groups):
            continue
        try:
            adapter.load()
            found.append(adapter)
        except ImportError:
            notes.append(f"{adapter.name} left out: {adapter.module} is not installed")
    return tuple(found), notes
