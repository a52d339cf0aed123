"""Reductions without nan and quantiles, compared with NumPy's functions on the bare arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import named_shapes, removed_names, values

AXES: list[Any] = [None, 0, 1, -1, (0, 2), "all"]
SPREADS = ("nanstd", "nanvar")


def numbers(dtype: str) -> np.ndarray[Any, Any]:
    array = np.random.default_rng(3).normal(size=(3, 4, 5)) * 9
    if np.dtype(dtype).kind == "f":
        array[array > 6] = np.nan
        array[1, 2] = np.nan
    return array.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("verb", ["nansum", "nanmean", *SPREADS])
def test_the_values_are_numpys(verb: str, axis: Any, dtype: str) -> None:
    array = numbers(dtype)
    x = ne.from_numpy(array, names="A B C")
    axis = (0, 1, 2) if axis == "all" else axis
    dim = list(axis) if isinstance(axis, tuple) else axis
    for keepdims in (False, True):
        options = {"ddof": 1} if verb in SPREADS else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's about means of nothing
            wanted = getattr(np, verb)(array, axis, keepdims=keepdims, **options)
        result = getattr(x, verb)(dim, keepdim=keepdims)
        wanted_dtype = wanted.dtype if verb != "nansum" or dtype.startswith("float") else np.int64
        assert result.dtype == wanted_dtype and result.shape == np.shape(wanted)
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-5 if dtype == "float32" else 1e-12)


def test_nothing_but_nan_gives_0_and_nan_without_a_warning() -> None:
    x = ne.tensor([[np.nan, np.nan], [np.nan, 3.0]], names="N C")
    assert x.nansum("C").tolist() == [0, 3]
    np.testing.assert_equal(x.nanmean("C").tolist(), [np.nan, 3])
    np.testing.assert_equal(x.nanstd("C", correction=0).tolist(), [np.nan, 0])
    np.testing.assert_equal(x.nanvar("C").tolist(), [np.nan, np.nan])
    np.testing.assert_equal(x.nanquantile(0.5, "C").tolist(), [np.nan, 3])


def test_narrow_and_complex_numbers() -> None:
    narrow = ne.ones(5000, dtype="float16")
    assert narrow.nansum().item() == narrow.sum().item() == 5000 and narrow.nanmean().dtype == np.float16
    z = np.array([1 + 1j, np.nan, 3 - 1j])
    np.testing.assert_allclose(ne.tensor(z).nanmean().numpy(), np.nanmean(z))
    np.testing.assert_allclose(ne.tensor(z).nanvar(correction=0).numpy(), np.nanvar(z))


@settings(max_examples=60)
@given(named_shapes(most=3), st.data())
def test_quantiles_are_numpys(dims: Any, data: st.DataObject) -> None:
    names, shape = dims
    array = values(7, shape, np.dtype(data.draw(st.sampled_from(["float64", "int64", "float32"]))))
    x = ne.from_numpy(array, names=names)
    gone = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True)) if shape else []
    axis = tuple(gone) or tuple(range(len(shape)))
    q = data.draw(st.sampled_from([0, 0.3, 1.0, [0.1, 0.9], [[0.2], [0.5]]]))
    keepdims = data.draw(st.booleans())
    if 0 in [shape[at] for at in axis]:
        with pytest.raises(ne.SizeError, match="NE390"):
            x.quantile(q, gone, keepdims)
        return
    result = x.quantile(q, gone, keepdims)
    wanted = np.quantile(array, q, axis=axis, keepdims=keepdims) if shape else np.quantile(array, q)
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-6)
    assert result.names == (None,) * np.ndim(q) + removed_names(names, axis, keepdims)
    assert result.dtype == (array.dtype if array.dtype.kind == "f" else np.float64)


@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "hazen", "inverted_cdf"])
def test_the_methods_of_quantiles_are_numpys(method: str) -> None:
    array = numbers("float64")
    x = ne.from_numpy(array, names="A B C")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.nanquantile(array, [0.2, 0.6], axis=2, method=method)  # type: ignore[call-overload]
        np.testing.assert_allclose(x.nanquantile([0.2, 0.6], "C", method=method).numpy(), wanted)
    bare = np.nan_to_num(array)
    wanted = np.quantile(bare, 0.35, method=method)  # type: ignore[call-overload]
    assert ne.quantile(bare, 0.35, interpolation=method).item() == pytest.approx(wanted)


def test_a_tensor_of_levels_gives_its_names() -> None:
    x = ne.tensor([[1.0, 2.0, 4.0]], names="N C")
    assert x.quantile(ne.tensor([0.0, 1.0], names="q"), "C").names == ("q", "N")
    with pytest.raises(ne.DimNameError, match="NE473"):
        x.quantile(ne.tensor([0.0, 1.0], names="N"), "C")


@pytest.mark.parametrize("q", [-0.1, 1.5, "half", True, [0.5, 2], np.nan])
def test_a_level_is_from_0_to_1(q: Any) -> None:
    with pytest.raises(ne.NameExprError):
        ne.tensor([1.0, 2.0]).quantile(q)


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool", "uint8"])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_differences_are_numpys(n: int, dtype: str) -> None:
    array = np.random.default_rng(0).integers(0, 2, (3, 4)).astype(dtype)
    x = ne.from_numpy(array, names="N C")
    for at, name in enumerate("NC"):
        for result in (x.diff(n, name), x.diff(n, axis=at), ne.diff(x, n, name)):
            wanted = np.diff(array, n, at)
            assert result.names == ("N", "C") and result.dtype == wanted.dtype
            np.testing.assert_array_equal(result.numpy(), wanted)
    np.testing.assert_array_equal(x.diff("N").numpy(), np.diff(array, axis=0))


def test_clip_copy_and_tensordot_are_methods_and_functions() -> None:
    array = np.array([[1.0, -2.0], [5.0, 3.0]])
    x = ne.from_numpy(array, names="N C")
    assert x.clip(0, 2).tolist() == ne.clip(x, a_min=0, a_max=2).tolist() == np.clip(array, 0, 2).tolist()
    copy = x.copy()
    assert copy.equal(x) and not np.shares_memory(copy.numpy(), array)
    w = ne.from_numpy(array.T.copy(), names="C K")
    assert x.tensordot(w, axes=(["C"], ["C"])).names == ("N", "K")
    np.testing.assert_allclose(x.tensordot(w, 1).numpy(), np.tensordot(array, array.T, 1))


def test_dims_and_sizes_are_those_of_xarray() -> None:
    x = ne.zeros(2, 3, names="N C")
    assert x.dims == ("N", "C") and x.sizes == {"N": 2, "C": 3}
    assert ne.zeros(2, 3, names=("N", None)).sizes == {"N": 2, 1: 3} and ne.tensor(1.0).sizes == {}
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(np.zeros((2, 3)), dims=("N", "C"))
    assert array.dims == x.dims and dict(array.sizes) == x.sizes
