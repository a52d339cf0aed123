"""Coordinates survive where their dims do: held to xarray's own results, wherever it has the operation."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import nameexpr as ne
from nameexpr.tensors.labelled import Labelled

VALUES = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
TIMES = pd.date_range("2021", periods=3)
ARRAY = xr.DataArray(
    VALUES,
    dims=("station", "time"),
    coords={
        "station": ["Oslo", "Rome"],
        "time": ("time", TIMES, {"long_name": "day"}),
        "height": ("station", [23.0, 21.0]),
        "light": (("time", "station"), np.arange(6).reshape(3, 2)),
        "source": 7,
    },
)
PLAIN = ne.tensor(VALUES, names="station time")
Tensor = ne.NamedTensor


def tensor() -> Tensor:
    return ne.tensor(ARRAY)


def assert_same(result: Any, expected: xr.DataArray) -> None:
    assert isinstance(result, Tensor)
    back = result.to_xarray()
    xr.testing.assert_allclose(back, expected, rtol=1e-12)
    assert set(back.coords) == set(expected.coords)
    assert set(back.indexes) == set(expected.indexes)


OPERATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[xr.DataArray], xr.DataArray]]] = {
    "as it is": (lambda x: x, lambda a: a),
    "pointwise": (lambda x: x.exp(), np.exp),
    "function": (lambda x: ne.sqrt(x), np.sqrt),
    "ufunc": (lambda x: np.square(x), np.square),
    "numbers": (lambda x: 2 - x * 3, lambda a: 2 - a * 3),
    "comparison": (lambda x: x > 2, lambda a: a > 2),
    "with a plain tensor": (lambda x: PLAIN + x, lambda a: a * 2),
    "a plain tensor after it": (lambda x: x + PLAIN, lambda a: a * 2),
    "method of a plain tensor": (lambda x: PLAIN.add(x), lambda a: a * 2),
    "method of a plain tensor, DataArray": (lambda x: PLAIN.add(ARRAY), lambda a: a * 2),
    "function of a plain tensor": (lambda x: ne.maximum(PLAIN, x), lambda a: a),
    "ufunc of a plain tensor": (lambda x: np.add(PLAIN, ARRAY), lambda a: a * 2),
    "a scalar tensor before it": (lambda x: ne.tensor(1.0).sub(x), lambda a: 1 - a),
    "mask of a plain tensor": (lambda x: PLAIN.masked_fill(x > 2, 0.0), lambda a: a.where(a <= 2, 0.0)),
    "DataArray as a mask": (lambda x: PLAIN.masked_fill(ARRAY > 2, 0.0), lambda a: a.where(a <= 2, 0.0)),
    "bound of a plain tensor": (lambda x: PLAIN.clamp(max=x), lambda a: a),
    "np.where of a DataArray": (lambda x: np.where(PLAIN > 2, ARRAY, 0.0), lambda a: a.where(a > 2, 0.0)),
    "with itself": (lambda x: x * x, lambda a: a * a),
    "with a DataArray": (lambda x: x + ARRAY, lambda a: a * 2),
    "with a DataArray, plain": (lambda x: PLAIN + ARRAY, lambda a: a * 2),
    "in place": (lambda x: x.add_(1), lambda a: a + 1),
    "augmented": (lambda x: x.__iadd__(1), lambda a: a + 1),
    "cast": (lambda x: x.float(), lambda a: a.astype(np.float32)),
    "where": (lambda x: ne.where(x > 2, x, 0.0), lambda a: a.where(a > 2, 0.0)),
    "masked": (lambda x: x.masked_fill(x > 2, 0.0), lambda a: a.where(a <= 2, 0.0)),
    "transposed": (lambda x: x.T, lambda a: a),
    "aligned": (lambda x: x.align_to("time", "station"), lambda a: a.transpose("time", "station")),
    "unsqueezed": (lambda x: x.unsqueeze(0, "k"), lambda a: a.expand_dims("k")),
    "sum": (lambda x: x.sum("time"), lambda a: a.sum("time")),
    "mean of all": (lambda x: x.mean(), lambda a: a.mean()),
    "np.mean": (lambda x: np.mean(x, axis="station"), lambda a: a.mean("station")),
    "max": (lambda x: x.max("time")[0], lambda a: a.max("time")),
    "running sum": (lambda x: x.cumsum("time"), lambda a: a.cumsum("time")),
    "zeros_like": (ne.zeros_like, xr.zeros_like),
    "ones_like a DataArray": (lambda x: ne.ones_like(ARRAY), xr.ones_like),
    "rand_like": (lambda x: ne.rand_like(x) * 0, xr.zeros_like),
    "row": (lambda x: x[0], lambda a: a[0]),
    "element": (lambda x: x[1, -1], lambda a: a[1, -1]),
    "slice": (lambda x: x[:, ::-2], lambda a: a[:, ::-2]),
    "list": (lambda x: x[..., [2, 0, 1]], lambda a: a[..., [2, 0, 1]]),
    "mask": (lambda x: x[:, np.array([True, False, True])], lambda a: a[:, [0, 2]]),
    "isel": (
        lambda x: x.isel(time=[1, 1], station=slice(1, None)),
        lambda a: a.isel(time=[1, 1], station=slice(1, None)),
    ),
    "iteration": (lambda x: list(x)[1], lambda a: a[1]),
    "flip": (lambda x: x.flip("time"), lambda a: a[:, ::-1]),
    "roll": (lambda x: x.roll(1, "time"), lambda a: a.roll(time=1, roll_coords=True)),
    "narrow": (lambda x: x.narrow("time", 1, 2), lambda a: a[:, 1:]),
    "index_select": (lambda x: x.index_select("time", [2, 1, 0]), lambda a: a[:, ::-1]),
    "split": (lambda x: x.split(2, "time")[1], lambda a: a[:, 2:]),
    "chunk": (lambda x: ne.chunk(x, 3, "time")[1], lambda a: a[:, 1:2]),
    "rename": (lambda x: x.rename(time="day"), lambda a: a.rename(time="day")),
    "swapped names": (
        lambda x: x.rename(time="station", station="time"),
        lambda a: a.rename(time="station", station="time"),
    ),
    "cat": (
        lambda x: ne.cat([x, x[:, :1]], "time"),
        lambda a: xr.concat([a, a[:, :1]], "time", coords="different", compat="equals"),
    ),
    "stack": (
        lambda x: ne.stack([x, x], name="k"),
        lambda a: xr.concat([a, a], "k", coords="minimal", compat="override"),
    ),
    "expression": (lambda x: ne.einsum("station time -> time station", x), lambda a: a),
    "contraction": (
        lambda x: ne.einsum("station time, time -> station", x, np.ones(3)),
        lambda a: a.sum("time"),
    ),
    "ellipsis": (lambda x: ne.einsum("... time -> time ...", x), lambda a: a),
    "formula": (
        lambda x: ne.evaluate("x[station time] - mean[time](x[station time])", x=x),
        lambda a: a - a.mean("time"),
    ),
    "formula of a DataArray": (
        lambda x: ne.evaluate("y[time] = sum[station](x[station time])", x=ARRAY),
        lambda a: a.sum("station"),
    ),
    "two results": (
        lambda x: ne.evaluate("y[station time] = -x; z[time] = sum[station](y)", x=x, outputs=["y", "z"])[1],
        lambda a: (-a).sum("station"),
    ),
    "compiled": (lambda x: ne.compile("station time -> time : sum")(x), lambda a: a.sum("station")),
    "bound": (
        lambda x: ne.compile("station time, -> station time").bind({0: x})(1.0),
        lambda a: a,
    ),
    "by name": (lambda x: x.by_name - x.mean("time"), lambda a: a - a.mean("time")),
    "by name, to the right": (lambda x: x.mean("time").by_name - x.T, lambda a: a.mean("time") - a),
    "plain by name": (lambda x: PLAIN.T.by_name - x, lambda a: a - a),
    "plain by name, method": (lambda x: PLAIN.T.by_name.sub(x), lambda a: a - a),
    "plain by name, comparison": (lambda x: PLAIN.T.by_name <= x, lambda a: a == a.copy()),
    "plain by name, ufunc": (lambda x: np.maximum(PLAIN.T.by_name, x), lambda a: a),
    "plain by name, DataArray": (lambda x: PLAIN.T.by_name - ARRAY, lambda a: a - a),
    "plain by name, where": (
        lambda x: PLAIN.T.by_name.where(x > 2, 0.0),
        lambda a: a.where(a > 2, 0.0),
    ),
    "plain by name, @": (
        lambda x: PLAIN.T.by_name @ x.sum("time"),
        lambda a: (a * a.sum("time")).sum("station").drop_vars("time"),
    ),
    "to the right of a plain one by name": (lambda x: x - PLAIN.T.by_name, lambda a: a - a),
    "by name and back": (lambda x: x.by_name.by_position + 1, lambda a: a + 1),
    "softmax": (lambda x: x.softmax("time"), lambda a: np.exp(a) / np.exp(a).sum("time")),
    "pickled": (lambda x: pickle.loads(pickle.dumps(x)), lambda a: a),
    "copied": (copy.deepcopy, lambda a: a),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_coordinates_are_those_of_xarray(operation: str) -> None:
    ours, theirs = OPERATIONS[operation]
    for _ in range(2):  # the second call of a text takes another way
        result, expected = ours(tensor()), theirs(ARRAY)
        assert_same(result, expected.transpose(*result.names, transpose_coords=False))


def test_a_data_array_comes_back_as_it_was() -> None:
    back = ne.from_xarray(ARRAY).to_xarray()
    xr.testing.assert_identical(back, ARRAY)
    assert back.indexes["time"].equals(ARRAY.indexes["time"])
    assert np.shares_memory(back.values, VALUES)
    stacked = ARRAY.stack(both=("station", "time"))
    xr.testing.assert_equal(ne.from_xarray(stacked).to_xarray(), stacked)


def test_pandas_comes_back_as_it_was() -> None:
    table = ARRAY.to_pandas()
    pd.testing.assert_frame_equal(ne.from_pandas(table).to_pandas(), table, check_freq=False)
    series = pd.Series([1.0, 2.0], ["a", "b"])
    named = ne.from_pandas(series, names="N")
    assert list(named.coords["N"]) == ["a", "b"] and named.to_pandas().index.name == "N"
    assert ne.tensor(series).to_pandas().index.tolist() == [0, 1]
    regions = pd.Series([1.0, 2.0], pd.DatetimeIndex(["2021", "2022"], tz="Europe/Oslo", name="t"))
    pd.testing.assert_series_equal(ne.einsum("t -> t", regions).to_pandas(), regions)
    pd.testing.assert_series_equal(ne.tensor(regions)[::-1].to_pandas(), regions[::-1])


@pytest.mark.parametrize(
    "rearrange",
    [
        lambda x: x.sort("time")[0],
        lambda x: x.sort(axis=1)[0],
        lambda x: x.argsort(),
        lambda x: x.topk(3, "time")[0],
        lambda x: x.topk(3)[1],
        lambda x: x.gather("time", np.zeros((2, 3), int)),
        lambda x: ne.evaluate("y[station time] = sort[time](x[station time])", x=x),
        lambda x: ne.evaluate("y[station time] = flip[time](x[station time])", x=x),
        lambda x: ne.einsum("station time=t -> station time=t", x),
        lambda x: x.flatten("station time", "time")[None, :3].rename("station", "time")[[0, 0]],
    ],
)
def test_a_dim_whose_elements_move_one_by_one_loses_its_coordinates(rearrange: Callable[[Any], Any]) -> None:
    result = rearrange(tensor())
    assert result.names == ("station", "time")
    assert not {"time", "light"} & set(result.coords)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a[N M] = x[N M]; y[N M] = a[N M]", "NM"),
        ("a[N=2 M] = x[N M]; y[M N] = a[N M=2]", "NM"),
        ("a[M N] = x[N M]; y[N M] = a + x", "NM"),
        ("a[p...] = x[p...]; y[p...] = a[p...] * x[p...]", "NM"),
        ("a[N M] = x[N M]; y[N M] = a[M N]", ""),
        ("a[N M] = x[N M]; a[M N]", ""),
        ("a[N M] = x[N M]; y[N] = sum[M](a[M N])", ""),
        ("a[N M] = x[N M]; y[N M] = a[N M] - a[M N]", ""),
        ("a[N M] = x[N M]; b[M N] = a[M N]; y[N M] = b[N M]", ""),
        ("c[N] = sum[M](x[N M]); y[M N] = c[M] - c[N]", "N"),
        ("c[N] = sum[M](x[N M]); y[M] = c[M]", ""),
        ("a[p...] = x[p...]; a[M N]", ""),
    ],
)
def test_a_value_under_other_labels_has_no_coordinates(text: str, kept: str) -> None:
    coords = {"N": ["a", "b"], "M": ["x", "y"]}
    x = ne.tensor(xr.DataArray(np.arange(4.0).reshape(2, 2), dims=("N", "M"), coords=coords))
    result = ne.evaluate(text, x=x)
    assert {name: list(result.coords[name].values) for name in result.coords} == {
        name: coords[name] for name in kept
    }


@pytest.mark.parametrize(
    "apply",
    [
        lambda x: np.sort(x, axis="time"),
        lambda x: np.argsort(x, axis=1),
        lambda x: np.flip(x, axis="time"),
        lambda x: np.roll(x, 1, axis=-1),
        lambda x: np.take(x, [2, 0, 1], axis="time"),
        lambda x: np.repeat(x, 2, axis=1)[:, :3],
        lambda x: np.diff(x, axis=1, prepend=np.zeros((2, 1))),
        lambda x: np.concatenate([x[:, :1].numpy(), x[:, 1:]], axis=1),
        lambda x: np.dot(x, ne.ones(3, 3, names=("time", "k"))).rename(k="time"),
    ],
)
def test_functions_of_numpy_lose_the_coordinates_of_the_dims_that_they_work_along(
    apply: Callable[[Any], Any],
) -> None:
    result = apply(tensor())
    assert result.names == ("station", "time")
    assert set(result.coords) == {"station", "height", "source"}
    assert list(result.coords["station"]) == ["Oslo", "Rome"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            lambda x: np.concatenate([x[:1], x[1:]], axis="station"),
            lambda a: xr.concat([a[:1], a[1:]], "station", coords="different", compat="equals"),
        ),
        (lambda x: np.stack([x, x])[0], lambda a: a),
        (lambda x: np.gradient(x, axis=1), lambda a: a.copy(data=np.gradient(a.values, axis=1))),
        (lambda x: np.clip(x, PLAIN, 9), lambda a: a),
        (lambda x: np.dot(x, np.ones(3)), lambda a: a.sum("time")),
    ],
)
def test_functions_of_numpy_keep_the_coordinates_of_xarray(
    ours: Callable[[Any], Any], theirs: Callable[[Any], Any]
) -> None:
    expected = theirs(ARRAY)
    assert_same(ours(tensor()), expected)


def test_an_index_that_is_named_like_a_lost_dim_does_not_get_its_coordinates() -> None:
    index = ne.tensor([0, 0, 1], names="time")
    assert "time" not in tensor()[:, 1][index].coords
    assert "time" not in tensor().isel(time=1)[index].coords


@pytest.mark.parametrize(
    "meet",
    [
        lambda x, y: x + y,
        lambda x, y: x.add(y),
        lambda x, y: x.add_(y),
        lambda x, y: x + y.to_xarray(),
        lambda x, y: x < y,
        lambda x, y: np.add(x, y),
        lambda x, y: ne.where(x > 0, x, y),
        lambda x, y: x.masked_fill(y > 0, 0.0),
        lambda x, y: x[(y > 0)[:, 0]],
        lambda x, y: x.__setitem__(..., y),
        lambda x, y: x.clamp(max=y),
        lambda x, y: np.where(x > 0, x, y.to_xarray()),
        lambda x, y: x.T @ y.rename(time="t"),
        lambda x, y: x.T.tensordot(y.rename(time="t"), (["station"], ["station"])),
        lambda x, y: PLAIN.clamp(x, y),
        lambda x, y: np.clip(x, 0, y),
        lambda x, y: np.dot(x.T, y.rename(time="t")),
        lambda x, y: np.concatenate([x, y], axis=1),
        lambda x, y: np.stack([x, y]),
        lambda x, y: PLAIN.by_name.where(x > 0, y),
        lambda x, y: ne.cat([x, y], "time"),
        lambda x, y: ne.stack([x, y]),
        lambda x, y: ne.einsum("station time, station time -> time", x, y),
        lambda x, y: ne.einsum("station time, station time -> time", x, y.to_xarray()),
        lambda x, y: ne.evaluate("x[station time] + y[station time]", x=x, y=y),
        lambda x, y: ne.compile("station time, station time -> time").bind({0: x})(y),
        lambda x, y: ne.compile("station time, station time -> time").bind({0: x, 1: y}),
    ],
)
def test_labels_that_differ_are_not_combined(meet: Callable[[Any, Any], Any]) -> None:
    x, y = tensor(), ne.tensor(ARRAY.assign_coords(station=["Oslo", "Bergen"]))
    before = x.numpy().copy()
    with pytest.raises(ne.OperandError, match=r"'station' has different coordinates.*Rome and Bergen"):
        meet(x, y)
    np.testing.assert_array_equal(x.numpy(), before)
    assert "time" in getattr(meet(tensor(), tensor()), "coords", "time")
    meet(tensor().drop_coords("station"), y)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, out: x.add(1, out=out),
        lambda x, out: ne.exp(x, out=out),
        lambda x, out: x.cumsum("time", out=out),
        lambda x, out: np.add(x, 1, out=out),
        lambda x, out: np.cumsum(x, axis=1, out=out),
        lambda x, out: ne.cat([x[:, :1], x[:, 1:]], "time", out=out),
        lambda x, out: ne.einsum("station time -> station time", x, out=out),
        lambda x, out: ne.compile("x[station time] + 1")(x=x, out=out),
        lambda x, out: out.__setitem__(slice(None), x),
    ],
)
def test_elements_are_not_written_under_the_labels_of_others(write: Callable[[Any, Any], Any]) -> None:
    out = tensor().flip("station")
    before = out.numpy().copy()
    with pytest.raises(ne.OperandError, match="'station' has different coordinates"):
        write(tensor(), out)
    np.testing.assert_array_equal(out.numpy(), before)
    write(tensor(), tensor())


def test_a_reversed_part_is_written_by_what_is_reversed_too() -> None:
    x = tensor()
    x[::-1] = tensor()[::-1] * 2
    assert_same(x, ARRAY * 2)
    with pytest.raises(ne.OperandError, match="different coordinates"):
        x[::-1] = tensor()


def test_a_contraction_has_the_labels_of_the_dims_that_are_left() -> None:
    square = ne.tensor(xr.DataArray(np.eye(2), dims=("station", "k"), coords={"station": ["x", "y"]}))
    plain = ne.tensor(np.ones((2, 2)), names="j station")
    for product in (
        plain @ square,
        plain.mm(square),
        plain.rename(j="station", station="b").mm(square),
        ne.ones(2, 2).addmm(plain, square),
        np.matmul(plain, square),
    ):
        assert not product.coords
    assert list(square.mm(ne.ones(2, 2)).coords["station"]) == ["x", "y"]
    assert list(plain.rename(station="k").mm(square.T).coords["station"]) == ["x", "y"]
    assert list(ne.zeros(2).addmv(square, ne.ones(2)).coords["station"]) == ["x", "y"]


def test_the_coordinates_of_an_index_are_not_those_of_the_dims() -> None:
    index = ne.tensor(xr.DataArray([1, 0], dims="station", coords={"station": ["x", "y"]}))
    for x in (tensor().drop_coords(), tensor()):
        expected = x.coords.get("station")
        for result in (x.index_fill("time", index, 0.0), x.index_select("time", index)):
            assert ("station" in result.coords) == (expected is not None)
            assert expected is None or list(result.coords["station"]) == list(expected)


def test_other_coordinates_that_differ_are_left_out() -> None:
    other = ne.tensor(ARRAY.assign_coords(height=("station", [0.0, 1.0]), source=8))
    expected = ARRAY + ARRAY.assign_coords(height=("station", [0.0, 1.0]), source=8)
    assert_same(tensor() + other, expected)
    assert "height" not in (tensor() + other).coords


def test_coordinates_can_be_asked_for_and_dropped() -> None:
    x = tensor()
    xr.testing.assert_equal(x.coords.to_dataset(), ARRAY.coords.to_dataset())
    assert set(x.drop_coords("time", "light").coords) == {"station", "height", "source"}
    assert type(x.drop_coords()) is Tensor
    assert not x.drop_coords().coords and not PLAIN.coords
    assert PLAIN.drop_coords() is PLAIN


def test_names_that_are_set_take_their_coordinates_along() -> None:
    x = tensor()
    x.names = "place day"
    assert_same(x, ARRAY.rename(station="place", time="day"))
    assert x.rename_(place=None) is x
    assert set(x.coords) == {"day", "source"}


def test_a_tensor_without_coordinates_stays_plain() -> None:
    for result in (
        PLAIN + 1,
        tensor().drop_coords() + PLAIN,
        ne.tensor(xr.DataArray(VALUES, dims=("a", "b"))),
    ):
        assert type(result) is Tensor
    assert isinstance(tensor(), Labelled)
    assert type(tensor().drop_coords("source").mean()) is Tensor


def test_xarray_pairs_the_dims_of_a_tensor_by_name() -> None:
    square = xr.DataArray(np.arange(4.0).reshape(2, 2), dims=("a", "b"), coords={"a": [1, 2]})
    plain = ne.tensor(square).drop_coords()
    for other in (ne.tensor(square).T, plain.T):
        xr.testing.assert_equal(np.add(square, other), square * 2)
        xr.testing.assert_equal(square + other, square * 2)
    assert xr.DataArray(plain).dims == ("a", "b")
    with pytest.raises(ne.DimNameError):
        square + plain.rename(None)
    for result in (square + ne.tensor(square).T, np.add(square, ne.tensor(square).T)):
        assert isinstance(result, xr.DataArray)
        xr.testing.assert_equal(result, square * 2)
    with pytest.raises(ValueError, match="conflicting"):
        square + ne.tensor(square).flip("a")
