"""Elements of Dask arrays at positions: an index, and what is taken or filled at computed positions.

Positions that are Dask arrays are checked when they are computed.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from nameexpr.backends.dask.pointwise import where
from nameexpr.errors import Diagnostic, error


def whole(x: Any, axes: tuple[int, ...]) -> Any:
    """Return an array of which some axes are in one chunk."""
    if all(x.numblocks[axis] == 1 for axis in axes):
        return x
    rest: Any = -1 if 0 in x.shape else "auto"
    return x.rechunk({axis: -1 if axis in axes else rest for axis in range(x.ndim)})


def take(x: Any, places: Any, axis: int) -> Any:
    """Return the elements at positions along an axis, none of them negative."""
    if isinstance(places, np.ndarray):
        return da.take(x, places, axis)
    letters = tuple(range(x.ndim))
    own = tuple([-1 if at == axis else at for at in letters])  # -1 is the axis of positions
    return _taken(_take, x, places, (-1,), own, axis)


def take_along(x: Any, places: Any, axis: int) -> Any:
    """Return the elements at positions along an axis, one for each element of `places`."""
    own = tuple([-1 if at == axis else at for at in range(x.ndim)])
    return _taken(_take_along, x, places, own, own, axis)


def _taken(function: Any, x: Any, places: Any, letters: Any, own: Any, axis: int) -> Any:
    return da.blockwise(
        function,
        own,
        whole(x, (axis,)),
        tuple(range(x.ndim)),
        places,
        letters,
        concatenate=True,
        token="nameexpr-take",
        dtype=x.dtype,
        meta=np.empty((0,) * x.ndim, x.dtype),
        axis=axis,
    )


def _take(x: Any, places: Any, *, axis: int) -> Any:
    return np.take(x, _inside(places, x.shape[axis]), axis)


def _take_along(x: Any, places: Any, *, axis: int) -> Any:
    return np.take_along_axis(x, _inside(places, x.shape[axis]), axis)


def _inside(places: Any, size: int) -> Any:
    """Return positions (NE805 if one is outside of a dim)."""
    if places.size and not 0 <= places.min() <= places.max() < size:
        message = f"a position is outside of its dim of size {size}"
        hint = "the values of the positions were not known before they were computed"
        raise error(Diagnostic("NE805", message, hint=hint))
    return places


def fill_at(x: Any, places: Any, axis: int, value: Any) -> Any:
    """Return the elements with a value at positions along an axis."""
    size = x.shape[axis]
    given = places if isinstance(places, da.Array) else da.from_array(places, chunks=-1)
    mask = da.blockwise(
        _marked,
        (1,),
        given.rechunk(-1),
        (0,),
        new_axes={1: size},
        concatenate=True,
        token="nameexpr-marked",
        dtype=np.dtype(bool),
        meta=np.empty(0, bool),
        size=size,
    )
    return where(mask[(slice(None),) + (None,) * (x.ndim - axis - 1)], value, x)


def _marked(places: Any, *, size: int) -> Any:
    marked = np.zeros(size, bool)
    marked[_inside(places, size)] = True
    return marked


def at(x: Any, places: tuple[Any, ...]) -> Any:
    """Return the elements at an index, which may contain one array of positions (NE689)."""
    arrays = [place for place, one in enumerate(places) if isinstance(one, np.ndarray | da.Array)]
    if not arrays:
        return x[places]
    first, index = arrays[0], places[arrays[0]]
    index = np.flatnonzero(index) if index.dtype == bool and index.ndim == 1 else index
    if len(arrays) > 1 or index.dtype == bool:
        message = "x[...] with several arrays, or a mask of several dims, is not supported for arrays of Dask"
        raise error(Diagnostic("NE689", message, hint="index by one array after the other: x[a][:, b]"))
    rest = x[tuple([slice(None) if place == first else one for place, one in enumerate(places)])]
    axis = len([one for one in places[:first] if not isinstance(one, int) and one is not ...])
    flat, sizes = index.reshape(-1), rest.shape
    found = take(rest, where(flat < 0, flat + sizes[axis], flat), axis)
    found = found.reshape((*sizes[:axis], *index.shape, *sizes[axis + 1 :]))
    picking = [place for place, one in enumerate(places) if isinstance(one, int) or place == first]
    if picking[-1] - picking[0] + 1 == len(picking):
        return found
    own = range(axis, axis + index.ndim)  # NumPy's rule: apart from integers, the dims come first
    return da.transpose(found, (*own, *[one for one in range(found.ndim) if one not in own]))
