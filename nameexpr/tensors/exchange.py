"""Tensors from xarray and pandas objects; `x.to_xarray()` and `x.to_pandas()` convert back."""

from __future__ import annotations

from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.named_tensor import NamedTensor, made
from nameexpr.tensors.ops import checked


@checked
def from_xarray(array: Any) -> NamedTensor:
    """Return a tensor that shares the array of an `xarray.DataArray`, and has its dims and coordinates.

    Raises
    ------
    OptionError
        NE653 if it is not a DataArray; NE654 if it does not contain a NumPy array.
    DimNameError
        NE412 if a dim's name is not a valid name here.

    Examples
    --------
    >>> import xarray
    >>> from_xarray(xarray.DataArray([[1, 2]], dims=("N", "C"))).names
    ('N', 'C')
    """
    if not hasattr(array, "dims") or not hasattr(array, "values"):
        hint = "from_numpy(array, names=...) takes arrays"
        message = f"from_xarray takes a DataArray, not {type(array).__name__}"
        raise error(Diagnostic("NE653", message, hint=hint))
    return made(array, None, None, copy=False)


@checked
def from_pandas(data: Any, names: object = None) -> NamedTensor:
    """Return a tensor from a `Series` or a `DataFrame`, whose index and columns become coordinates.

    The names of index and columns are those of the dims; `names` names those that have none.

    Raises
    ------
    OptionError
        NE653 if it is neither; NE654 if it has a MultiIndex, or dtypes that NumPy lacks.
    DimNameError
        NE412 if a name of the index or the columns is not a valid name here; NE418 if `names` contradicts
        one.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame([[1, 2]], pandas.Index(["Oslo"], name="station"))
    >>> from_pandas(table, names="station month").names
    ('station', 'month')
    """
    if not hasattr(data, "axes") or not hasattr(data, "to_numpy"):
        hint = "from_numpy(array, names=...) takes arrays"
        message = f"from_pandas takes a Series or a DataFrame, not {type(data).__name__}"
        raise error(Diagnostic("NE653", message, hint=hint))
    return made(data, names, None, copy=False)
