"""Who runs a workload: nameexpr twice, and the peers that are installed.

An adapter binds a workload to a call, *before* the clock starts: a function with its arguments, so that the
timed statement is the call a user writes and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.workloads.base import Operands, Workload


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
    bind: Callable[[Any, Workload, Operands], Call | None]

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


STRING, COMPILED = "nameexpr", "nameexpr.compile"
OURS = (Adapter(STRING, "nameexpr", _string), Adapter(COMPILED, "nameexpr", _compiled))
PEERS = (
    Adapter("np.einsum", "numpy", _np_einsum),
    Adapter("np.einsum.optimize", "numpy", _np_optimize),
    Adapter("opt_einsum.expression", "opt_einsum", _expression),
    Adapter("opt_einsum.contract", "opt_einsum", _contract),
    Adapter("einops", "einops", _einops),
)


def installed(names: list[str] | None) -> tuple[tuple[Adapter, ...], list[str]]:
    """Return the peers asked for that can be imported, and a note for each that cannot."""
    found, notes = [], []
    for adapter in PEERS:
        if names is not None and adapter.name not in names:
            continue
        try:
            adapter.load()
            found.append(adapter)
        except ImportError:
            notes.append(f"{adapter.name} left out: {adapter.module} is not installed")
    return tuple(found), notes
