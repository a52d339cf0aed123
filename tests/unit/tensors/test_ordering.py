"""Order statistics on generated tensors: values by sorting Python's lists, and indices that point at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import Array, Names, named_shapes, removed_names, values

Row = Sequence[Any]


def order(value: Any) -> tuple[bool, Any]:
    """The key to sort by: nan is the largest."""
    return (True, 0) if math.isnan(value) else (False, value)


def lower_median(row: Row) -> Any:
    return math.nan if any(map(math.isnan, row)) else sorted(row)[(len(row) - 1) // 2]


def nanmedian(row: Row) -> Any:
    known = [v for v in row if not math.isnan(v)]
    return lower_median(known) if known else math.nan


def mode(row: Row) -> Any:
    return min((v for v in row), key=lambda v: (-row.count(v), order(v)))


def largest(row: Row) -> Any:
    return max(row, key=order)


def smallest(row: Row) -> Any:
    return math.nan if any(map(math.isnan, row)) else min(row)


SELECTED: dict[str, Callable[[Row], Any]] = {
    "median": lower_median,
    "nanmedian": nanmedian,
    "mode": mode,
    "max": largest,
    "min": smallest,
}


def rows(array: Array, at: int) -> tuple[list[list[Any]], tuple[int, ...]]:
    """The lists of elements along a dim, and the shape that they are in."""
    moved = np.moveaxis(array, at, -1)
    return moved.reshape(-1, array.shape[at]).tolist() if array.size else [], moved.shape[:-1]


def selected(array: Array, at: int, loop: Callable[[Row], Any]) -> Array:
    lists, shape = rows(array, at)
    return np.array([loop(row) for row in lists], array.dtype).reshape(shape)


def ordered(array: Array, at: int, loop: Callable[[Row], Row], dtype: Any = None) -> Array:
    """Rows replaced by lists of any one length."""
    lists, shape = rows(array, at)
    result = [loop(row) for row in lists]
    length = len(result[0]) if result else len(loop([0] * array.shape[at]))
    return np.moveaxis(np.array(result, dtype or array.dtype).reshape(*shape, length), -1, at)


def places_in_order(row: Row, descending: bool) -> list[int]:
    """Where the elements in order stand, equal ones in their order."""
    return sorted(range(len(row)), key=lambda place: order(row[place]), reverse=descending)


@st.composite
def tensors(draw: st.DrawFn) -> tuple[ne.NamedTensor, int, Any]:
    """A tensor with many equal elements, some of them nan, a position, and a spelling of it."""
    names, shape = draw(named_shapes(most=3).filter(lambda dims: dims[0]))
    dtype = draw(st.sampled_from([np.dtype(kind) for kind in (float, np.int64, bool, np.float32)]))
    array = values(draw(st.integers(0, 999)), shape, dtype)
    if dtype.kind == "f":
        array = np.round(array)
        array[
            np.random.default_rng(draw(st.integers(0, 9))).random(shape)
            < draw(st.sampled_from((0, 0.2, 0.9)))
        ] = np.nan
    at = draw(st.integers(0, len(names) - 1))
    return (
        ne.from_numpy(array, names=names),
        at,
        draw(st.sampled_from([at, at - len(names), names[at] or at])),
    )


def assert_selected(
    result: Any, wanted: Array, x: Array, at: int, names: Names, what: str, *, keepdim: bool
) -> None:
    """The values are right, and stand at the indices."""
    chosen, places = result.values, result.indices
    assert result[0] is chosen and result[1] is places and len(result) == 2, what
    assert chosen.names == places.names == names, what
    assert chosen.dtype == x.dtype and places.dtype == np.int64, what
    expected = np.expand_dims(wanted, at) if keepdim else wanted
    np.testing.assert_array_equal(chosen.numpy(), expected, err_msg=what)
    index = places.numpy() if keepdim else np.expand_dims(places.numpy(), at)
    found = np.take_along_axis(x, index, at)
    np.testing.assert_array_equal(found if keepdim else found.squeeze(at), expected, err_msg=what)


@settings(max_examples=150)
@given(tensors(), st.booleans())
def test_what_is_selected_along_a_dim(drawn: Any, keepdim: bool) -> None:
    x, at, dim = drawn
    array, names = x.numpy(), removed_names(x.names, [at], keepdim)
    if not array.shape[at]:
        for verb in (*SELECTED, "argmax", "argmin"):
            with pytest.raises(ne.NameExprError):
                getattr(x, verb)(dim)
        with pytest.raises(ne.NameExprError):
            x.kthvalue(1, dim)
        return
    for verb, loop in SELECTED.items():
        if verb == "mode" and np.isnan(array.astype(float)).any():
            continue  # nan equals nothing: what is most frequent is told in the tests of the kernels
        wanted = selected(array, at, loop)
        for call in (getattr(x, verb), lambda *a, v=verb: getattr(ne, v)(x, *a)):
            assert_selected(
                call(dim, keepdim), wanted, array, at, names, f"{verb} {dim} of {x}", keepdim=keepdim
            )
    for verb, loop in (("argmax", largest), ("argmin", smallest)):
        places = getattr(x, verb)(dim, keepdim)
        assert places.names == names and places.dtype == np.int64
        index = places.numpy() if keepdim else np.expand_dims(places.numpy(), at)
        np.testing.assert_array_equal(
            np.take_along_axis(array, index, at).squeeze(at), selected(array, at, loop)
        )
    k = 1 + len(names) % array.shape[at]
    wanted = selected(array, at, lambda row: sorted(row, key=order)[k - 1])
    assert_selected(
        x.kthvalue(k, dim, keepdim), wanted, array, at, names, f"kthvalue of {x}", keepdim=keepdim
    )


@settings(max_examples=150)
@given(tensors(), st.booleans(), st.booleans())
def test_what_is_put_in_order_along_a_dim(drawn: Any, descending: bool, stable: bool) -> None:
    x, at, dim = drawn
    array = x.numpy()
    wanted = ordered(array, at, lambda row: sorted(row, key=order, reverse=descending))
    result = x.sort(dim, descending, stable=stable)
    assert result.values.names == result.indices.names == x.names
    np.testing.assert_array_equal(result.values.numpy(), wanted)
    np.testing.assert_array_equal(np.take_along_axis(array, result.indices.numpy(), at), wanted)
    places = x.argsort(dim, descending, stable=stable)
    assert places.names == x.names
    np.testing.assert_array_equal(np.take_along_axis(array, places.numpy(), at), wanted)
    if stable:
        in_order = ordered(array, at, lambda row: places_in_order(row, descending), np.int64)
        np.testing.assert_array_equal(places.numpy(), in_order)
    for k in {0, 1, array.shape[at]} & set(range(array.shape[at] + 1)):
        for is_largest in (True, False):
            top = x.topk(k, dim, is_largest)
            best = ordered(
                array, at, lambda row, k=k, best=is_largest: sorted(row, key=order, reverse=best)[:k]
            )
            assert top.values.names == top.indices.names == x.names
            np.testing.assert_array_equal(top.values.numpy(), best)
            np.testing.assert_array_equal(np.take_along_axis(array, top.indices.numpy(), at), best)
            loose = x.topk(k, dim, is_largest, sorted=False).values.numpy()
            np.testing.assert_array_equal(np.sort(loose, at), np.sort(best, at))


def running(row: Row, better: Callable[[Any, Any], bool]) -> list[Any]:
    best: list[Any] = []
    for v in row:
        keep = best and (math.isnan(best[-1]) or better(best[-1], v))
        best.append(best[-1] if keep else v)
    return best


@settings(max_examples=100)
@given(tensors())
def test_running_extremes_along_a_dim(drawn: Any) -> None:
    x, at, dim = drawn
    array = x.numpy()
    for verb, better in (("cummax", lambda a, b: a > b), ("cummin", lambda a, b: a < b)):
        result = getattr(x, verb)(dim)
        wanted = ordered(array, at, lambda row, better=better: running(row, better))
        assert result.values.names == result.indices.names == x.names
        np.testing.assert_array_equal(result.values.numpy(), wanted)
        np.testing.assert_array_equal(np.take_along_axis(array, result.indices.numpy(), at), wanted)


@settings(max_examples=100)
@given(tensors())
def test_of_all_elements_it_is_a_0_d_tensor(drawn: Any) -> None:
    x, _, _ = drawn
    flat = x.numpy().ravel().tolist()
    for verb in ("median", "nanmedian", "max", "min", "argmax", "argmin"):
        call = getattr(x, verb)
        if not flat and (verb[-6:] != "median" or x.dtype.kind != "f"):
            with pytest.raises(ne.NameExprError):
                call()
            continue
        result = call()
        assert result.names == () and result.shape == ()
        if verb.startswith("arg"):
            assert result.dtype == np.int64
            chosen = flat[result.item()]
            np.testing.assert_array_equal(chosen, SELECTED[verb[3:]](flat))
        else:
            assert result.dtype == x.dtype
            np.testing.assert_array_equal(result.item(), SELECTED[verb](flat) if flat else math.nan)
        if verb.startswith("arg"):
            assert call(keepdim=True).shape == (1,) * x.ndim and call(keepdim=True).names == x.names


def test_max_and_min_of_two_tensors_are_maximum_and_minimum() -> None:
    x = ne.tensor([[1, 5], [7, 2]], names="N C")
    y = ne.tensor([3, 4], names="C")
    assert x.max(y).equal(ne.tensor([[3, 5], [7, 4]], names="N C"))
    assert x.min(y).equal(ne.tensor([[1, 4], [3, 2]], names="N C"))
    with pytest.raises(ne.DimNameError):
        x.max(y.rename("D"))


@pytest.mark.parametrize(
    "verb", ["median", "nanmedian", "mode", "max", "min", "sort", "argsort", "cummax", "argmax"]
)
@pytest.mark.parametrize("dim", ["Q", 2, -3, ["N", "C"], 1.5])
def test_a_bad_dim_is_an_error_of_ours(verb: str, dim: Any) -> None:
    with pytest.raises(ne.NameExprError):
        getattr(ne.tensor([[1.0, 2.0]], names="N C"), verb)(dim)


@pytest.mark.parametrize("k", [0, 4, -1, 1.5, True, "2", None])
def test_k_counts_elements(k: Any) -> None:
    x = ne.tensor([[3, 1, 2]], names="N C")
    with pytest.raises(ne.NameExprError):
        x.kthvalue(k, "C")
    if k != 0:
        with pytest.raises(ne.NameExprError):
            x.topk(k, "C")


@pytest.mark.parametrize("verb", ["median", "nanmedian", "mode", "max", "min", "sort", "cummax", "cummin"])
def test_a_0_d_tensor_has_its_only_element_at_0(verb: str) -> None:
    for dim in (0, -1):
        result = getattr(ne.tensor(5.0), verb)(dim)
        assert result.values.item() == 5.0 and result.indices.item() == 0
        assert result.values.shape == result.indices.shape == ()


def test_the_default_dims() -> None:
    x = ne.tensor([[3, 1, 2], [4, 6, 5]], names="N C")
    assert x.mode().values.names == ("N",)
    assert x.kthvalue(1).values.tolist() == [1, 4]
    assert x.topk(1).values.tolist() == [[3], [6]]
    assert x.sort().values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x.argsort().tolist() == [[1, 2, 0], [0, 2, 1]]
    assert x.median().item() == 3 and x.argmax().item() == 4
