"""`einsum`: an expression and its operands to a result.

A call by text, without options, finds the function of its last operands in one look-up
(`nameexpr.runtime.cache`). Everything else goes the longer way round, and nothing of the compiler is
loaded before a text is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nameexpr.runtime import cache
from nameexpr.runtime.cache import by_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.entry import CallOptions, Reduce
    from nameexpr.runtime.expression import ExpressionEntry


def _find(
    text: str,
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, int] | None = None,
    reduce: str | Reduce | None = None,
    order: str | None = None,
    memory_limit: int | None = None,
    tune: bool = False,
    **size_keywords: int,
) -> ExpressionEntry:
    """Return the checked text with these options."""
    check_is_text(text)
    given = (dtype, optimize, sizes, reduce, order, memory_limit)
    if not size_keywords and tune is False and all(option is None for option in given):
        return find_entry(text, None)
    from nameexpr.runtime.options import read_options

    options = read_options(
        sizes, size_keywords, dtype, optimize, reduce, order=order, memory_limit=memory_limit, tune=tune
    )
    return find_entry(text, options.or_none)


@by_text(_find)
def einsum(
    text: str,
    /,
    *operands: Any,
    out: Any = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, int] | None = None,
    reduce: str | Reduce | None = None,
    order: str | None = None,
    memory_limit: int | None = None,
    tune: bool = False,
    **size_keywords: int,
) -> Any:
    """Return what an expression says of its operands.

    Parameters
    ----------
    text : str
        An expression: ``"inputs -> result"``, one term of dims for each operand (docs/language.md).
    *operands : array_like or NamedTensor
        One for each input term; dims as the terms have them.
    out : ndarray or NamedTensor, optional
        Where to put the result, of the result's shape; it is returned. May share memory with an operand.
    dtype : dtype, optional
        The dtype to compute in. By default NumPy's promotion; where there is a sum, integers and bools are
        widened to 64 bits and float16 is computed in float32.
    optimize : bool, str, path or path optimizer of opt_einsum, optional
        The order of contractions for three operands and more; by default the best one that is found quickly.
    sizes : mapping of str to int, optional
        Sizes of labels that the operands do not tell.
    reduce : callable or str, optional
        ``f(array, axis)`` to combine what is dropped, merged into that one axis; or the name of a reducer.
    order : {None, "C"}, optional
        "C" for a new array in row-major order, also where a view would do. By default the order in memory is
        the one that costs least.
    memory_limit : int, optional
        Bytes that may be allocated at once, operands left out. What needs more is computed in slices where
        that brings it under the limit, and refused before anything is allocated where it does not.
    tune : bool, optional
        Whether to time the best ways to compute this, once for each shape and dtype, and keep the quickest.
    **size_keywords : int
        Sizes of labels, as `sizes`.

    Returns
    -------
    ndarray or NamedTensor
        A NamedTensor with the result's names if any operand is one. A pure rearrangement is a view where
        NumPy can give one, every other result is new memory.

    Raises
    ------
    NameExprError
        With what is wrong, where in the text, and how to mend it: `ParseError`, `RuleError`, `SizeError`,
        `DimNameError`, `OperandError`, `OptionError` or `LimitError`.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> images, scale = np.ones((2, 3, 4, 4)), np.array([1.0, 2.0, 3.0])
    >>> ne.einsum("N C H W, C -> N C H W", images, scale).shape
    (2, 3, 4, 4)
    >>> ne.einsum("N (h d) -> N h d", np.ones((2, 12)), h=3).shape
    (2, 3, 4)

    Notes
    -----
    The rules are those of docs/language.md: a label is one dim with one size; what is dropped and occurs once
    needs a reducer.
    """
    check_is_text(text, operands)
    entry = _find(
        text,
        dtype=dtype,
        optimize=optimize,
        sizes=sizes,
        reduce=reduce,
        order=order,
        memory_limit=memory_limit,
        tune=tune,
        **size_keywords,
    )
    result = entry.call(*operands)
    if out is None:
        return result
    from nameexpr.runtime.out import write_out

    return write_out(out, result, text)


def find_entry(text: str, options: CallOptions | None) -> ExpressionEntry:
    """Return the checked expression with these options; None stands for no options. The compiler is loaded
    here, on first use.
    """

    def read() -> ExpressionEntry:
        from nameexpr.runtime.expression import ExpressionEntry

        return ExpressionEntry(text) if options is None else ExpressionEntry(text, options)

    entry: ExpressionEntry = cache.find(cache.expressions, text, options, read)
    return entry


def check_is_text(text: Any, operands: tuple[Any, ...] = ()) -> None:
    """Raise an `OperandError` if what should be an expression is something else."""
    if isinstance(text, str):
        return
    from nameexpr.errors import Diagnostic, error

    kind = f"of type {type(text).__name__}"
    if operands and isinstance(operands[0], str):
        hint = "the text comes first: einsum(text, array)"
        message = f"text and array are swapped: the first argument is {kind}"
        raise error(Diagnostic("NE506", message, hint=hint))
    raise error(Diagnostic("NE506", f"the first argument is {kind}, and should be the expression, a str"))
