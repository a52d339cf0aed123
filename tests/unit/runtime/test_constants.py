"""Values that depend on no operand: computed once if they are small, never shared with the caller."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from nameexpr.runtime.constants import KEPT_BYTES
from nameexpr.runtime.evaluate import find_formula

RNG = np.random.default_rng(0)
MASKED = "where(index[Q] >= index[K], s[Q K], -1)"
ROTATED = """
    angle[T E] = index[T] * 100 ** (-index[E] / size[E])
    y[T E] = x[T E] * cos(angle) + z[T E] * sin(angle)
"""


def kept(text: str) -> list[Any]:
    """Return the arrays that the latest function of a text keeps besides shapes and dtypes."""
    function: Any = find_formula(text).call
    return [value for value in function.__globals__.values() if isinstance(value, np.ndarray)]


def masked(s: Any) -> Any:
    result = s.copy()
    for q, k in product(*map(range, s.shape)):
        result[q, k] = s[q, k] if q >= k else -1
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64", ">f8", "float16"])
def test_a_mask_is_computed_once_and_right_for_every_dtype_and_size(dtype: str) -> None:
    for shape in [(4, 6), (5, 3), (4, 6), (0, 3), (1, 1)]:
        for _ in range(2):
            s = (RNG.random(shape) * 9).astype(dtype)
            result = ne.evaluate(MASKED, s=s)
            assert_array_equal(result, masked(s))
            assert result.dtype == s.dtype.newbyteorder("=")
            result[...] = 7
        (mask,) = kept(MASKED)
        assert mask.shape == shape
        assert not mask.flags.writeable


def test_tables_of_positions_are_kept() -> None:
    x, z = RNG.random((2, 5, 8))
    angle = np.array([[t * 100 ** (-e / 8) for e in range(8)] for t in range(5)])
    for _ in range(2):
        assert_allclose(ne.evaluate(ROTATED, x=x, z=z), x * np.cos(angle) + z * np.sin(angle))
    assert sorted(array.shape for array in kept(ROTATED)) == [(5, 8), (5, 8)]


def test_large_ones_are_computed_on_each_call() -> None:
    s = RNG.random((300, 400))
    for _ in range(2):
        assert_array_equal(ne.evaluate(MASKED, s=s), np.where(np.tri(300, 400, dtype=bool), s, -1))
    assert sum(array.nbytes for array in kept(MASKED)) <= 8 * (300 + 400)
    many = "; ".join(f"t{n} = cos(index[N] + {n})" for n in range(6))
    text = f"{many}; {' + '.join(f't{n} ** x[N]' for n in range(6))}"
    expected = sum(np.cos(np.arange(2000) + n) for n in range(6))
    assert_allclose(ne.evaluate(text, x=np.ones(2000)), expected)
    assert sum(array.nbytes for array in kept(text)) <= KEPT_BYTES


def test_a_result_is_new_memory_on_each_call() -> None:
    x = RNG.random(4)
    outputs = ("mask", "y", "row")
    text = "mask = where(index[i] > index[j], 1.0, 2.0); row = index[i] * 3; y = sum[j](mask * x[j])"
    for _ in range(3):
        found = ne.evaluate(text, x=x, sizes={"i": 5}, outputs=outputs)
        mask = np.where(np.arange(5)[:, None] > np.arange(4), 1.0, 2.0)
        assert_array_equal(found[0], mask)
        assert_allclose(found[1], mask @ x)
        assert_array_equal(found[2], np.arange(5) * 3)
        for result in found:
            result += 1
    slow = "".join(["cos("] * 40) + "index[N]" + ")" * 40
    expected = np.arange(6.0)
    for _ in range(40):
        expected = np.cos(expected)
    for _ in range(3):
        alone = ne.evaluate(slow, sizes={"N": 6})
        assert_allclose(alone, expected)
        alone[:] = 0


def test_nothing_writes_over_a_constant() -> None:
    text, x = "y = (index[N] + 0.5) * x[N]; y + index[N]", np.ones(4)
    for _ in range(3):
        assert_array_equal(ne.evaluate(text, x=x), [0.5, 2.5, 4.5, 6.5])


def test_what_warns_or_fails_does_so_on_each_call() -> None:
    text, x = "x[N] - log(index[N])", np.ones(3)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            ne.evaluate(text, x=x)
    assert all(array.dtype.kind == "i" for array in kept(text))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        assert ne.evaluate(text, x=x)[2] == 1 - np.log(2)


def test_named_tensors_gradients_limits_and_bound_operands_agree() -> None:
    s, cot = RNG.random((4, 5)), RNG.random((4, 5))
    expected = masked(s)
    named = ne.evaluate(MASKED, s=ne.tensor(s, names="Q K"))
    assert named.names == ("Q", "K")
    assert_array_equal(named.numpy(), expected)
    compiled = ne.compile(MASKED)
    limited, bound = ne.compile(MASKED, memory_limit=10_000), compiled.bind(s=s)
    for _ in range(2):
        assert_array_equal(compiled(s=s), expected)
        assert_array_equal(limited(s=s), expected)
        assert_array_equal(bound(), expected)
    tensor = ne.tensor(s, names="Q K").requires_grad_()
    for _ in range(2):
        tensor.grad = None
        ne.evaluate(f"y = {MASKED}; sum[Q K](y * y * c[Q K])", s=tensor, c=cot).backward()
        assert_allclose(tensor.grad.numpy(), np.where(np.tri(4, 5, dtype=bool), 2 * s * cot, 0))


@pytest.fixture
def _two_threads() -> Iterator[None]:
    ne.set_threads(2)
    yield
    ne.set_threads(1)


@pytest.mark.usefixtures("_two_threads")
def test_threads_read_the_same_constants() -> None:
    text = "y[N B K] = where(index[B] >= index[K], exp(s[N B K]), -1) * index[K]"
    s = RNG.random((400, 12, 40))
    expected = np.where(np.arange(12)[:, None] >= np.arange(40), np.exp(s), -1) * np.arange(40)
    for _ in range(2):
        assert_allclose(ne.evaluate(text, s=s), expected)
