"""`einsum`: from an expression and its operands to a result.

A call by text finds the function of its last operands in one look-up (`nameexpr.runtime.cache`), and the
function itself checks whether it applies (`nameexpr.runtime.specialise`). Everything else takes the slow
path, and no part of the compiler is loaded before a text is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np

from nameexpr.errors import NameExprError
from nameexpr.runtime import cache, traced_as
from nameexpr.runtime.cache import MISSING, TEXTS, check_is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.entry import CallOptions, Reduce
    from nameexpr.runtime.expression import ExpressionEntry
    from nameexpr.tensors import NamedTensor
    from nameexpr.typing import Array, ArrayLike, Foreign, Labelled, Operand

Out = TypeVar(
    "Out", bound="NamedTensor | np.ndarray[Any, Any] | tuple[NamedTensor | np.ndarray[Any, Any], ...]"
)
Documented = TypeVar("Documented", bound=Callable[..., Any])
CONSTANTS = frozenset({int, str, bool, type(None)})
"""Types of options that are immutable."""
PLAIN = frozenset({int, str})
"""Types of options, equal values of which mean the same in a call by text: most are sizes."""


def _trace(*args: Any, **named: Any) -> Any:
    from nameexpr.runtime import tracing

    return tracing.traced_einsum(*args, **named)


def by_text(documented: Documented) -> Documented:
    """Return the function that calls by text, under the signature and the documentation of another.

    Two operands have their own parameters, because packing and unpacking a tuple costs more than the whole
    look-up.
    """
    functions, entries, latest = cache.calls, cache.calls_with_options, cache.latest_options

    @traced_as(_trace)
    @wraps(documented)
    def fast(text: str = MISSING, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, **options: Any) -> Any:
        try:
            if not options:
                call = functions[text]
            else:
                # The types of the options matter: True equals 1 as a dict key, but is not a size.
                for option in options.values():
                    if type(option) is not int and type(option) is not str:
                        entry = None
                        break
                else:
                    known, entry = latest[text]
                    if known != options:
                        entry = None
                entry = entry or entries[text, *options.items(), *map(type, options.values())]
                call = entry.call
        except (KeyError, TypeError):  # new, or not hashable
            call = partial(_slow, text, options)
        try:
            if a1 is MISSING:
                return call(a0)
            if rest:
                return call(a0, a1, *rest)
            return call(a0, a1)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return fast  # type: ignore[return-value]  # the same signature, spelt for speed


def _slow(text: str, options: dict[str, Any], /, *values: Any) -> Any:
    """Run an expression that is not in the dicts, and add it to them."""
    operands = [value for value in values if value is not MISSING]
    out = options.pop("out", None)
    if not isinstance(text, str):
        check_is_text(text, operands)  # type: ignore[unreachable]
    chosen = None
    if options:
        from nameexpr.runtime.options import expression_options

        chosen = expression_options(options)
    entry = find_entry(text, chosen)
    if out is not None:
        from nameexpr.runtime.out import write_out

        return write_out(out, entry.call(*operands), text)
    if options and all(map(_is_constant, options.values())):
        if len(cache.calls_with_options) >= TEXTS:
            cache.calls_with_options.clear()
            cache.latest_options.clear()
        with suppress(TypeError):
            cache.calls_with_options[text, *options.items(), *map(type, options.values())] = entry
            if PLAIN.issuperset(map(type, options.values())):
                cache.latest_options[text] = options, entry
    return entry.call(*operands)


def find_entry(text: str, options: CallOptions | None = None) -> ExpressionEntry:
    """Return the checked expression with these options. The compiler is loaded here, on first use."""
    from nameexpr.runtime.expression import ExpressionEntry

    entry: ExpressionEntry = cache.find(cache.expressions, text, options, ExpressionEntry)
    return entry


def _is_constant(option: Any) -> bool:
    """Return whether an option always means the same as an equal one: many other objects are equal to
    themselves only, and may be one size now and another one later.
    """
    if type(option) in CONSTANTS or isinstance(option, np.number | np.bool_ | np.dtype | type):
        return True
    if type(option) is tuple:
        return all(map(_is_constant, option))
    return callable(option) and not hasattr(option, "__index__")


@overload
def einsum(
    text: str,
    /,
    *operands: Operand,
    out: Out,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Out: ...


@overload
def einsum(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *operands: ArrayLike,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> npt.NDArray[Any]: ...


@overload
def einsum(  # type: ignore[overload-overlap]  # what has names is not an ArrayLike
    text: str,
    /,
    *operands: ArrayLike | Labelled,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> NamedTensor: ...


@overload
def einsum(  # type: ignore[overload-overlap]
    text: str,
    /,
    *operands: Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Array: ...


@overload
def einsum(
    text: str,
    /,
    *operands: Operand,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> npt.NDArray[Any]: ...


@by_text
def einsum(
    text: str,
    /,
    *operands: Operand,
    out: Any = None,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    reduce: str | Reduce | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> Any:
    """Return the value of an expression on its operands.

    Parameters
    ----------
    text : str
        An expression: ``"inputs -> result"``, one term of dims for each operand (docs/language.md).
    *operands : array_like or NamedTensor
        One for each input term; dims in the order of the term.
    out : ndarray or NamedTensor, optional
        Where to put the result, of the result's shape; it is returned. May share memory with an operand.
    dtype : dtype, optional
        The dtype to compute in. By default NumPy's promotion; where there is a sum, integers and bools are
        widened to 64 bits and float16 is computed in float32.
    optimize : bool, str, path or path optimizer of opt_einsum, optional
        The order of contractions for three operands and more; by default the best one that is found quickly.
    sizes : mapping of str to int, optional
        Sizes of labels that the operands do not determine.
    reduce : callable or str, optional
        ``f(array, axis)`` to combine the dropped dims, merged into that one axis; or the name of a reducer.
    order : {None, "C"}, optional
        "C" for a new array in row-major order, even if a view would do. By default the memory order is the
        cheapest one.
    memory_limit : int, optional
        Bytes that may be allocated at once, not counting operands. A computation that needs more is split
        into slices; if that is not enough, an error is raised before anything is allocated.
    tune : bool, optional
        Whether to time the best strategies, once for each shape and dtype, and keep the fastest.
    **size_keywords : int
        Sizes of labels, as `sizes`.

    Returns
    -------
    ndarray or NamedTensor
        A NamedTensor with the result's names if any operand is one. A pure rearrangement is a view if NumPy
        can create one; any other result is new memory.

    Raises
    ------
    NameExprError
        With the problem, its position in the text, and a suggestion: `ParseError`, `RuleError`, `SizeError`,
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
    The rules are those of docs/language.md: a label is one dim with one size; a label that occurs once and
    is dropped needs a reducer.
    """
