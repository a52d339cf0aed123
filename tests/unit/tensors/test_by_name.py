"""Operators by name, compared with NumPy on arrays that the test brings into order, and with xarray."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne

SIZES = {"A": 2, "B": 3, "C": 4}
SIGNS: list[Callable[[Any, Any], Any]] = [
    *(
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.floordiv,
        operator.mod,
        operator.pow,
    ),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]
BITS: list[Callable[[Any, Any], Any]] = [
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
]


def made(names: tuple[str, ...], seed: int, dtype: Any = float) -> ne.NamedTensor:
    shape = [SIZES[name] for name in names]
    return ne.from_numpy(np.random.default_rng(seed).integers(1, 6, shape).astype(dtype), names=names)


def ordered(x: ne.NamedTensor, union: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Return the array with the dims of the union, by letters of np.einsum and new axes."""
    kept = [name for name in union if name in x.names]
    array = np.einsum(f"{''.join(map(str, x.names))}->{''.join(kept)}", x.numpy())
    return array.reshape([x.sizes.get(name, 1) for name in union])


some_names = st.lists(st.sampled_from("ABC"), unique=True).map(tuple)


@settings(max_examples=80)
@given(some_names, some_names, st.integers(0, 9))
def test_every_sign_has_the_union_of_the_names(left: Any, right: Any, seed: int) -> None:
    union = tuple(dict.fromkeys((*left, *right)))
    for dtype, signs in ((float, SIGNS), (np.int64, BITS)):
        x, y = made(left, seed, dtype), made(right, seed + 1, dtype)
        for sign in signs:
            wanted = sign(ordered(x, union), ordered(y, union))
            for a, b in ((x.by_name, y), (x, y.by_name), (x.by_name, y.by_name)):
                result = sign(a, b)
                if sign not in SIGNS[7:]:  # a comparison may be asked of its right operand first
                    assert result.names == union
                assert set(result.names) == set(union)
                np.testing.assert_allclose(
                    result.align_to(*union).numpy() if union else result.numpy(), wanted
                )


@settings(max_examples=40)
@given(some_names, some_names, st.integers(0, 9))
def test_ufuncs_and_methods(left: Any, right: Any, seed: int) -> None:
    union = tuple(dict.fromkeys((*left, *right)))
    x, y = made(left, seed), made(right, seed + 1)
    a, b = ordered(x, union), ordered(y, union)
    for ufunc in (np.add, np.hypot, np.maximum, np.less, np.logaddexp):
        result = ufunc(x.by_name, y)
        assert result.names == union
        np.testing.assert_allclose(result.numpy(), ufunc(a, b))
    for result, wanted in (
        (x.by_name.add(y), a + b),
        (x.sub(y.by_name), a - b),
        (x.by_name.maximum(y), np.maximum(a, b)),
        (ne.mul(x.by_name, y), a * b),
        (x.by_name.clamp(max=y), np.minimum(a, b)),
        (x.by_name.where(y > 3, 0.0), np.where(b > 3, a, 0.0)),
    ):
        assert result.names == union
        np.testing.assert_allclose(result.numpy(), wanted)


@settings(max_examples=40)
@given(some_names, some_names, st.integers(0, 9))
def test_xarray_gives_the_same(left: Any, right: Any, seed: int) -> None:
    xarray = pytest.importorskip("xarray")
    x, y = made(left, seed), made(right, seed + 1)
    a, b = (xarray.DataArray(each.numpy(), dims=each.names) for each in (x, y))
    for sign in SIGNS[:7]:
        result, wanted = sign(x.by_name, y), sign(a, b)
        assert result.names == wanted.dims
        np.testing.assert_allclose(result.numpy(), wanted.values)
    if set(left) & set(right):
        result, wanted = x.by_name @ y, a @ b
        assert result.names == wanted.dims
        np.testing.assert_allclose(result.numpy(), wanted.values)


def test_in_place_forms_write_into_the_array() -> None:
    for sign in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow):
        for is_by_name in (True, False):
            x, y = made(("A", "B"), 1), made(("A",), 2)
            wanted = sign(x.numpy().copy(), y.numpy()[:, None])
            array, target = x.numpy(), x.by_name if is_by_name else x
            result = sign(target, y.by_name)
            assert result is target and np.shares_memory(result.numpy(), array)
            np.testing.assert_allclose(array, wanted)
    with pytest.raises(ne.SizeError, match="NE371"):
        made(("A",), 1).by_name.add_(made(("B",), 2))


def test_numbers_and_arrays_on_either_side() -> None:
    x = made(("A", "B"), 3)
    z, row = x.by_name, np.arange(1.0, 4)
    for sign in SIGNS:
        for other in (2, 2.5, np.float64(3), row):
            np.testing.assert_allclose(sign(z, other).numpy(), sign(x.numpy(), other))
            np.testing.assert_allclose(sign(other, z).numpy(), sign(other, x.numpy()))
            assert sign(z, other).names == sign(other, z).names == ("A", "B")
    assert operator.add(z, [1, 2, 3]).names == ("A", "B")


def test_it_stays_with_results_and_a_chain_is_by_name_throughout() -> None:
    x = made(("A", "B"), 3)
    z = x.by_name
    scaled = (z - z.mean("B")) / z.std("B")
    array = x.numpy()
    wanted = (array - array.mean(1, keepdims=True)) / array.std(1, ddof=1, keepdims=True)
    np.testing.assert_allclose(scaled.numpy(), wanted)
    for result in (z.exp(), z.sum("A"), z.max("A").values, z.align_to("B", "A"), z[0], -z, z.by_name):
        assert repr(result).endswith(".by_name")
    assert (
        z.by_name is z
        and type(z.by_position) is ne.NamedTensor
        and type(scaled.by_position) is ne.NamedTensor
    )
    assert np.shares_memory(z.numpy(), array) and isinstance(z, ne.NamedTensor)
    assert repr(pickle.loads(pickle.dumps(z))) == repr(z)
    assert type(ne.einsum("A B -> B A", z)) is ne.NamedTensor


def test_a_plain_tensor_still_pairs_from_the_right() -> None:
    x, y = made(("A", "B"), 1), made(("A",), 2)
    assert (x.by_name - y).names == ("A", "B")
    for plain in (lambda: x - y, lambda: x.by_name.by_position - y):
        with pytest.raises(ne.DimNameError, match="NE470"):
            plain()


def test_size_1_is_repeated_and_other_sizes_are_checked() -> None:
    x = made(("A", "B"), 1)
    z = x.by_name
    np.testing.assert_allclose(
        (z - z.mean("A", keepdim=True)).numpy(), x.numpy() - x.numpy().mean(0, keepdims=True)
    )
    with pytest.raises(ne.SizeError, match="NE370"):
        z + ne.ones(5, names="A")
    for other in (ne.ones(2, 3, names=("A", None)), ne.ones(3, 2, names=(None, "A"))):
        for call in (lambda other=other: z + other, lambda other=other: other + z):
            with pytest.raises(ne.DimNameError, match="NE471"):
                call()
    same = ne.ones(2, 3, names=("A", None))
    assert (same.by_name + same).names == ("A", None)


def test_a_product_sums_over_all_dims_that_both_have() -> None:
    x, w = made(("A", "B", "C"), 1), made(("C", "A"), 2)
    result = x.by_name @ w
    assert result.names == ("B",)
    np.testing.assert_allclose(result.numpy(), np.einsum("abc,ca->b", x.numpy(), w.numpy()))
    np.testing.assert_allclose((w @ x.by_name).numpy(), result.numpy())
    with pytest.raises(ne.SizeError, match="NE373"):
        made(("A",), 1).by_name @ made(("B",), 1)
