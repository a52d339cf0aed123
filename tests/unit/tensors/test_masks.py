"""Masks, indices along a dim, bounds: elements chosen from generated tensors, compared with NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import (
    DTYPES,
    Expected,
    Refused,
    checked_written,
    named_shapes,
    partners,
    quiet,
    unify_names,
    values,
)

Tensor = ne.NamedTensor


@st.composite
def with_partner(draw: st.DrawFn, dtype: Any = bool) -> tuple[Expected, Expected]:
    """A tensor and another that mostly broadcasts to it."""
    names, shape = draw(named_shapes())
    other_names, other_shape = draw(partners(names, shape))
    seed = draw(st.integers(0, 99))
    array = values(seed, shape, draw(st.sampled_from(DTYPES)))
    return Expected(names, array), Expected(other_names, values(seed + 1, other_shape, dtype))


def tensor(expected: Expected) -> Tensor:
    return ne.from_numpy(expected.array.copy(), names=expected.names)


def together(*operands: Expected) -> tuple[Any, tuple[int, ...]]:
    """The names and sizes of operands that pair from the right."""
    names: Any = operands[0].names
    for operand in operands[1:]:
        names = unify_names(names, operand.names)
    try:
        return names, np.broadcast_shapes(*(operand.array.shape for operand in operands))
    except ValueError as differ:
        raise Refused from differ


def assert_answer(call: Callable[[], Any], compute: Callable[[], Expected]) -> None:
    try:
        expected = compute()
    except Refused:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"gave {call()!r}")
        return
    result = call()
    assert result.names == expected.names
    assert result.dtype == expected.array.dtype
    np.testing.assert_array_equal(result.numpy(), expected.array, strict=True)


@settings(max_examples=150)
@given(with_partner(), st.sampled_from([7, -1, True]))
def test_masked_fill(pair: tuple[Expected, Expected], number: Any) -> None:
    target, mask = pair

    def filled() -> Expected:
        names, shape = together(target, mask)
        if mask.array.ndim > target.array.ndim:
            raise Refused
        array = np.broadcast_to(target.array, shape).copy()
        array[np.broadcast_to(mask.array, shape)] = number
        return Expected(names, array)

    x, where = tensor(target), tensor(mask)
    for value in (number, ne.tensor(number)):
        assert_answer(lambda v=value: x.masked_fill(where, v), filled)
    assert_answer(lambda: ne.masked_fill(x, where, number), filled)
    assert x.equal(tensor(target))
    assert_answer(
        lambda: x.masked_fill_(where, number), lambda: checked_written(tensor(target), filled(), is_out=False)
    )


@settings(max_examples=150)
@given(with_partner())
def test_masked_select(pair: tuple[Expected, Expected]) -> None:
    target, mask = pair

    def chosen() -> Expected:
        _, shape = together(target, mask)
        return Expected(
            (None,), np.broadcast_to(target.array, shape)[np.broadcast_to(mask.array, shape)].reshape(-1)
        )

    assert_answer(lambda: tensor(target).masked_select(tensor(mask)), chosen)
    assert_answer(lambda: ne.masked_select(tensor(target), tensor(mask)), chosen)


@settings(max_examples=150)
@given(with_partner(float), st.data())
def test_where(pair: tuple[Expected, Expected], data: st.DataObject) -> None:
    x, y = pair
    names, shape = data.draw(partners(x.names, x.array.shape))
    condition = Expected(names, values(9, shape, bool))

    def chosen() -> Expected:
        names, _ = together(x, y, condition)
        return Expected(names, np.where(condition.array, x.array, y.array))

    def one_or_else() -> Expected:
        names, _ = together(x, condition)
        return Expected(names, np.where(condition.array, x.array, x.array.dtype.type(1)))

    assert_answer(lambda: ne.where(tensor(condition), tensor(x), tensor(y)), chosen)
    assert_answer(lambda: tensor(x).where(tensor(condition), tensor(y)), chosen)
    if x.array.dtype.kind != "b":
        assert_answer(lambda: ne.where(tensor(condition), tensor(x), 1), one_or_else)


@settings(max_examples=150)
@given(with_partner(float), st.booleans())
def test_clamp(pair: tuple[Expected, Expected], is_low: bool) -> None:
    target, bound = pair
    function = np.maximum if is_low else np.minimum
    option = "min" if is_low else "max"

    def clamped(bound: Expected = bound) -> Expected:
        return Expected(together(target, bound)[0], quiet(function, target.array, bound.array))

    x = tensor(target)
    assert_answer(lambda: x.clamp(**{option: tensor(bound)}), clamped)
    assert_answer(lambda: ne.clamp(x, **{option: tensor(bound)}), clamped)
    write = lambda: x.clamp_(**{option: tensor(bound)})  # noqa: E731
    assert_answer(write, lambda: checked_written(tensor(target), clamped(), is_out=False))


@settings(max_examples=60)
@given(
    named_shapes(),
    st.sampled_from(DTYPES),
    st.sampled_from([(-1, 1), (0, 0.5), (1, -1), (None, 0), (0, None)]),
)
def test_clamp_between_numbers(dims: Any, dtype: Any, bounds: tuple[Any, Any]) -> None:
    names, shape = dims
    array = values(1, shape, dtype)
    low, high = bounds
    wanted = array if low is None else np.maximum(array, low)
    wanted = wanted if high is None else np.minimum(wanted, high)
    assert_answer(lambda: tensor(Expected(names, array)).clamp(low, high), lambda: Expected(names, wanted))


@settings(max_examples=60)
@given(named_shapes(), st.sampled_from(DTYPES), st.integers(-2, 2))
def test_rounding_to_decimals(dims: Any, dtype: Any, decimals: int) -> None:
    names, shape = dims
    array = values(1, shape, dtype)
    wanted = array if dtype.kind == "b" else np.round(array, decimals)
    assert_answer(lambda: tensor(Expected(names, array)).round(decimals), lambda: Expected(names, wanted))
    assert_answer(
        lambda: ne.round(tensor(Expected(names, array)), decimals=decimals), lambda: Expected(names, wanted)
    )


@settings(max_examples=100)
@given(named_shapes().filter(lambda dims: dims[0]), st.data())
def test_indices_along_a_dim(dims: Any, data: st.DataObject) -> None:
    names, shape = dims
    at = data.draw(st.integers(0, len(names) - 1))
    dim, size = (names[at] or at - len(names)), shape[at]
    index = data.draw(st.lists(st.integers(-size - (size == 3), size - 1), max_size=4)) if size else []
    array = values(2, shape)
    x = ne.from_numpy(array.copy(), names=names)
    places = np.array(index, np.int64)

    def taken() -> Expected:
        if any(place < -size for place in index):
            raise Refused
        return Expected(names, array.take(places, at))

    def filled() -> Expected:
        taken()
        result = array.copy()
        result[(slice(None),) * at + (places,)] = 7
        return Expected(names, result)

    for spelt in (index, places, ne.tensor(places, names="I"), places.astype(np.int8)):
        assert_answer(lambda s=spelt: x.index_select(dim, s), taken)
        assert_answer(lambda s=spelt: x.index_fill(dim, s, 7), filled)
        assert_answer(lambda s=spelt: ne.index_fill(x, dim, s, ne.tensor(7)), filled)
    np.testing.assert_array_equal(x.numpy(), array)
    assert_answer(lambda: x.index_fill_(dim, places, 7), filled)


@settings(max_examples=100)
@given(named_shapes().filter(lambda dims: dims[0]), st.data())
def test_gather(dims: Any, data: st.DataObject) -> None:
    names, shape = dims
    at = data.draw(st.integers(0, len(names) - 1))
    length = data.draw(st.integers(0, 3)) if shape[at] else 0
    index_names = tuple(data.draw(st.sampled_from((name, name, None))) for name in names)
    places = np.random.default_rng(4).integers(0, max(1, shape[at]), (*shape[:at], length, *shape[at + 1 :]))
    x = ne.from_numpy(values(5, shape), names=names)
    index = ne.from_numpy(places, names=index_names)
    result = x.gather(names[at] or at, index)
    assert result.names == names or result.names == unify_names(names, index_names)
    np.testing.assert_array_equal(result.numpy(), np.take_along_axis(x.numpy(), places, at), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.masked_fill([0, 1, 0], 7),
        lambda x: x.masked_fill(x > 1, [7]),
        lambda x: x.masked_fill(x > 1, x),
        lambda x: x.masked_fill(x > 1, "a"),
        lambda x: x.masked_fill(x > 1, 1j),
        lambda x: x.masked_select(x),
        lambda x: x.masked_select("a"),
        lambda x: x.where(x, 0),
        lambda x: ne.where(x > 1, "a", x),
        lambda x: ne.where(x > 1, None, x),
        lambda x: x.clamp(),
        lambda x: x.clamp("a"),
        lambda x: x.clamp_(min=ne.zeros(2, 3)),
        lambda x: x.index_select("N", [3]),
        lambda x: x.index_select("N", [[0]]),
        lambda x: x.index_select("N", [0.5]),
        lambda x: x.index_select("N", [True]),
        lambda x: x.index_select("Q", [0]),
        lambda x: x.index_fill("N", [-4], 0),
        lambda x: x.index_fill("N", [0], [1]),
        lambda x: x.index_fill_("N", [0], 1j),
        lambda x: x.gather("N", ne.tensor([3])),
        lambda x: x.gather("N", ne.tensor([0.5])),
        lambda x: x.gather("N", ne.tensor([[0]])),
        lambda x: x.gather("N", "a"),
        lambda x: x.round("a"),
        lambda x: x.long().clamp_(0.5),
    ],
)
def test_bad_calls_are_errors_of_ours_and_change_nothing(call: Callable[[Tensor], Any]) -> None:
    x = ne.tensor([1.0, 2.0, 3.0], names="N")
    with pytest.raises(ne.NameExprError):
        call(x)
    assert x.tolist() == [1.0, 2.0, 3.0] and x.names == ("N",)


def test_values_are_cast_to_the_dtype_without_a_warning() -> None:
    x = ne.tensor([1, 2, 3], names="N")
    assert x.masked_fill(x > 2, 7.9).tolist() == [1, 2, 7]
    assert x.index_fill("N", [0], 7.9).tolist() == [7, 2, 3]
    assert x.float().masked_fill(x > 2, 1e300).tolist() == [1, 2, np.inf]
    assert x.bool().masked_fill(x > 2, np.nan).tolist() == [True, True, True]


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, np.float64("nan"), np.float32("inf"), 1e30, ne.tensor(np.nan)]
)
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_integers_refuse_every_number_that_they_do_not_hold(dtype: str, value: Any) -> None:
    x = ne.tensor([1, 2, 3], names="N").to(dtype)
    writes = (
        lambda: x.fill_(value),
        lambda: x.masked_fill(x > 2, value),
        lambda: x.masked_fill_(x > 2, value),
        lambda: x.index_fill("N", [0], value),
        lambda: x.index_fill_("N", [0], value),
        lambda: x.__setitem__(0, value),
        lambda: ne.full((2,), value, dtype=dtype),
        lambda: ne.full_like(x, value),
    )
    for number, write in enumerate(writes):
        with pytest.raises(ne.OperandError) as caught:
            write()
        assert caught.value.code == "NE577", number
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("value", [300, 300.0, np.float32(300), np.int64(300), -1, -1.0])
def test_a_number_out_of_range_is_refused_whatever_its_type(value: Any) -> None:
    x = ne.tensor([1, 2, 3]).byte()
    for write in (x.fill_, lambda one: x.__setitem__(0, one), lambda one: ne.full_like(x, one)):
        with pytest.raises(ne.OperandError) as caught:
            write(value)
        assert caught.value.code == "NE577"
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_arrays_with_nan_or_inf_are_not_written_into_integers(value: float) -> None:
    x = ne.tensor([1, 2, 3])
    cells = np.array([4.0, value, 5.0])
    for write in (x.copy_, lambda one: x.__setitem__(slice(None), one)):
        with pytest.raises(ne.OperandError) as caught:
            write(cells)
        assert caught.value.code == "NE577"
    assert x.tolist() == [1, 2, 3]
    assert x.copy_(np.array([4.7, 5, 6])).tolist() == [4, 5, 6]
