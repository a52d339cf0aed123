"""The order of axes in memory, against NumPy's own, and the effort of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir import primitives
from nameexpr.compiler.ir.strides import iteration_order
from nameexpr.records import replace


def sorted_by_insertion(arrays: Sequence[Sequence[int]]) -> list[int]:
    """Return the axes as NumPy's iterator orders them: each is compared with every other on its way in."""
    inner_first: list[int] = []
    for axis in reversed(range(len(arrays[0]))):
        place = len(inner_first)
        for position in range(len(inner_first) - 1, -1, -1):
            other = inner_first[position]
            pairs = [(abs(a[axis]), abs(a[other])) for a in arrays if a[axis] and a[other]]
            if pairs and any(inner <= outer for outer, inner in pairs):
                break
            if pairs:
                place = position
        inner_first.insert(place, axis)
    return inner_first[::-1]


def test_axes_lie_as_numpy_s_iterator_orders_them() -> None:
    rng = random.Random(5)
    for _ in range(3000):
        dims, count = rng.randrange(8), rng.randrange(1, 4)
        arrays = [[rng.choice((0, 0, 1, 2, -3, 6, 12)) for _ in range(dims)] for _ in range(count)]
        assert iteration_order(arrays) == sorted_by_insertion(arrays), arrays


def test_a_sum_of_two_arrays_lies_in_memory_as_predicted() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        shape = rng.choice((1, 2, 3), rng.integers(1, 6))
        given = [
            np.zeros(shape[turn]).transpose(np.argsort(turn))
            for turn in map(rng.permutation, [len(shape)] * 2)
        ]
        aligned = [
            [0 if size == 1 else step for size, step in zip(x.shape, x.strides, strict=True)] for x in given
        ]
        told = [axis for axis in iteration_order(aligned) if shape[axis] > 1]
        made = np.add(*given)
        assert told == sorted(told, key=lambda axis: -made.strides[axis]), (
            given[0].strides,
            given[1].strides,
        )


class Counted(int):
    """A stride that counts how often it is compared."""

    compared = 0

    def __le__(self, other: Any) -> bool:
        Counted.compared += 1
        return int(self) <= int(other)

    def __abs__(self) -> Counted:
        return self

    def __bool__(self) -> bool:
        Counted.compared += 1
        return int(self) != 0


@pytest.mark.parametrize("step", [0, 1])
def test_dims_of_size_1_and_dims_in_order_take_time_in_proportion(step: int) -> None:
    counts = []
    for dims in (300, 600):
        Counted.compared = 0
        iteration_order([[Counted(step * (dims - axis)) for axis in range(dims)]])
        counts.append(Counted.compared)
    assert counts[1] < 2.5 * counts[0]  # each with each would be four times as many


def test_a_plan_looks_at_the_strides_of_a_program_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    rules = {
        name: replace(row, strides=lambda *facts, own=row.strides: calls.append(1) or own(*facts))
        for name, row in primitives.PRIMITIVES.items()
    }
    monkeypatch.setattr(primitives, "PRIMITIVES", rules)
    text = ", ".join(f"a b{k}" for k in range(40)) + " -> a : sum"
    plan = ne.compile(text).plan(*[(2, 2)] * 40)
    assert 0 < len(calls) <= 6 * len(plan.steps)
