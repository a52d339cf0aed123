"""`CompiledFormula.bind`: a formula some of whose operands stay the same, as
`nameexpr.runtime.bound.expression` has it for expressions.

>>> import numpy as np, nameexpr as ne
>>> layer = ne.compile("y[N K] = sum[C](x[N C] * w[C K]) + b[K]").bind(w=np.ones((3, 4)), b=np.zeros(4))
>>> layer(x=np.ones((2, 3))).shape
(2, 4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from nameexpr.backends.numpy.arrays import NUMBERS
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.analysis.views import read_views
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.pipeline import Compilation as Stages
from nameexpr.compiler.schedule.partial import Folded, fold
from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.runtime.bound.plan import plan_of_formula
from nameexpr.runtime.bound.values import Prepared, array_of, hold, owned, raise_contradictions, sealed
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.compiled_formula import CompiledFormula, FormulaSignature
from nameexpr.runtime.evaluate import by_position, merged
from nameexpr.runtime.faults.formula import run_fault
from nameexpr.runtime.formula_entry import (
    PROGRAMS,
    FormulaEntry,
    FormulaOptions,
    described,
    in_order,
)
from nameexpr.runtime.out import into
from nameexpr.runtime.plan.expression import Plan
from nameexpr.runtime.specialise import Function, function_of, template
from nameexpr.tensors import NamedTensor

Described = tuple[dict[str, Operand], dict[str, str], list[Any]]


class BoundFormulaEntry:
    """A checked formula with some of its operands, and the functions made for the others so far.

    `fixed` are the bound operands by name, `free` the names of the others, in the formula's order.
    """

    __slots__ = ("_in_order", "_prepared", "_programs", "call", "entry", "fixed", "free", "latest")

    def __init__(self, entry: FormulaEntry, fixed: Mapping[str, Any]) -> None:
        names = entry.scope.operands
        self.entry = entry
        self.fixed = {name: fixed[name] for name in names if name in fixed}
        self.free = tuple(name for name in names if name not in fixed)
        self.call: Function = self.miss
        self.latest: Described | None = None
        self._in_order = in_order(self.free)
        self._prepared = Prepared()
        self._programs: Generations[Any, Function] = Generations(PROGRAMS)

    @property
    def places(self) -> list[int]:
        """The positions of the bound operands among all."""
        return [self.entry.scope.operands.index(name) for name in self.fixed]

    def call_named(self, given: Mapping[str, Any]) -> Any:
        """Run the formula on the operands that are not bound, by name."""
        if len(given) != len(self.free):
            self._refuse(given)
        try:
            values = self._in_order(given)
        except KeyError:
            values = self._respelt(given)
        return self.call(*values)

    def _respelt(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of operands given in other spellings of their names, or raise what is missing."""
        try:
            return self._in_order(merged(self.entry.text, None, given))
        except KeyError:
            self._refuse(given)

    def _refuse(self, given: Mapping[str, Any]) -> NoReturn:
        """Raise what is missing or too much."""
        given = merged(self.entry.text, None, given)
        self.check_unbound(given)
        self.entry.refuse({**self.fixed, **given})

    def check_unbound(self, given: Mapping[str, Any]) -> None:
        """Raise NE624 for an operand that is bound already."""
        for name in given:
            if name in self.fixed:
                hint = "leave it out, or bind another one to the formula as it was compiled"
                raise error(Diagnostic("NE624", f"the operand '{name}' is bound", self.entry.text, hint=hint))

    def miss(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        operands = [self.entry.unwrapped(value, name) for value, name in zip(values, self.free, strict=True)]
        kinds = tuple(map(_kind, operands))
        layout = tuple(described(operand)[2] for operand in operands)
        found = self._programs.get((kinds, None)) or self._programs.get((kinds, layout))
        every = self._every(operands)
        self.latest = self.entry.describe(every)
        if found is None:
            depends, found = self._make(every)
            self._programs.put((kinds, layout if depends else None), found)
        self.call = found
        return found(*operands)

    def _every(self, operands: Sequence[Any]) -> list[Any]:
        """Return all operands in the formula's order."""
        given = {**self.fixed, **dict(zip(self.free, operands, strict=True))}
        return [given[name] for name in self.entry.scope.operands]

    def compile(self, *operands: Any) -> tuple[Stages[Scope], Folded]:
        """Return the formula compiled for all operands, given as shapes, dtypes and strides, and split."""
        stages = self.entry.compile(*operands)
        return stages, fold(stages.program, stages.shapes, self.places, self.entry.options.memory_limit)

    def _make(self, every: Sequence[Any]) -> tuple[bool, Function]:
        stages, folded = self.compile(*self.entry.describe(every))
        arrays = [array_of(every[place]) for place in self.places]
        values = self._prepared.values(folded.prelude, arrays, lambda fault: run_fault(fault, stages, every))

        def explain(fault: Exception, *operands: Any) -> Exception:
            return run_fault(fault, stages, self._every(operands))

        places = self.places
        free = [one for place, one in enumerate(every) if place not in places]
        made = template(
            folded.rest,
            shapes_of(folded.rest),
            free,
            stages.names if any(isinstance(one, NamedTensor) for one in every) else None,
            is_tuple=self.entry.options.outputs is not None,
        )
        function = hold(function_of(made, self.miss, explain), len(free), values)
        return stages.program.depends_on_layout, function


def _kind(operand: Any) -> Any:
    if type(operand) in NUMBERS:
        return type(operand)
    return operand.shape, operand.dtype, operand._names if isinstance(operand, NamedTensor) else None


class BoundFormula:
    """A formula with some of its operands. Made by `CompiledFormula.bind`; called with the others by name.

    Bound operands are taken by value: writing to them later changes nothing. Pickles with them.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> scores = ne.compile("s[N K] = sum[C](x[N C] * exp(w[C K]))").bind(w=np.zeros((3, 4)))
    >>> scores(x=np.ones((2, 3))).shape
    (2, 4)
    >>> scores.signature.inputs
    ('x[N C]',)
    """

    __slots__ = ("_entry", "signature")

    def __init__(self, entry: BoundFormulaEntry) -> None:
        self._entry = entry
        signature: FormulaSignature = CompiledFormula(entry.entry).signature
        names = entry.entry.scope.operands
        inputs = zip(names, signature.inputs, strict=True)
        self.signature = replace(signature, inputs=tuple(one for name, one in inputs if name in entry.free))

    @property
    def text(self) -> str:
        """The text as it was given."""
        return self._entry.entry.text

    def __call__(
        self, *misplaced: Any, out: Any = None, operands: Mapping[str, Any] | None = None, **named: Any
    ) -> Any:
        """Return the value for the operands that are not bound.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula, or one is bound (NE624).
        """
        if misplaced:
            raise by_position(self.text, misplaced)
        result = self._entry.call_named(named if operands is None else merged(self.text, operands, named))
        if out is None:
            return result
        if isinstance(result, tuple):
            hint = "leave out= away, or compile without outputs="
            message = "out= is for one result, and there are several"
            raise error(Diagnostic("NE611", message, self.text, hint=hint))
        return into(out, result, self.text)

    def bind(self, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any) -> BoundFormula:
        """Return the formula with more operands bound (NE624 for one that is none, or bound already)."""
        if misplaced:
            raise by_position(self.text, misplaced)
        given = merged(self.text, operands, named)
        self._entry.check_unbound(given)
        return bound_formula(self._entry.entry, self._entry.fixed, given)

    def plan(self, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any) -> Plan:
        """Return what would be done on each call for operands like these: arrays, numbers, or shapes.

        Flops and steps are those of a call; the memory of operands has what was computed once.
        """
        if misplaced:
            raise by_position(self.text, misplaced)
        given = merged(self.text, operands, named)
        self._entry.check_unbound(given)
        entry = self._entry
        every = CompiledFormula(entry.entry)._described({**entry.fixed, **given})
        limit = entry.entry.options.memory_limit
        return plan_of_formula(entry.compile(*every), *every[:2], entry.free, limit)

    @property
    def code(self) -> str:
        """The NumPy of a call, and of what is bound, to paste: for the operands of the latest call.

        Raises
        ------
        OptionError
            NE622, if it was not called yet.
        """
        if self._entry.latest is None:
            hint = "call it first, or take .plan(x=(2, 3)).code with the shapes of its operands"
            message = "there is no code before the sizes are known"
            raise error(Diagnostic("NE622", message, self.text, hint=hint))
        latest = self._entry.latest
        return plan_of_formula(self._entry.compile(*latest), *latest[:2], self._entry.free).code

    def __repr__(self) -> str:
        """Return the text, and which operands are bound."""
        return f"<{self.text!r} with {', '.join(self._entry.fixed) or 'nothing'} bound>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, options and bound operands."""
        return _restored, (self.text, self._entry.entry.options, self._entry.fixed)


def bound_formula(entry: FormulaEntry, fixed: Mapping[str, Any], given: Mapping[str, Any]) -> BoundFormula:
    """Return a formula with the operands in `fixed` and more.

    Raises
    ------
    OptionError
        NE624, for names that no operand has.
    NameExprError
        If the operands cannot fit, whatever the others are.
    """
    names = entry.scope.operands
    for name in given:
        if name not in names:
            listed = f"the operands are {', '.join(names)}" if names else "it has no operands"
            hint = did_you_mean(name, names) or listed
            message = f"bind: the formula has no operand '{name}'"
            raise error(Diagnostic("NE624", message, entry.text, hint=hint))
    values = {name: owned(entry.unwrapped(value, name)) for name, value in given.items()}
    made = BoundFormulaEntry(entry, {**fixed, **values})
    _check_fits(made)
    return BoundFormula(made)


def _check_fits(made: BoundFormulaEntry) -> None:
    """Raise what contradicts the formula whatever the operands that are not bound yet are."""
    scope = made.entry.scope
    operands = {name: described(value)[0] for name, value in made.fixed.items()}
    try:
        part = Scope(scope.tree, {name: scope.uses[name] for name in operands})
        read_views(part, operands, dict(made.entry.options.sizes))
    except NameExprError as fault:
        raise_contradictions(fault)


def _restored(text: str, options: FormulaOptions, fixed: Mapping[str, Any]) -> BoundFormula:
    entry = FormulaEntry(text, options)
    return BoundFormula(BoundFormulaEntry(entry, {name: sealed(value) for name, value in fixed.items()}))
