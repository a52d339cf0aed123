"""One text with its options, and the functions made of it so far: unwrap, run, wrap.

An `Entry` is what the cache holds. Its `call` is the function of the latest operands; when that one's guard
fails, `slow_call` looks for one made earlier, and else compiles. Operands can be bound: what depends on them
alone is computed once for each kind of the others (shapes, dtypes, names) and stands in the generated
function's globals, so that a call costs what a call of an unbound text costs, less the work that was done
before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nameexpr.compiler.ir.axes import CUSTOM
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.errors import NameExprError
from nameexpr.records import record
from nameexpr.runtime import cache
from nameexpr.runtime.cache import MISSING, Generations
from nameexpr.runtime.operands import OperandSpec, array_of, layout_of, names_of, read_only, repeats, spec_of
from nameexpr.runtime.specialise import Function, Template, function_of, run_values, template

if TYPE_CHECKING:
    from nameexpr.compiler.compilation import Compilation
    from nameexpr.compiler.schedule.partial import Folded

Reduce = Callable[[np.ndarray[tuple[Any, ...], np.dtype[Any]], int], Any]
PROGRAMS = 64
"""Shapes, dtypes and names for which one text keeps its functions."""
PRELUDES = 16
"""Preludes whose values one bound text keeps: those of as many kinds of operands, if each needs others."""
Keys = tuple[Any, Any, Sequence[Any]]
"""What functions are kept under, kinds of operands with their ranks or their shapes, and the arrays."""
NOTHING: Mapping[int, Any] = MappingProxyType({})


@record
class CallOptions:
    """What may stand beside a text: sizes of labels, dtype, order of contractions, a reducer or its name, the
    result's order in memory, the bytes that may be allocated, whether to time alternatives, and which
    statements of a formula are wanted.
    """

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
        """The dtype asked for, if one is."""
        return None if self.dtype_name is None else np.dtype(self.dtype_name)

    @property
    def reducer(self) -> str | None:
        """Name of the reducer that stands beside the text: `CUSTOM` for a callable."""
        return CUSTOM if callable(self.reduce) else self.reduce

    @property
    def or_none(self) -> CallOptions | None:
        """The options; None where nothing is asked for."""
        return None if self is DEFAULT or self == DEFAULT else self


DEFAULT = CallOptions()
"""What holds where nothing is said."""


class Latest(NamedTuple):
    """What a function was compiled for: its operands, the ways chosen for them, which are the same array."""

    specs: tuple[OperandSpec, ...]
    ranks: tuple[int, ...] = ()
    same: tuple[int, ...] = ()


class Entry(ABC):
    """A checked text with options, and with operands that are bound to it.

    `call` runs it on the operands that are not bound, in order; `tree` is its syntax, and `structure` what it
    says whatever its labels are called, if that can be told. `fixed` are the bound operands by position,
    `free` the positions of the others, and `is_bound` says that `bind` made the entry. `latest` is what the
    latest function was compiled for.
    """

    __slots__ = (
        "_is_called_by_text",
        "_is_shared",
        "_prepared",
        "call",
        "fixed",
        "free",
        "is_bound",
        "latest",
        "options",
        "programs",
        "structure",
        "text",
        "tree",
    )

    def __init__(
        self, text: str, options: CallOptions, tree: Any, count: int, fixed: Mapping[int, Any] | None
    ) -> None:
        self.text = text
        self.options = options
        self.tree = tree
        self.is_bound = fixed is not None
        self.fixed = dict(sorted(fixed.items())) if fixed else {}
        self.free = tuple([position for position in range(count) if position not in self.fixed])
        self.call: Function = self.slow_call
        self.latest: Latest | None = None
        self.programs: Generations[Any, tuple[Function, Latest]] = Generations(PROGRAMS)
        self.structure: Any = None
        self._is_called_by_text = False
        self._is_shared = not self.is_bound and options.or_none is None
        self._prepared: Generations[Any, tuple[Any, ...]] | None = None

    @abstractmethod
    def bind(self, operands: Mapping[int, Any]) -> Entry:
        """Return the same text with more operands bound, which are unwrapped and ours."""

    @abstractmethod
    def unwrap(self, operands: Sequence[Any]) -> list[Any]:
        """Return all operands, in order, as arrays, NamedTensors and numbers."""

    @abstractmethod
    def compile(
        self, specs: Sequence[OperandSpec], ranks: tuple[int, ...] = (), same: tuple[int, ...] = ()
    ) -> Compilation[Any]:
        """Return the text compiled for operands like these."""

    def merge(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return all operands in the order of the text, given those that are not bound."""
        if not self.is_bound:
            return operands
        merged = self.fixed | dict(zip(self.free, operands, strict=True))
        return [merged[position] for position in range(len(merged))]

    def slow_call(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        given = [value for value in values if value is not MISSING]
        every = operands = self.unwrap(self.merge(given) if self.is_bound else given)
        if self.is_bound:
            operands = [every[position] for position in self.free]
        keys = _keys_of(operands)
        same = () if self.is_bound else repeats(keys[2])
        found = None if self.latest is None else self._found(keys, same)
        function, self.latest = found or self._made(keys, same, every, operands)
        self.call = function if self.free else self._without_operands(function)
        if self._is_called_by_text:
            cache.remember(self.text, function)
        return function(*operands)

    def _found(self, keys: Keys, same: tuple[int, ...]) -> tuple[Function, Latest] | None:
        """Return the function that was made for operands of this kind, if one was.

        What is for all sizes has nothing to share; what is for different arrays is right for equal ones.
        """
        get = self.programs.get
        return get(keys[0]) or (None if same else get(keys[1])) or get(_layouts(keys, same))

    def _without_operands(self, function: Function) -> Function:
        """Return a function of no operands, which may be called with one that is missing."""

        def call(*values: Any) -> Any:
            return self.slow_call(*values) if any(value is not MISSING for value in values) else function()

        return call

    def _made(
        self, keys: Keys, same: tuple[int, ...], every: Sequence[Any], operands: Sequence[Any]
    ) -> tuple[Function, Latest]:
        """Return a new function for operands of this kind, noted in `programs`."""
        latest, layouts = Latest(tuple(map(spec_of, every)), (), same), _layouts(keys, same)
        is_shared = self._is_shared and self.structure is not None
        key = (self.structure, layouts)
        made: Template | None = cache.templates.get(key) if is_shared else None
        if made is None:
            if self.options.tune and not callable(self.options.reduce):
                latest = latest._replace(ranks=self._best_ranks(latest, every, operands))
            made = self._template(self.compile(*latest), every)
            if is_shared and made.constants["names"] is None:
                cache.templates.put(key, made)
        found = function_of(made, self.slow_call, self._explain), latest
        if not made.same:
            self.programs.put({"ranks": keys[0], "shapes": keys[1], "layouts": layouts}[made.key], found)
        if same and made.key != "ranks":
            self.programs.put(layouts, found)
        return found

    def _best_ranks(self, latest: Latest, every: Sequence[Any], operands: Sequence[Any]) -> tuple[int, ...]:
        from nameexpr.runtime.tuning import autotune

        def make(ranks: tuple[int, ...]) -> tuple[Callable[[], Any], Sequence[int]]:
            compiled = self.compile(latest.specs, ranks, latest.same)
            function = function_of(self._template(compiled, every), self.slow_call, self._explain)
            return lambda: function(*operands), compiled.program.offers

        return autotune(make)

    def _template(self, compiled: Compilation[Any], every: Sequence[Any]) -> Template:
        """Return the code of a compiled text; what depends on bound operands alone is computed here."""
        options = self.options
        held: tuple[Any, ...] = ()
        program, shapes, operands = compiled.program, compiled.shapes, every
        if self.is_bound:
            folded = self.fold(compiled)
            held = self._values(folded, every)
            program, shapes = folded.rest, shapes_of(folded.rest)
            operands = [every[position] for position in self.free]
        is_for_all_sizes = compiled.fits_all_sizes and not options.sizes and options.memory_limit is None
        return template(
            program,
            shapes,
            operands,
            compiled.names if any(names_of(operand) is not None for operand in every) else None,
            is_tuple=options.outputs is not None,
            reduce=options.reduce if callable(options.reduce) else None,
            held=held,
            same=compiled.same,
            has_shapes=not is_for_all_sizes,
        )

    def fold(self, compiled: Compilation[Any]) -> Folded:
        """Return the program split into what depends on bound operands alone, and what is done on each
        call.
        """
        from nameexpr.compiler.schedule.partial import fold

        return fold(compiled.program, compiled.shapes, self.fixed, self.options.memory_limit)

    def _values(self, folded: Folded, every: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values that the bound operands give: computed once for all kinds of the others that want
        the same ones.
        """
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
        """Return the error for what NumPy raised for operands of the right kinds."""
        return self._reason(fault, self.unwrap(self.merge(operands)))

    def _reason(self, fault: Exception, every: Sequence[Any]) -> Exception:
        """Return the error for what NumPy raised: operands of the right ranks may have sizes that do not
        fit.
        """
        if isinstance(fault, NameExprError | Warning | FloatingPointError):
            return fault  # warnings and floating-point errors are raised where the caller has asked for it
        try:
            compiled = self.compile([spec_of(operand)._replace(layout=None) for operand in every])
        except NameExprError as wrong:
            return wrong
        from nameexpr.runtime.faults import run_fault

        return run_fault(fault, compiled, every)


def _keys_of(operands: Sequence[Any]) -> Keys:
    if [type(operand) for operand in operands] == [np.ndarray] * len(operands):
        kinds: Any = tuple([array.dtype for array in operands])
        ranks, shapes = tuple([array.ndim for array in operands]), tuple([array.shape for array in operands])
        return (kinds, ranks), (kinds, shapes), operands
    arrays = [array_of(operand) for operand in operands]
    kinds = tuple([(getattr(one, "dtype", type(one)), names_of(one)) for one in operands])
    ranks, shapes = tuple([np.ndim(array) for array in arrays]), tuple([np.shape(array) for array in arrays])
    return (kinds, ranks), (kinds, shapes), arrays


def _layouts(keys: Keys, same: tuple[int, ...]) -> Any:
    """Return the key of operands with their strides, and which of them are the same array."""
    strides = tuple([layout_of(one) if isinstance(one, np.ndarray) else None for one in keys[2]])
    return (*keys[1], strides, same)
