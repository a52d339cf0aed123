"""Arrays of other libraries are understood with their names, or rejected with what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import nameexpr as ne
from nameexpr.backends.numpy.foreign import Foreign, Refusal, classes_within, read

VALUES = np.arange(6.0).reshape(2, 3)
ARRAY = xr.DataArray(VALUES, dims=("station", "time"), coords={"station": ["Oslo", "Bergen"]})
TABLE = pd.DataFrame(VALUES).rename_axis(index="station", columns="time")
NAMED = [ARRAY, ARRAY.variable, TABLE]
TENSOR = ne.tensor(VALUES, names="station time")


@pytest.mark.parametrize("array", NAMED, ids=lambda one: type(one).__name__)
def test_names_are_checked_wherever_an_array_is_taken(array: Any) -> None:
    takers: list[Callable[[], Any]] = [
        lambda: ne.einsum("time station -> station time", array),
        lambda: ne.evaluate("y[time station] = 2 * x[time station]", x=array),
        lambda: ne.compile("time station -> station time")(array),
        lambda: ne.compile("time station, k -> station time k").bind({0: array}),
        lambda: TENSOR.T[:, :2] + array[:, :2] if array is not TABLE else TENSOR.T + array,
        lambda: ne.tensor(array, names="time station"),
    ]
    for take in takers:
        with pytest.raises(ne.DimNameError):
            take()


@pytest.mark.parametrize("array", NAMED, ids=lambda one: type(one).__name__)
def test_names_come_with_an_array(array: Any) -> None:
    results = [
        ne.einsum("station time -> station time", array),
        ne.evaluate("x[station time] + 0", x=array),
        ne.compile("station time, -> station time")(array, 1.0),
        ne.tensor(array),
        ne.as_tensor(array),
        ne.add(array, 0),
        TENSOR * 0 + array,
        TENSOR.rename(None) * 0 + array,
        ne.where(array > -1, array, 0.0),
        ne.cat([array, array], "time")[:, :3],
        ne.stack([array], name="k")[0],
        np.add(TENSOR * 0, array),
    ]
    for result in results:
        assert isinstance(result, ne.NamedTensor)
        assert result.names == ("station", "time")
        np.testing.assert_array_equal(result.numpy(), VALUES)


def test_a_series_is_named_by_its_index() -> None:
    series = pd.Series([1.0, 2.0], pd.Index(["Oslo", "Bergen"], name="station"))
    assert ne.tensor(series).names == ("station",)
    assert ne.einsum("station time, station -> time", ARRAY, series).names == ("time",)
    with pytest.raises(ne.DimNameError):
        ne.einsum("time -> time", series)
    assert ne.tensor(pd.Index([1, 2], name="station")).names == ("station",)


def test_an_unnamed_index_is_an_unnamed_dim() -> None:
    plain = pd.DataFrame(VALUES)
    assert type(ne.einsum("a b -> b a", plain)) is np.ndarray
    assert ne.tensor(plain).names == (None, None)
    assert ne.tensor(plain.rename_axis("N")).names == ("N", None)
    assert ne.from_pandas(plain.rename_axis("N"), names="N K").names == ("N", "K")


def test_pandas_leaves_operators_to_tensors() -> None:
    for result in (TABLE + TENSOR, TABLE == TENSOR, np.add(TABLE, TENSOR)):
        assert isinstance(result, ne.NamedTensor)
        assert result.names == ("station", "time")
    with pytest.raises(ne.DimNameError):
        TABLE.T.iloc[:2, :2] + TENSOR[:, :2]


def test_a_tensor_shares_the_array_of_a_data_array() -> None:
    assert np.shares_memory(ne.as_tensor(ARRAY).numpy(), VALUES)
    assert not np.shares_memory(ne.tensor(ARRAY).numpy(), VALUES)


def stand_in(library: str, name: str, **attributes: Any) -> Any:
    """Return an object of a class that another library could have."""
    return type(name, (), {"__module__": library, **attributes})()


class Device:
    type = "cpu"


@pytest.mark.parametrize(
    ("array", "hint"),
    [
        (np.ma.masked_array([1.0], mask=[True]), "x.filled(0)"),
        (np.ones((1, 1)).view(np.matrix), "np.asarray(x)"),
        (ARRAY.to_dataset(name="t"), "x.to_dataarray()"),
        (xr.DataArray(VALUES, dims=("station id", "time")), "x.rename({'station id': 'station_id'})"),
        (TABLE.rename_axis(columns="a b"), "x.rename_axis(columns='a_b')"),
        (TABLE.rename_axis(index=7), "x.rename_axis(index='_7')"),
        (TABLE.rename_axis(columns="station"), "x.rename_axis(index='station_2')"),
        (ARRAY.stack(both=["station", "time"]).to_pandas(), "x.to_xarray()"),
        (pd.concat({"a": TABLE}), "x.stack().to_xarray()"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), "x.select_dtypes('number')"),
        (pd.DataFrame({"a": [1], "b": [True]}), "x.astype(float)"),
        (pd.Series([1, 2], dtype="category"), None),
        (pd.Series(["a"], dtype="category"), "x.astype(float)"),
        (pd.array([True, None], dtype="boolean"), "x.astype(float)"),
        (stand_in("dask_expr._collection", "FrameBase"), "x.compute()"),
        (stand_in("sparse.numba_backend", "SparseArray"), "x.todense()"),
        (stand_in("scipy.sparse._base", "_spbase"), "x.toarray()"),
        (stand_in("cupy", "ndarray"), "x.get()"),
        (stand_in("pint.facets", "PlainQuantity"), "x.magnitude"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_would_lose_its_meaning_is_refused_with_what_to_write(array: Any, hint: str | None) -> None:
    found = read(array)
    if hint is None:
        assert isinstance(found, Foreign)
        return
    assert isinstance(found, Refusal)
    assert hint in found.hint
    for take in (
        lambda: ne.einsum("N -> : sum", array),
        lambda: ne.evaluate("sum[N](x[N])", x=array),
        lambda: ne.tensor(array),
        lambda: ne.tensor(1.0) + array,
        lambda: ne.add(array, 1),
        lambda: ne.tensor([array]),
        lambda: ne.einsum("K N -> : sum", [array]),
    ):
        with pytest.raises(ne.NameExprError):
            take()


def test_a_data_array_of_another_library_is_refused() -> None:
    class Array(np.lib.mixins.NDArrayOperatorsMixin):
        __module__ = "dask.array.core"
        shape, ndim, dtype = (2, 3), 2, VALUES.dtype
        __array_function__ = None

        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
            return NotImplemented

    with pytest.raises(ne.OptionError, match="is a DataArray that holds a dask Array"):
        ne.tensor(xr.DataArray(Array(), dims=("N", "C")))


def test_elements_of_nested_lists_are_looked_at() -> None:
    assert classes_within([[1, 2.0], [True, (3j,)]]) == {list, tuple, int, float, bool, complex}
    for lists in ([[1.0], [np.ma.masked]], [[0.0, 1.0, 2.0], TENSOR[0]], [[ARRAY]]):
        with pytest.raises(ne.OptionError) as caught:
            ne.tensor(lists)
        assert caught.value.code == "NE653"
        with pytest.raises(ne.OperandError, match="NE503"):
            ne.einsum("... -> ...", lists)


def test_buffers_are_arrays() -> None:
    np.testing.assert_array_equal(ne.tensor(memoryview(VALUES)).numpy(), VALUES)
    np.testing.assert_array_equal(ne.einsum("a b -> a b", memoryview(VALUES)), VALUES)


def test_a_subclass_is_read_as_its_base() -> None:
    class Weather(xr.DataArray):
        __slots__ = ()

    assert ne.tensor(Weather(VALUES, dims=("N", "C"))).names == ("N", "C")


def test_arrays_of_other_libraries_are_indices() -> None:
    rows = pd.Series([False, True], pd.Index(["a", "b"], name="station"))
    assert TENSOR[rows].names == ("station", "time")
    np.testing.assert_array_equal(TENSOR[rows].numpy(), VALUES[1:])
    places = xr.DataArray([2, 0], dims="time")
    np.testing.assert_array_equal(TENSOR.isel(time=places).numpy(), VALUES[:, [2, 0]])
    with pytest.raises(ne.OptionError, match="NE654"):
        TENSOR[np.ma.masked_array([0, 1], mask=[True, False])]
