"""What entries of expressions and of formulas have in common for the arrays of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from nameexpr.backends.dispatch import number_type
from nameexpr.backends.library import Library
from nameexpr.backends.numpy.codegen.function import function_code
from nameexpr.backends.numpy.codegen.statements import Invocation, Return, Statement, Value
from nameexpr.backends.numpy.kernels import ReducerFault, ReducerMisuse
from nameexpr.backends.numpy.reading import PositionError
from nameexpr.backends.symbolic import is_symbolic, size_statements
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.schedule.partial import Folded, unfolded
from nameexpr.errors import Diagnostic, NameExprError, OperandInfo, error
from nameexpr.runtime import cache
from nameexpr.runtime.cache import MISSING
from nameexpr.runtime.entry import Entry, Latest
from nameexpr.runtime.faults import run_fault
from nameexpr.runtime.operands import OperandSpec, array_of, names_of, repeats
from nameexpr.runtime.specialise import Function
from nameexpr.runtime.symbolic import run_symbolic
from nameexpr.runtime.traced_faults import unknown_fault
from nameexpr.runtime.wrapping import wrap_results


class OnLibrary(Entry):
    """An entry whose functions run on the arrays of `library`; `origin` is the entry for those of NumPy."""

    __slots__ = ()
    library: Library
    origin: Entry

    def specs(self, operands: Sequence[Any]) -> tuple[OperandSpec, ...]:
        """Return the specifications of unwrapped operands; those of numbers have their type as dtype."""
        return tuple([
            OperandSpec((), None, kind) if (kind := number_type(one)) is not None
            else OperandSpec(tuple(array_of(one).shape), names_of(one), self.library.dtype_of(array_of(one)))
            for one in operands
        ])  # fmt: skip

    def slow_call(self, *values: Any) -> Any:
        """Run operands that the latest function does not apply to."""
        given = [value for value in values if value is not MISSING]
        every = self.unwrap(self.merge(given))
        operands = [every[position] for position in self.free] if self.is_bound else every
        specs, same = self.specs(every), () if self.is_bound else repeats(list(map(array_of, operands)))
        if is_symbolic([spec.shape for spec in specs]):
            return run_symbolic(self, specs, every)
        own = map(array_of, operands)
        kinds = tuple([number_type(one) or (type(one), self.library.kind_of(one)) for one in own])
        found = self.programs.get((kinds, specs, same)) or self.programs.get(kinds)
        if found is None:
            self.refuse_options()
            self.check_devices(every)
            made, is_general = self.made(specs, every, operands, same)
            found = made, Latest(specs, (), same)
            self.programs.put(kinds if is_general else (kinds, specs, same), found)
        function, self.latest = found
        if not all(map(self.library.is_kept, own)):
            return function(*operands)
        self.origin.current = self
        self.origin.call = function if self.free else self._without_operands(function)
        if self.origin.is_called_by_text and self.origin._is_shared:
            cache.remember(self.text, function)
        return function(*operands)

    def check_devices(self, every: Sequence[Any]) -> None:
        """Raise NE508 for arrays with dims on different devices, if the library might not."""
        if self.library.checks_devices:
            return
        wrong = self._of_devices([one for one in every if number_type(one) is None and array_of(one).ndim])
        if wrong is not None:
            raise wrong

    def _of_devices(self, every: Sequence[Any]) -> Exception | None:
        """Return the error for operands on different devices."""
        own = [] if self.library.tracing is not None else [one for one in every if _has_device(one)]
        devices = list(dict.fromkeys([str(array_of(one).device) for one in own]))
        if len(devices) < 2:  # noqa: PLR2004
            return None
        message = f"operands are on different devices: {' and '.join(devices)}"
        return error(Diagnostic("NE508", message, self.text, hint="move them to one device first"))

    def made(
        self,
        specs: tuple[OperandSpec, ...],
        every: Sequence[Any],
        operands: Sequence[Any],
        same: tuple[int, ...],
    ) -> tuple[Function, bool]:
        """Return a function for operands like these, and whether it is for all shapes and dtypes."""
        return self.function(specs, every, operands, same), False

    def refuse_options(self) -> None:
        """Raise NE616 for an option that is not supported for arrays of the library."""
        wrong = (
            "memory_limit" if self.options.memory_limit is not None else "tune" if self.options.tune else ""
        )
        if wrong:
            message = f"{wrong}= is not supported for arrays of {self.library.name}"
            raise error(Diagnostic("NE616", message, self.text, hint="leave it out, or pass NumPy arrays"))

    def function(
        self,
        specs: tuple[OperandSpec, ...],
        every: Sequence[Any],
        operands: Sequence[Any],
        same: tuple[int, ...],
    ) -> Function:
        """Return a function for operands like these, of those that are not bound."""
        compiled = self.compile(specs, same=same)
        constants: dict[str, Any] = {"names": None, "miss": self.origin.slow_call, "explain": self._explain}
        constants |= {"missing": MISSING, "reduce": self.options.reduce, "copied": self.library.copied}
        program, shapes = compiled.program, compiled.shapes
        dtypes = [self._dtype_of(operand) for operand in operands]
        if self.is_bound:
            folded = self.fold(compiled)
            held = self._values(folded, every)
            constants |= {f"a{position}": value for position, value in enumerate(held, len(operands))}
            dtypes += map(self._dtype_of, held)
            program, shapes = folded.rest, shapes_of(folded.rest)
        has_shapes = not self._fits_all_sizes(compiled.program)
        guards = self._guards(operands, specs, constants, has_shapes)
        names = [f"a{n}._data" if names_of(one) is not None else f"a{n}" for n, one in enumerate(operands)]
        guards += [
            f"{names[number]} is {names[first]}" for number, first in enumerate(same) if number != first
        ]
        free = self.free if self.is_bound else range(len(specs))
        sizes = size_statements([specs[position].shape for position in free])
        statements = [*sizes, *self.library.statements(program, shapes, dtypes)]
        return self._generated(compiled, statements, operands, guards, constants)

    def _dtype_of(self, operand: Any) -> str:
        """Return the name of the dtype of an unwrapped operand."""
        return WEAK.get(number_type(operand)) or self.library.dtype_name(array_of(operand).dtype)

    def _guards(
        self,
        operands: Sequence[Any],
        specs: Sequence[OperandSpec],
        constants: dict[str, Any],
        has_shapes: bool,
    ) -> list[str]:
        guards = []
        for number, one in enumerate(operands):
            name, own, suffix = (
                f"a{number}",
                specs[self.free[number] if self.is_bound else number].names,
                str(number),
            )
            if number_type(one) is not None:
                constants[f"d{suffix}"] = type(one)
                guards.append(f"type({name}) is d{suffix}")
                continue
            if own is not None:
                constants |= {f"n{suffix}": own, f"N{suffix}": type(one)}
                guards.append(f"type({name}) is N{suffix} and {name}._names == n{suffix}")
                name = f"{name}._data"
            guards.append(self.library.guard(name, array_of(one), suffix, constants, has_shapes))
        return guards

    def _generated(
        self,
        compiled: Compilation[Any],
        statements: list[Statement],
        operands: Sequence[Any],
        guards: list[str],
        constants: dict[str, Any],
    ) -> Function:
        last = statements[-1]
        assert isinstance(last, Return)
        is_tuple = last.is_tuple or self.options.outputs is not None
        values = tuple([self._result(one, len(operands), constants) for one in last.values])
        statements[-1] = Return(values, is_tuple)
        named = [names_of(one) is not None for one in operands]
        self.wrap_results(compiled, statements, operands, constants, is_tuple=is_tuple)
        code = function_code(named, guards, statements, constants, self.library.resolve)
        exec(code, constants)  # noqa: S102  ours only, as for NumPy
        return self.library.finish(constants["call"], self.text)

    def _result(self, value: Value, count: int, constants: dict[str, Any]) -> Value:
        """Return a result, which is never an operand itself, nor a value that is kept between calls."""
        if not isinstance(value, str):
            return value
        if value in {f"a{position}" for position in range(count)}:
            return self.library.view_of(value)
        return Invocation("copied", (value,), {}) if value in constants else value

    def wrap_results(
        self,
        compiled: Compilation[Any],
        statements: list[Any],
        operands: Sequence[Any],
        constants: dict[str, Any],
        *,
        is_tuple: bool,
    ) -> None:
        """Return results as tensors with names if an operand is one."""
        kinds = [type(one) for one in (*operands, *self.fixed.values()) if names_of(one) is not None]
        if kinds:
            wrap_results(compiled, statements, kinds[0], constants, is_tuple=is_tuple)

    def fold(self, compiled: Compilation[Any]) -> Folded:
        """Return the program split into the part that depends on bound operands alone, and the rest.

        Nothing is computed from those whose gradients are wanted: a graph can be used only once.
        """
        if all(self.library.is_foldable(array_of(one)) for one in self.fixed.values()):
            return super().fold(compiled)
        return unfolded(compiled.program, self.fixed)

    def _values(self, folded: Any, every: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values computed from the bound operands."""
        prelude = folded.prelude
        if prelude is None:
            return ()
        arrays = [array_of(every[position]) for position in self.fixed]
        dtypes = [self._dtype_of(array) for array in arrays]
        statements = self.library.statements(prelude, shapes_of(prelude), dtypes)
        last = statements[-1]
        assert isinstance(last, Return)
        statements[-1] = Return(last.values, is_tuple=True)
        constants: dict[str, Any] = {
            "missing": MISSING,
            "explain": lambda fault, *_: self._reason(fault, every),
        }
        code = function_code([False] * len(arrays), [], statements, constants, self.library.resolve)
        exec(code, constants)  # noqa: S102
        with self.library.now():
            values: tuple[Any, ...] = constants["call"](*arrays)
        return values

    def _explain(self, fault: Exception, *operands: Any) -> Exception:
        return self._reason(fault, self.unwrap(self.merge(operands)))

    def _reason(self, fault: Exception, every: Sequence[Any]) -> Exception:
        """Return the error for an exception of the library; operands of the right ranks may not fit."""
        if isinstance(fault, NameExprError | Warning):
            return fault
        if (unknown := unknown_fault(self.library, self.text, fault)) is not None:
            return unknown
        specs = self.specs(every)
        if is_symbolic([spec.shape for spec in specs]):
            return fault  # of the library while it traces
        try:
            compiled = self.compile(specs)
        except NameExprError as wrong:
            return wrong
        if any(one.primitive == "inside" for one in compiled.program.instructions):
            from nameexpr.runtime.position_faults import first_outside

            with suppress(RuntimeError):  # of arrays without elements
                fault = first_outside(compiled, self._as_numpy(every)) or fault
        if isinstance(fault, PositionError | ReducerFault | ReducerMisuse):
            return run_fault(fault, compiled, self._as_numpy(every))
        moved = self._of_devices(every)
        reason = self.library.fault(fault)
        if moved is not None or reason is None:
            return moved or fault
        message = f"{self.library.name} cannot compute this: {reason}"
        return error(Diagnostic("NE529", message, self.text, operands=self._infos(every)))

    def _as_numpy(self, every: Sequence[Any]) -> list[Any]:
        """Return operands as NumPy arrays, for an error that shows elements."""
        convert = self.library.as_numpy
        return [one if number_type(one) is not None else convert(array_of(one)) for one in every]

    def _infos(self, every: Sequence[Any]) -> tuple[OperandInfo, ...]:
        """Return operands as errors list them."""
        return tuple([
            OperandInfo(number, tuple(getattr(array_of(one), "shape", ())), names_of(one),
                        (str(getattr(array_of(one), "dtype", type(one).__name__)),))
            for number, one in enumerate(every)
        ])  # fmt: skip


def _has_device(operand: Any) -> bool:
    return number_type(operand) is None and hasattr(array_of(operand), "device")
