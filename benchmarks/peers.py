"""The peers' columns. The slow ones, and those that few have installed, run only when they are named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.call import DROP_IN, NAIVE, NUMEXPR, XARRAY, Adapter, Call
from benchmarks.workloads.base import Operands, Workload
from benchmarks.workloads.formulas import FormulaWorkload, called
from benchmarks.workloads.named import NamedWorkload, function_of

MANY = 12
"""np.einsum(optimize=True) takes seconds to plan networks of more operands than this."""

LOOPED = 3e8
"""From here one loop over all labels, which is what some peers do with several operands, takes seconds."""


def _is_endless(workload: Workload, operands: Operands) -> bool:
    """Return whether one loop over all labels of these operands is out of the question."""
    text = workload.np_text
    return text is not None and math.prod(_sizes(text, operands).values()) > LOOPED


def _is_endless_in_steps(text: str, operands: Operands) -> bool:
    """Whether some step of NumPy's own path is: it takes many operands at once rather than more memory."""
    inputs, _, out = text.partition("->")
    terms, size = inputs.split(","), _sizes(text, operands)
    for step in np.einsum_path(text, *operands, optimize=True)[0][1:]:
        taken = set().union(*(terms.pop(position) for position in sorted(step, reverse=True)))
        if math.prod(size[x] for x in taken) > LOOPED:
            return True
        terms.append("".join(x for x in taken if x in set(out).union(*terms)))
    return False


def _sizes(text: str, operands: Operands) -> dict[str, int]:
    terms = text.partition("->")[0].split(",")
    return {
        x: n for term, one in zip(terms, operands, strict=True) for x, n in zip(term, one.shape, strict=True)
    }


def _np_einsum(_: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    if text is None or _is_endless(workload, operands):
        return None
    return Call(np.einsum, (text, *operands), workload.np_options)


def _np_optimize(_: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    if text is None or len(operands) > MANY or not text.isascii():
        return None
    if len(operands) > 2 and _is_endless_in_steps(text, operands):
        return None
    return Call(np.einsum, (text, *operands), {**workload.np_options, "optimize": True})


def _contract(oe: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return None if text is None else Call(oe.contract, (text, *operands))


def _drop_in(front: Any, workload: Workload, operands: Operands) -> Call | None:
    """Return the call of nameexpr's own function with the subscripts of NumPy."""
    text = workload.np_text
    return None if text is None or not text.isascii() else Call(front.einsum, (text, *operands))


def _expression(oe: Any, workload: Workload, operands: Operands) -> Call | None:
    text = workload.np_text
    return (
        None if text is None else Call(oe.contract_expression(text, *(x.shape for x in operands)), operands)
    )


def _einops(einops: Any, workload: Workload, operands: Operands) -> Call | None:
    verb = workload.einops_verb
    if verb is None or _is_endless(workload, operands):
        return None
    extra = (workload.reducer,) if verb == "reduce" else ()
    return Call(getattr(einops, verb), (*operands, workload.terms, *extra), workload.sizes)


def _einx(einx: Any, workload: Workload, operands: Operands) -> Call | None:
    """It has a function for each kind: ``id`` moves, ``sum`` and the like reduce, ``dot`` multiplies."""
    functions = {"einsum": "dot", "rearrange": "id", "repeat": "id", "reduce": workload.reducer}
    verb = workload.einops_verb
    if verb is None or _is_endless(workload, operands):
        return None
    return Call(getattr(einx, functions[verb]), (workload.terms, *operands), workload.sizes)


def _cotengra(cotengra: Any, workload: Workload, operands: Operands) -> Call | None:
    """Return the string call; it keeps its expression from one call to the next."""
    text = workload.np_text
    return None if text is None else Call(cotengra.einsum, (text, *operands))


def _torch(torch: Any, workload: Workload, operands: Operands) -> Call | None:
    """torch.einsum knows plain letters only; tensors are made before, over the same memory."""
    text = workload.np_text
    if text is None or not text.isascii():
        return None
    torch.set_num_threads(1)
    return Call(torch.einsum, (text, *map(torch.from_numpy, operands)))


def _xarray(xr: Any, workload: NamedWorkload, operands: Operands) -> Call | None:
    if not workload.xarray:
        return None
    given = zip(operands, workload.names, strict=True)
    arrays = [xr.DataArray(x, dims=names.split()) for x, names in given if names]
    return Call(function_of(workload.xarray, workload.letters, xr=xr), tuple(arrays))


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


PEERS = (
    Adapter("np.einsum", "numpy", _np_einsum, groups="abceru"),
    Adapter("np.einsum.optimize", "numpy", _np_optimize, groups="abcderu"),
    Adapter("opt_einsum.expression", "opt_einsum", _expression, groups="abcderu"),
    Adapter("opt_einsum.contract", "opt_einsum", _contract, groups="abcdeu"),
    Adapter("einops", "einops", _einops, groups="abceu"),
    Adapter("einx", "einx", _einx, groups="ab", is_slow=True),
    Adapter("cotengra", "cotengra", _cotengra, groups="abderu", is_slow=True),
    Adapter(DROP_IN, "nameexpr.compat.numpy", _drop_in, groups="abderu", is_slow=True),
    Adapter("torch", "torch", _torch, groups="abderu", is_slow=True),
    Adapter(XARRAY, "xarray", _xarray, groups="n"),
    Adapter(NAIVE, "numpy", _naive, groups="f"),
    Adapter(NUMEXPR, "numexpr", _numexpr, groups="f"),
)
