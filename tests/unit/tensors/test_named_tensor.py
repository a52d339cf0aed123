"""tensor, as_tensor, from_numpy, wrap: what is copied, which dtype comes out, what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors import wrap


def test_tensor_copies() -> None:
    array = np.zeros(3)
    x = ne.tensor(array, names="N")
    array[0] = 1
    assert x.numpy()[0] == 0
    assert not np.shares_memory(ne.tensor(x).numpy(), x.numpy())


def test_as_tensor_and_from_numpy_share_memory() -> None:
    array = np.zeros(3)
    assert ne.from_numpy(array, names="N").numpy() is array
    assert ne.as_tensor(array, names="N").data is array
    assert not np.shares_memory(ne.as_tensor(array, dtype=np.float32).numpy(), array)


def test_as_tensor_returns_a_tensor_that_needs_no_change() -> None:
    x = ne.tensor([1.0, 2.0], names="N")
    assert ne.as_tensor(x) is x
    assert ne.as_tensor(x, names="N", dtype=np.float64) is x
    assert ne.as_tensor(x, dtype=np.float32).names == ("N",)
    unnamed = ne.tensor([1.0])
    assert ne.as_tensor(unnamed, names="N") is not unnamed
    assert unnamed.names == (None,)


@pytest.mark.parametrize(
    ("data", "shape", "dtype"),
    [
        ([[1, 2], [3, 4]], (2, 2), np.int64),
        ([1.5], (1,), np.float64),
        ([True, False], (2,), np.bool_),
        ([1j], (1,), np.complex128),
        (3, (), np.int64),
        (np.float32(3), (), np.float32),
        (np.zeros((2, 0), np.float16), (2, 0), np.float16),
        ([], (0,), np.float64),
        (range(3), (3,), np.int64),
        (np.array(["a"]), (1,), np.dtype("U1")),
    ],
)
def test_tensor_takes_lists_numbers_and_arrays(data: object, shape: tuple[int, ...], dtype: object) -> None:
    x = ne.tensor(data)
    assert x.shape == shape
    assert x.dtype == dtype
    assert x.names == (None,) * len(shape)
    assert type(x.numpy()) is np.ndarray


def test_objects_are_taken_when_asked_for() -> None:
    assert ne.tensor([Fraction(1, 2)], dtype=object).numpy()[0] == Fraction(1, 2)
    assert ne.tensor(np.array([Fraction(1, 2)])).dtype == object
    with pytest.raises(NameExprError):
        ne.tensor([Fraction(1, 2)])


def test_an_array_subclass_becomes_a_plain_array() -> None:
    class Own(np.ndarray):
        pass

    assert type(ne.as_tensor(np.zeros(2).view(Own)).numpy()) is np.ndarray


def test_a_named_tensor_keeps_its_names_and_an_unnamed_one_takes_them() -> None:
    x = ne.tensor([[1, 2]], names="N C")
    assert ne.tensor(x).names == ("N", "C")
    assert ne.tensor(x, names="N C").names == ("N", "C")
    assert ne.tensor(ne.tensor([[1, 2]]), names="N C").names == ("N", "C")
    with pytest.raises(NameExprError):
        ne.tensor(ne.tensor([[1, 2]], names=("N", None)), names="N C")


@pytest.mark.parametrize("names", ["N C", " N\tC ", ("N", "C"), ["N", "C"]])
def test_names_are_written_as_a_string_or_a_sequence(names: object) -> None:
    assert ne.tensor([[1]], names=names).names == ("N", "C")


def test_an_underscore_in_a_string_is_a_dim_without_a_name() -> None:
    assert ne.tensor([[1]], names="N _").names == ("N", None)
    assert ne.tensor([[1]], names="N None").names == ("N", None)
    assert ne.tensor(1, names="").names == ()


def test_wrap_checks_and_copies_nothing() -> None:
    array = np.zeros((2, 3))
    x = wrap(array, ("N", None))
    assert type(x) is ne.NamedTensor
    assert x.numpy() is array
    assert x.names == ("N", None)


def test_the_array_and_its_facts() -> None:
    x = ne.tensor([[1, 2, 3]], names="N C")
    assert x.data is x.numpy()
    assert (x.shape, x.ndim, x.dtype, x.size()) == ((1, 3), 2, np.dtype(np.int64), (1, 3))
    assert x.size("C") == x.size(1) == x.size(-1) == 3
    with pytest.raises(AttributeError):
        x.data = x.data  # type: ignore[misc]
    with pytest.raises(AttributeError):
        x.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [ne.zeros, ne.ones, ne.empty, ne.rand, ne.randn])
def test_only_sizes_below_zero_are_marked(make: Any) -> None:
    with pytest.raises(ne.SizeError) as caught:
        make(0, 2, -1, 0, -3)
    assert [caught.value.text[span.start : span.end] for span in caught.value.spans] == ["-1", "-3"]
    assert make(0, 2).shape == (0, 2)
