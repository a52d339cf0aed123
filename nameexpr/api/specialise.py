"""One straight-line Python function per plan, which checks for itself whether it is the right one.

The function guards types, shapes and dtypes (and names, and strides where the program depends on them) and
then runs the statements that `nameexpr.compiler.render` wrote, with nothing in between; when the guard fails
it hands over to `miss`. This is what makes a call by text cost a fraction of a microsecond more than the
NumPy call in it. Everything that is executed is made of names of ours and of constants that are bound, not
written: no text of the user's is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from nameexpr.api.faults import run_fault
from nameexpr.backends.numpy import formulas, kernels
from nameexpr.compiler.operands import Operand
from nameexpr.compiler.pipeline import Compiled
from nameexpr.compiler.render import body
from nameexpr.compiler.typed import Names
from nameexpr.tensors import NamedTensor, wrap

MISSING = object()
Function = Callable[..., Any]


def specialise(
    compiled: Compiled,
    operands: Sequence[Operand],
    arrays: Sequence[np.ndarray[Any, Any]],
    names: Names | None,
    reduce: Callable[..., Any] | None,
    miss: Function,
) -> Function:
    """Return a function of the operands, for operands like these.

    Parameters
    ----------
    compiled : Compiled
        The program to run.
    operands : sequence of Operand
        Shapes and names that the function is for.
    arrays : sequence of ndarray
        One array like each operand: dtypes, and strides where they count.
    names : tuple or None
        Names of the result; None for a plain array.
    reduce : callable or None
        The caller's reducer.
    miss : callable
        What to call with operands of any other kind.
    """
    constants = constants_of(miss, lambda fault, *values: run_fault(fault, compiled, values))
    constants |= {"names": names, "reduce": reduce}
    guards, unwraps = [], []
    for position, (operand, array) in enumerate(zip(operands, arrays, strict=True)):
        own = guard(
            position, operand, array, has_layout=compiled.program.depends_on_layout, constants=constants
        )
        guards.append(own)
        if operand.names is not None:
            unwraps.append(f"a{position} = a{position}._data")
    statements = body(compiled.program, compiled.shapes)
    if names is not None:
        statements[-1] = f"return wrap({statements[-1].removeprefix('return ')}, names)"
    exec(code_of(len(operands), guards, [*unwraps, *statements]), constants)  # noqa: S102  ours only: tests hold the source to a whitelist
    function: Function = constants["call"]
    return function


def constants_of(miss: Function, explain: Callable[..., Exception]) -> dict[str, Any]:
    """Return what every generated function can name."""
    return {
        "np": np, "kernels": kernels, "formulas": formulas,
        "ndarray": np.ndarray, "NamedTensor": NamedTensor, "wrap": wrap,
        "missing": MISSING, "miss": miss, "explain": explain,
    }  # fmt: skip


def code_of(count: int, guards: Sequence[str], statements: Sequence[str]) -> CodeType:
    """Return a function of so many operands, compiled: guards first, then the statements."""
    return _code(_source(count, guards, statements))


def guard(
    position: int,
    operand: Operand,
    array: np.ndarray[Any, Any],
    *,
    has_layout: bool,
    constants: dict[str, Any],
) -> str:
    """Return the condition that an operand is like this one, and bind its constants."""
    name, data = f"a{position}", f"a{position}"
    constants[f"s{position}"] = operand.shape
    constants[f"d{position}"] = array.dtype
    if operand.names is None:
        parts = [f"type({name}) is ndarray"]
    else:
        constants[f"n{position}"] = operand.names
        parts = [f"type({name}) is NamedTensor", f"{name}._names == n{position}"]
        data = f"{name}._data"
    parts += [f"{data}.shape == s{position}", f"{data}.dtype == d{position}"]
    if has_layout:
        constants[f"r{position}"] = array.strides
        parts.append(f"{data}.strides == r{position}")
    return " and ".join(parts)


def _source(count: int, guards: Sequence[str], statements: Sequence[str]) -> str:
    names = [f"a{position}" for position in range(count)]
    arguments = ", ".join([*(f"{name}=missing" for name in names), "*rest"])
    passed = ", ".join([*names, "*rest"])
    given = ", ".join(names)
    lines = [f"def call({arguments}):"]
    lines += ["    if " + " and ".join([*guards, "not rest"]) + ":"]
    lines += ["        try:", *("            " + statement for statement in statements)]
    lines += ["        except Exception as fault:", f"            raise explain(fault, {given}) from fault"]
    lines += [f"    return miss({passed})"]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=512)
def _code(source: str) -> CodeType:
    """Compile a source; many texts and shapes share one, because shapes are constants that are bound."""
    return compile(source, "<nameexpr>", "exec")
