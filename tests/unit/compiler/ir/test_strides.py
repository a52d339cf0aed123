"""The order of axes in memory, against NumPy's own, and the effort of it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import formulas, kernels
from nameexpr.backends.numpy.threads.parts import LAID_OUT
from nameexpr.compiler.ir import primitives
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.strides import along_axes, iteration_order, of_einsum, of_pointwise, of_vecdot
from nameexpr.compiler.memory.scratch import NORMALISING
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


def laid_out(rng: np.random.Generator) -> list[np.ndarray[Any, Any]]:
    """Return arrays of one shape in all orders of their axes, reversed, with gaps, and repeated."""
    shape = (3, 4, 5)
    every = [
        rng.standard_normal([shape[axis] for axis in order]).transpose(np.argsort(order))
        for order in itertools.permutations(range(3))
    ]
    repeated = [np.broadcast_to(rng.standard_normal(own), shape) for own in ((4, 5), (3, 4, 1))]
    return [*every, every[0][::-1], np.repeat(every[1], 2, axis=1)[:, ::2], *repeated]


def steps_of(x: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(step // x.itemsize for step in x.strides)


@pytest.mark.parametrize("function", sorted((LAID_OUT | {"relu", "sigmoid"}) - {"where"}))
def test_functions_lay_out_their_results_as_predicted(function: str) -> None:
    call = getattr(formulas, function, None) or getattr(np, function)
    for x in laid_out(np.random.default_rng(6)):
        if function in NORMALISING and 0 in x.strides:  # a single block of them is laid out in another way
            continue
        given = [(x.shape, steps_of(x))]
        if function in {"argsort", "flip", "log_softmax", "softmax", "sort"}:
            for axis in range(x.ndim):
                made = Instruction("along_axes", (0,), axes=(axis,), function=function)
                assert steps_of(call(x, axis)) == along_axes(made, given, x.shape)
        else:
            made = Instruction("pointwise", (0,), x.shape, function=function, constants=(None,))
            assert steps_of(call(x)) == of_pointwise(made, given, x.shape)


def test_results_of_two_arrays_are_laid_out_as_predicted() -> None:
    arrays = laid_out(np.random.default_rng(7))
    chosen = Instruction("pointwise", (0, 1, 2), (3, 4, 5), function="where", constants=(None,) * 3)
    for x, y in itertools.product(arrays, repeat=2):
        given = [(one.shape, steps_of(one)) for one in (x, y)]
        assert steps_of(np.vecdot(x, y)) == of_vecdot(Instruction("vecdot", (0, 1)), given, (3, 4))
        assert steps_of(np.where(x > y, x, y)) == of_pointwise(
            chosen, [(x.shape, steps_of(x > y)), *given], x.shape
        )


@pytest.mark.parametrize("text", ["abc,acd->bad", "abc,cb->ca", "abc,bd,cd->da", "abc->ca", "aab,bc->ac"])
def test_the_c_loop_lays_out_its_results_as_predicted(text: str) -> None:
    rng, terms = np.random.default_rng(8), text.replace("->", ",").split(",")
    letters = tuple([tuple(["abcd".index(letter) for letter in term]) for term in terms])
    for _ in range(60):
        given = []
        for term in terms[:-1]:
            shape, turn = (
                [{"a": 3, "b": 3, "c": 5, "d": 2}[letter] for letter in term],
                rng.permutation(len(term)),
            )
            given.append(rng.standard_normal([shape[axis] for axis in turn]).transpose(np.argsort(turn)))
        made = kernels.c_einsum(text, *given)
        if any(np.shares_memory(made, x) for x in given):
            continue
        told = of_einsum(
            Instruction("einsum", letters=letters), [(x.shape, steps_of(x)) for x in given], made.shape
        )
        assert steps_of(made) == told, (text, [x.strides for x in given])


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
