"""`Compiled`: an expression read once, to be called many times, asked for its signature, its plan and its
source; `Bound` is one with some of its operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nameexpr.compiler.analysis.operands import ASSUMED_SIZE, assumed_shapes
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.cache import MISSING
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.entry import NOTHING, Entry
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.operands import OperandSpec, array_of, read_only, repeats, spec_of, unwrap
from nameexpr.runtime.signature import Signature, signature_of
from nameexpr.syntax.limits import SIZE_DIGITS

if TYPE_CHECKING:
    from nameexpr.runtime.entry import CallOptions
    from nameexpr.runtime.plan.plan import Outline, Plan

Kind = TypeVar("Kind", bound=Entry)


class CompiledText(Generic[Kind]):
    """What expressions and formulas have in common, with bound operands and without."""

    __slots__ = ("_entry",)
    _SHAPES = "(2, 3)"

    def __init__(self, entry: Kind) -> None:
        self._entry = entry

    @property
    def text(self) -> str:
        """The whole text as it was given."""
        return self._entry.text

    @property
    def options(self) -> CallOptions:
        """The options it was compiled with."""
        return self._entry.options

    @property
    def code(self) -> str:
        """The NumPy that runs, as a function to paste: for the operands of the latest call. What is bound is
        computed by a function of its own.

        Before the first call it is that for assumed sizes, of an expression without bound operands.

        Raises
        ------
        OptionError
            NE622, for other texts that were not called yet: their sizes are those of their operands.
        """
        from nameexpr.runtime.plan.make import source

        latest = self._entry.latest
        if latest is None:
            return self._assumed_code()
        return source(self._entry, self._entry.compile(*latest), latest.specs)

    def _assumed_code(self) -> str:
        """Return the code of a text that was not called yet."""
        hint = f"call it first, or take .plan({self._SHAPES}).code with the shapes of its operands"
        raise error(Diagnostic("NE622", "there is no code before the sizes are known", self.text, hint=hint))

    def __repr__(self) -> str:
        """Return the text that compiled it."""
        return f"nameexpr.compile({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, options and bound operands, to be read and checked again."""
        fixed = self._entry.fixed if self._entry.is_bound else None
        return _restored, (self.text, type(self), self.options, fixed)


class Compiled(CompiledText[ExpressionEntry]):
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

    __slots__ = ("signature",)

    def __init__(self, entry: ExpressionEntry) -> None:
        super().__init__(entry)
        self.signature: Signature = signature_of(entry.tree, entry.free)

    def __call__(self, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, out: Any = None) -> Any:
        """Return the result for these operands, as `einsum` does: those that are not bound, in their order.

        Raises
        ------
        NameExprError
            If the operands do not fit the text, or each other.
        """
        if out is not None:
            from nameexpr.runtime.out import write_out

            given = [value for value in (a0, a1, *rest) if value is not MISSING]
            return write_out(out, self._entry.call(*given), self._entry.text)
        if a1 is MISSING:
            return self._entry.call(a0)
        if rest:
            return self._entry.call(a0, a1, *rest)
        return self._entry.call(a0, a1)

    def bind(self, operands: Mapping[int, Any] = NOTHING, /, **named: Any) -> Bound:
        """Return the expression with some of its operands, to be called with the others.

        What depends on the bound operands alone is computed once. They are taken by value: writing to them
        later changes nothing.

        Parameters
        ----------
        operands : mapping of int to array_like or NamedTensor
            Operands by position, among those that are not bound yet; negative positions count from the end.

        Raises
        ------
        NameExprError
            NE624 if there is no such operand; else if the operands cannot fit, whatever the others are.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> layer = ne.compile("batch in, in out -> batch out").bind({1: np.ones((3, 4))})
        >>> layer(np.ones((2, 3))).shape
        (2, 4)
        """
        from nameexpr.runtime.binding import bind_expression

        if named:
            hint = "give a mapping from positions to operands: bind({1: ...})"
            message = (
                f"bind: {next(iter(named))}= is a name, and the operands of an expression have positions"
            )
            raise error(Diagnostic("NE624", message, self.text, hint=hint))
        return Bound(bind_expression(self._entry, operands))

    def plan(self, *operands: Any) -> Plan:
        """Return what would be done for operands like these.

        Of an expression with bound operands, that is what is done on each call; the memory of operands has
        what was computed once.

        Parameters
        ----------
        *operands : array_like, NamedTensor or tuple of int
            Operands, or only their shapes (then of float64 and row-major). An array given twice counts.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        from nameexpr.runtime.plan.make import plan_of

        specs, same = self._specs(operands)
        return plan_of(self._entry, self._entry.compile(specs, same=same), specs)

    def outline(self, *operands: Any) -> Outline:
        """Return what a plan says of the whole, without its steps; it takes half the time.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        from nameexpr.runtime.plan.make import outline_of

        specs, _ = self._specs(operands)
        return outline_of(self._entry.compile(specs), specs)

    def _assumed_code(self) -> str:
        if self._entry.is_bound:
            return super()._assumed_code()
        from nameexpr.runtime.plan.make import source

        shapes = assumed_shapes(self._entry.tree, dict(self.options.sizes))
        specs = [OperandSpec(shape) for shape in shapes]
        code = source(self._entry, self._entry.compile(specs), specs)
        return f"# for assumed sizes: {ASSUMED_SIZE} for every label that has none\n{code}"

    def _specs(self, operands: Sequence[Any]) -> tuple[list[OperandSpec], tuple[int, ...]]:
        """Return what all operands are, given some or their shapes, and which are the same array."""
        given = [OperandSpec(tuple(one)) if _is_shape(one) else one for one in operands]
        values = self._entry.merge(given)
        arrays = [value for value in values if type(value) is not OperandSpec]
        real = map(spec_of, unwrap(arrays, self.text, self.options.dtype))
        specs = [value if type(value) is OperandSpec else next(real) for value in values]
        return specs, () if self._entry.is_bound else repeats(list(map(array_of, values)))

    def _repr_html_(self) -> str:
        """Return the text in colours for notebooks, with what it takes and gives."""
        from nameexpr.pictures.html import coloured_signature

        return coloured_signature(self.text, self.signature.inputs, self.signature.result)


class Bound(Compiled):
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

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text, and which operands are bound."""
        return f"<{self.text!r} with operands {list(self._entry.fixed)} bound>"


def _restored(
    text: str, kind: type[CompiledText[Any]], options: CallOptions, fixed: Mapping[int, Any] | None
) -> CompiledText[Any]:
    entry: Any
    if issubclass(kind, Compiled):
        entry = find_entry(text, options.or_none)
    else:
        from nameexpr.runtime.formula import FormulaEntry

        entry = FormulaEntry(text, options)
    if fixed is not None:
        entry = entry.bind({position: read_only(value) for position, value in fixed.items()})
    return kind(entry)


def _is_shape(value: Any) -> bool:
    """Whether this is a shape; one with a size that no array can have is refused."""
    if not isinstance(value, tuple | list) or not all(type(size) is int for size in value):
        return False
    if any(size >= 10**SIZE_DIGITS for size in value):
        message = f"a size has at most {SIZE_DIGITS} digits, and this shape has a larger one"
        raise error(Diagnostic("NE704", message))
    if any(size < 0 for size in value):
        hint = "give the sizes of the dims, such as (2, 3); data with negative numbers as a numpy array"
        raise error(Diagnostic("NE603", f"{value} is no shape: sizes are 0 or more", hint=hint))
    return True
