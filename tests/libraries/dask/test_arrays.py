"""Texts on Dask arrays: lazy results, operands of other kinds next to them, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

da = pytest.importorskip("dask.array")
xr = pytest.importorskip("xarray")

X = np.random.default_rng(0).random((12, 10, 8))
W = np.random.default_rng(1).random(10)
WEIGH = "time lat lon, lat -> time lon"


def lazy(array: np.ndarray[Any, Any], chunks: Any = 4) -> Any:
    return da.from_array(array, chunks=chunks)


def refusing() -> Any:
    """Return a Dask array that cannot be computed."""

    def refuse(_: Any) -> Any:
        raise AssertionError("something was computed")

    return da.map_blocks(refuse, lazy(X), dtype=X.dtype, meta=np.empty((0, 0, 0)))


def test_results_are_lazy_and_right() -> None:
    expected = np.einsum("tab,a->tb", X, W)
    for big, weights in [(lazy(X), lazy(W, 3)), (lazy(X), W), (X, lazy(W)), (lazy(X), lazy(W, -1))]:
        result = ne.einsum(WEIGH, big, weights)
        assert isinstance(result, da.Array)
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(result.compute(scheduler="synchronous"), expected)


def test_nothing_is_computed_before_compute() -> None:
    x = refusing()
    assert ne.einsum(WEIGH, x, W).shape == (12, 8)
    formula = "y[time lat lon] = softmax[lat](x[time lat lon] - mean[lon](x[time lat lon]))"
    assert ne.evaluate(formula, x=x).shape == X.shape
    assert ne.compile("time lat lon -> lat : std")(x).shape == (10,)


def test_a_text_is_called_with_arrays_of_numpy_and_dask_in_turn() -> None:
    for _ in range(3):
        assert type(ne.einsum(WEIGH, X, W)) is np.ndarray
        assert isinstance(ne.einsum(WEIGH, lazy(X), W), da.Array)


def test_numbers_and_numpy_scalars_can_be_combined_with_dask_arrays() -> None:
    result = ne.evaluate("y = a * x[i j k] + b", x=lazy(X), a=2, b=np.float64(0.5))
    np.testing.assert_allclose(result.compute(), 2 * X + 0.5)
    assert ne.evaluate("y = a * x[i j k]", x=lazy(X.astype("f4")), a=2.5).dtype == np.float32


def test_bound_operands_of_numpy() -> None:
    weigh = ne.compile(WEIGH).bind({1: W})
    np.testing.assert_allclose(weigh(lazy(X)).compute(), weigh(X))


def test_several_results() -> None:
    first, second = ne.evaluate(
        "m[i] = mean[j k](x[i j k])\ns[i] = std[j k](x[i j k])", x=lazy(X), outputs=("m", "s")
    )
    np.testing.assert_allclose(first.compute(), X.mean((1, 2)))
    np.testing.assert_allclose(second.compute(), X.std((1, 2)))


def test_a_reducer_of_the_caller() -> None:
    result = ne.einsum("i j k -> i k", lazy(X), reduce=lambda array, axis: np.ptp(array, axis))
    np.testing.assert_allclose(result.compute(), np.ptp(X, 1))


def test_data_arrays_keep_names_and_coordinates() -> None:
    times = np.arange(12) * 10
    x = xr.DataArray(X, dims=("time", "lat", "lon"), coords={"time": times}).chunk(time=5, lat=4)
    result = ne.einsum(WEIGH, x, W)
    assert isinstance(result, xr.DataArray)
    assert (result.dims, result.chunks is not None) == (("time", "lon"), True)
    np.testing.assert_array_equal(result.time, times)
    xr.testing.assert_allclose(result, xr.dot(x, xr.DataArray(W, dims="lat"), dim="lat").compute())
    unnamed = ne.einsum("time lat lon -> time (lat lon)", x)
    assert unnamed.dims == ("time", "dim_1")


def test_plans_have_chunks_tasks_and_bytes() -> None:
    x = da.ones((6000, 4000), chunks=1000)
    plan = ne.compile("i k, k j -> i j").plan(x, da.ones((4000, 2000), chunks=1000))
    assert [step.name for step in plan.steps] == ["contract"]
    assert plan.steps[0].chunks == ((1000,) * 6, (1000,) * 2)
    assert plan.task_bytes == 8 * 1000 * 1000 * 5, "a task that adds four blocks"
    assert str(plan).endswith(f"{plan.tasks:,} tasks of at most {plan.task_bytes:,} bytes")
    norm = ne.compile("y[n c] = x[n c] / norm[c](x[n c])").plan(x=x)
    assert [step.dims for step in norm.steps] == ["n c"]


@pytest.mark.parametrize("limit", [30_000_000, 3_000_000])
@pytest.mark.parametrize(
    "text", ["y[n c] = softmax[c](x[n c])", "y[c] = var[n](exp(x[n c]))", "y[i j] = sum[c](x[i c] * x[j c])"]
)
def test_tasks_keep_to_the_limit(text: str, limit: int) -> None:
    x = da.ones((3000, 1000), chunks=(1000, 500))
    free, limited = ne.compile(text), ne.compile(text, memory_limit=limit)
    assert limited.plan(x=x).task_bytes <= limit
    assert limited.plan(x=x).tasks >= free.plan(x=x).tasks
    array = np.random.default_rng(2).random((3000, 1000))
    result = limited(x=da.from_array(array, chunks=(1000, 500)))
    np.testing.assert_allclose(result.compute(), free(x=array))


def test_lazy_coordinates_stay_lazy() -> None:
    height = refusing()[:, :, 0]
    x = xr.DataArray(refusing(), dims=("time", "lat", "lon"), coords={"height": (("time", "lat"), height)})
    result = ne.evaluate("y[time lat] = max[lon](x[time lat lon]) - min[lon](x[time lat lon])", x=x)
    assert isinstance(result.coords["height"].data, da.Array)


def test_chunks_of_unknown_size_are_refused() -> None:
    x = lazy(X)
    with pytest.raises(ne.OperandError, match=r"NE510.*'x'.*dim 0") as caught:
        ne.evaluate("y = x[i j k] + 1", x=x[x[:, 0, 0] > 0.5])
    assert "compute_chunk_sizes" in str(caught.value)


def test_large_arrays_in_memory_are_refused() -> None:
    large = np.broadcast_to(0.0, (2000, 1000))
    with pytest.raises(ne.OperandError, match=r"NE507.*operand 1 .*16,000,000 bytes") as caught:
        ne.einsum("a, a b -> b", da.ones(2000, chunks=100), large)
    assert "da.from_array" in str(caught.value)


def test_named_tensors_are_refused_unless_the_result_is_a_data_array() -> None:
    weights = ne.tensor(W, names="lat")
    with pytest.raises(ne.OperandError, match=r"NE507.*operand 1 is a NamedTensor"):
        ne.einsum(WEIGH, lazy(X), weights)
    x = xr.DataArray(lazy(X), dims=("time", "lat", "lon"))
    assert ne.einsum(WEIGH, x, weights).dims == ("time", "lon")


@pytest.mark.parametrize(
    ("code", "options"),
    [("NE616", {"tune": True}), ("NE616", {"out": np.empty((12, 8))}), ("NE709", {"memory_limit": 8})],
)
def test_options_that_cannot_be_followed_are_refused(code: str, options: dict[str, Any]) -> None:
    with pytest.raises(ne.NameExprError, match=code):
        ne.einsum(WEIGH, refusing(), W, **options)


def test_errors_of_texts_are_those_on_numpy_arrays() -> None:
    messages = []
    for x in (X, refusing()):
        with pytest.raises(ne.NameExprError) as caught:
            ne.einsum("time lat lon, time -> lat lon", x, W)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_positions_outside_are_an_error_when_they_are_computed() -> None:
    table, ids = lazy(X[0]), lazy(np.array([0, 9, 10]))
    result = ne.evaluate("y = table[lat@ids[i] lon]", table=table, ids=ids)
    with pytest.raises(ne.NameExprError, match="NE805"):
        result.compute(scheduler="synchronous")


def test_dask_is_imported_by_its_users_only() -> None:
    source = "import sys, nameexpr as ne, numpy as np; ne.einsum('a -> : sum', np.ones(2)); "
    source += "assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", source], check=True)


@pytest.mark.parametrize("dtype", [">f8", ">i4", "f2", "M8[s]", "O", "U3", "c8", "?", "u8", "g", "bfloat16"])
def test_dtypes_are_announced_as_they_are(dtype: str) -> None:
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    x = np.arange(12).reshape(3, 4).astype(dtype)
    texts = (
        ["a b -> b a"]
        if np.dtype(dtype).kind in "MOU"
        else ["a b -> b a", "a b -> a : sum", "a b -> a : max"]
    )
    for text in texts:
        expected, result = ne.einsum(text, x), ne.einsum(text, da.from_array(x, chunks=2))
        found = result.compute(scheduler="synchronous")
        assert result.dtype == found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_blocks_that_are_no_plain_arrays_are_refused() -> None:
    masked = da.from_array(np.ma.masked_array([1.0, 2.0], mask=[True, False]), chunks=1)
    with pytest.raises(ne.OperandError, match=r"NE503.*chunks of operand 0 .*MaskedArray"):
        ne.einsum("a -> : sum", masked)


def test_blocks_of_another_dtype_than_announced_are_an_error() -> None:
    halves = da.ones(4, chunks=2, dtype=int).map_blocks(lambda block: block * 1.5, dtype=int)
    with pytest.raises(ne.OperandError, match=r"NE505.*float64.*announces int64"):
        ne.einsum("a -> : sum", halves).compute(scheduler="synchronous")
