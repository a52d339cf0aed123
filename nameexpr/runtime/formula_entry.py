"""One formula with its options, and the functions made of it so far: unwrap, run, wrap.

A function is made for operands of given shapes, dtypes and names, as for expressions; it takes the operands
in the order of `scope.operands`. Numbers of Python are given to NumPy as they are, so that they stay weak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS, number_name
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.pipeline import Compilation, compile_formula, read_formula
from nameexpr.compiler.pipeline import Options as CompilerOptions
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.evaluate import merged
from nameexpr.runtime.faults.formula import (
    check_memory,
    check_numbers,
    formula_operand,
    formula_outputs,
    formula_sizes,
    run_fault,
)
from nameexpr.runtime.layouts import layout_of
from nameexpr.runtime.options import check_limit, check_optimize
from nameexpr.runtime.promotion import NumPyArithmetic
from nameexpr.runtime.specialise import Function, function_of, template
from nameexpr.tensors import NamedTensor, wrap

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
PROGRAMS = 64
"""Shapes, dtypes and names for which one formula keeps its functions."""


@dataclass(frozen=True, slots=True)
class FormulaOptions:
    """What may stand beside a formula."""

    outputs: tuple[str, ...] | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    optimize: Any = None
    memory_limit: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there are none."""
        return self == FormulaOptions()


def read_formula_options(
    text: str,
    outputs: Sequence[str] | None,
    sizes: Mapping[str, int] | None,
    optimize: Any,
    memory_limit: int | None,
) -> FormulaOptions:
    """Return the options of a call, checked.

    Raises
    ------
    OptionError
        NE620 and NE621 for outputs and memory_limit of a wrong kind; as for `einsum` otherwise.
    """
    limit = check_limit(memory_limit, text)
    pairs = formula_sizes(text, sizes)
    return FormulaOptions(formula_outputs(text, outputs), pairs, check_optimize(optimize), limit)


class FormulaEntry:
    """A checked formula with options; `call` takes the operands in order, `call_named` by name."""

    __slots__ = (
        "_arithmetic",
        "_count",
        "_in_order",
        "call",
        "latest",
        "options",
        "programs",
        "scope",
        "text",
    )

    def __init__(self, text: str, options: FormulaOptions) -> None:
        self.text = text
        self.options = options
        self.scope = read_formula(text, options.outputs)
        self.programs: Generations[Any, Function] = Generations(PROGRAMS)
        self.call: Function = self.miss
        self.latest: tuple[Any, ...] | None = None
        self._arithmetic = NumPyArithmetic()
        self._count = len(self.scope.operands)
        self._in_order = in_order(self.scope.operands)

    def call_named(self, given: Mapping[str, Any]) -> Any:
        """Run the formula on operands by name."""
        if len(given) != self._count:
            self.refuse(given)
        try:
            values = self._in_order(given)
        except KeyError:
            values = self._respelt(given)
        return self.call(*values)

    def _respelt(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of operands given in other spellings of their names, or raise what is missing."""
        try:
            return self._in_order(merged(self.text, None, given))
        except KeyError:
            self.refuse(given)

    def refuse(self, given: Mapping[str, Any]) -> NoReturn:
        """Raise what is missing or too much: the checker knows how to say it."""
        given = merged(self.text, None, given)
        operands = {name: Operand(np.shape(getattr(value, "_data", ()))) for name, value in given.items()}
        dtypes = dict.fromkeys(operands, "float64")
        layouts = [None] * len(self.scope.operands)
        compile_formula(self.scope, operands, dtypes, layouts, self._arithmetic, {}, CompilerOptions(TARGET))
        raise AssertionError("operands that do not fit were taken")

    def miss(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        operands = [self.unwrapped(v, name) for v, name in zip(values, self.scope.operands, strict=True)]
        key = tuple(_kind(operand) for operand in operands)
        self.latest = self.describe(operands)
        layout = tuple(self.latest[2])
        function = self.programs.get((key, None)) or self.programs.get((key, layout))
        if function is None:
            compiled, function = self._make(operands)
            self.programs.put((key, layout if compiled.program.depends_on_layout else None), function)
        self.call = function
        return function(*operands)

    def unwrapped(self, value: Any, name: str) -> Any:
        """Return an operand as an array, a NamedTensor or a number (NE503, NE525)."""
        if isinstance(value, NamedTensor):
            check_numbers(value.dtype, name, self.scope)
            return value if type(value) is NamedTensor else wrap(value.data, value.names)
        if type(value) in NUMBERS:
            return value
        return formula_operand(value, name, self.scope)

    def describe(self, operands: Sequence[Any]) -> tuple[dict[str, Operand], dict[str, str], list[Any]]:
        """Return shapes and names, dtypes, and strides of unwrapped operands."""
        shapes, dtypes, strides = {}, {}, []
        for name, operand in zip(self.scope.operands, operands, strict=True):
            shapes[name], dtypes[name], layout = described(operand)
            strides.append(layout)
        return shapes, dtypes, strides

    def compile(
        self, shapes: Mapping[str, Operand], dtypes: Mapping[str, str], strides: Sequence[Any]
    ) -> Compilation[Scope]:
        """Return the formula compiled for operands like these."""
        options = self.options
        sizes = dict(options.sizes)
        compiled = compile_formula(
            self.scope,
            shapes,
            dtypes,
            strides,
            self._arithmetic,
            sizes,
            CompilerOptions(TARGET, options.optimize),
            options.outputs,
        )
        check_memory(compiled, options.memory_limit)
        if options.memory_limit is None:
            return compiled
        return replace(compiled, program=replace(compiled.program, depends_on_layout=True, is_limited=True))

    def _make(self, operands: Sequence[Any]) -> tuple[Compilation[Scope], Function]:
        compiled = self.compile(*self.describe(operands))
        is_named = any(isinstance(operand, NamedTensor) for operand in operands)
        made = template(
            compiled.program,
            compiled.shapes,
            operands,
            compiled.names if is_named else None,
            is_tuple=self.options.outputs is not None,
        )

        def explain(fault: Exception, *values: Any) -> Exception:
            return run_fault(fault, compiled, values)

        return compiled, function_of(made, self.miss, explain)


def in_order(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function that takes the values of these names out of a mapping, as quickly as Python can."""
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda given: ()
    name = names[0]
    return lambda given: (given[name],)


def described(operand: Any) -> tuple[Operand, str, Any]:
    """Return shape and names, dtype, and strides of one unwrapped operand."""
    if type(operand) in NUMBERS:
        return Operand(()), f"weak:{type(operand).__name__}", None
    array = _array(operand)
    names = operand._names if isinstance(operand, NamedTensor) else None
    return Operand(array.shape, names), number_name(array.dtype), layout_of(array)


def _array(operand: Any) -> Any:
    return operand._data if isinstance(operand, NamedTensor) else operand


def _kind(operand: Any) -> Any:
    if type(operand) in NUMBERS:
        return type(operand)
    return operand.shape, operand.dtype, operand._names if isinstance(operand, NamedTensor) else None
