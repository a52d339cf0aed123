"""The same array given twice or more: the same values, in fewer steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from nameexpr.tensors import NamedTensor
from oracle.reference.expressions import Named
from oracle.reference.expressions import einsum as by_nested_loops

RING = "a b, b c, c d, d e, e f, f g, g h, h a ->"
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    ne.cache_clear()


def random_case(seed: int) -> tuple[str, list[Any]]:
    """Return an expression of up to seven operands that are two arrays of any order in memory."""
    rng = np.random.default_rng(seed)
    labels = list("abcde"[: rng.integers(2, 6)])
    pool = [
        rng.integers(-3, 4, (2,) * rng.integers(1, 3)).astype(
            rng.choice(["f8", "f4", "i8", "i1", "c16", "?"])
        )
        for _ in range(2)
    ]
    pool = [array.transpose(rng.permutation(array.ndim)) for array in pool]
    chosen = [pool[int(rng.integers(0, 2))] for _ in range(rng.integers(2, 8))]
    terms = [[str(label) for label in rng.choice(labels, array.ndim)] for array in chosen]
    used = sorted({label for term in terms for label in term})
    kept = [str(label) for label in rng.permutation(used) if rng.random() < 0.4]
    reducer = f" : {rng.choice(['sum', 'sum', 'mean', 'prod', 'max'])}" if len(kept) < len(used) else ""
    return ", ".join(map(" ".join, terms)) + " -> " + " ".join(kept) + reducer, chosen


@pytest.mark.slow
def test_results_of_repeated_operands_are_those_of_nested_loops() -> None:
    shared = 0
    for seed in range(200):
        text, operands = random_case(seed)
        plan = ne.compile(text).plan(*operands)
        assert plan.flops <= ne.compile(text).plan(*[array.copy() for array in operands]).flops
        shared += plan.flops < ne.compile(text).plan(*[array.copy() for array in operands]).flops
        got = ne.einsum(text, *operands)
        want = by_nested_loops(text, *operands)
        assert got.dtype == want.dtype, text
        assert_allclose(got, want, rtol=1e-3 if got.dtype == np.float32 else 1e-9, atol=1e-9, err_msg=text)
        compute: dict[str, Any] = {}
        exec(plan.code, compute)
        assert_array_equal(compute["compute"](*operands), got, text)
    assert shared > 40


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (RING, "ab,bc,cd,de,ef,fg,gh,ha->"),
        ("a b, c b -> a c", "ab,cb->ac"),
        ("a b, c b, c d, e d -> a e", "ab,cb,cd,ed->ae"),
        ("a b, b c, c d, d e, e f -> f a", "ab,bc,cd,de,ef->fa"),
        ("a a, a b, b b, b c -> c", "aa,ab,bb,bc->c"),
        ("a b, a b, a b, a b -> a b", "ab,ab,ab,ab->ab"),
        ("a b, b a, c d, d c -> a c", "ab,ba,cd,dc->ac"),
        ("a b, c d, e f -> b d f : sum", "ab,cd,ef->bdf"),
    ],
)
def test_one_matrix_in_many_places_is_what_numpy_makes_of_it(text: str, letters: str) -> None:
    x = RNG.normal(size=(5, 5))
    want = np.einsum(letters, *[x] * (letters.count(",") + 1))
    assert_allclose(ne.einsum(text, *[x] * (text.count(",") + 1)), want, rtol=1e-12, atol=1e-12)


def test_the_eighth_power_takes_three_products_and_its_trace_two_and_a_sum() -> None:
    x = RNG.normal(size=(20, 20))
    plan = ne.compile("a b, b c, c d, d e, e f, f g, g h, h i -> a i").plan(*[x] * 8)
    assert [step.what for step in plan.steps] == ["dot"] * 3
    assert plan.flops == sum(step.flops for step in plan.steps) == 3 * 2 * 20**3
    trace = ne.compile(RING).plan(*[x] * 8)
    assert trace.flops == 2 * 2 * 20**3 + 2 * 20**2
    assert trace.code.count(".dot(") == 2


def test_shapes_and_different_arrays_have_the_usual_plan() -> None:
    x = RNG.normal(size=(20, 20))
    usual = ne.compile(RING).plan(*[(20, 20)] * 8)
    assert (
        usual.flops == ne.compile(RING).plan(*[x.copy() for _ in range(8)]).flops > 7 * 2 * 20**3 - 20**3 * 2
    )


def test_code_of_the_latest_call_is_shared_when_it_was() -> None:
    x = RNG.normal(size=(9, 9))
    power = ne.compile("a b, b c, c d, d e -> a e")
    power(x, x, x, x)
    assert power.code.count(".dot(") == 2


def test_different_arrays_after_equal_ones_and_back_have_their_own_results() -> None:
    x, y = RNG.normal(size=(2, 7, 7))
    text = "a b, b c, c d, d e -> a e"
    power = np.linalg.matrix_power
    for _ in range(2):
        assert_allclose(ne.einsum(text, x, x, x, x), power(x, 4))
        assert_allclose(ne.einsum(text, x, y, x, y), power(x @ y, 2))
        assert_allclose(ne.einsum(text, x, x, x, y), power(x, 3) @ y)
        assert_allclose(ne.einsum(text, y, y, y, y), power(y, 4))
        assert_allclose(ne.einsum(text, x, x.copy(), x.copy(), x), power(x, 4))
        assert_allclose(ne.einsum(text, x, x, x, x), power(x, 4))
        ne.cache_clear()
        ne.einsum(text, x, y, x, y)


def test_a_function_for_equal_arrays_is_not_called_for_others() -> None:
    x = RNG.normal(size=(7, 7))
    square = ne.compile("a b, b c, c d, d e -> a e")
    square(x, x, x, x)
    for place in range(4):
        operands = [x] * 4
        operands[place] = np.zeros((7, 7))
        assert_array_equal(square(*operands), np.zeros((7, 7)))
        ne.cache_clear()
        square = ne.compile("a b, b c, c d, d e -> a e")
        square(x, x, x, x)


def test_texts_that_say_the_same_share_code_for_equal_arrays_too() -> None:
    x, y = RNG.normal(size=(2, 7, 7))
    first, second = "a b, b c, c d, d e -> a e", "p q, q r, r s, s t -> p t"
    assert_allclose(ne.einsum(first, x, x, x, x), np.linalg.matrix_power(x, 4))
    assert_allclose(ne.einsum(second, x, y, y, x), x @ y @ y @ x)
    ne.cache_clear()
    assert_allclose(ne.einsum(first, x, y, y, x), x @ y @ y @ x)
    assert_allclose(ne.einsum(second, x, x, x, x), np.linalg.matrix_power(x, 4))
    assert ne.compile(second).code.count(".dot(") == 2


def test_changes_in_place_between_calls_are_seen() -> None:
    x = RNG.normal(size=(6, 6))
    power = ne.compile("a b, b c, c d, d e -> a e")
    power(x, x, x, x)
    x *= 2
    x[0, 1] = 11.0
    assert_allclose(power(x, x, x, x), np.linalg.matrix_power(x, 4))


def test_named_tensors_are_one_array_where_their_data_is() -> None:
    data = RNG.normal(size=(4, 4))
    x = ne.from_numpy(data, names="a b")
    result = ne.einsum("a b, c b, c d, e d -> a e", x, data, data, data)
    assert isinstance(result, NamedTensor) and result.names == ("a", "e")
    assert_allclose(result.data, np.linalg.matrix_power(data @ data.T, 2))
    text = "a b, a b, a b, a b -> b a"
    got = ne.einsum(text, x, x, x, x)
    assert_allclose(got.data, data.T**4)
    assert_allclose(got.data, by_nested_loops(text, *[Named(data, ("a", "b"))] * 4).array)
    other = ne.from_numpy(RNG.normal(size=(4, 4)), names="a b")
    assert_allclose(ne.einsum(text, x, x, other, x).data, (data**3 * other.data).T)


def test_names_tell_axes_apart_where_the_array_is_the_same() -> None:
    data = RNG.normal(size=(4, 4))
    x, turned = ne.from_numpy(data, names="a b"), ne.from_numpy(data, names="b a")
    got = ne.einsum("a b, b a, a b, b a -> a b", x, turned, x, turned)
    assert_allclose(got.data, (data * data.T) ** 2)


def test_options_and_sharing_go_together() -> None:
    x = RNG.normal(size=(8, 8))
    text, want = "a b, b c, c d, d e -> a e", np.linalg.matrix_power(x, 4)
    for options in (
        {"optimize": False},
        {"optimize": [(0, 1), (0, 1), (0, 1)]},
        {"optimize": "greedy"},
        {"tune": True},
        {"order": "C"},
        {"dtype": "float32"},
        {"memory_limit": 3 * 8 * 64},
        {"memory_limit": 2 * 8 * 64},
    ):
        got = ne.einsum(text, x, x, x, x, **options)  # type: ignore[arg-type]
        assert_allclose(got, want, rtol=1e-4 if "dtype" in options else 1e-12)
        assert_allclose(ne.einsum(text, x, x.copy(), x, x, **options), want, rtol=1e-4)  # type: ignore[arg-type]


def test_a_reducer_of_the_callers_sees_the_same_product() -> None:
    x = RNG.normal(size=(3, 4))
    got = ne.einsum("a b, a c, a b, a c -> a", x, x, x, x, reduce=lambda cells, axis: cells.max(axis))
    assert_allclose(got, by_nested_loops("a b, a c, a b, a c -> a : max", x, x, x, x))


def test_results_are_new_memory() -> None:
    x = np.ones((3, 3))
    for text in ("a b, a b -> a b", "a b, a b, a b, a b -> a b", "a b, c d -> b d : sum"):
        result = ne.einsum(text, *[x] * (text.count(",") + 1))
        assert not np.shares_memory(result, x)
        result[...] = 5
        assert_array_equal(x, np.ones((3, 3)))


def test_arrays_that_all_differ_after_equal_ones_have_a_function_of_their_own() -> None:
    arrays = list(RNG.normal(size=(4, 7, 7)))
    power = ne.compile("a b, b c, c d, d e -> a e")
    power(*[arrays[0]] * 4)
    assert_allclose(power(*arrays), np.linalg.multi_dot(arrays))
    assert power.code.count(".dot(") == 3
