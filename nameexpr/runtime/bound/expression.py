"""`Compiled.bind`: an expression some of whose operands stay the same.

The program is split by `nameexpr.compiler.schedule.partial`: what depends on the bound operands alone is
computed once for each kind of the others (shapes, dtypes, names) and stands in the generated function's
globals, so that a call costs what a call of an unbound expression costs, less the work that was done before.

>>> import numpy as np, nameexpr as ne
>>> layer = ne.compile("batch in, in out -> batch out").bind({1: np.ones((3, 4))})
>>> layer(np.ones((2, 3))).shape
(2, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.pipeline import Compilation as Stages
from nameexpr.compiler.planning.bound import order_for_calls
from nameexpr.compiler.schedule.partial import Folded, fold
from nameexpr.errors import Diagnostic, Mark, NameExprError, error
from nameexpr.runtime.bound.plan import plan_of_rest
from nameexpr.runtime.bound.values import (
    Prepared,
    array_of,
    check_fits,
    hold,
    read_operand,
    read_positions,
    sealed,
    shape_of,
)
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.entry import PROGRAMS, Described, Entry, unwrap
from nameexpr.runtime.fast_path import MISSING
from nameexpr.runtime.faults.call import run_fault
from nameexpr.runtime.layouts import layout_of
from nameexpr.runtime.options import Options
from nameexpr.runtime.out import into
from nameexpr.runtime.plan.expression import Plan
from nameexpr.runtime.specialise import Function, function_of, template
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.unparse import unparse_term
from nameexpr.tensors import NamedTensor


class BoundEntry:
    """A checked text with some of its operands, and the functions made for the others so far.

    `fixed` are the bound operands by position, `free` the positions of the others.
    """

    __slots__ = ("_prepared", "_programs", "call", "entry", "fixed", "free", "latest")

    def __init__(self, entry: Entry, fixed: Mapping[int, Any]) -> None:
        self.entry = entry
        self.fixed = dict(sorted(fixed.items()))
        self.free = tuple(place for place in range(len(entry.tree.inputs)) if place not in fixed)
        self.call: Function = self.miss
        self.latest: Described | None = None
        self._prepared = Prepared()
        self._programs: Generations[Any, Function] = Generations(PROGRAMS)

    def merged(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return all operands in the order of the text (NE501 and NE502 for too few and too many)."""
        if len(values) != len(self.free):
            raise self._miscounted(len(values))
        operands = self.fixed | dict(zip(self.free, values, strict=True))
        return tuple(operands[place] for place in range(len(operands)))

    def _miscounted(self, count: int) -> NameExprError:
        terms = self.entry.tree.inputs
        left = len(self.free)
        wants = f"{left or 'no'} {'operand' if left == 1 else 'operands'} beside the bound ones"
        got = f"{count or 'no'} {'operands were' if count > 1 else 'operand was'} given"
        listed = " and ".join(f"'{unparse_term(terms[place])}'" for place in self.free)
        hint = f"give one array for {listed}" if left else "call it without operands"
        marks = tuple(Mark(terms[place].span) for place in self.free)
        code = "NE501" if count < left else "NE502"
        return error(
            Diagnostic(code, f"the text takes {wants}, but {got}", self.entry.text, marks, hint=hint)
        )

    def miss(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        given = tuple(value for value in values if value is not MISSING)
        every = unwrap(self.merged(given), self.entry.text, self.entry.options.dtype)
        operands = [every[place] for place in self.free]
        kinds = tuple((one.dtype, one.names if isinstance(one, NamedTensor) else None) for one in operands)
        ranks = (kinds, tuple(one.ndim for one in operands))
        shapes = (kinds, tuple(one.shape for one in operands))
        layout = (*shapes, tuple(layout_of(array_of(one)) for one in operands))
        found = self._programs.get(ranks) or self._programs.get(shapes) or self._programs.get(layout)
        if found is None:
            stages, found = self._make(every)
            depends = stages.program.depends_on_layout
            is_free = self.entry._fits_all_sizes(stages)
            self._programs.put(ranks if is_free else layout if depends else shapes, found)
        self.call = found
        return found(*operands)

    def _make(self, every: Sequence[Any]) -> tuple[Stages[Expression], Function]:
        shapes, dtypes, strides = described(every)
        ranks: tuple[int, ...] = ()
        options = self.entry.options
        if options.tune and not callable(options.reduce):
            from nameexpr.runtime.tuning import best_ranks

            def make(tried: tuple[int, ...]) -> tuple[Callable[[], Any], Sequence[int]]:
                stages, function = self._specialised((shapes, dtypes, strides, tried), every)
                return lambda: function(*(every[place] for place in self.free)), stages.program.offers

            ranks = best_ranks(make)
        self.latest = (shapes, dtypes, strides, ranks)
        return self._specialised(self.latest, every)

    def _specialised(self, operands: Described, every: Sequence[Any]) -> tuple[Stages[Expression], Function]:
        stages, folded = self.compile(*operands)
        arrays = [array_of(one) for one in every]
        values = self._prepared.values(
            folded.prelude, [arrays[place] for place in self.fixed], lambda fault: self._reason(fault, every)
        )
        reduce = self.entry.options.reduce
        made = template(
            folded.rest,
            shapes_of(folded.rest),
            [every[place] for place in self.free],
            stages.names if any(isinstance(one, NamedTensor) for one in every) else None,
            reduce=reduce if callable(reduce) else None,
            has_shapes=not self.entry._fits_all_sizes(stages),
        )
        return stages, hold(function_of(made, self.miss, self._explain), len(self.free), values)

    def compile(
        self,
        operands: Sequence[Operand],
        dtypes: Sequence[np.dtype[Any]],
        strides: Sequence[tuple[int, ...] | None],
        ranks: tuple[int, ...] = (),
    ) -> tuple[Stages[Expression], Folded]:
        """Return the expression for all operands, in the order that costs least per call, and split."""
        stages = self.entry.compile(operands, dtypes, strides, ranks)
        options = self.entry.options
        if options.optimize in (None, True, "auto"):
            path = order_for_calls(stages.plans[0], self.fixed)
            if path is not None:
                ordered = Entry(self.entry.text, replace(options, optimize=tuple(path)))
                stages = ordered.compile(operands, dtypes, strides, ranks)
        return stages, fold(stages.program, stages.shapes, self.fixed, options.memory_limit)

    def _explain(self, fault: Exception, *operands: Any) -> Exception:
        """Return the error for what NumPy raised for operands of the right kinds."""
        every = unwrap(self.merged(operands), self.entry.text, self.entry.options.dtype)
        return self._reason(fault, every)

    def _reason(self, fault: Exception, every: Sequence[Any]) -> Exception:
        try:
            stages = self.entry.compile(*described(every)[:2], [None] * len(every))
        except NameExprError as wrong:
            return wrong
        return run_fault(fault, stages, every)


class Bound:
    """An expression with some of its operands. Made by `Compiled.bind`; called with the others, in order.

    Bound operands are taken by value: writing to them later changes nothing. Pickles with them.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> chain = ne.compile("n a, a b, b c -> n c")
    >>> ends = chain.bind({1: np.ones((200, 300)), -1: np.ones((300, 4))})
    >>> ends(np.ones((1, 200))).shape
    (1, 4)
    >>> chain.plan((1, 200), (200, 300), (300, 4)).flops, ends.plan((1, 200)).flops
    (122400, 1600)
    """

    __slots__ = ("_entry", "signature")

    def __init__(self, entry: BoundEntry) -> None:
        self._entry = entry
        signature = Compiled(entry.entry).signature
        self.signature = replace(signature, inputs=tuple(signature.inputs[place] for place in entry.free))

    @property
    def text(self) -> str:
        """The whole text as it was given."""
        return self._entry.entry.text

    def __call__(self, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, out: Any = None) -> Any:
        """Return the result for the operands that are not bound, in their order.

        Raises
        ------
        NameExprError
            If the operands do not fit the text, or each other.
        """
        if out is not None:
            given = [value for value in (a0, a1, *rest) if value is not MISSING]
            return into(out, self._entry.call(*given), self.text)
        if a1 is MISSING:
            return self._entry.call() if a0 is MISSING else self._entry.call(a0)
        if rest:
            return self._entry.call(a0, a1, *rest)
        return self._entry.call(a0, a1)

    def bind(self, operands: Mapping[int, Any], /) -> Bound:
        """Return the expression with more operands bound: positions are those among the operands left.

        Raises
        ------
        OptionError
            NE624, if there is no such operand.
        """
        return bound(self._entry.entry, self._entry.fixed, operands)

    def plan(self, *operands: Any) -> Plan:
        """Return what would be done on each call for operands, or shapes, like these.

        Flops and steps are those of a call; the memory of operands has what was computed once.
        """
        entry = self._entry
        shapes, dtypes, strides = Compiled(entry.entry)._described(entry.merged(operands))
        compiled, limit = entry.compile(shapes, dtypes, strides), entry.entry.options.memory_limit
        return plan_of_rest(compiled, shapes, dtypes, entry.free, limit)

    @property
    def code(self) -> str:
        """The NumPy of a call, and of what is bound, to paste: for the operands of the latest call.

        Raises
        ------
        OptionError
            NE622, if it was not called yet.
        """
        if self._entry.latest is None:
            hint = "call it first, or take .plan((2, 3)).code with the shapes of its operands"
            message = "there is no code before the sizes are known"
            raise error(Diagnostic("NE622", message, self.text, hint=hint))
        latest = self._entry.latest
        return plan_of_rest(self._entry.compile(*latest), *latest[:2], self._entry.free).code

    def __repr__(self) -> str:
        """Return the text, and which operands are bound."""
        return f"<{self.text!r} with operands {list(self._entry.fixed)} bound>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, options and bound operands."""
        entry = self._entry
        return _restored, (entry.entry.text, entry.entry.options, entry.fixed)


def bound(entry: Entry, fixed: Mapping[int, Any], operands: Mapping[int, Any]) -> Bound:
    """Return an expression with the operands in `fixed` and more, by their positions among the others.

    Raises
    ------
    OptionError
        NE624, for positions that are none.
    NameExprError
        If the operands cannot fit, whatever the others are.
    """
    places = read_positions(entry.tree, fixed, operands)
    pairs = zip(places, operands.values(), strict=True)
    given = {place: read_operand(value, place, entry.text) for place, value in pairs}
    merged = BoundEntry(entry, {**fixed, **given})
    shapes = {place: shape_of(value) for place, value in merged.fixed.items()}
    check_fits(entry.tree, shapes, dict(entry.options.sizes))
    return Bound(merged)


def _restored(text: str, options: Options, fixed: Mapping[int, Any]) -> Bound:
    entry = find_entry(text, None if options == Options() else options)
    return Bound(BoundEntry(entry, {place: sealed(value) for place, value in fixed.items()}))


def described(
    operands: Sequence[Any],
) -> tuple[list[Operand], list[np.dtype[Any]], list[tuple[int, ...] | None]]:
    """Return shapes and names, dtypes and strides of unwrapped operands."""
    shapes = [Operand(one.shape, one.names if isinstance(one, NamedTensor) else None) for one in operands]
    return shapes, [one.dtype for one in operands], [layout_of(array_of(one)) for one in operands]
