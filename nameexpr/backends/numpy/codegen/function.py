"""The function that is executed: a guard, then the statements of a program, with everything that they call
bound.

The executed source consists of the package's names (`a0`, `t3`), ints and dtype names from a fixed set, and
of constants that are bound, not written: no part of a user's text is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from operator import attrgetter
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.codegen.calls import CALLS, render_streamed, with_out
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Delete,
    Dtype,
    Element,
    Invocation,
    Numbering,
    Return,
    Statement,
    Value,
    indexed,
    numpy,
    write,
)
from nameexpr.compiler.ir.liveness import BLOCK, last_uses, never_made
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.program import Instruction, Program

if TYPE_CHECKING:
    from nameexpr.backends.numpy.codegen.spread import CallsOverThreads
    from nameexpr.backends.numpy.threads.gain import Spread

Shapes = Sequence[tuple[int, ...]]
_ASARRAY = numpy("asarray")
ON_ONE: Mapping[int, Spread] = MappingProxyType({})
"""Programs of which one thread computes all."""
LARGE = 1 << 14
"""The number of elements of arrays whose memory the allocator returns to the system."""
SEVERAL = frozenset({"fused", "loop", "concatenate", "recurrence"})
"""Primitives that are several statements."""


def bound_statements(
    program: Program,
    shapes: Sequence[tuple[int, ...]],
    constants: dict[str, Any],
    spread: Mapping[int, Spread] = ON_ONE,
) -> list[Statement]:
    """Return the statements of a program; arrays of ones are bound in `constants`."""
    made_once: dict[str, Instruction] = {}
    statements = compute(program, shapes, made_once, spread=spread)
    if spread or (program.instructions and max(map(prod, shapes)) >= LARGE):
        from nameexpr.backends.numpy.codegen.loops import keep_memory

        keep_memory(program, max([one.threads for one in spread.values()], default=1))
    if made_once:
        from nameexpr.backends.numpy.kernels import ones

        constants |= {name: ones(one.shape, one.dtype) for name, one in made_once.items()}
    last = statements[-1]
    assert isinstance(last, Return)
    statements[-1] = Return(tuple([_as_array(value) for value in last.values]), last.is_tuple)
    return statements


def _as_array(value: Value) -> Value:
    """Return a value, its conversion to an array as an option of the ufunc that computes it: this saves the
    scalar, and 100 ns.
    """
    if isinstance(value, Invocation) and value.function is _ASARRAY:
        (call,) = value.arguments
        if isinstance(call, Invocation) and isinstance(call.function, Callee):
            function = resolve_function(call.function.module, call.function.name.removesuffix(".reduce"))
            if isinstance(function, np.ufunc) and call.options.get("out") is None and _RETURNS_ARRAYS:
                return with_out(call, "...")
    return value


def _returns_arrays() -> bool:
    """Return whether ufuncs take `out=...`, to return no scalars (NumPy 2.3 and newer)."""
    try:
        np.negative(1, out=...)
    except TypeError:
        return False
    return True


_RETURNS_ARRAYS = _returns_arrays()


def function_code(
    named: Sequence[bool],
    guards: Sequence[str],
    statements: Sequence[Statement],
    constants: dict[str, Any],
    resolve: Callable[[str, str], Any] | None = None,
) -> CodeType:
    """Return a compiled function `call` of the operands: guards first, then the statements, which work on the
    arrays of those that are `named`. `resolve` returns the function for a module and a name.

    Each function that is called has its own name, bound in `constants`: this saves 40 ns compared with an
    attribute of a module, and 400 ns for `np.einsum`, where the name is bound to the C function that it
    wraps. So has each dtype, which saves the 60 ns that NumPy takes to find it by its name, and each
    number among floats, which saves 200 ns.
    """
    resolve = resolve or resolve_function

    scalars: dict[str, str] = {}

    def bind(bound: Callee | Dtype | Element) -> str:
        if isinstance(bound, Element):
            key = f"{bound.dtype} {bound}"  # -0.0 equals 0.0
            name = scalars.setdefault(key, f"scalar_{len(scalars)}")
            constants[name] = np.asarray(bound.number, bound.dtype)
            return name
        if isinstance(bound, Dtype):
            if not bound.name.isidentifier():  # of another byte order, or with a unit
                return str(bound)
            name = f"dtype_{bound.name}"
            constants.setdefault(name, np.dtype(bound.name))
            return name
        name = f"{bound.module}_{bound.name}".replace(".", "_")
        constants.setdefault(name, resolve(bound.module, bound.name))
        return name

    return _code(_source(named, guards, write(statements, bind, indent=" " * 12)))


@cache
def resolve_function(module: str, name: str) -> Any:
    """Return the function to call; modules of this package are imported when it is first called."""
    if module == "np" and name != "einsum":
        return attrgetter(name)(np)
    module, name = ("kernels", "c_einsum") if module == "np" else (module, name)
    return getattr(import_module(f"nameexpr.backends.numpy.{module}"), name)


def _source(named: Sequence[bool], guards: Sequence[str], lines: Sequence[str]) -> str:
    names = [f"a{n}" for n in range(len(named))]
    data = [f"            a{n} = a{n}._data" for n, has_names in enumerate(named) if has_names]
    # An error describes the operands as they were passed: their names may stand for a term that is left out.
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
    """Compile a source; many texts and shapes share one, because shapes are bound constants."""
    return compile(source, "<nameexpr>", "exec")


def compute(
    program: Program,
    shapes: Shapes,
    made_once: dict[str, Instruction] | None = None,
    numbering: Numbering | None = None,
    spread: Mapping[int, Spread] = ON_ONE,
) -> list[Statement]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return.

    Parameters
    ----------
    program : Program
        The program.
    shapes : sequence of tuple of int
        Shape of every value.
    made_once : dict, optional
        Receives the instructions of ones by the name of their value, instead of the statements.
    numbering : Numbering, optional
        Receives the notes of values inside loops.
    spread : mapping, optional
        The instructions that threads share, by number.
    """
    instructions, count = program.instructions, len(program.operands)
    kinds = [instruction.primitive for instruction in instructions]
    unmade = never_made(program) if "ones" in kinds else frozenset()
    last = last_uses(program) if len(instructions) > 1 else {}
    values = [f"a{operand}" for operand in range(count)] + [f"t{made}" for made in range(len(instructions))]
    statements: list[Statement] = []
    inside = _parts(program, shapes, values) if "concatenate" in kinds else {}
    chain = _chain() if spread else None
    for number, instruction in enumerate(instructions):
        target, sources = values[count + number], instruction.sources
        names = [values[source] for source in sources]
        place, before = inside.get(number, (None, []))
        statements += before
        if instruction.primitive in SEVERAL:
            numbering = numbering or Numbering()
            own = [shapes[source] for source in sources]
            statements += _several(instruction, target, names, own, numbering, place, spread.get(number))
        elif chain is not None and number in spread:
            statements += chain.call(instruction, target, names, shapes[count + number], spread[number])
        elif number in unmade:
            continue
        elif instruction.primitive == "ones" and made_once is not None and prod(instruction.shape) <= BLOCK:
            made_once[target] = instruction
            continue
        else:
            if unmade and any(source - count in unmade for source in sources):
                call: Value = render_streamed(instruction, names[0], program.notes[sources[1] - count].dtype)
            else:
                call = CALLS[instruction.primitive](instruction, *names)
            if program.result == count + number == len(values) - 1 and not program.results:
                return [*statements, Return((call if shapes[-1] else _ASARRAY(call),))]
            statements.append(Assign(target, call if place is None else with_out(call, place)))
        deletions = _deletions(program, number, last, values)
        if chain is not None:
            deletions = chain.after(number, shapes[count + number], spread.get(number), deletions)
        statements += deletions
    returned: list[Value] = []
    for result in program.outputs:
        value: Value = values[result] if shapes[result] else _ASARRAY(values[result])
        returned.append(indexed(value, "...") if result < count else value)  # return a view of an operand
    return [*statements, Return(tuple(returned), bool(program.results))]


def _several(
    instruction: Instruction,
    target: str,
    names: Sequence[str],
    shapes: Shapes,
    numbering: Numbering,
    place: Value | None,
    spread: Spread | None,
) -> list[Statement]:
    """Return the statements of an instruction that takes more than a call."""
    if instruction.primitive == "concatenate":
        from nameexpr.backends.numpy.codegen.concatenation import concatenated

        return concatenated(instruction, target, names)
    if instruction.recurrence is not None:
        from nameexpr.backends.numpy.codegen.recurrences import recurrence_statements

        return recurrence_statements(instruction, target, names, numbering)
    from nameexpr.backends.numpy.codegen.loops import loop_statements

    return loop_statements(instruction, target, names, shapes, numbering, place, spread)


def _chain() -> CallsOverThreads:
    from nameexpr.backends.numpy.codegen.spread import CallsOverThreads

    return CallsOverThreads()


def _parts(
    program: Program, shapes: Shapes, values: Sequence[str]
) -> dict[int, tuple[Value, list[Statement]]]:
    from nameexpr.backends.numpy.codegen.concatenation import parts_of

    return parts_of(program, shapes, values)


def _deletions(
    program: Program, number: int, last: Mapping[int, int], names: Sequence[str]
) -> list[Statement]:
    """Return the statement that deletes dead names: arrays, and the arrays that they were views of."""
    count = len(program.operands)
    instruction = program.instructions[number]
    if is_view(instruction):
        return []
    dead: dict[str, None] = {}
    waiting = [
        source
        for source in instruction.sources
        if source >= count and last[source] == number
        if program.instructions[source - count].primitive != "ones"
    ]
    while waiting:
        value = waiting.pop(0)
        dead[names[value]] = None
        view = program.instructions[value - count]
        if is_view(view) and view.sources[0] >= count and last[view.sources[0]] == value - count:
            waiting.append(view.sources[0])
    return [Delete(tuple(dead))] if dead else []
