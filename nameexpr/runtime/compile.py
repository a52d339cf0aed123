"""`compile`: a text as a callable, and `explain`: a full description of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from nameexpr.errors import Diagnostic, error
from nameexpr.runtime import public, traced_as
from nameexpr.runtime.cache import check_is_text
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.compiled_expression import CompiledExpression
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.options import read_options
from nameexpr.syntax.lexer.tokens import looks_like_formula

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.compiled_formula import CompiledFormula
    from nameexpr.runtime.entry import CallOptions, Reduce
    from nameexpr.tensors import NamedTensor
    from nameexpr.typing import Operand


def _trace(*args: Any, **named: Any) -> Any:
    from nameexpr.runtime import tracing

    return tracing.traced_compile(*args, **named)


@overload
def compile(  # noqa: A001  the name that re.compile has, too
    text: str,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    outputs: None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Compiled: ...


@overload
def compile(  # noqa: A001
    text: str,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    outputs: Sequence[str],
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Compiled[tuple[npt.NDArray[Any], ...], tuple[NamedTensor, ...]]: ...


@traced_as(_trace)
@public
def compile(  # noqa: A001
    text: str,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    outputs: Sequence[str] | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Compiled[Any, Any]:
    """Return an expression or a formula that can be called on operands, and requested its plan and code.

    Parameters
    ----------
    text : str
        An expression, ``"inputs -> result"`` (docs/language.md), or a formula, ``"y[N] = sum[C](x[N C])"``
        (docs/formulas.md): a text without an arrow.
    dtype, optimize, sizes, reduce, order, memory_limit, tune, **size_keywords
        As for `einsum`; of formulas as for `evaluate`, which take all of these but `reduce`.
    outputs
        For formulas, as for `evaluate`.

    Returns
    -------
    Compiled
        A `CompiledExpression`, called as ``f(*operands, out=None)``, or a `CompiledFormula`, called as
        ``f(x=..., y=..., out=None)``.

    Raises
    ------
    NameExprError
        If the text is not an expression, breaks a safety rule, or an option is not one.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> heads = ne.compile("B T (h d) -> B h T d", h=4)
    >>> heads(np.ones((2, 5, 32))).shape
    (2, 4, 5, 8)
    """
    check_is_text(text)
    is_formula = looks_like_formula(text)
    if is_formula and reduce is not None:
        hint = "a reduction is written in the formula: sum[C](x)"
        raise error(Diagnostic("NE623", "reduce= is for expressions, and this is a formula", text, hint=hint))
    if outputs is not None and not is_formula:
        raise error(Diagnostic("NE623", "outputs= is for formulas, and this is an expression", text))
    options = read_options(
        sizes, size_keywords, dtype, optimize, reduce, order=order, memory_limit=memory_limit, tune=tune,
        outputs=outputs, formula=text if is_formula else "",
    )  # fmt: skip
    return _formula(text, options) if is_formula else CompiledExpression(find_entry(text, options.or_none))


def compile_formula(text: str, **options: Any) -> CompiledFormula:
    """Return a compiled text that is known to be a formula, with options as for `read_options`."""
    return _formula(text, read_options(formula=text, **options))


def _formula(text: str, options: CallOptions) -> CompiledFormula:
    from nameexpr.runtime.compiled_formula import CompiledFormula
    from nameexpr.runtime.formula import FormulaEntry

    # A new entry, not the cached one: `code` is for the latest call of this object.
    return CompiledFormula(FormulaEntry(text, options))


@public
def explain(text: str, /, *operands: Operand, **options: Any) -> str:
    """Return signature, plan and code of an expression or a formula as text to read.

    Parameters
    ----------
    text : str
        An expression, or a formula.
    *operands : array_like, NamedTensor or tuple of int
        Operands of an expression, or their shapes.
    **options
        As for `compile`. A formula has its operands, or their shapes, here, as in `evaluate`.

    Raises
    ------
    NameExprError
        If the text is neither, or the operands do not fit it.

    Examples
    --------
    >>> import nameexpr as ne
    >>> print(ne.explain("i j, j k -> i k", (2, 3), (3, 4)).splitlines()[0])
    i j, j k -> i k
    >>> print(ne.explain("y = sum[C](x[N C])", x=(2, 3)).splitlines()[0])
    y = sum[C](x[N C])
    """
    if isinstance(text, str) and looks_like_formula(text):  # type: ignore[redundant-expr]
        from nameexpr.runtime.evaluate import OPTIONS, OPTIONS_WHERE_FREE, find_formula

        names = set(OPTIONS).difference(OPTIONS_WHERE_FREE.intersection(find_formula(text).tree.uses))
        chosen = {name: value for name, value in options.items() if name in names}
        named = {name: value for name, value in options.items() if name not in names}
        plan = compile_formula(text, **chosen).plan(*operands, **named)
    else:
        plan = compile(text, **options).plan(*operands)
    return f"{plan}\n\n{plan.code}"
