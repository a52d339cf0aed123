"""`einsum` and `einsum_path` of NumPy, with its arguments, results and types of errors.

`einsum` computes by the plans of this package for all values of `optimize` except an explicit path.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from nameexpr.compat.calling import Entries, by_text, check_options, keep, with_options
from nameexpr.compat.contraction import SubscriptsEntry
from nameexpr.compat.subscripts import ELLIPSIS, read
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.cache import MISSING, TEXTS, Generations, others

__all__ = ["einsum", "einsum_path"]
numpy_einsum, numpy_einsum_path = np.einsum, np.einsum_path
OPTIONS = ("out", "optimize", "dtype", "order", "casting")
_texts: Generations[Any, SubscriptsEntry] = Generations(TEXTS)
others.append(_texts)
SUBSCRIPTS = ascii_uppercase + ascii_lowercase
"""The letters of the integers of sublists, as in NumPy."""


def _slow(entries: Entries, text: Any, operands: list[Any], options: dict[str, Any]) -> Any:
    check_options("einsum", options, OPTIONS)
    given, options = text, {**options}
    out, optimize = options.pop("out", None), options.pop("optimize", False)
    if not isinstance(text, str):
        text, operands = of_sublists([text, *operands])
    path = None
    if not isinstance(optimize, bool) and optimize is not None and optimize not in ("greedy", "optimal"):
        path = tuple(numpy_einsum_path(text, *operands, optimize=optimize)[0][1:])
        if any(len(step) > 2 for step in path):  # noqa: PLR2004  of many at once, for lack of memory
            options = options if out is None else {**options, "out": out}
            return numpy_einsum(text, *operands, optimize=optimize, **options)
    entry = _entry(text, path)
    if path is None and given is text and not options:
        keep(entries, text, {} if optimize is False else {"optimize": optimize}, entry)
    if not options and out is None:
        return entry.call(*operands)
    return with_options(entry, operands, entry.peer, out=out, **options, is_loose=optimize is not False)


def _entry(text: str, path: tuple[tuple[int, ...], ...] | None) -> SubscriptsEntry:
    """Return the entry of a text, which has been read before or not."""

    def make() -> SubscriptsEntry:
        optimize = False if path is None else ["einsum_path", *path]
        return SubscriptsEntry(read(text, _is_letter), partial(numpy_einsum, text, optimize=optimize), path)

    return _texts.get_or_make((text, path), make)


def _is_letter(character: str) -> bool:
    return character in ascii_letters


def of_sublists(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return the text and the operands of a call with a list of integers after each operand.

    >>> of_sublists(["a", [0, 1], "b", [1, ...], [0]])[0]
    'AB,B...->A'
    """
    if arguments[0] is MISSING:
        message = "einsum() needs a text and its operands, or operands with lists of integers"
        raise error(Diagnostic("NE501", message, hint="einsum('ij,jk', a, b)"))
    pairs = len(arguments) // 2
    terms = [_term(arguments[2 * pair + 1]) for pair in range(pairs)]
    text = ",".join(terms)
    if len(arguments) % 2:
        text += "->" + _term(arguments[-1])
    return text, list(arguments[: 2 * pairs : 2])


def _term(sublist: Any) -> str:
    """Return the subscripts of a list of integers."""
    try:
        items = [item if item is Ellipsis else index(item) for item in sublist]
    except TypeError:
        message = f"{sublist!r:.60} is neither a text nor a list of integers"
        hint = (
            "the text comes first, einsum('ij,jk', a, b), or a list follows each operand: einsum(a, [0, 1])"
        )
        raise error(Diagnostic("NE506", message, hint=hint)) from None
    if wrong := [item for item in items if item is not Ellipsis and not 0 <= item < len(SUBSCRIPTS)]:
        message = f"{wrong[0]} is not a subscript: they are 0 to {len(SUBSCRIPTS) - 1}, or Ellipsis"
        raise error(Diagnostic("NE100", message, hint="number the dims from 0"))
    return "".join([ELLIPSIS if item is Ellipsis else SUBSCRIPTS[item] for item in items])


@by_text(_slow)
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: np.ndarray[Any, Any] | None = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Any:
    """Return the sum of products that subscripts describe, as `numpy.einsum` does.

    Parameters
    ----------
    subscripts : str
        Subscripts such as ``"ij,jk->ik"``; or the first operand, each of which is then followed by a list of
        integers.
    *operands : array_like
        One for each term, with a dim for each letter.
    out : ndarray, optional
        An array of the result's shape, which the result is written to; it may be an operand.
    dtype : dtype, optional
        The dtype to compute in.
    order : {"K", "A", "C", "F"}, optional
        The memory order of the result.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}, optional
        Which casts of operands to `dtype`, and of the result to `out`, are allowed.
    optimize : bool, str or path, optional
        An explicit path is followed; anything else leaves the order of contractions to this package.

    Returns
    -------
    ndarray or scalar
        A view of the operand if there is one and nothing is summed.

    Raises
    ------
    NameExprError
        A ValueError for subscripts and sizes that do not fit, a TypeError for dtypes and arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.numpy import einsum
    >>> einsum("ij,jk", np.ones((2, 3)), np.ones((3, 4)))[0]
    array([3., 3., 3., 3.])
    >>> einsum("ij->j", np.ones((2, 3)))
    array([2., 2., 2.])
    """


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """Return the path that NumPy finds for subscripts, and a table about it: `numpy.einsum_path` itself.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.numpy import einsum_path
    >>> einsum_path("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))[0]
    ['einsum_path', (0, 1)]
    """
    find: Any = numpy_einsum_path
    path: tuple[list[Any], str] = find(*operands, optimize=optimize, einsum_call=einsum_call)
    return path
