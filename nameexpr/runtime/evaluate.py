"""`evaluate`: from a formula and its operands by name to a result, through one bounded cache of formulas.

A call finds the formula by its text and the function of operands like these by their shapes, dtypes and
names; no part of the compiler is loaded before a formula is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from nameexpr.errors import NameExprError
from nameexpr.runtime import cache, traced_as
from nameexpr.runtime.cache import by_keywords, check_is_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.formula import FormulaEntry
    from nameexpr.tensors import NamedTensor
    from nameexpr.typing import Array, ArrayLike, Foreign, Labelled, Operand

OPTIONS = ("outputs", "sizes", "optimize", "memory_limit", "dtype", "order", "tune")
OPTIONS_WHERE_FREE = frozenset({"dtype", "order", "tune"})
"""The keywords that are operands in formulas with an operand of that name."""


def _trace(*args: Any, **named: Any) -> Any:
    from nameexpr.runtime import tracing

    return tracing.traced_evaluate(*args, **named)


@overload
def evaluate(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *,
    outputs: None = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, ArrayLike] | None = None,
    **named_operands: ArrayLike,
) -> npt.NDArray[Any]: ...


@overload
def evaluate(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *,
    outputs: None = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, ArrayLike | Labelled] | None = None,
    **named_operands: ArrayLike | Labelled,
) -> NamedTensor: ...


@overload
def evaluate(  # type: ignore[overload-overlap]
    text: str,
    /,
    *,
    outputs: None = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex] | None = None,
    **named_operands: Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex,
) -> Array: ...


@overload
def evaluate(
    text: str,
    /,
    *,
    outputs: None = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, Operand] | None = None,
    **named_operands: Operand,
) -> npt.NDArray[Any]: ...


@overload
def evaluate(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *,
    outputs: Sequence[str],
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, ArrayLike] | None = None,
    **named_operands: ArrayLike,
) -> tuple[npt.NDArray[Any], ...]: ...


@overload
def evaluate(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *,
    outputs: Sequence[str],
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, ArrayLike | Labelled] | None = None,
    **named_operands: ArrayLike | Labelled,
) -> tuple[NamedTensor, ...]: ...


@overload
def evaluate(  # type: ignore[overload-overlap]
    text: str,
    /,
    *,
    outputs: Sequence[str],
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex] | None = None,
    **named_operands: Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex,
) -> tuple[Array, ...]: ...


@overload
def evaluate(
    text: str,
    /,
    *,
    outputs: Sequence[str],
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, Operand] | None = None,
    **named_operands: Operand,
) -> tuple[npt.NDArray[Any], ...]: ...


@traced_as(_trace)
@by_keywords
def evaluate(
    text: str,
    /,
    *misplaced: Any,
    outputs: Sequence[str] | None = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    optimize: Optimize = None,
    memory_limit: SupportsIndex | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C"] | None = None,
    tune: bool | None = None,
    operands: Mapping[str, Operand] | None = None,
    **named_operands: Any,
) -> Any:
    """Return the value of a formula.

    Parameters
    ----------
    text : str
        Statements, one per line or separated by ``;``: ``"y[N K] = sum[C](x[N C] * w[C K])"``
        (docs/formulas.md). The value is that of the last one.
    outputs : sequence of str, optional
        Names of the statements whose values are returned, as a tuple.
    sizes : mapping of str to int, optional
        Sizes of dims that no operand determines.
    optimize : bool, str, path or path optimizer of opt_einsum, optional
        The order of contractions of three factors and more, as for `einsum`.
    memory_limit : int, optional
        Bytes that may be allocated at once, not counting operands: a computation that needs more is split
        into blocks; if that is not enough, an error is raised before anything is allocated.
    dtype : dtype, optional
        The dtype to compute in: operands are converted to it first, and results have it. Python scalars
        remain weak.
    order : {None, "C"}, optional
        "C" for new arrays in row-major order, even if a view would do.
    tune : bool, optional
        Whether to time the best strategies, once for each shape and dtype, and keep the fastest.
    operands : mapping of str to array_like, optional
        Operands whose names are also those of options of this function.
    **named_operands : array_like or NamedTensor
        The operands, by the names that they have in the formula. Python scalars are weak in promotion.

    Returns
    -------
    ndarray or NamedTensor
        A NamedTensor if any operand is one. A tuple of them if `outputs` is given.

    Raises
    ------
    NameExprError
        With the problem, its position in the text, and a suggestion.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> x, y = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])
    >>> ne.evaluate("d[i j] = sqrt(sum[D]((x[i D] - y[j D]) ** 2))", x=x, y=y)
    array([[0.],
           [5.]])

    Notes
    -----
    The rules are those of docs/formulas.md: dims broadcast by name, and every sum is written. In a formula
    with an operand called `dtype`, `order` or `tune`, that keyword is the operand.
    """
    try:
        if (
            not misplaced and outputs is None and sizes is None and optimize is None and memory_limit is None
            and dtype is None and order is None and tune is None and operands is None
        ):  # fmt: skip
            try:
                entry = cache.formulas.young[text]
            except (KeyError, TypeError):  # new, or not a text
                entry = find_formula(text)
            return entry.call_named(named_operands)
        if misplaced:
            raise by_position(text, misplaced)
        options = (outputs, sizes, optimize, memory_limit, dtype, order, tune)
        return _with_options(text, options, operands, named_operands)
    except NameExprError as wrong:
        wrong._forget_frames()
        raise


def _with_options(
    text: str, values: Sequence[Any], operands: Mapping[str, Operand] | None, named: dict[str, Operand]
) -> Any:
    given = {name: value for name, value in zip(OPTIONS, values, strict=True) if value is not None}
    if not OPTIONS_WHERE_FREE.isdisjoint(given):
        names = OPTIONS_WHERE_FREE.intersection(given, find_formula(text).tree.uses)
        named |= {name: given.pop(name) for name in names}
    entry = find_formula(text, given)
    if operands is None:
        return entry.call_named(named)
    from nameexpr.runtime.formula import merged

    return entry.call_named(merged(text, operands, named))


def by_position(text: Any, misplaced: tuple[Any, ...]) -> Exception:
    """Return the error for operands without names, or for a text that is not a formula."""
    from nameexpr.compiler.analysis.faults.misuse import operands_by_position
    from nameexpr.errors import error

    check_is_text(text, misplaced, is_formula=True)
    return error(operands_by_position(text, find_formula(text).tree.operands))


def find_formula(text: Any, options: Mapping[str, Any] | None = None) -> FormulaEntry:
    """Return the checked formula with these options, from the cache if it is there."""
    if not isinstance(text, str):
        check_is_text(text, is_formula=True)
    from nameexpr.runtime.formula import FormulaEntry

    chosen = None
    if options:
        from nameexpr.runtime.options import read_options

        chosen = read_options(formula=text, **options).or_none
    entry: FormulaEntry = cache.find(cache.formulas, text, chosen, FormulaEntry)
    return entry
