"""To and from the containers of other libraries, by explicit call: xarray and pandas, imported on use.

>>> import nameexpr as ne
>>> ne.tensor([[1, 2]], names="N C").to_xarray().dims  # doctest: +SKIP
('N', 'C')
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, fault
from nameexpr.tensors.core import Core


class Conversion(Core):
    """to_xarray, to_pandas."""

    __slots__ = ()

    def to_xarray(self) -> Any:
        """Return an `xarray.DataArray` that shares the array, with the names as its dims.

        Raises
        ------
        DimNameError
            NE419, if a dim has no name: xarray's all have one.
        OptionError
            NE686, if xarray is not installed.
        """
        if None in self._names:
            message = f"dim {self._names.index(None)} has no name, and xarray's dims all have one"
            call = ShownCall("to_xarray", (), (self._dims,))
            raise fault("NE419", message, call, hint="name it first, with refine_names")
        xarray = imported("xarray", "to_xarray")
        return xarray.DataArray(self._data, dims=self._names)

    def to_pandas(self) -> Any:
        """Return a `Series` of one dim or a `DataFrame` of two; the names are those of index and columns.

        Raises
        ------
        SizeError
            NE388, if there are no dims or more than two.
        OptionError
            NE686, if pandas is not installed.
        """
        if self._data.ndim not in (1, 2):
            message = f"to_pandas: a tensor of {self._data.ndim} dims is neither a Series nor a DataFrame"
            hint = "flatten merges dims: x.flatten(['H', 'W'], 'pixel')" if self._data.ndim else ""
            raise fault("NE388", message, ShownCall("to_pandas", (), (self._dims,)), hint=hint)
        pandas = imported("pandas", "to_pandas")
        index = pandas.RangeIndex(self._data.shape[0], name=self._names[0])
        if self._data.ndim == 1:
            return pandas.Series(self._data, index=index)
        columns = pandas.RangeIndex(self._data.shape[1], name=self._names[1])
        return pandas.DataFrame(self._data, index=index, columns=columns)


def imported(library: str, verb: str) -> ModuleType:
    """Return a library that is no dependency (NE686 if it is not installed)."""
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError as missing:
        hint = f"pip install {library}"
        raise error(
            Diagnostic("NE686", f"{verb} needs {library}, which is not installed", hint=hint)
        ) from missing
