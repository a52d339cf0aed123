"""One straight-line Python function per plan, which checks for itself whether it is the right one.

The function guards types, shapes and dtypes (and names, and strides where the program depends on them) and
then runs the statements that `nameexpr.compiler.codegen.program` wrote, with nothing in between; when the
guard fails it hands over to `miss`. This is what makes a call by text cost a fraction of a microsecond more
than the NumPy call in it. Everything that is executed is made of names of ours and of constants that are
bound, not written: no text of the user's is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from types import CodeType, MappingProxyType
from typing import Any

import numpy as np

from nameexpr.backends.numpy import copies, formulas, kernels
from nameexpr.backends.numpy.compatible import c_einsum
from nameexpr.backends.numpy.ones import ones
from nameexpr.compiler.codegen.program import body
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.ir.program import Ones, Program
from nameexpr.compiler.pipeline import Compilation
from nameexpr.runtime.fast_path import MISSING
from nameexpr.runtime.operands import OperandSpec, layout_of, same_guards

Function = Callable[..., Any]
Explain = Callable[..., Exception]


FUNCTION = re.compile(r"\b(np\.[a-z_][\w.]*)\(")
SHARED: dict[str, Any] = {
    "np": np, "kernels": kernels, "formulas": formulas, "copies": copies,
    "ndarray": np.ndarray, "missing": MISSING, "layout_of": layout_of,
}  # fmt: skip
"""What the generated functions of all texts can name."""


@dataclass(frozen=True, slots=True)
class Template:
    """A function's code and constants, but for what belongs to one text: where it hands over.

    `key` is what a function of it is good for: "ranks", "shapes" or "layouts" of the operands; `same` says
    which of them must be the same array, if any.
    """

    code: CodeType
    constants: dict[str, Any]
    key: str
    same: tuple[int, ...] = ()


def template(
    compiled: Compilation[Any],
    specs: Sequence[OperandSpec],
    constants: Mapping[str, Any] = MappingProxyType({}),
    *,
    names: tuple[Names, ...] | None = None,
    is_tuple: bool = False,
    has_shapes: bool = True,
) -> Template:
    """Return the code for operands like these.

    Parameters
    ----------
    compiled : Compilation[Any]
        The program to run.
    specs : sequence of OperandSpec
        What the operands are that the function is for: numbers of Python, if their dtype is a type.
    constants : mapping of str to object
        What else the function can name: the caller's reducer, and operands that are bound.
    names : tuple or None
        Names of each result; None for plain arrays.
    is_tuple : bool
        Whether the function returns a tuple of results.
    has_shapes : bool
        Whether the function is for these shapes only; else for all of the same ranks.
    """
    program = compiled.program
    own: dict[str, Any] = {**constants, "names": names if names is None or is_tuple else names[0]}
    is_named = [spec.names is not None for spec in specs]
    if names is not None or any(is_named):
        own |= _named_tensors()
    guards = [
        guard(position, spec, program, own, has_shape=has_shapes) for position, spec in enumerate(specs)
    ]
    guards += same_guards(compiled.same, is_named)
    statements = statements_of(program, compiled.shapes, own)
    returned = statements.pop().removeprefix("return ")
    if is_tuple and len(program.outputs) == 1:
        returned += ","
    if names is not None:
        returned = f"wrap_all(({returned}), names)" if is_tuple else f"wrap({returned}, names)"
    code = code_of(is_named, guards, [*statements, f"return {returned}"])
    key = "ranks" if not has_shapes else "layouts" if program.depends_on_layout else "shapes"
    return Template(code, own, key, compiled.same)


def _named_tensors() -> dict[str, Any]:
    """Return what functions of NamedTensors can name."""
    from nameexpr.tensors import NamedTensor, wrap

    def wrap_all(results: tuple[Any, ...], names: Sequence[Names]) -> tuple[NamedTensor, ...]:
        return tuple(wrap(result, own) for result, own in zip(results, names, strict=True))

    return {"NamedTensor": NamedTensor, "wrap": wrap, "wrap_all": wrap_all}


def function_of(made: Template, miss: Function, explain: Explain) -> Function:
    """Return the function of a template, for one text.

    Parameters
    ----------
    made : Template
        Code and constants.
    miss : callable
        What to call with operands of any other kind.
    explain : callable
        What makes an error of a fault of NumPy's and the operands.
    """
    constants = {**SHARED, **made.constants, "miss": miss, "explain": explain}
    exec(made.code, constants)  # noqa: S102  ours only: tests hold the source to a whitelist
    function: Function = constants["call"]
    return function


def constants_of(miss: Function, explain: Callable[..., Exception]) -> dict[str, Any]:
    """Return what every generated function can name."""
    return {**SHARED, "miss": miss, "explain": explain}


def statements_of(
    program: Program, shapes: Sequence[tuple[int, ...]], constants: dict[str, Any]
) -> list[str]:
    """Return the statements of a program, with what they name bound in `constants`."""
    made_once: dict[str, Ones] = {}
    statements = quickened(body(program, shapes, made_once), constants)
    constants |= {name: ones(one.shape, one.dtype) for name, one in made_once.items()}
    return statements


def quickened(statements: Sequence[str], constants: dict[str, Any]) -> list[str]:
    """Return the statements with a name for each function of NumPy's, bound in `constants`: 40 ns less each.

    For `np.einsum` that is the C function behind it: 400 ns less.
    """

    def named(call: re.Match[str]) -> str:
        name = call[1].replace(".", "_")
        constants.setdefault(name, _function(call[1]))
        return f"{name}("

    return [FUNCTION.sub(named, statement) for statement in statements]


@cache
def _function(path: str) -> Any:
    return c_einsum if path == "np.einsum" else attrgetter(path.removeprefix("np."))(np)


def code_of(is_named: Sequence[bool], guards: Sequence[str], statements: Sequence[str]) -> CodeType:
    """Return a function of so many operands, compiled: guards first, then the statements, which work on the
    arrays of those that are NamedTensors.
    """
    return _code(_source(is_named, guards, statements))


def guard(
    position: int, spec: OperandSpec, program: Program, constants: dict[str, Any], *, has_shape: bool = True
) -> str:
    """Return the condition that an operand is like this one, and bind its constants.

    A dtype is nearly always the very object that was seen before; one that was unpickled need not be.
    """
    name = data = f"a{position}"
    constants[f"d{position}"] = spec.dtype
    if isinstance(spec.dtype, type):
        return f"type({name}) is d{position}"
    constants[f"s{position}"] = spec.shape
    if spec.names is None:
        parts = [f"type({name}) is ndarray"]
    else:
        constants[f"n{position}"] = spec.names
        parts = [f"type({name}) is NamedTensor", f"{name}._names == n{position}"]
        data = f"{name}._data"
    parts.append(f"{data}.shape == s{position}" if has_shape else f"{data}.ndim == {len(spec.shape)}")
    parts.append(f"({data}.dtype is d{position} or {data}.dtype == d{position})")
    if program.is_limited:  # copies, and what they take, depend on more than strides
        constants[f"r{position}"] = spec.layout
        parts.append(f"layout_of({data}) == r{position}")
    elif program.depends_on_layout:
        constants[f"r{position}"] = tuple(spec.layout or ())
        parts.append(f"{data}.strides == r{position}")
    return " and ".join(parts)


def _source(is_named: Sequence[bool], guards: Sequence[str], statements: Sequence[str]) -> str:
    names = [f"a{position}" for position in range(len(is_named))]
    arguments = ", ".join([*(f"{name}=missing" for name in names), "*rest"])
    passed = ", ".join([*names, "*rest"])
    named = [position for position, has_names in enumerate(is_named) if has_names]
    # A fault is told of the operands as they came: their names may say what the text leaves out.
    given = ", ".join(
        f"wrap({name}, n{position})" if position in named else name for position, name in enumerate(names)
    )
    statements = [*(f"a{position} = a{position}._data" for position in named), *statements]
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
