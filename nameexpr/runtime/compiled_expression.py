"""`CompiledExpression`: a `nameexpr.runtime.compiled.Compiled` with operands by position; `BoundExpression`
is one with some operands bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from nameexpr.compiler.analysis.operands import ASSUMED_SIZE, assumed_shapes
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.runtime import public, traced_as
from nameexpr.runtime.cache import MISSING
from nameexpr.runtime.compiled import ArrayResult_co, Compiled, TensorResult_co, Text_co
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.operands import OperandSpec, array_of, repeats, spec_of, unwrap
from nameexpr.syntax.limits import SIZE_DIGITS

if TYPE_CHECKING:
    from nameexpr.runtime.entry import CallOptions, Entry
    from nameexpr.runtime.expression import ExpressionEntry
    from nameexpr.runtime.plan.plan import Outline, Plan
    from nameexpr.runtime.signature import Signature
    from nameexpr.typing import Operand

NOTHING: Mapping[int, Any] = MappingProxyType({})


def _trace(*args: Any, **named: Any) -> Any:
    from nameexpr.runtime import tracing

    return tracing.traced_expression(*args, **named)


class CompiledExpression(Compiled[ArrayResult_co, TensorResult_co, Text_co]):
    """An expression that can be called on operands. Made by `nameexpr.compile`; pickles as its text and
    options.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> project = ne.compile("batch chan, chan out -> batch out")
    >>> project(np.ones((2, 3)), np.ones((3, 4))).shape
    (2, 4)
    >>> project.signature.inputs
    ('batch chan', 'chan out')
    >>> project.plan((2, 3), (3, 4)).flops
    48
    """

    __slots__ = ()
    _entry: ExpressionEntry

    @property
    def signature(self) -> Signature:
        """The operands and the result, as text."""
        from nameexpr.runtime.signature import signature_of

        return signature_of(self._entry.tree, self._entry.free)

    @staticmethod
    def _read(text: str, options: CallOptions) -> ExpressionEntry:
        return find_entry(text, options.or_none)

    if not TYPE_CHECKING:  # `Compiled` has its types

        @traced_as(_trace)
        def __call__(self, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, out: Any = None) -> Any:
            """Return the result for the operands that are not bound, in their order, as `einsum` does.

            Raises
            ------
            NameExprError
                If the operands do not fit the text, or each other.
            """
            try:
                if out is not None:
                    from nameexpr.runtime.out import write_out

                    given = [value for value in (a0, a1, *rest) if value is not MISSING]
                    return write_out(out, self._entry.call(*given), self._entry.text)
                if a1 is MISSING:
                    return self._entry.call(a0)
                if rest:
                    return self._entry.call(a0, a1, *rest)
                return self._entry.call(a0, a1)
            except NameExprError as wrong:
                wrong._forget_frames()
                raise

    @public
    def gradient(self, wrt: str | Iterable[str] = ()) -> NoReturn:
        """Raise NE531: an expression has no gradients, and a formula of the same value has."""
        from nameexpr.compiler.analysis.faults.differentiating import of_expression

        raise error(of_expression(self.text))

    @public
    def bind(  # type: ignore[override]
        self, operands: Mapping[int, Operand] = NOTHING, /, **named: Operand
    ) -> BoundExpression[ArrayResult_co, TensorResult_co]:
        """Return the expression with some of its operands, to be called with the others.

        Values that depend on the bound operands alone are computed once. The operands are copied: writing to
        them later has no effect.

        Parameters
        ----------
        operands : mapping of int to array_like or NamedTensor
            Operands by position, among those that are not bound yet; negative positions count from the end.

        Raises
        ------
        NameExprError
            NE624 if there is no such operand; or if the operands cannot fit, regardless of the others.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> layer = ne.compile("batch in, in out -> batch out").bind({1: np.ones((3, 4))})
        >>> layer(np.ones((2, 3))).shape
        (2, 4)
        """
        from nameexpr.compiler.analysis.faults.binding import has_position
        from nameexpr.runtime.binding import bind_expression

        if named:
            raise error(has_position(next(iter(named)), self.text, "bind: "))
        return BoundExpression(bind_expression(self._entry, operands))

    @public
    def plan(self, *operands: Operand) -> Plan:  # type: ignore[override]
        """Return the plan for operands like these.

        For an expression with bound operands, the plan is that of each call; the memory of operands includes
        the values that were computed once. For Dask arrays it is a `ChunkedPlan`: steps with their chunks,
        tasks, and bytes per task.

        Parameters
        ----------
        *operands : array_like, NamedTensor or tuple of int
            Operands, or only their shapes (then of float64 and row-major). Whether an array is passed twice
            matters.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        from nameexpr.backends.dispatch import is_chunked
        from nameexpr.runtime.plan.make import plan_of
        from nameexpr.runtime.tuning import find

        if is_chunked(operands):
            from nameexpr.runtime.libraries import chunked_plan

            return chunked_plan(self._entry, operands)  # type: ignore[no-any-return]
        entry, specs, same = self._prepared(operands)
        tuning = find(entry, specs, same)
        return plan_of(entry, entry.compile(specs, tuning.ranks, same), specs, tuning)

    @public
    def outline(self, *operands: Operand) -> Outline:  # type: ignore[override]
        """Return the totals of a plan, without its steps; it takes half the time.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        from nameexpr.runtime.plan.make import outline_of

        entry, specs, _ = self._prepared(operands)
        return outline_of(entry.compile(specs), specs, getattr(entry, "library", None))

    def _assumed_code(self) -> str:
        if self._entry.is_bound:
            return super()._assumed_code()
        from nameexpr.runtime.plan.make import source

        shapes = assumed_shapes(self._entry.tree, dict(self.options.sizes))
        specs = [OperandSpec(shape) for shape in shapes]
        code = source(self._entry, self._entry.compile(specs), specs)
        return f"# for assumed sizes: {ASSUMED_SIZE} for every label that has none\n{code}"

    def _prepared(self, operands: Sequence[Any]) -> tuple[Entry, Sequence[OperandSpec], tuple[int, ...]]:
        """Return the entry for the library of some operands, their specifications, and which are the same."""
        from nameexpr.backends.dispatch import has_foreign

        if has_foreign((*operands, *self._entry.fixed.values())):
            from nameexpr.runtime.libraries import prepared

            return prepared(self._entry, operands)
        return (self._entry, *self._specs(operands))

    def _specs(self, operands: Sequence[Any]) -> tuple[list[OperandSpec], tuple[int, ...]]:
        """Return the specifications of all operands, given some or their shapes, and which are the same
        array.
        """
        given = [OperandSpec(tuple(one)) if _is_shape(one) else one for one in operands]
        values = self._entry.merge(given)
        arrays = [value for value in values if type(value) is not OperandSpec]
        real = map(spec_of, unwrap(arrays, self.text, self.options.dtype))
        specs = [value if type(value) is OperandSpec else next(real) for value in values]
        return specs, () if self._entry.is_bound else repeats(list(map(array_of, values)))

    def _repr_html_(self) -> str:
        """Return the text in colours for notebooks, with its operands and result."""
        from nameexpr.pictures.html import coloured_signature

        return coloured_signature(self.text, self.signature.inputs, self.signature.result)


class BoundExpression(CompiledExpression[ArrayResult_co, TensorResult_co, Text_co]):
    """An expression with some of its operands. Made by `Compiled.bind`; called with the others, in order.

    Bound operands are copied: writing to them later has no effect. They are included in pickles.

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

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text, and which operands are bound."""
        return f"<{self.text!r} with operands {list(self._entry.fixed)} bound>"


def _is_shape(value: Any) -> bool:
    """Return whether this is a shape; one with a size that no array can have is rejected."""
    if not isinstance(value, tuple | list) or not all(type(size) is int for size in value):
        return False
    if any(size >= 10**SIZE_DIGITS for size in value):
        message = f"a size has at most {SIZE_DIGITS} digits, and this shape has a larger one"
        raise error(Diagnostic("NE704", message))
    if any(size < 0 for size in value):
        hint = "give the sizes of the dims, such as (2, 3); data with negative numbers as a numpy array"
        raise error(Diagnostic("NE603", f"{value} is not a shape: sizes are 0 or more", hint=hint))
    return True
