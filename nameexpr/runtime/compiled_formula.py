"""`CompiledFormula`: a `nameexpr.runtime.compiled.Compiled` with operands by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.runtime import public, traced_as
from nameexpr.runtime.compiled import ArrayResult_co, Compiled, TensorResult_co, Text_co, by_keywords
from nameexpr.runtime.evaluate import by_position
from nameexpr.runtime.formula import FormulaEntry, merged
from nameexpr.runtime.operands import OperandSpec, array_of, repeats, spec_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.compilation import Compilation
    from nameexpr.runtime.entry import CallOptions, Entry
    from nameexpr.runtime.plan.plan import Outline, Plan
    from nameexpr.runtime.signature import FormulaSignature
    from nameexpr.runtime.tuning import Specs, Tuning
    from nameexpr.tensors import NamedTensor
    from nameexpr.typing import Operand


def _trace(*args: Any, **named: Any) -> Any:
    from nameexpr.runtime import tracing

    return tracing.traced_formula(*args, **named)


class CompiledFormula(Compiled[ArrayResult_co, TensorResult_co, Text_co]):
    """A formula that can be called on operands by name. Made by `nameexpr.compile`; pickles as its text.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> distance = ne.compile("d[i j] = sum[D]((x[i D] - y[j D]) ** 2)")
    >>> distance(x=np.ones((2, 3)), y=np.zeros((4, 3))).shape
    (2, 4)
    >>> distance.signature.inputs
    ('x[i D]', 'y[j D]')
    """

    __slots__ = ()
    _SHAPES = "x=(2, 3)"
    _entry: FormulaEntry

    @property
    def signature(self) -> FormulaSignature:
        """The operands and the results, as text."""
        from nameexpr.runtime.signature import formula_signature

        return formula_signature(self._entry.tree, self._entry.free, self._entry.options.outputs)

    @staticmethod
    def _read(text: str, options: CallOptions) -> FormulaEntry:
        return FormulaEntry(text, options)

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands, in the order of their first use."""
        return self._entry.tree.operands

    @property
    def statements(self) -> tuple[str | None, ...]:
        """Names of the statements, in order; None for a last one without a name."""
        return tuple(statement.name for statement in self._entry.tree.tree.statements)

    if not TYPE_CHECKING:  # `Compiled` has its types

        @traced_as(_trace)
        @by_keywords
        def __call__(
            self, *misplaced: Any, out: Any = None, operands: Mapping[str, Any] | None = None, **named: Any
        ) -> Any:
            """Return the value for these operands, as `evaluate` does.

            Raises
            ------
            NameExprError
                If the operands do not fit the formula, or one is bound (NE624).
            """
            try:
                if misplaced:
                    raise by_position(self.text, misplaced)
                given = named if operands is None else merged(self.text, operands, named)
                result = self._entry.call_named(given)
                if out is None:
                    return result
                if isinstance(result, tuple):
                    hint = "remove out=, or compile without outputs="
                    message = "out= is for one result, and there are several"
                    raise error(Diagnostic("NE611", message, self.text, hint=hint))
                from nameexpr.runtime.out import write_out

                return write_out(out, result, self.text)
            except NameExprError as wrong:
                wrong._forget_frames()
                raise

    @public
    def bind(  # type: ignore[override]
        self, *misplaced: Any, operands: Mapping[str, Operand] | None = None, **named: Operand
    ) -> BoundFormula[ArrayResult_co, TensorResult_co]:
        """Return the formula with some of its operands, to be called with the others.

        Values that depend on the bound operands alone are computed once. The operands are copied: writing to
        them later has no effect.

        Raises
        ------
        NameExprError
            NE624 if there is no such operand; or if the operands cannot fit, regardless of the others.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> layer = ne.compile("y[N K] = sum[C](x[N C] * w[C K]) + b[K]")
        >>> layer.bind(w=np.ones((3, 4)), b=np.zeros(4))(x=np.ones((2, 3))).shape
        (2, 4)
        """
        from nameexpr.runtime.binding import bind_formula

        return BoundFormula(bind_formula(self._entry, self._given(misplaced, operands, named)))

    @public
    def plan(self, *misplaced: Any, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Plan:
        """Return the plan for operands like these: arrays, NamedTensors, numbers, or shapes.

        For a formula with bound operands, the plan is that of each call; the memory of operands includes the
        values that were computed once. For Dask arrays it is a `ChunkedPlan`: steps with their chunks, tasks,
        and bytes per task.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        from nameexpr.backends.dispatch import is_chunked
        from nameexpr.runtime.plan.make import plan_of

        given = self._given(misplaced, operands, named)
        if is_chunked(given.values()):
            from nameexpr.runtime.libraries import chunked_plan

            return chunked_plan(self._entry, self._entry.ordered(given))  # type: ignore[no-any-return]
        entry, compiled, specs, tuning = self._compiled(given)
        return plan_of(entry, compiled, specs, tuning)

    @public
    def outline(
        self, *misplaced: Any, operands: Mapping[str, Operand] | None = None, **named: Operand
    ) -> Outline:
        """Return the totals of a plan, without its steps; it takes half the time.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        from nameexpr.runtime.plan.make import outline_of

        entry, compiled, specs, _ = self._compiled(self._given(misplaced, operands, named))
        return outline_of(compiled, specs, getattr(entry, "library", None))

    @public
    def gradient(
        self, wrt: str | Iterable[str]
    ) -> CompiledFormula[tuple[npt.NDArray[Any], ...], tuple[NamedTensor, ...]]:
        """Return this formula with a statement for each gradient of its last value: `d_w` for `w`.

        A call returns a tuple of the value and the gradients, in the order of `wrt`, the names of operands.
        As in any formula, the names of dims are those of the terms.

        Raises
        ------
        NameExprError
            NE534 if a name is not that of an operand.

        Examples
        --------
        >>> import nameexpr as ne
        >>> print(ne.compile("loss = sum[N]((a * x[N] - y[N]) ** 2)").gradient("a").text)
        loss = sum[N]((a * x[N] - y[N]) ** 2)
        d_a = grad(loss, a)
        """
        from nameexpr.runtime.differentiated import differentiated

        made = differentiated(self.text, wrt)
        return self._followed(made.text, (made.value, *[statement for _, statement in made.gradients]))

    def _followed(self, text: str, outputs: tuple[str, ...]) -> CompiledFormula[Any, Any]:
        """Return a formula that begins as this one, with its options and bound operands."""
        entry = FormulaEntry(text, self.options._replace(outputs=outputs))
        positions = {entry.tree.operands.index(name): value for name, value in self._entry.bound.items()}
        return BoundFormula(entry.bind(positions)) if positions else CompiledFormula(entry)

    @public
    def expanded(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> str:
        """Return the formula with its derivatives written out: without `grad`, for all sizes of operands.

        Values that are needed several times are statements with new names: `u1`, `u2`. A formula without
        derivatives is returned as it is. No operands are needed, except those whose names or dtypes matter:
        tensors that are used without a term, complex numbers and integers. For operands of several dtypes,
        the dtype of a gradient is that of its formula.

        Raises
        ------
        NameExprError
            NE539 if the language has no text for a derivative, such as for dims without names.

        Examples
        --------
        >>> import nameexpr as ne
        >>> loss = ne.compile("loss = mean[N]((sum[C](x[N C] * w[C]) - y[N]) ** 2)")
        >>> print(loss.gradient("w").expanded())
        u1[N] = sum[C](x[N C] * w[C]) - y[N]
        loss = mean[N](u1 ** 2)
        d_w[C] = sum[N](u1 * x[N C] * 2 / size[N])
        """
        from nameexpr.runtime.expanded import expanded

        return expanded(self._entry, merged(self.text, operands, named))

    def result_names(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[str | None, ...]:
        """Return the names that the result has for tensors of these shapes, whose dims fit the terms."""
        dtype = self.options.dtype or np.dtype(np.float64)
        specs = {name: OperandSpec(shape, (None,) * len(shape), dtype) for name, shape in shapes.items()}
        return self._entry.compile_named(specs).names[-1]

    def _given(
        self, misplaced: tuple[Any, ...], operands: Mapping[str, Any] | None, named: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return operands by name, none of which is already bound."""
        if misplaced:
            raise by_position(self.text, misplaced)
        given = merged(self.text, operands, named)
        self._entry.check_unbound(given)
        return given

    def _compiled(self, given: Mapping[str, Any]) -> tuple[Entry, Compilation[Scope], Specs, Tuning]:
        """Return the entry for the library of operands, the formula compiled for them, or for their shapes,
        the specifications of all, and what was tuned for them.
        """
        from nameexpr.runtime.tuning import UNTUNED, find

        entry = self._entry
        if given.keys() - entry.tree.uses.keys():
            entry.refuse(given)
        from nameexpr.backends.dispatch import has_foreign

        if has_foreign((*given.values(), *entry.fixed.values())):
            from nameexpr.runtime.libraries import prepared

            other, every, alike = prepared(entry, entry.ordered(given))
            return other, other.compile(every, same=alike), every, UNTUNED
        specs = {
            name: OperandSpec(value)
            if isinstance(value, tuple) and all(type(size) is int and size >= 0 for size in value)
            else spec_of(entry.unwrapped(value, name))
            for name, value in {**entry.bound, **given}.items()
        }
        values = [given.get(name) for name in entry.tree.operands]
        same = () if entry.is_bound else repeats([array_of(value) for value in values])
        given_to = [specs[name] for name in entry.tree.operands if name in specs]
        tuning = find(entry, given_to, same)
        return entry, entry.compile_named(specs, tuning.ranks, same), given_to, tuning

    def _repr_html_(self) -> str:
        """Return the text in colours for notebooks, with its operands and results."""
        from nameexpr.pictures.html import coloured_signature

        return coloured_signature(self.text, self.signature.inputs, ", ".join(self.signature.outputs))


class BoundFormula(CompiledFormula[ArrayResult_co, TensorResult_co, Text_co]):
    """A formula with some of its operands. Made by `CompiledFormula.bind`; called with the others by name.

    Bound operands are copied: writing to them later has no effect. They are included in pickles.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> scores = ne.compile("s[N K] = sum[C](x[N C] * exp(w[C K]))").bind(w=np.zeros((3, 4)))
    >>> scores(x=np.ones((2, 3))).shape
    (2, 4)
    >>> scores.signature.inputs
    ('x[N C]',)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text, and which operands are bound."""
        return f"<{self.text!r} with {', '.join(self._entry.bound) or 'nothing'} bound>"
