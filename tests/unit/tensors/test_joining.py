"""cat and stack on generated tensors: names unify over all, values are NumPy's, or both reject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import LETTERS, Expected, Names, Refused, distinct, unify_names, values

DTYPES = (np.float64, np.int64)


def assert_answer(call: Callable[[], Any], compute: Callable[[], Expected], what: str) -> None:
    try:
        expected = compute()
    except Refused as why:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"{what} gave {call()!r}, and {why}")
        return
    result = call()
    assert result.names == expected.names, what
    np.testing.assert_array_equal(result.numpy(), expected.array, what, strict=True)


@st.composite
def lists_of_tensors(draw: st.DrawFn) -> tuple[list[Expected], int]:
    """Tensors that mostly can be joined, and a position."""
    rank = draw(st.integers(1, 3))
    base = draw(st.permutations(LETTERS))[:rank]
    sizes = draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
    at = draw(st.integers(0, rank - 1))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        names = tuple(draw(st.sampled_from((name, name, name, None))) for name in base)
        if not draw(st.integers(0, 6)):
            names = (*names[1:], names[0])
        shape = [
            draw(st.integers(0, 3)) if place == at or not draw(st.integers(0, 9)) else size
            for place, size in enumerate(sizes)
        ]
        parts.append(Expected(names, values(len(parts), shape, draw(st.sampled_from(DTYPES)))))
    return parts, at


def joined_names(parts: list[Expected]) -> Names:
    names = parts[0].names
    for part in parts[1:]:
        names = unify_names(names, part.names)
    return names


@settings(max_examples=150)
@given(lists_of_tensors())
def test_cat_and_stack(drawn: tuple[list[Expected], int]) -> None:
    parts, at = drawn
    tensors = [ne.from_numpy(part.array, names=part.names) for part in parts]

    def joined(join: Any, names: Callable[[Names], Names]) -> Expected:
        try:
            array = join([part.array for part in parts], at)
        except ValueError as differ:
            raise Refused("sizes") from differ
        return Expected(distinct(names(joined_names(parts))), array)

    rank = parts[0].array.ndim
    dims = [at, at - rank] + ([parts[0].names[at]] if parts[0].names[at] else [])
    for dim in dims:
        assert_answer(
            lambda d=dim: ne.cat(tensors, d),
            lambda: joined(np.concatenate, lambda n: n),
            f"cat {parts} {dim}",
        )
    for name in ("new", None, "A"):
        call = lambda name=name: ne.stack(tensors, at, name=name)  # noqa: E731
        assert_answer(
            call, lambda name=name: joined(np.stack, lambda n: (*n[:at], name, *n[at:])), f"stack {parts}"
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ne.cat([]),
        lambda x: ne.cat(x),
        lambda x: ne.cat([x, ne.tensor(1.0)]),
        lambda x: ne.cat([x, x[0]]),
        lambda x: ne.cat([x, x], "Q"),
        lambda x: ne.cat([x, x], 2),
        lambda x: ne.stack([x, x], 3),
        lambda x: ne.stack([x, x], "N"),
        lambda x: ne.stack([x, x], name="N"),
    ],
)
def test_bad_calls_are_errors_of_ours(call: Callable[[ne.NamedTensor], Any]) -> None:
    with pytest.raises(ne.NameExprError):
        call(ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C"))
