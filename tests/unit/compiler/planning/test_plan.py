"""Intermediate values have at most 64 dims: labels of size 1 go first, and any beyond that are rejected."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir.axes import Contraction
from nameexpr.compiler.planning.plan import TooManyDimsError, plan_contractions


def words(count: int, stem: str = "d") -> str:
    return " ".join(f"{stem}{number}" for number in range(count))


def wide(dims: int, *sizes: int) -> np.ndarray[Any, Any]:
    """Return numbers in an array of many dims, the first of which have sizes."""
    shape = (*sizes, *(1,) * (dims - len(sizes)))
    return (np.arange(np.prod(shape)) * 1.5 - 1).reshape(shape)


@pytest.mark.parametrize("reducer", ["max", "sum", "argmin", "var", "norm", "prod", "median"])
def test_two_operands_of_40_labels_are_reduced_together(reducer: str) -> None:
    x, y = wide(40, 2, 3), wide(40, 3)
    found = ne.einsum(f"{words(40)}, {words(40, 'e')} -> d1 : {reducer}", x, y)
    expected = ne.einsum(f"a b, c -> b : {reducer}", x.reshape(2, 3), y.reshape(3))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_networks_with_many_open_labels_of_size_1_are_summed(seed: int) -> None:
    rng = random.Random(seed)
    names = words(300).split()
    terms = [rng.sample(names, 12) for _ in range(60)]
    arrays = [np.full((1,) * 12, rng.choice((0.5, 2.0, -1.0))) for _ in terms]
    expected = np.prod([x.item() for x in arrays])
    assert ne.einsum(", ".join(map(" ".join, terms)) + " -> : sum", *arrays) == expected
    kept = " ".join(sorted({*terms[0], *terms[1]}))
    found = ne.einsum(", ".join(map(" ".join, terms)) + f" -> {kept} : max", *arrays)
    assert found.shape == (1,) * len(kept.split()) and found.item() == expected


@pytest.mark.parametrize("dtype", [float, int, complex, bool, np.float16])
def test_63_dims_of_a_batch_leave_no_room_for_matrices(dtype: type) -> None:
    x = np.ones((1,) * 63 + (2,), dtype)
    text = f"{words(64)}, {words(64)} -> {words(63)}"
    assert ne.einsum(text, x, np.ones(x.shape)).shape == (1,) * 63
    assert ne.einsum(text, x, x).item() == (dtype(1) + dtype(1) if dtype is not bool else 2)


def test_a_long_sum_of_64_dims_has_room_for_blocks() -> None:
    x = wide(64, *(1,) * 63, 30_000)
    assert ne.einsum(f"{words(64)} -> {words(63)} : sum", x).item() == pytest.approx(x.sum())


def test_formulas_do_without_labels_of_size_1_too() -> None:
    x, y = wide(40, 2, 3), wide(40, 3)
    text = f"sum[{words(40)}](x[{words(40)}] * y[e0 d1 {' '.join(words(40, 'e').split()[1:39])}])"
    found = ne.evaluate(text, x=x, y=y.reshape(1, 3, *(1,) * 38)[:, :, ...])
    assert found.shape == (1,) * 39
    assert found.item() == pytest.approx((x.reshape(2, 3) * y.reshape(3)).sum())


def test_an_order_of_few_dims_is_found_for_arrays_without_elements() -> None:
    text = ", ".join(f"{words(30, f'k{n}x')} {words(10, 'a')}" for n in range(6)) + " -> : sum"
    assert ne.einsum(text, *[np.zeros((0,) * 40)] * 6) == 0


def test_more_dims_than_an_array_has_are_refused_before_anything_runs() -> None:
    text = f"{words(40)}, {words(40, 'e')} -> : max"
    for call in (
        lambda: ne.compile(text).plan((2,) * 40, (2,) * 40),
        lambda: ne.explain(text, *[(2,) * 40] * 2),
    ):
        with pytest.raises(ne.LimitError) as caught:
            call()
        assert caught.value.code == "NE705"
        assert [text[start:end].split(maxsplit=1)[0] for start, end in caught.value.spans] == ["d0", "e0"]


def test_the_order_of_the_caller_s_is_held_to_the_same_bound() -> None:
    labels = [words(40, "a").split(), words(40, "b").split()]
    terms, every = tuple(tuple(term) for term in labels * 2), labels[0] + labels[1]
    contraction = Contraction(terms, (), tuple(every), "sum", dict.fromkeys(every, 2))
    with pytest.raises(TooManyDimsError) as caught:
        plan_contractions(contraction, [(0, 1), (0, 1), (0, 1)])
    assert (caught.value.dims, caught.value.operands) == (80, (0, 1))
    assert len(plan_contractions(contraction).steps) == 3
