"""Arrays of other libraries, recognised by their classes without importing the libraries.

Arrays of xarray, pandas and PyTorch keep the names of their dims. Arrays that NumPy cannot represent without
a loss (of a mask, of a unit, of a pending computation) are rejected, with the conversion to write. For
everything else NumPy's own conversion is right.

>>> read(np.ma.masked_array([1, 2], mask=[True, False])).hint
'fill it first: x.filled(0)'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.dims import Names, duplicate, name_fault, nearest_name, normalised

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


class Coordinate(NamedTuple):
    """The labels of positions along dims: times, names of stations. A coordinate with the name of its only
    dim labels that dim. `values` is an index of pandas or an array.
    """

    name: Any
    dims: Names
    values: Any
    attrs: dict[Any, Any]


class Foreign(NamedTuple):
    """An array of another library: its elements, the names of its dims, and its coordinates.

    `labels` contains those of dims by position, None if there are none: they may still need a name.
    """

    array: Array
    names: Names
    labels: tuple[Any, ...] = ()
    others: tuple[Coordinate, ...] = ()

    def coordinates(self, names: Names) -> tuple[Coordinate, ...]:
        """Return the coordinates, where the dims have these names."""
        pairs = zip(names, self.labels, strict=False)
        labels = [Coordinate(name, (name,), label, {}) for name, label in pairs if name and label is not None]
        return (*labels, *self.others)


class Refusal(NamedTuple):
    """The reason why an object is not accepted: the end of the error's sentence about it, and the advice.

    `is_name` is true for the name of a dim.
    """

    message: str
    hint: str
    is_name: bool = False


Reader = Callable[[Any], Foreign | Refusal]


def read(value: Any) -> Foreign | Refusal | None:
    """Return the contents of an array of another library, or why it is rejected; None for any other
    object.
    """
    reader = reader_of(type(value))
    return None if reader is None else reader(value)


def reader_of(kind: Any) -> Reader | None:
    """Return the reader for arrays of a class; None for an unknown class."""
    return _found(kind)


@lru_cache(maxsize=256)
def _found(kind: Any) -> Reader | None:
    for base in kind.__mro__:
        reader = _READERS.get((base.__module__.partition(".")[0], base.__name__))
        if reader is not None:
            return reader
    is_standard = hasattr(kind, "__array_namespace__") and not issubclass(kind, np.ndarray | np.generic)
    return _STANDARD if is_standard and kind.__module__.partition(".")[0] not in _CONVERTED else None


def classes_within(data: Any) -> set[type]:
    """Return the classes of all elements of nested lists."""
    kinds: set[type] = set(map(type, data))
    if kinds & {list, tuple}:
        nested = [classes_within(item) for item in data if isinstance(item, list | tuple)]
        kinds = kinds.union(*nested)
    return kinds


def _data_array(value: Any) -> Foreign | Refusal:
    """Read a `DataArray` or a `Variable`: dims are names, and coordinates are kept unchanged."""
    names = _names(value.dims, lambda dim, name: f"x.rename({{{dim!r}: {name!r}}})")
    if isinstance(names, Refusal):
        return names
    data = value.data
    if isinstance(read(data), Refusal):
        kind = f"{type(data).__module__.partition('.')[0]} {type(data).__name__}"
        message = f"is a {type(value).__name__} that holds a {kind}"
        lazy = ", and ne.tensor(x.data, names=x.dims) is lazy" if kind.startswith("dask") else ""
        return Refusal(message, f"x.as_numpy() computes or converts it{lazy}")
    coords = getattr(value, "coords", {})
    levels = {level for name in coords for level in _levels(coords[name]) if level != name}
    renamed = dict(zip(value.dims, names, strict=True))
    others = [_coordinate(name, coords[name], renamed) for name in coords if name not in levels]
    return Foreign(np.asarray(data), names, (), tuple(others))


def _levels(coordinate: Any) -> tuple[Any, ...]:
    is_index = coordinate.dims == (coordinate.name,)
    return tuple(coordinate.to_index().names) if is_index else ()


def _coordinate(name: Any, coordinate: Any, renamed: dict[Any, Any]) -> Coordinate:
    is_index = coordinate.dims == (name,)
    values = coordinate.to_index() if is_index else coordinate.data
    dims = tuple(renamed[dim] for dim in coordinate.dims)
    return Coordinate(renamed[name] if is_index else name, dims, values, dict(coordinate.attrs))


def _pandas(value: Any) -> Foreign | Refusal:
    """Read a `Series` or a `DataFrame`: the names of index and columns are those of dims."""
    kind, axes = type(value).__name__, value.axes
    for axis in axes:
        if axis.nlevels > 1:
            message = f"is a {kind} with a MultiIndex, whose levels are several dims in one"
            stacked = "x.to_xarray()" if len(axes) == 1 else "x.stack().to_xarray()"
            return Refusal(message, f"{stacked} has a dim for each level; x.droplevel(...) leaves one")
    given = [axis.name for axis in axes]
    keywords = ("index", "columns")
    names = _names(given, lambda dim, name: f"x.rename_axis({keywords[given.index(dim)]}={name!r})")
    if isinstance(names, Refusal):
        return names
    array = value.to_numpy()
    dtypes = [value.dtype] if len(axes) == 1 else list(value.dtypes)
    if array.dtype.hasobject and not all(
        dtype.kind == "O" and isinstance(dtype, np.dtype) for dtype in dtypes
    ):
        listed = ", ".join(dict.fromkeys(map(str, dtypes)))
        message = f"is a {kind} of {listed}, for which NumPy has no dtype"
        hint = "x.astype(float) converts numbers, and NA to nan"
        if len(axes) > 1:
            hint += "; x.select_dtypes('number') leaves out what is not a number"
        return Refusal(message, hint)
    return Foreign(array, names, tuple(None if _is_plain(axis) else axis for axis in axes))


def _is_plain(axis: Any) -> bool:
    """Return whether an index only counts positions, as the default index does."""
    return type(axis).__name__ == "RangeIndex" and axis.start == 0 and axis.step == 1


def _index(value: Any) -> Foreign | Refusal:
    """Read an `Index`, which is an array along its own dim."""
    return _pandas(value.to_series())


def _extension(value: Any) -> Foreign | Refusal:
    """Read an array of a dtype of pandas."""
    array = np.asarray(value)
    if array.dtype == object:
        return Refusal(f"is an array of {value.dtype}, for which NumPy has no dtype", "x.astype(float)")
    return Foreign(array, (None,) * array.ndim)


def _torch(value: Any) -> Foreign | Refusal:
    """Read a PyTorch tensor, whose dims had names up to 2.12."""
    dtype = str(value.dtype).removeprefix("torch.")
    losses = (
        (value.is_nested, "is nested", "x.to_padded_tensor(0)"),
        (value.is_quantized, "is quantized", "x.dequantize()"),
        (value.requires_grad, "records gradients", "x.detach()"),
        (str(value.layout) != "torch.strided", "is sparse", "x.to_dense()"),
        (value.device.type != "cpu", f"is on the device {value.device}", "x.cpu()"),
        (dtype == "bfloat16" or dtype not in ITEM_BYTES, f"has elements of {dtype}", "x.float()"),
    )
    for applies, what, hint in losses:
        if applies:
            return Refusal(f"is a tensor of PyTorch that {what}", hint)
    given = tuple(getattr(value, "names", ())) or (None,) * value.ndim
    names = _names(given, lambda dim, name: f"x.rename(**{{{dim!r}: {name!r}}})")
    if isinstance(names, Refusal):
        return names
    bare = value.rename(None) if any(names) else value
    return Foreign(bare.resolve_conj().resolve_neg().numpy(), names)


def _names(given: Iterable[Any], rename: Callable[[Any, str], str]) -> Names | Refusal:
    """Return names of dims as valid names; a refusal contains the call that renames an invalid one."""
    given = tuple(given)
    for name in given:
        reason = "names are strings" if not isinstance(name, str) else name_fault(name)
        if name is not None and reason:
            message = f"has a dim called {name!r}, which cannot name a dim: {reason}"
            return Refusal(message, rename(name, nearest_name(str(name))), is_name=True)
    names = tuple(None if name is None else normalised(name) for name in given)
    twice = duplicate(names)
    if twice:
        message = f"has two dims called {twice[0]!r}"
        return Refusal(message, rename(given[twice[1]], f"{twice[0]}_2"), is_name=True)
    return names


def _refuse(message: str, hint: str) -> Reader:
    refusal = Refusal(message, hint)
    return lambda value: refusal


_MATRIX = _refuse("is a np.matrix, which always has two dims", "give np.asarray(x)")
_DASK = _refuse("is an array of dask, which is still to be computed", "x.compute()")
_STANDARD = _refuse(
    "is an array of the array API standard, on which texts run, but not tensors",
    "np.from_dlpack(x) is one of NumPy",
)
_CONVERTED = frozenset({"jax", "jaxlib"})
"""Libraries of the standard whose arrays NumPy's own conversion is right for."""
_SPARSE = _refuse("is a sparse array", "x.todense() has all its elements")
_DATASET = _refuse(
    "is a Dataset of xarray, which holds several arrays", "give one, x['name'], or x.to_dataarray()"
)
_UNIT = "has a unit, which would be lost"
_READERS: dict[tuple[str, str], Reader] = {
    ("numpy", "MaskedArray"): _refuse(
        "is a masked array, whose mask would be lost", "fill it first: x.filled(0)"
    ),
    ("numpy", "matrix"): _MATRIX,
    ("xarray", "DataArray"): _data_array,
    ("xarray", "Variable"): _data_array,
    ("xarray", "Dataset"): _DATASET,
    ("xarray", "DataTree"): _DATASET,
    ("pandas", "Series"): _pandas,
    ("pandas", "DataFrame"): _pandas,
    ("pandas", "Index"): _index,
    ("pandas", "ExtensionArray"): _extension,
    ("torch", "Tensor"): _torch,
    **{(library, kind): _DASK for library in ("dask", "dask_expr") for kind in ("Array", "FrameBase")},
    ("dask", "_Frame"): _DASK,
    ("sparse", "SparseArray"): _SPARSE,
    ("scipy", "_spbase"): _refuse("is a sparse array of SciPy", "x.toarray() has all its elements"),
    ("scipy", "spmatrix"): _refuse("is a sparse array of SciPy", "x.toarray() has all its elements"),
    ("cupy", "ndarray"): _refuse("is an array of CuPy, on a GPU", "x.get()"),
    ("astropy", "Quantity"): _refuse(_UNIT, "x.value is the array alone, and x.to_value(unit) in a unit"),
    ("unyt", "unyt_array"): _refuse(_UNIT, "x.value is the array alone"),
    ("pint", "PlainQuantity"): _refuse(_UNIT, "x.magnitude is the array alone"),
    ("pint", "Quantity"): _refuse(_UNIT, "x.magnitude is the array alone"),
}
"""The readers of classes by library and name; those of their bases count."""
