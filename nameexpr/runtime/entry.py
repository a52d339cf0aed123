"""A text with its options, and the functions created for it so far: unwrap, run, wrap.

An `Entry` is an item of the cache. Its `call` is the function of the latest operands; when the guard of that
function fails, `slow_call` looks for one created earlier, or else compiles. Operands can be bound: values
that depend on them alone are computed once for each kind of the others (shapes, dtypes, names) and stored in
the generated function's globals, so that a call costs as much as a call of an unbound text, minus the work
that was done before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.target import current_target
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.errors import NameExprError
from nameexpr.runtime import cache
from nameexpr.runtime.cache import MISSING, Generations
from nameexpr.runtime.operands import BARE, Kinds, OperandSpec, array_of, kinds_of, read_only, specs_of
from nameexpr.runtime.specialise import Function, Template, function_of, run_values, template
from nameexpr.syntax.ast import Expression

if TYPE_CHECKING:
    from nameexpr.compiler.compilation import Compilation
    from nameexpr.compiler.ir.program import Program
    from nameexpr.compiler.schedule.partial import Folded

Reduce = Callable[[np.ndarray[tuple[Any, ...], np.dtype[Any]], int], Any]
PROGRAMS = 64
"""The number of combinations of shapes, dtypes and names for which one text keeps its functions."""
PRELUDES = 16
"""The number of preludes whose values one bound text keeps, one for each kind of operands."""


class CallOptions(NamedTuple):
    """The options of a text, as documented in `einsum` and `evaluate`."""

    sizes: tuple[tuple[str, int], ...] = ()
    dtype_name: str | None = None  # not a dtype: np.dtype("float64") == None
    optimize: Any = None
    reduce: str | Reduce | None = None
    order: str | None = None
    memory_limit: int | None = None
    tune: bool = False
    outputs: tuple[str, ...] | None = None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The requested dtype, if any."""
        return None if self.dtype_name is None else np.dtype(self.dtype_name)

    @property
    def or_none(self) -> CallOptions | None:
        """The options; None if all are defaults."""
        return None if self is DEFAULT or self == DEFAULT else self


DEFAULT = CallOptions()
"""The default options."""


class Latest(NamedTuple):
    """The specialisation of a function: operands, strategies, and which operands are the same array."""

    specs: tuple[OperandSpec, ...]
    ranks: tuple[int, ...] = ()
    same: tuple[int, ...] = ()


class Entry(ABC):
    """A checked text with options, and with operands that are bound to it.

    `call` runs it on the unbound operands, in order; `tree` is its syntax, `structure` its meaning apart from
    the names of labels, if it has one. `fixed` are the bound operands by position, with `coordinates`, `free`
    the positions of others; `is_bound` means that `bind` created it. `latest` is the specialisation of the
    latest function, `others` the entries for other libraries, `current` the one of them called last, if any.
    """

    __slots__ = (
        "__weakref__",
        "_is_shared",
        "_prepared",
        "call",
        "coordinates",
        "current",
        "dtype",
        "fixed",
        "free",
        "is_bound",
        "latest",
        "options",
        "others",
        "programs",
        "structure",
        "text",
        "tree",
    )

    is_called_by_text = False
    target = current_target()
    threads = 1  # set for all entries by `set_threads`

    def __init__(
        self,
        text: str,
        options: CallOptions,
        tree: Any,
        count: int,
        fixed: Mapping[int, Any] | None,
        structure: Any,
    ) -> None:
        self.text = text
        self.options = options
        self.dtype = options.dtype
        self.tree = tree
        self.structure = structure
        self.is_bound = fixed is not None
        self.fixed = dict(sorted(fixed.items())) if fixed else {}
        self.free = tuple([position for position in range(count) if position not in self.fixed])
        self.call: Function = self.slow_call
        self.coordinates: tuple[Any, ...] = ()
        self.latest: Latest | None = None
        self.others: dict[str, Any] = {}
        self.current: Any = None
        self._is_shared = not self.is_bound and options.or_none is None
        self._prepared: Generations[Any, tuple[Any, ...]] | None = None
        self.programs: Generations[Any, tuple[Function, Latest]] = Generations(PROGRAMS)

    @abstractmethod
    def unwrap(self, operands: Sequence[Any]) -> list[Any]:
        """Return all operands, in order, as arrays, NamedTensors and numbers."""

    @abstractmethod
    def compile(
        self, specs: Sequence[OperandSpec], ranks: tuple[int, ...] = (), same: tuple[int, ...] = ()
    ) -> Compilation[Any]:
        """Return the text compiled for operands like these."""

    def merge(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return all operands in the order of the text, given the unbound ones."""
        merged = self.fixed | dict(zip(self.free, operands, strict=True)) if self.is_bound else {}
        return [merged[position] for position in range(len(merged))] if self.is_bound else operands

    def slow_call(self, *values: Any) -> Any:
        """Run operands that the latest function does not apply to.

        Functions for all sizes share nothing; one for different arrays is also correct for equal ones.
        """
        given = [value for value in values if value is not MISSING]
        present = (*given, *self.fixed.values())
        carried: Any = self.coordinates or not BARE.issuperset(map(type, present))
        if carried:  # most operands are arrays
            from nameexpr.backends.dispatch import has_foreign

            if has_foreign(present) or any(hasattr(type(one), "_unrecorded") for one in given):
                return import_module("nameexpr.runtime.libraries").call(self, given)  # it imports this one
            from nameexpr.runtime import coordinates as carrying

            given = list(map(carrying.understood, given))
            carried = carrying.coordinates_of(self.tree, given, self.coordinates)
        every = operands = self.unwrap(self.merge(given) if self.is_bound else given)
        if self.is_bound:
            operands = [every[position] for position in self.free]
        found, get = None, self.programs.get
        kinds = ranks, shapes, same = kinds_of(operands, is_bound=self.is_bound)
        if self.latest is not None:
            found = get(ranks) or (None if same else get(shapes))
        if found is None:
            specs = specs_of(operands)
            found = (self.latest and get((specs, same))) or self._made(kinds, specs, every, operands)
        (function, self.latest), self.current = found, None
        if self.coordinates:  # which functions do not handle
            return carrying.carried(function(*operands), carried)
        self.call = function if self.free else self._without_operands(function)
        if self.is_called_by_text and self._is_shared:
            cache.remember(self.text, function)
        return carrying.carried(function(*operands), carried) if carried else function(*operands)

    def _without_operands(self, function: Function) -> Function:
        def call(*values: Any) -> Any:
            return self.slow_call(*values) if any(value is not MISSING for value in values) else function()

        return call

    def _made(
        self, kinds: Kinds, specs: tuple[OperandSpec, ...], every: Sequence[Any], operands: Sequence[Any]
    ) -> tuple[Function, Latest]:
        """Return a new function for operands of this kind, and record it in `programs`."""
        ranks, shapes, same = kinds
        layouts = (specs, same)
        latest = Latest(specs_of(every) if self.is_bound else specs, (), same)
        key = (self.structure, layouts) if self._is_shared and self.structure is not None else None
        shared: Template | None = None if key is None else cache.templates.get(key)
        if shared is None and self.options.tune and not callable(self.options.reduce):
            tuning = import_module("nameexpr.runtime.tuning")
            latest = latest._replace(ranks=tuning.best_ranks(self, latest, every, operands))
        made = shared or self.template(self.compile(*latest), latest.specs, every)
        found = function_of(made.code, made.constants, self.slow_call, self._explain), latest
        cache.compiled.add(self)
        if shared is None and key is not None and made.constants["names"] is None:
            cache.templates.put(key, made)
        if not made.same:
            keys = {"ranks": ranks, "shapes": shapes, "layouts": layouts}
            self.programs.put(keys[made.key], found)
        if same and made.key != "ranks":
            self.programs.put(layouts, found)
        return found

    def template(
        self, compiled: Compilation[Any], specs: Sequence[OperandSpec], every: Sequence[Any]
    ) -> Template:
        """Return the code of a compiled text, with the values that depend on no operand but bound ones."""
        options = self.options
        held: tuple[Any, ...] = ()
        spread: Mapping[int, Any] = {}
        program, shapes, taken = compiled.program, compiled.shapes, specs
        if self.is_bound:
            folded = self.fold(compiled)
            held = self._values(folded, every)
            program, shapes = folded.rest, shapes_of(folded.rest)
            taken = [specs[position] for position in self.free]
        elif options.memory_limit is None and "arange" in [one.primitive for one in program.instructions]:
            constants = import_module("nameexpr.runtime.constants")
            program, shapes, held = constants.without_constants(program, shapes, self.target)
        if self.threads > 1:
            sharing = import_module("nameexpr.runtime.sharing")
            given = [compiled.given[position] for position in self.free], held, self.threads
            program, spread = sharing.shared_steps(program, shapes, *given, options.memory_limit)
        return template(
            program,
            shapes,
            taken,
            compiled.names if any(spec.names is not None for spec in specs) else None,
            is_tuple=options.outputs is not None,
            reduce=options.reduce if callable(options.reduce) else None,
            held=held,
            same=compiled.same,
            has_shapes=not self._fits_all_sizes(compiled.program),
            spread=spread,
        )

    def _fits_all_sizes(self, program: Program) -> bool:
        """Return whether a program is valid for all shapes of the same ranks, and would be chosen for them.

        NumPy then detects sizes that do not match, as only a matrix product does: broadcasting accepts 1.
        """
        count = len(program.operands)
        return (
            isinstance(self.tree, Expression)
            and self.structure is not None
            and len(self.tree.inputs) <= 2  # noqa: PLR2004  of more, sizes tell the order
            and not self.options.sizes
            and self.options.memory_limit is None
            and {one.primitive for one in program.instructions} <= {"transpose", "dot"}
            and all(len({source < count for source in one.sources}) == 1 for one in program.instructions)
        )

    def fold(self, compiled: Compilation[Any]) -> Folded:
        """Return the program split into the part that depends on bound operands alone, and the rest."""
        from nameexpr.compiler.schedule.partial import fold

        return fold(compiled.program, compiled.shapes, self.fixed, self.target, self.options.memory_limit)

    def _values(self, folded: Folded, every: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values computed from the bound operands, shared by functions with the same ones."""
        prelude = folded.prelude
        if prelude is None:
            return ()
        arrays = [array_of(every[position]) for position in self.fixed]
        kinds = tuple(getattr(array, "dtype", type(array)) for array in arrays)
        key = (prelude.operands, prelude.instructions, prelude.results, kinds)
        if self._prepared is None:
            self._prepared = Generations(PRELUDES)

        def compute() -> tuple[Any, ...]:
            values = run_values(prelude, shapes_of(prelude), arrays, lambda fault: self._reason(fault, every))
            return tuple(map(read_only, values))

        return self._prepared.get_or_make(key, compute)

    def _explain(self, fault: Exception, *operands: Any) -> Exception:
        return self._reason(fault, self.unwrap(self.merge(operands)))

    def _reason(self, fault: Exception, every: Sequence[Any]) -> Exception:
        if isinstance(fault, NameExprError | Warning | FloatingPointError):
            return fault  # warnings and floating-point errors that the caller has enabled
        try:
            compiled = self.compile([spec._replace(layout=None) for spec in specs_of(every)])
        except NameExprError as wrong:
            return wrong
        from nameexpr.runtime.faults import run_fault

        return run_fault(fault, compiled, every)
