"""Texts on a library that compiles functions itself, such as JAX: its own table finds the executable for the
shapes and dtypes of a call, and a text is compiled once for each, while the library traces it.

The function of a text only checks the classes of its operands. It also checks shapes and dtypes where a part
of the program runs outside of what is traced: values of bound operands, which are computed once, and numbers
computed from numbers, which Python computes on every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nameexpr.backends.library import Tracing
from nameexpr.backends.numpy.codegen.function import function_code
from nameexpr.backends.numpy.codegen.statements import Assign, Invocation, Return, Statement, Value
from nameexpr.backends.numpy.reading import PositionError
from nameexpr.backends.portable.numbers import without_numbers
from nameexpr.backends.symbolic import is_symbolic
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.nodes import Gather, Map
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.cache import MISSING, Generations
from nameexpr.runtime.entry import PROGRAMS
from nameexpr.runtime.on_library import OnLibrary
from nameexpr.runtime.operands import OperandSpec, array_of, names_of
from nameexpr.runtime.symbolic import run_symbolic

Function = Callable[..., Any]


class OnTracingLibrary(OnLibrary):
    """An entry for a library that may compile functions itself."""

    __slots__ = ()

    def made(
        self,
        specs: tuple[OperandSpec, ...],
        every: Sequence[Any],
        operands: Sequence[Any],
        same: tuple[int, ...],
    ) -> tuple[Function, bool]:
        """Return a function for operands like these, and whether it is for all shapes and dtypes."""
        tracing = self.library.tracing
        if tracing is None:
            return super().made(specs, every, operands, same)
        self._check_names(every)
        compiled = self.compile(specs)
        has_numbers = any(one.is_weak for one in compiled.program.instructions)
        if self.is_bound or has_numbers or any(spec.names is not None for spec in specs):
            return _specialised(self, tracing, compiled, specs, every, operands), False
        constants = _constants(self, _compiled(tracing, _traced(self, tracing, specs), compiled))
        guards = self._guards(operands, specs, constants, has_shapes=False)
        names = tuple([f"a{position}" for position in range(len(operands))])
        statements = [Return((Invocation("run", names, {}),))]
        return _function(self, operands, guards, statements, constants), True

    def _check_names(self, every: Sequence[Any]) -> None:
        """Raise NE507 for a NamedTensor of NumPy: the result would be one of the library."""
        for one in every:
            if names_of(one) is not None and isinstance(array_of(one), np.ndarray):
                message = f"a NamedTensor of NumPy meets arrays of {self.library.name}"
                hint = "pass its array, and name the dims in the text: x.data"
                raise error(Diagnostic("NE507", message, self.text, hint=hint))


def _traced(entry: OnLibrary, tracing: Tracing, specs: Sequence[OperandSpec]) -> Function:
    """Return a function of arrays that is traced: the text is compiled for their shapes and dtypes."""
    kinds = [spec.dtype if isinstance(spec.dtype, type) else None for spec in specs]
    straight: Generations[Any, Function] = Generations(PROGRAMS)
    dtype_of = entry.library.dtype_of

    def run(*arrays: Any) -> Any:
        given = tuple([
            OperandSpec((), None, kind) if kind is not None
            else OperandSpec(tuple(one.shape), None, dtype_of(one))
            for one, kind in zip(arrays, kinds, strict=True)
        ])  # fmt: skip
        if is_symbolic([spec.shape for spec in given]):
            return run_symbolic(entry, given, arrays)

        def make() -> Function:
            compiled = entry.compile(given)
            return _straight(entry, compiled.program, compiled.shapes)

        return straight.get_or_make((given, tracing.state()), make)(*arrays)

    return run


def _straight(entry: OnLibrary, program: Program, shapes: Sequence[tuple[int, ...]]) -> Function:
    """Return the statements of a program as a function of arrays."""
    statements = entry.library.statements(program, shapes, ())
    last = statements[-1]
    assert isinstance(last, Return)
    statements[-1] = Return(last.values, last.is_tuple or entry.options.outputs is not None)
    constants: dict[str, Any] = {"missing": MISSING, "reduce": entry.options.reduce}
    constants["explain"] = lambda fault, *_: fault
    code = function_code([False] * len(program.operands), [], statements, constants, entry.library.resolve)
    exec(code, constants)  # noqa: S102  ours only, as for NumPy
    function: Function = constants["call"]
    return function


def _compiled(tracing: Tracing, function: Function, compiled: Compilation[Any]) -> Function:
    """Return a function as the library compiles it; if the text has positions, one that checks them where
    values are known.
    """
    if not any(
        isinstance(node, Gather) or (isinstance(node, Map) and node.function == "int")
        for node in compiled.graph.nodes
    ):
        return tracing.compiled(function, compiled.tree.text)
    run = tracing.checked(function, compiled.tree.text)

    def checked(*arrays: Any) -> Any:
        result, found = run(*arrays)
        wrong = tracing.first_wrong(found)
        if wrong is None:
            return result
        size, number = wrong
        if number < 0:
            raise ValueError("int(...) of a number that no integer holds")
        raise PositionError(size, number)

    return checked


def _specialised(
    entry: OnLibrary,
    tracing: Tracing,
    compiled: Compilation[Any],
    specs: Sequence[OperandSpec],
    every: Sequence[Any],
    operands: Sequence[Any],
) -> Function:
    """Return a function for these shapes and dtypes: of what is bound, values are computed now, and numbers
    on every call.
    """
    program, constants = compiled.program, _constants(entry, None)
    given = [f"a{number}" for number in range(len(operands))]
    if entry.is_bound:
        folded = entry.fold(compiled)
        held = entry._values(folded, every)
        program = folded.rest
        given += [f"h{number}" for number in range(len(held))]
        constants |= {f"h{number}": value for number, value in enumerate(held)}
    computed, rest, given = without_numbers(program, given)
    straight = _straight(entry, rest, shapes_of(rest))
    constants["run"] = _compiled(tracing, straight, compiled)
    guards = ["state() == known", *entry._guards(operands, specs, constants, has_shapes=True)]
    constants |= {"state": tracing.state, "known": tracing.state()}
    call: Value = Invocation("run", tuple(given), {})
    count = len(compiled.program.outputs)
    is_tuple = entry.options.outputs is not None or bool(compiled.program.results)
    results = tuple([f"made[{number}]" for number in range(count)]) if is_tuple else ("made",)
    statements = [*computed, Assign("made", call), Return(results, is_tuple)]
    entry.wrap_results(compiled, statements, operands, constants, is_tuple=is_tuple)
    return _function(entry, operands, guards, statements, constants)


def _constants(entry: OnLibrary, run: Function | None) -> dict[str, Any]:
    return {
        "names": None,
        "miss": entry.origin.slow_call,
        "explain": entry._explain,
        "missing": MISSING,
        "run": run,
    }


def _function(
    entry: OnLibrary,
    operands: Sequence[Any],
    guards: Sequence[str],
    statements: Sequence[Statement],
    constants: dict[str, Any],
) -> Function:
    named = [names_of(one) is not None for one in operands]
    exec(function_code(named, guards, statements, constants, entry.library.resolve), constants)  # noqa: S102
    return entry.library.finish(constants["call"], entry.text)
