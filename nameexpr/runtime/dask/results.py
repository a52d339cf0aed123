"""Results with names: if an operand is a DataArray of xarray, the result is one, with the coordinates that it
has for operands in memory; else a NamedTensor of Dask.
"""

from __future__ import annotations

from typing import Any

from nameexpr.compiler.ir.axes import Names
from nameexpr.runtime.dask.operands import Given, without_elements


def named_result(tree: Any, array: Any, names: Names, given: Given) -> Any:
    """Return a lazy array as a NamedTensor, or as a DataArray if an operand is one.

    The dims of a DataArray that have no name are dim_0, dim_1, ..., as in xarray.
    """
    from nameexpr.runtime.coordinates import carried, coordinates_of, understood
    from nameexpr.tensors import wrap
    from nameexpr.tensors.libraries.classes import class_for

    if not given.has_labels:
        return class_for("dask")._wrap(array, names or (None,) * array.ndim)
    every = names or (None,) * array.ndim  # without dims, operands have no names
    coordinates = coordinates_of(tree, [understood(one) for one in given.samples])
    own = tuple([name or f"dim_{dim}" for dim, name in enumerate(every)])
    tensor = carried(wrap(without_elements(array.shape, array.dtype), own), coordinates)
    return tensor.to_xarray().copy(deep=False, data=array)
