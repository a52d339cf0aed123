"""One straight-line Python function per plan, which checks itself whether it applies.

The function guards types, shapes and dtypes (and names, and strides if the program depends on them) and then
runs the statements of the program, with nothing in between; when the guard fails it calls `miss`. This is why
a call by text costs only a fraction of a microsecond more than the NumPy call in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.codegen.function import ON_ONE, bound_statements, function_code
from nameexpr.backends.numpy.codegen.statements import Invocation, Return, value_name
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.ir.program import Program
from nameexpr.records import record
from nameexpr.runtime.cache import MISSING
from nameexpr.runtime.operands import OperandSpec, layout_of

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread

Function = Callable[..., Any]
Shapes = Sequence[tuple[int, ...]]


SHARED: dict[str, Any] = {
    "ndarray": np.ndarray,
    "missing": MISSING,
    "layout_of": layout_of,
}
"""The globals of the generated functions of all texts."""


@record
class Template:
    """A function's code and constants, except for the part that belongs to one text: `miss`.

    `key` is what its functions are specialised for: "ranks", "shapes" or "layouts" of the operands; `same`
    lists which of them must be the same array, if any.
    """

    code: CodeType
    constants: dict[str, Any]
    key: str
    same: tuple[int, ...] = ()


def template(
    program: Program,
    shapes: Shapes,
    operands: Sequence[OperandSpec],
    names: Sequence[Names] | None = None,
    *,
    is_tuple: bool = False,
    reduce: Function | None = None,
    held: Sequence[Any] = (),
    same: tuple[int, ...] = (),
    has_shapes: bool = True,
    spread: Mapping[int, Spread] = ON_ONE,
) -> Template:
    """Return the code for operands like these.

    `names` are those of each result, None for plain arrays; a single result is returned in a tuple if
    `is_tuple`, several always are. `held` are the values computed from bound operands: the operands of the
    program after those of the function. `same` lists which operands must be the same array, as `repeats`
    does. The function is for these shapes only, or for all of the same ranks if not `has_shapes`. `spread`
    are the instructions that threads share.
    """
    constants: dict[str, Any] = {"names": None, "reduce": reduce}
    constants |= {f"a{position}": value for position, value in enumerate(held, len(operands))}
    named = [operand.names is not None for operand in operands]
    if names is not None or any(named):
        constants |= _named_tensors()
    guards = [
        guard(position, operand, program, constants, has_shape=has_shapes)
        for position, operand in enumerate(operands)
    ]
    data = [f"a{number}._data" if is_named else f"a{number}" for number, is_named in enumerate(named)]
    guards += [f"{data[number]} is {data[first]}" for number, first in enumerate(same) if number != first]
    statements = bound_statements(program, shapes, constants, spread)
    last = statements[-1]
    assert isinstance(last, Return)
    statements[-1] = last = Return(last.values, is_tuple or last.is_tuple)
    if names is not None:
        is_tuple = last.is_tuple
        constants["names"] = names if is_tuple else names[0]
        arguments = ("names", *last.values) if is_tuple else (*last.values, "names")
        statements[-1] = Return((Invocation("wrap_all" if is_tuple else "wrap", arguments, {}),))
    code = function_code(named, guards, statements, constants)
    key = "ranks" if not has_shapes else "layouts" if program.depends_on_layout else "shapes"
    return Template(code, constants, key, same)


@cache
def _named_tensors() -> dict[str, Any]:
    """Return the globals of functions of NamedTensors: loaded for the first of them."""
    from nameexpr.tensors import NamedTensor, wrap

    def wrap_all(names: Sequence[Names], *results: Any) -> tuple[NamedTensor, ...]:
        return tuple(wrap(result, own) for result, own in zip(results, names, strict=True))

    return {"NamedTensor": NamedTensor, "wrap": wrap, "wrap_all": wrap_all}


def function_of(
    code: CodeType, constants: dict[str, Any], miss: Function, explain: Callable[..., Exception]
) -> Function:
    """Return the function of a template's code, for one text: `miss` is called with operands of any other
    kind, and `explain` turns an exception of NumPy and the operands into an error.

    The function has its own copy of the code: CPython caches look-ups of globals in a code object, and two
    functions that shared one would evict each other's on every call, which costs 70 ns.
    """
    names = {**SHARED, **constants, "miss": miss, "explain": explain}
    exec(code, names)  # noqa: S102  ours only: tests hold the source to a whitelist
    function: Any = names["call"]
    function.__code__ = function.__code__.replace()
    return function  # type: ignore[no-any-return]


def run_values(
    program: Program, shapes: Shapes, operands: Sequence[Any], explain: Callable[[Exception], Exception]
) -> tuple[Any, ...]:
    """Return the values of a program for operands, as they are inside it: Python scalars and NumPy scalars
    are kept.
    """
    constants: dict[str, Any] = {}
    statements = bound_statements(program, shapes, constants)
    names = [value_name(value, len(program.operands)) for value in program.results]
    statements[-1] = Return(tuple(names), is_tuple=True)
    code = function_code([False] * len(operands), [], statements, constants)
    values: tuple[Any, ...] = function_of(code, constants, _never, lambda fault, *_: explain(fault))(
        *operands
    )
    return values


def _never(*_: Any) -> Any:
    raise AssertionError("a function without guards was called with other operands than it has")


def guard(
    position: int,
    operand: OperandSpec,
    program: Program,
    constants: dict[str, Any],
    *,
    has_shape: bool = True,
) -> str:
    """Return the condition that an operand is of this kind, and bind its constants.

    A dtype is nearly always the same object as before; one that was unpickled may not be.
    """
    name = data = f"a{position}"
    shape, names, dtype, layout = operand
    constants[f"d{position}"] = dtype
    if isinstance(dtype, type):
        return f"type({name}) is d{position}"
    parts = [f"type({name}) is ndarray"]
    if names is not None:
        data = f"{name}._data"
        constants[f"n{position}"] = names
        parts = [f"type({name}) is NamedTensor", f"{name}._names == n{position}"]
    constants[f"s{position}"] = shape
    parts.append(f"{data}.shape == s{position}" if has_shape else f"{data}.ndim == {len(shape)}")
    parts.append(f"({data}.dtype is d{position} or {data}.dtype == d{position})")
    if program.is_limited:  # copies, and their memory, depend on more than strides
        constants[f"r{position}"] = layout
        parts.append(f"layout_of({data}) == r{position}")
    elif program.depends_on_layout:
        constants[f"r{position}"] = tuple(layout or ())
        parts.append(f"{data}.strides == r{position}")
    return " and ".join(parts)
