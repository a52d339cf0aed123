"""How `reduce` of einops differs from a reducer of this package."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nameexpr.compat.einops_errors import UnsupportedError
from nameexpr.compat.patterns import Operation, Pattern
from nameexpr.errors import Diagnostic


def reducer(pattern: Pattern, operation: Operation) -> Any:
    """Return the reducer that an operation is, or None if nothing is reduced."""
    if not pattern.is_reduced:
        return None
    return operation if isinstance(operation, str) else partial(_along, operation)


def _along(function: Callable[..., Any], array: Any, axis: int) -> Any:
    """Return a caller's reduction of the axis that the axes to reduce are merged into."""
    return function(array, (axis,))


class Mean:
    """An entry whose operand must be of floats."""

    def __init__(self, entry: Any) -> None:
        self.entry = entry

    def call(self, tensor: Any) -> Any:
        """Return the mean; UnsupportedError for integers and bools."""
        dtype = getattr(tensor, "dtype", None)
        kind = getattr(dtype, "kind", None)
        if kind is None:  # a dtype of PyTorch
            is_float = getattr(dtype, "is_floating_point", True) or getattr(dtype, "is_complex", False)
        else:
            is_float = kind not in "biu"
        if not is_float:
            message = f"the mean of numbers of dtype {dtype} is not defined"
            raise UnsupportedError(Diagnostic("NE505", message, hint="convert them: x.astype(float)"))
        return self.entry.call(tensor)


class ReducedDots:
    """An entry that reduces the dims under `...`, and one for arrays that have none there."""

    def __init__(self, reducing: Any, moving: Any, dims: int) -> None:
        self.reducing, self.moving, self.dims = reducing, moving, dims

    def call(self, tensor: Any) -> Any:
        """Return the result for an array with `dims` dims, or more."""
        return (self.moving if tensor.ndim == self.dims else self.reducing).call(tensor)
