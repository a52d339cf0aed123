"""Indexing with generated keys: NumPy's values and places, and names by the written rule.

The sizes tell the dims of a result apart: those of the tensor are 6, 9, 12 and 15 (or up to 2 less after a
slice), dims that index arrays bring are 2 or 3, and new ones 1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import Names, Refused, distinct, unify_names

SIZES = (6, 9, 12, 15)
ORIGIN = {size - cut: place for place, size in enumerate(SIZES) for cut in range(3)}


class Part(NamedTuple):
    """One item of an index: as it is given, without names, the position of its first dim, and its names."""

    given: Any
    bare: Any
    at: int
    takes: int
    names: Names | None = None


slices = st.sampled_from([slice(None), slice(1, None), slice(None, None, -1), slice(-2, 0, -1), slice(1, -1)])
named = st.sampled_from([None, None, "P", "Q", "B"])


@st.composite
def index_arrays(draw: st.DrawFn, at: int) -> Part:
    """Indices of one or two dims, as a list, an array, or a tensor with names."""
    shape = draw(st.sampled_from([(2,), (2,), (3, 2), (3, 1)]))
    numbers = draw(st.lists(st.integers(-6, 5), min_size=6, max_size=6))
    array = np.array(numbers[: shape[0] * (shape[1] if shape[1:] else 1)]).reshape(shape)
    kind = draw(st.sampled_from(["array", "list", "tensor"]))
    if kind == "list":
        return Part(array.tolist(), array, at, 1, (None,) * array.ndim)
    if kind == "array":
        array = array.astype(draw(st.sampled_from([np.int64, np.int8, np.intp])))
        return Part(array, array, at, 1, (None,) * array.ndim)
    names = tuple(draw(st.lists(named, min_size=array.ndim, max_size=array.ndim)))
    names = names if len({*names}) == len(names) else (None,) * len(names)
    return Part(ne.tensor(array, names=names), array, at, 1, names)


@st.composite
def masks(draw: st.DrawFn, at: int, takes: int) -> Part:
    """A mask of one or two dims with two elements that are true, as an array or a tensor of these dims."""
    mask = np.zeros(SIZES[at : at + takes], bool)
    mask.flat[draw(st.lists(st.integers(0, mask.size - 1), min_size=2, max_size=2, unique=True))] = True
    if draw(st.booleans()):
        return Part(mask, mask, at, takes, (None,))
    names = tuple(draw(st.sampled_from([name, None])) for name in "ABCD"[at : at + takes])
    return Part(ne.tensor(mask, names=names), mask, at, takes, names if takes == 1 else (None,))


@st.composite
def part(draw: st.DrawFn, kind: str, at: int, takes: int) -> Part:
    """An item of a kind, the first of whose dims stands at a position."""
    if kind == "int":
        number = draw(st.integers(-6, 5))
        spelt = draw(st.sampled_from([number, np.int16(number), np.array(number)]))
        return Part(spelt, number, at, 1)
    if kind == "slice":
        chosen = draw(slices)
        return Part(chosen, chosen, at, 1)
    if kind == "new":
        return Part(None, None, at, 0)
    return draw(index_arrays(at) if kind == "array" else masks(at, takes))


@st.composite
def keys(draw: st.DrawFn) -> tuple[list[Part], Names]:
    """An index of all kinds of items, and the names of the tensor that it is for."""
    kinds: list[tuple[str, int]] = []
    taking = {"int": 1, "slice": 1, "array": 1, "mask": 1, "wide mask": 2, "new": 0}
    for kind in draw(st.lists(st.sampled_from([*taking, "slice", "array"]), max_size=6)):
        if sum(takes for _, takes in kinds) + taking[kind] <= len(SIZES):
            kinds.append((kind, taking[kind]))
    while draw(st.booleans()) and sum(takes for _, takes in kinds) < len(SIZES):
        kinds.insert(draw(st.integers(0, len(kinds))), ("slice", 1))
    dots = draw(st.none() | st.integers(0, len(kinds)))
    parts: list[Part] = []
    at = 0
    for place, (kind, takes) in enumerate([*kinds, ("end", 0)]):
        if place == dots:
            parts.append(Part(..., ..., at, 0))
            at += len(SIZES) - sum(takes for _, takes in kinds)
        if kind != "end":
            parts.append(draw(part(kind, at, takes)))
        at += takes
    names = tuple(draw(st.sampled_from([name, name, None])) for name in ("A", "B", "C", "D"))
    return parts, names


def array_names(parts: Sequence[Part], names: Names) -> Names:
    """The names of the dims that index arrays bring: theirs, or for the only one that of its dim."""
    arrays = [item for item in parts if item.names is not None]
    if len(arrays) == 1 and arrays[0].names == (None,) and arrays[0].takes == 1:
        return (names[arrays[0].at],)
    result: Names = ()
    for item in arrays:
        result = unify_names(result, item.names or ())
    return result


def expected_names(parts: Sequence[Part], names: Names, shape: Sequence[int]) -> Names:
    """The name of each dim of a result, told by its size."""
    brought = array_names(parts, names)
    found = [names[ORIGIN[size]] if size in ORIGIN else None for size in shape]
    if brought:
        first = next(place for place, size in enumerate(shape) if size in (2, 3))
        found[first : first + len(brought)] = brought
    return distinct(tuple(found))


def bare_key(parts: Sequence[Part]) -> tuple[Any, ...]:
    return tuple(item.bare for item in parts)


def key_of(parts: Sequence[Part]) -> tuple[Any, ...]:
    return tuple(item.given for item in parts)


def encoded(names: Names) -> ne.NamedTensor:
    """A tensor whose elements are all different."""
    return ne.from_numpy(np.arange(np.prod(SIZES)).reshape(SIZES), names=names)


@settings(max_examples=400)
@given(keys())
def test_an_index_gives_numpys_values_and_the_rules_names(drawn: tuple[list[Part], Names]) -> None:
    parts, names = drawn
    x = encoded(names)
    wanted = np.asarray(x.numpy()[bare_key(parts)])
    try:
        right = expected_names(parts, names, wanted.shape)
    except Refused:
        with pytest.raises(ne.DimNameError):
            pytest.fail(f"{parts} gave {x[key_of(parts)].names}")
        return
    result = x[key_of(parts)]
    np.testing.assert_array_equal(result.numpy(), wanted)
    assert result.names == right
    is_view = all(item.names is None for item in parts)
    assert np.shares_memory(result.numpy(), x.numpy()) is is_view


@settings(max_examples=150)
@given(keys(), st.sampled_from(["number", "array", "named", "wrong name", "too large", "row"]))
def test_setting_items_is_numpys_where_names_match(drawn: tuple[list[Part], Names], kind: str) -> None:
    parts, names = drawn
    x = encoded(names)
    wanted = x.numpy().copy()
    array = -np.arange(1, np.size(wanted[bare_key(parts)]) + 1).reshape(np.shape(wanted[bare_key(parts)]))
    try:
        inner = expected_names(parts, names, array.shape)
    except Refused:
        inner, kind = (), "doubled name"
    value: Any = {
        "number": -7,
        "row": array[:1] if array.ndim else -7,
        "too large": np.zeros((2, *array.shape)),
    }
    value = value.get(kind, array)
    if kind == "named":
        value = ne.tensor(array, names=inner)
    elif kind == "wrong name" and array.ndim:
        value = ne.tensor(array, names=("wrong", *inner[1:]))
    is_refused = kind in ("too large", "doubled name") or (
        kind == "wrong name" and inner[:1] not in [(), (None,)]
    )
    if is_refused:
        with pytest.raises(ne.NameExprError):
            x[key_of(parts)] = value
    else:
        x[key_of(parts)] = value
        wanted[bare_key(parts)] = value.numpy() if isinstance(value, ne.NamedTensor) else value
    np.testing.assert_array_equal(x.numpy(), wanted)
    assert x.names == names


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ((slice(None), [0, 1], ..., [0, 1]), (None, "A")),
        (([0, 1], ..., [0, 1], slice(None)), (None, "C")),
        ((slice(None), [0, 1], [0, 1], ...), ("A", None)),
        ((slice(None), [0, 1], None, [0, 1]), (None, "A", None)),
        ((..., [0, 1], [0, 1], slice(None)), (None, "C")),
    ],
)
def test_what_stands_between_index_arrays_sends_their_dims_to_the_front(key: Any, names: Names) -> None:
    x = ne.from_numpy(np.arange(60).reshape(3, 4, 5), names="A B C")
    result = x[key]
    np.testing.assert_array_equal(result.numpy(), x.numpy()[key])
    assert result.names == names


@given(st.data())
def test_isel_is_indexing_by_name(data: st.DataObject) -> None:
    x = encoded(("A", "B", "C", "D"))
    chosen = data.draw(st.lists(st.sampled_from(x.names), max_size=3, unique=True))
    choices = st.integers(-6, 5) | slices | st.just([1, 0]) | st.just(np.array([True] * 2 + [False] * 4))
    indices = {name: data.draw(choices if name == "A" else st.integers(-6, 5) | slices) for name in chosen}
    key = tuple(indices.get(name, slice(None)) for name in x.names)
    assert x.isel(**indices).equal(x[key])


def test_isel_refuses_names_that_are_not_there() -> None:
    with pytest.raises(ne.DimNameError, match="NE410"):
        encoded(("A", "B", "C", None)).isel(D=0)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (6, IndexError),
        (-7, IndexError),
        ((0, 0, 0, 0, 0), IndexError),
        ((..., ...), ne.NameExprError),
        ([0, 9], IndexError),
        (np.zeros(5, bool), ne.NameExprError),
        (np.zeros((6, 8), bool), ne.NameExprError),
        (([0, 1], [0, 1, 2]), ne.NameExprError),
        (1.5, ne.NameExprError),
        (True, ne.NameExprError),
        (np.True_, ne.NameExprError),
        ([1.5], ne.NameExprError),
        ("A", ne.NameExprError),
        ({"A": 0}, ne.NameExprError),
        ([[0], [0, 1]], ne.NameExprError),
    ],
)
def test_a_bad_index_is_an_error_of_ours_and_changes_nothing(key: Any, error: type[Exception]) -> None:
    x = encoded(("A", "B", "C", "D"))
    before = x.numpy().copy()
    for act in (lambda: x[key], lambda: operator.setitem(x, key, 0)):
        with pytest.raises(error) as caught:
            act()
        assert isinstance(caught.value, ne.NameExprError)
    np.testing.assert_array_equal(x.numpy(), before)


@pytest.mark.parametrize("value", [10**30, 300, "a", None, 1j, [[1, 2], [3]]])
def test_a_value_that_does_not_fit_is_an_error_of_ours(value: Any) -> None:
    x = ne.tensor([1, 2], names="N", dtype="int8")
    with pytest.raises(ne.NameExprError):
        x[0] = value
    assert x.tolist() == [1, 2]


def test_iteration_and_length_are_along_the_first_dim() -> None:
    x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
    assert len(x) == 2
    assert [row.names for row in x] == [("C",), ("C",)]
    assert [row.tolist() for row in x] == [[1, 2, 3], [4, 5, 6]]
    assert all(np.shares_memory(row.numpy(), x.numpy()) for row in x)
    assert list(ne.zeros(0, 3)) == []
    point: list[Callable[[], Any]] = [lambda: len(ne.tensor(1)), lambda: list(ne.tensor(1))]
    for act in point:
        with pytest.raises(ne.NameExprError):
            act()


def test_in_looks_at_the_values() -> None:
    x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
    assert 5 in x and 7 not in x and 5.5 not in x
    assert ne.tensor(5) in x
    nan = float("nan")
    assert nan not in ne.tensor([nan])


def test_a_single_item_is_a_tensor_that_shares_memory() -> None:
    x = ne.tensor([[1, 2], [3, 4]], names="N C")
    corner = x[1, 1]
    assert corner.names == () and corner.item() == 4
    corner.fill_(9)
    assert x.tolist() == [[1, 2], [3, 9]]
