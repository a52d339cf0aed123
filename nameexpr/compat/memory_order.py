"""The memory order of results: NumPy's `order=`.

"K", the default, is the order that is cheapest to compute. For operands in Fortran order it is that of
NumPy's iterator, which goes through memory as it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nameexpr.compat.labels import label_dims
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.syntax.ast import Expression


def ordered(result: Any, order: str, operands: Sequence[Any]) -> Any:
    """Return a result in the requested order: "C", "F", or "A" for that of the operands."""
    if order == "A":
        order = "F" if all(one.flags.f_contiguous for one in operands) else "C"
    return result if order == "K" or not np.ndim(result) else np.asarray(result, order=order)  # type: ignore[call-overload]


def in_kept_order(tree: Expression, function: Callable[..., Any], *operands: Any) -> Any:
    """Return the result of a function, in the order "K"."""
    result = function(*operands)
    first = operands[0]
    if type(first) is np.ndarray and (first.flags.fnc or first.ndim < 2) and result.size:  # noqa: PLR2004
        return _in_fortran_order(tree, result, operands)
    return result


def _in_fortran_order(tree: Expression, result: Any, operands: Sequence[Any]) -> Any:
    """Return a result in the order of NumPy's iterator, if all operands with several dims are in that of
    Fortran.
    """
    arrays = [np.asarray(one) for one in operands]
    if not any(one.flags.fnc for one in arrays) or any(
        one.flags.c_contiguous for one in arrays if one.ndim > 1
    ):
        return result
    typed = label_dims(tree, [Operand(one.shape) for one in arrays])
    kept = [label for (label,) in typed.result]
    seen, places = [], []
    for array, axes in zip(arrays, typed.operands, strict=True):
        own = [axis[0] if axis else "" for axis in axes]
        is_first = [label in kept and label not in own[:dim] for dim, label in enumerate(own)]
        seen.append(array[tuple([slice(None) if first else 0 for first in is_first])])
        left = [label for label, first in zip(own, is_first, strict=True) if first]
        places.append([left.index(label) if label in left else -1 for label in kept])
    flags = [["readonly"] for _ in arrays] + [["writeonly", "allocate"]]
    dtypes = [*[array.dtype for array in arrays], result.dtype]
    walk: Any = np.nditer
    laid_out = walk(
        [*seen, None], [], flags, dtypes, op_axes=[*places, [*range(len(kept))]], order="K"
    ).operands[-1]
    np.copyto(laid_out, result)
    return laid_out
