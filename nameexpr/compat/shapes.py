"""`parse_shape` and `asnumpy` of einops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nameexpr.backends.dispatch import library_name
from nameexpr.compat.patterns import ELLIPSIS, WILDCARD, PatternDim, fault, read_side, shape_of
from nameexpr.errors import Span


def parse_shape(x: Any, pattern: str) -> dict[str, Any]:
    """Return the sizes of the axes that a pattern names.

    Parameters
    ----------
        x : array
            Of any library.
        pattern : str
            Names, ``_`` for an axis without a name, ``...``, and numbers, which the sizes must be.

    Raises
    ------
        EinopsError
            If the pattern is wrong, or does not fit.

    Examples
    --------
        >>> import numpy as np
        >>> from nameexpr.compat.einops import parse_shape
        >>> parse_shape(np.zeros((2, 3, 5)), "batch _ w")
        {'batch': 2, 'w': 5}
    """
    dims = read_side(pattern, 0, len(pattern), has_wildcards=True)
    shape = shape_of(x, pattern)
    if groups := [dim.span for dim in dims if len(dim.axes) > 1]:
        raise fault("NE206", "a shape has no groups of axes", pattern, groups, "name the axis as a whole")
    dots = [place for place, dim in enumerate(dims) if [axis.word for axis in dim.axes] == [ELLIPSIS]]
    if len(dims) - len(dots) > len(shape) or (len(dims) != len(shape) and not dots):
        message = f"the array has {len(shape)} dims, and the pattern {len(dims) - len(dots)}"
        raise fault("NE310", message, pattern, [Span(0, len(pattern))], "... stands for any number of dims")
    if dots:
        after = len(dims) - dots[0] - 1
        dims = (*dims[: dots[0]], *dims[dots[0] + 1 :])
        shape = (*shape[: dots[0]], *shape[len(shape) - after :])
    return dict(filter(None, [_size(dim, size, pattern) for dim, size in zip(dims, shape, strict=True)]))


def _size(dim: PatternDim, size: Any, pattern: str) -> tuple[str, Any] | None:
    """Return the name and the size of an axis that has a name; EinopsError if a number is not the size."""
    word = dim.axes[0].word if dim.axes else "1"
    if not word.isdecimal():
        return None if word == WILDCARD else (word, size)
    if size != int(word):
        raise fault("NE302", f"the length of this axis is {size}, not {word}", pattern, [dim.span])
    return None


def asnumpy(tensor: Any) -> npt.NDArray[Any]:
    """Return an array of any library as an array of NumPy; one of NumPy as it is.

    Examples
    --------
        >>> import numpy as np
        >>> from nameexpr.compat.einops import asnumpy
        >>> asnumpy(np.arange(3))
        array([0, 1, 2])
    """
    kind: Any = type(tensor)
    if library_name(kind) == "torch":
        tensor = tensor.detach().cpu().numpy()
    return np.asarray(tensor)
