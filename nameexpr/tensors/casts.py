"""Conversions: to another dtype, and to xarray and pandas, which are imported on use.

`def float` hides the builtin from annotations below it in the class, which therefore ends there.

A tensor that already has the dtype is returned itself.

>>> ne.tensor([1.7, -1.7], names="N").int()
tensor([ 1, -1], names=('N',), shape=(2,), dtype=int32)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

import numpy as np

from nameexpr.backends.numpy.arrays import category
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, fault, shown
from nameexpr.tensors.arguments import Device, as_dtype, checked_device
from nameexpr.tensors.core import Core
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import called, checked, exhausted, op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike
    from xarray import DataArray

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _CastOf(Protocol[T_co]):
    def __call__(self, memory_format: Any = None) -> T_co:
        """Return each element in the dtype of this name."""


class _Cast(Protocol):
    def __get__(self, tensor: T, kind: Any) -> _CastOf[T]: ...


def _cast_to(dtype: str, what: str = "", name: str = "") -> _Cast:
    """Return the method of a dtype, which is called as in PyTorch."""

    def method(self: Casts, memory_format: Any = None) -> Casts:
        return self._cast(dtype)

    method.__doc__ = f"Return each element as {dtype}{what}."
    made: Any = op("keeps")(called(method, "Casts", name or dtype))
    return made  # type: ignore[no-any-return]


class Casts(Operators):
    """to_xarray, to_pandas, coords; to, type, type_as, astype, and a method for each dtype."""

    __slots__ = ()

    @checked
    def to_xarray(self) -> DataArray:
        """Return an `xarray.DataArray` that shares the array, with the names as its dims, and coordinates.

        Raises
        ------
        DimNameError
            NE419 if a dim has no name, which xarray requires.
        OptionError
            NE686 if xarray is not installed.

        Examples
        --------
        >>> ne.tensor([[1, 2]], names="N C").to_xarray().sizes["C"]
        2
        """
        if None in self._names:
            message = f"dim {self._names.index(None)} has no name, and xarray's dims all have one"
            call = ShownCall("to_xarray", (), (self._dims,))
            raise fault("NE419", message, call, hint="name it first, with refine_names")
        xarray = imported("xarray", "to_xarray")
        return xarray.DataArray(self.numpy(), coords_of(self, xarray), dims=self._names)  # type: ignore[no-any-return]

    @checked
    def to_pandas(self) -> Any:
        """Return a `Series` of one dim or a `DataFrame` of two; the names are those of index and columns.

        Raises
        ------
        SizeError
            NE388 if there are no dims or more than two.
        OptionError
            NE686 if pandas is not installed.

        Examples
        --------
        >>> ne.tensor([[1, 2]], names="N C").to_pandas().columns.name
        'C'
        """
        if self._data.ndim not in (1, 2):
            message = f"to_pandas: a tensor of {self._data.ndim} dims is neither a Series nor a DataFrame"
            hint = "flatten merges dims: x.flatten(['H', 'W'], 'pixel')" if self._data.ndim else ""
            raise fault("NE388", message, ShownCall("to_pandas", (), (self._dims,)), hint=hint)
        pandas = imported("pandas", "to_pandas")
        labels = {each.dims: each.values for each in self._coordinates if each.dims == (each.name,)}
        axes = [
            pandas.RangeIndex(size, name=name) if (name,) not in labels else _called(labels[name,], name)
            for name, size in zip(self._names, self._data.shape, strict=True)
        ]
        return (pandas.Series if len(axes) == 1 else pandas.DataFrame)(self.numpy(), *axes)

    @property
    def coords(self) -> Mapping[Any, Any]:
        """The coordinates of the data, by name; as xarray objects, if xarray is imported.

        >>> import pandas
        >>> list(ne.from_pandas(pandas.Series([1.5, 2.5], ["Oslo", "Rome"]), names="station").coords)
        ['station']
        """
        xarray = sys.modules.get("xarray")
        if xarray is None:
            return {each.name: each.values for each in self._coordinates}
        return xarray.Coordinates(coords_of(self, xarray))  # type: ignore[no-any-return]

    @checked
    def drop_coords(self, *names: str) -> Self:
        """Return the tensor without the coordinates of these names, or without any.

        >>> import pandas
        >>> x = ne.from_pandas(pandas.Series([1.5, 2.5], ["Oslo", "Rome"]), names="station")
        >>> list(x.drop_coords("station").coords)
        []
        """
        return self

    @property
    def variable(self) -> Any:
        """The tensor in the form that xarray reads in `data_array + tensor`; dims then pair by name."""
        return self.to_xarray().variable

    @op("keeps")
    def to(self, *target: Any, dtype: Any = None, device: Any = None, copy: bool = False) -> Self:
        """Return the tensor in another dtype, which may be given by a tensor that has it.

        A device may also be given, as in PyTorch: the only one is "cpu".

        >>> ne.tensor([1, 2], names="N").to("float32").dtype
        dtype('float32')
        """
        for item in target:
            if isinstance(item, Core):
                dtype = item.dtype
            elif isinstance(item, Device) or (isinstance(item, str) and item.partition(":")[0] in DEVICES):
                device = item
            elif isinstance(item, bool):
                continue  # PyTorch's non_blocking
            else:
                dtype = item
        checked_device(device)
        return self._cast(dtype, copy=copy)

    @overload
    def type(self, dtype: None = None) -> str: ...

    @overload
    def type(self, dtype: DTypeLike) -> Self: ...

    @op("answers")
    def type(self, dtype: DTypeLike | None = None) -> str | Self:
        """Return the tensor in another dtype; without one, a name for the type, "nameexpr.FloatTensor".

        >>> ne.tensor([1]).type()
        'nameexpr.LongTensor'
        """
        from nameexpr.tensors import dtypes  # imported here: few programs use PyTorch's types

        if dtype is None:
            return f"nameexpr.{dtypes.tensor_type(self._dtype_name())}"
        if isinstance(dtype, str) and dtype.endswith("Tensor"):
            dtype = dtypes.of_tensor_type(dtype)
        return self._cast(dtype)

    def _dtype_name(self) -> str:
        return self._data.dtype.name

    @op("keeps")
    def type_as(self, other: Core) -> Self:
        """Return the tensor in the dtype of another, regardless of its names.

        >>> ne.tensor([1], names="N").type_as(ne.tensor(0.5))
        tensor([1.], names=('N',), shape=(1,))
        """
        if not isinstance(other, Core):
            message = f"type_as takes the dtype of a NamedTensor, not of {shown(other)}"  # type: ignore[unreachable]
            raise error(Diagnostic("NE656", message, hint="x.to(dtype) takes a dtype"))
        return self._cast(other.dtype)

    @checked
    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """Return the tensor in another dtype: NumPy's name for `to`, which copies unless copy=False.

        >>> ne.tensor([1], names="N").astype("float64")
        tensor([1.], names=('N',), shape=(1,))
        """
        return self._cast(dtype, copy=copy)

    def _cast(self, dtype: Any, *, copy: bool = False) -> Self:
        data = self._data
        wanted = as_dtype(dtype) or data.dtype
        if wanted == data.dtype and not copy:
            return self
        try:
            if category(wanted) >= category(data.dtype) and wanted.itemsize >= data.itemsize:
                return self._wrap(data.astype(wanted), self._names)
            with np.errstate(all="ignore"):
                return self._wrap(data.astype(wanted), self._names)
        except MemoryError as refused:
            raise exhausted("to", refused) from refused
        except (TypeError, ValueError, OverflowError) as refused:
            message = f"to: not every element of this tensor of {data.dtype} can be {wanted}"
            raise error(Diagnostic("NE571", message, hint="x.tolist() shows the elements")) from refused

    bool = _cast_to("bool", ": whether it is not 0")
    byte = _cast_to("uint8", name="byte")
    char = _cast_to("int8", name="char")
    short = _cast_to("int16", name="short")
    int = _cast_to("int32", ", without its fraction", name="int")
    long = _cast_to("int64", ", without its fraction", name="long")
    half = _cast_to("float16", name="half")
    float = _cast_to("float32", name="float")
    double = _cast_to("float64", name="double")

    @op("keeps")
    def bfloat16(self, memory_format: Any = None) -> Self:
        """Return each element as bfloat16, which the package ml_dtypes provides (the extra `bfloat16`).

        Raises
        ------
        OptionError
            NE655 if it is not installed.
        """
        return self._cast("bfloat16")


DEVICES = frozenset({"cpu", "cuda", "mps", "xpu", "hip", "meta"})


def coords_of(tensor: Core, xarray: Any) -> dict[Any, Any]:
    """Return the coordinates of a tensor in the form that xarray expects."""
    coords: dict[Any, Any] = {}
    for name, dims, values, attrs in tensor._coordinates:
        if getattr(values, "nlevels", 1) > 1:
            coords |= xarray.Coordinates.from_pandas_multiindex(values, name)
        else:
            coords[name] = (dims, values, attrs)
    return coords


def _called(index: Any, name: Any) -> Any:
    """Return an index of pandas under this name, and other coordinates unchanged."""
    return index if index.nlevels > 1 else index.rename(name)


def imported(library: str, verb: str) -> ModuleType:
    """Return a library that is not a dependency (NE686 if it is not installed)."""
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError as missing:
        message = f"{verb} needs {library}, which is not installed"
        raise error(Diagnostic("NE686", message, hint=f"pip install {library}")) from missing
