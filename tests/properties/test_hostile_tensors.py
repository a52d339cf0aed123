"""Whatever the verbs are given, they answer soundly or with an error of ours, and leave the operand alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.dims import duplicate, name_fault
from nameexpr.errors import NameExprError

names = st.sampled_from(["A", "B", "C", "D", "x'"])
odd: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.just(...),
    st.sampled_from(
        ["...", "", "_", "A B", "A=2 B", "A=2 2", "é", "\x1b[0m", "\ud800", "*", "A ... B", "9" * 30]
    ),
    st.integers(-5, 5),
    st.sampled_from(
        [True, 1.5, 1j, b"A", float("nan"), 10**30, np.int8(1), np.ones(2), np.ones((2, 2)), {1}, object]
    ),
    st.text(max_size=3),
)
anything = st.recursive(
    names | odd,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(names, inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def tensors(draw: st.DrawFn) -> ne.NamedTensor:
    dims = draw(
        st.lists(st.tuples(names, st.booleans(), st.integers(0, 4)), max_size=4, unique_by=lambda d: d[0])
    )
    array = np.arange(np.prod([size for *_, size in dims], dtype=int)).reshape([size for *_, size in dims])
    return ne.from_numpy(array, names=[name if is_named else None for name, is_named, _ in dims])


plausible: st.SearchStrategy[Any] = st.one_of(
    names,
    names,
    st.just(...),
    st.none(),
    st.integers(-3, 3),
    st.lists(names, max_size=4),
    st.lists(names, max_size=4).map(" ".join),
    st.lists(st.tuples(names, st.integers(-1, 4)), max_size=3),
    st.dictionaries(names, st.integers(-1, 4), max_size=3),
    st.lists(st.integers(-1, 4), max_size=3),
    tensors(),
)
argument = st.one_of(plausible, plausible, plausible, anything)
verbs = st.sampled_from(
    ["rename", "rename_", "refine_names", "align_to", "align_as", "flatten", "unflatten", "size"],
)


def assert_sound(x: ne.NamedTensor) -> None:
    assert len(x.names) == x.ndim
    assert duplicate(x.names) is None
    assert all(name is None or (type(name) is str and name_fault(name) is None) for name in x.names)
    assert type(x.numpy()) is np.ndarray


@given(tensors(), verbs, st.lists(argument, max_size=3), st.dictionaries(names, argument, max_size=2))
def test_a_verb_answers_soundly_or_with_our_error(
    x: ne.NamedTensor, verb: str, arguments: list[Any], mapping: dict[str, Any]
) -> None:
    before = x.names, x.numpy().copy()
    options = mapping if verb in ("rename", "rename_") else {}
    needed = {"align_as": 1, "size": 1, "unflatten": 2}.get(verb)
    if needed is not None:
        arguments = [*arguments, None, None][:needed]
    try:
        result = getattr(x, verb)(*arguments, **options)
    except NameExprError as error:
        text = str(error)
        assert text.replace("\n", "").isprintable()
        assert max(map(len, text.splitlines())) < 1000
        assert x.names == before[0]
    else:
        if isinstance(result, ne.NamedTensor):
            assert_sound(result)
            assert np.array_equal(np.sort(result.numpy(), axis=None), np.sort(before[1], axis=None))
    if verb != "rename_":
        assert x.names == before[0]
    assert np.array_equal(x.numpy(), before[1])


@given(argument, argument)
def test_names_of_any_kind_are_taken_or_refused(data: Any, given_names: Any) -> None:
    for made in (ne.tensor, ne.as_tensor):
        try:
            x = made(data, names=given_names)
        except NameExprError:
            continue
        assert_sound(x)


def test_an_argument_whose_repr_fails_still_gives_our_error() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    with pytest.raises(NameExprError, match="Broken"):
        ne.tensor([1], names="N").rename(Broken())
