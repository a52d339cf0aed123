"""`compile`: a text read once, to be called many times, asked for its signature, its plan and its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.codegen.program import source_of
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.placeholders import ASSUMED_SIZE, assumed_shapes
from nameexpr.compiler.planning.path import Optimize
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.aliases import same_operands
from nameexpr.runtime.compiled_formula import CompiledFormula, compiled_formula
from nameexpr.runtime.einsum import check_is_text, find_entry
from nameexpr.runtime.entry import Entry, unwrap
from nameexpr.runtime.fast_path import MISSING
from nameexpr.runtime.layouts import layout_of
from nameexpr.runtime.options import Options, Reduce, check_for_formulas, read_options
from nameexpr.runtime.out import into
from nameexpr.runtime.plan.expression import Plan, make_plan, routine
from nameexpr.runtime.signature import signature_of
from nameexpr.syntax.lexer.language import looks_like_formula
from nameexpr.syntax.lexer.limits import SIZE_DIGITS
from nameexpr.tensors import NamedTensor

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.runtime.bound.expression import Bound
    from nameexpr.runtime.plan.outline import Outline


NOTHING: Mapping[int, Any] = MappingProxyType({})


class Compiled:
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

    __slots__ = ("_entry", "signature")

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self.signature = signature_of(entry.tree)

    @property
    def text(self) -> str:
        """The text as it was given."""
        return self._entry.text

    def __call__(self, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, out: Any = None) -> Any:
        """Return the result for these operands, as `einsum` does.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        if out is not None:
            return into(out, self._entry.call(a0, a1, *rest), self._entry.text)
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
            Operands by position; negative positions count from the end.

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
        from nameexpr.runtime.bound.expression import bound

        if named:
            hint = "give a mapping from positions to operands: bind({1: ...})"
            message = (
                f"bind: {next(iter(named))}= is a name, and the operands of an expression have positions"
            )
            raise error(Diagnostic("NE624", message, self.text, hint=hint))
        return bound(self._entry, {}, operands)

    def plan(self, *operands: Any) -> Plan:
        """Return what would be done for operands like these.

        Parameters
        ----------
        *operands : array_like, NamedTensor or tuple of int
            Operands, or only their shapes (then of float64 and row-major). An array given twice counts.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        shapes, dtypes, strides = self._described(operands)
        compiled = self._entry.compile(shapes, dtypes, strides, same=same_operands(operands))
        return make_plan(compiled, shapes, dtypes, self._entry.options.memory_limit)

    def outline(self, *operands: Any) -> Outline:
        """Return what a plan says of the whole, without its steps; it takes half the time.

        Raises
        ------
        NameExprError
            If the operands do not fit the text.
        """
        from nameexpr.runtime.plan.outline import expression_outline

        shapes, dtypes, strides = self._described(operands)
        return expression_outline(self._entry.compile(shapes, dtypes, strides), shapes)

    @property
    def code(self) -> str:
        """The NumPy that runs, as a function to paste: for the operands of the latest call, or for assumed
        sizes.
        """
        latest = self._entry.latest
        if latest is not None:
            return source_of(routine(self._entry.compile(*latest), latest[0]))
        operands = [
            Operand(shape) for shape in assumed_shapes(self._entry.tree, dict(self._entry.options.sizes))
        ]
        dtypes = [np.dtype(np.float64)] * len(operands)
        code = source_of(routine(self._entry.compile(operands, dtypes, [None] * len(operands)), operands))
        return f"# for assumed sizes: {ASSUMED_SIZE} for every label that has none\n{code}"

    def _described(
        self, operands: tuple[Any, ...]
    ) -> tuple[list[Operand], list[np.dtype[Any]], list[tuple[int, ...] | None]]:
        """Return shapes and names, dtypes and strides of operands or shapes."""
        values = [_Shape(tuple(one)) if _is_shape(one) else one for one in operands]
        real = iter(
            unwrap(
                [one for one in values if not isinstance(one, _Shape)], self.text, self._entry.options.dtype
            )
        )
        shapes: list[Operand] = []
        dtypes: list[np.dtype[Any]] = []
        strides: list[tuple[int, ...] | None] = []
        for value in values:
            if isinstance(value, _Shape):
                shapes.append(Operand(value.sizes))
                dtypes.append(np.dtype(np.float64))
                strides.append(None)
                continue
            operand = next(real)
            names = operand.names if isinstance(operand, NamedTensor) else None
            array = operand.data if isinstance(operand, NamedTensor) else operand
            shapes.append(Operand(array.shape, names))
            dtypes.append(array.dtype)
            strides.append(layout_of(array))
        return shapes, dtypes, strides

    def __repr__(self) -> str:
        """Return the text that compiled it."""
        return f"nameexpr.compile({self.text!r})"

    def _repr_html_(self) -> str:
        """Return the text in colours for notebooks, with what it takes and gives."""
        from nameexpr.pictures.html import coloured_signature

        return coloured_signature(self.text, self.signature.inputs, self.signature.result)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text and options, to be read and checked again."""
        return _restored, (self._entry.text, self._entry.options)


@dataclass(frozen=True, slots=True)
class _Shape:
    sizes: tuple[int, ...]


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


def _restored(text: str, options: Options) -> Compiled:
    return Compiled(find_entry(text, None if options == Options() else options))


def compile(  # noqa: A001  the name that re.compile has, too
    text: str,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, int] | None = None,
    reduce: str | Reduce | None = None,
    outputs: Sequence[str] | None = None,
    order: str | None = None,
    memory_limit: int | None = None,
    tune: bool = False,
    **size_keywords: int,
) -> Compiled | CompiledFormula:
    """Return an expression or a formula that can be called on operands, and asked for its plan and code.

    Parameters
    ----------
    text : str
        An expression, ``"inputs -> result"`` (docs/language.md), or a formula, ``"y[N] = sum[C](x[N C])"``
        (docs/formulas.md): a text without an arrow.
    dtype, optimize, sizes, reduce, order, memory_limit, tune, **size_keywords
        As for `einsum`; formulas take `optimize`, `sizes` and `memory_limit` of these, as for `evaluate`.
    outputs
        For formulas, as for `evaluate`.

    Returns
    -------
    Compiled or CompiledFormula
        Called as ``f(*operands, out=None)``; a formula as ``f(x=..., y=..., out=None)``.

    Raises
    ------
    NameExprError
        If the text is no expression, breaks a safety rule, or an option is not one.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> heads = ne.compile("B T (h d) -> B h T d", h=4)
    >>> heads(np.ones((2, 5, 32))).shape
    (2, 4, 5, 8)
    """
    check_is_text(text)
    if looks_like_formula(text):
        check_for_formulas(text, dtype=dtype, reduce=reduce, order=order, tune=tune or None)
        merged = {**(sizes or {}), **size_keywords}
        return compiled_formula(text, outputs, merged or None, optimize, memory_limit)
    if outputs is not None:
        raise error(Diagnostic("NE623", "outputs= is for formulas, and this is an expression", text))
    options = read_options(
        sizes, size_keywords, dtype, optimize, reduce, order=order, memory_limit=memory_limit, tune=tune
    )
    return Compiled(find_entry(text, None if options == Options() else options))
