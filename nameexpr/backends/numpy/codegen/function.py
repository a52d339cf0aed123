"""The function that runs: a guard, then the statements of a program, with all that they call bound.

Everything that is executed is made of names of ours and of constants that are bound, not written: no text of
the user's is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from operator import attrgetter
from types import CodeType
from typing import Any

import numpy as np

from nameexpr.backends.numpy.codegen.program import compute
from nameexpr.backends.numpy.codegen.statements import Callee, Statement, numpy, write
from nameexpr.compiler.ir.program import Instruction, Program


def bound_statements(
    program: Program, shapes: Sequence[tuple[int, ...]], constants: dict[str, Any]
) -> list[Statement]:
    """Return the statements of a program; arrays of ones are bound in `constants`."""
    made_once: dict[str, Instruction] = {}
    statements = compute(program, shapes, made_once)
    if made_once:
        from nameexpr.backends.numpy.kernels import ones

        constants |= {name: ones(one.shape, one.dtype) for name, one in made_once.items()}
    return statements


def function_code(
    named: Sequence[bool], guards: Sequence[str], statements: Sequence[Statement], constants: dict[str, Any]
) -> CodeType:
    """Return a function `call` of so many operands, compiled: guards first, then the statements, which work
    on the arrays of those that are `named`.

    Each function that is called has a name of its own, bound in `constants`: 40 ns less than an attribute of
    a module, and for `np.einsum`, where it is the C function behind it, 400 ns less.
    """

    def bind(callee: Callee) -> str:
        name = f"{callee.module}_{callee.name}".replace(".", "_")
        constants.setdefault(name, _function(callee))
        return name

    return _code(_source(named, guards, write(statements, bind, indent=" " * 12)))


@cache
def _function(callee: Callee) -> Any:
    """Return what is called; modules of ours are loaded by the first call of them."""
    if callee == numpy("einsum"):
        from nameexpr.backends.numpy.kernels import c_einsum

        return c_einsum
    if callee.module == "np":
        return attrgetter(callee.name)(np)
    return getattr(import_module(f"nameexpr.backends.numpy.{callee.module}"), callee.name)


def _source(named: Sequence[bool], guards: Sequence[str], lines: Sequence[str]) -> str:
    names = [f"a{n}" for n in range(len(named))]
    data = [f"            a{n} = a{n}._data" for n, has_names in enumerate(named) if has_names]
    # A fault is told of the operands as they came: their names may say what the text leaves out.
    operands = ", ".join([f"wrap(a{n}, n{n})" if has_names else f"a{n}" for n, has_names in enumerate(named)])
    defaults = "".join([f"{name}=missing, " for name in names])
    return "\n".join(
        [
            f"def call({defaults}*rest):",
            f"    if {' and '.join([*guards, 'not rest'])}:",
            "        try:",
            *data,
            *lines,
            "        except Exception as fault:",
            f"            raise explain(fault, {operands}) from fault",
            f"    return miss({', '.join([*names, '*rest'])})",
            "",
        ]
    )


@lru_cache(maxsize=512)
def _code(source: str) -> CodeType:
    """Compile a source; many texts and shapes share one, because shapes are constants that are bound."""
    return compile(source, "<nameexpr>", "exec")
