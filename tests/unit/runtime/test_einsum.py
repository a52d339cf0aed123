"""`einsum` as a user calls it: options, operands of every kind, memory, cache, threads."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(0)
A = RNG.random((3, 4))
B = RNG.random((4, 5))


@pytest.fixture(autouse=True)
def _clean_cache() -> Iterator[None]:
    ne.cache_clear()
    yield
    ne.cache_clear()


def test_section_8_of_the_language_is_what_pytorch_s_verbs_do() -> None:
    x = ne.tensor(RNG.random((2, 3, 4, 5)), names="N C H W")
    aligned = ne.einsum("-> C ... N", x)
    assert aligned.names == x.align_to("C", ..., "N").names == ("C", "H", "W", "N")
    np.testing.assert_array_equal(aligned.numpy(), x.numpy().transpose(1, 2, 3, 0))
    pair = ne.tensor(A, names="N C")
    assert ne.einsum("N C -> batch=N C", pair).names == ("batch", "C")
    flat = ne.einsum("N C H W -> N features=(C H W)", x)
    np.testing.assert_array_equal(flat.numpy(), x.flatten(["C", "H", "W"], "features").numpy())
    assert flat.names == ("N", "features")
    back = ne.einsum("N features=(C=3 H=4 W) -> N C H W", flat)
    assert back.names == x.names
    np.testing.assert_array_equal(back.numpy(), x.numpy())
    scale = ne.tensor([1.0, 2.0, 3.0], names="C")
    scaled = ne.einsum("N C H W, C -> N C H W", x, scale)
    np.testing.assert_array_equal(scaled.numpy(), x.numpy() * np.array([1.0, 2, 3])[:, None, None])
    np.testing.assert_allclose(ne.einsum("N C, C K -> N K", A, B), A @ B)
    np.testing.assert_allclose(ne.einsum("N C H W -> H W : sum", x).numpy(), x.numpy().sum((0, 1)))


def test_a_rearrangement_is_a_view_and_everything_else_is_fresh() -> None:
    for text in ("i j -> j i", "(a b) j -> a b j", "i j -> i 1 j", "i j -> i j"):
        assert np.shares_memory(ne.einsum(text, A, **({"a": 1} if "a" in text else {})), A), text
    square = RNG.random((3, 3))
    diagonal = ne.einsum("i i -> i", square)
    assert np.shares_memory(diagonal, square)
    assert diagonal.flags.writeable
    for text, options in (
        ("i j -> i j k", {"k": 1}),
        ("i j -> i : sum", {}),
        ("p... i j -> i j : max", {}),
        ("p... i j -> i j : sum", {}),
        ("p... i j -> i j : mean", {}),
        ("i j, -> i j", {}),
    ):
        operands = (A, 1.0) if "," in text else (A,)
        result = ne.einsum(text, *operands, **options)
        assert not np.shares_memory(result, A), text
        assert result.flags.writeable


def test_results_are_always_arrays_even_without_dims() -> None:
    for text, operands in (
        ("i, i ->", (A[0], A[0])),
        ("i -> : mean", (A[0],)),
        (", ->", (2.0, 3.0)),
        ("i i ->", (A[:, :3],)),
    ):
        result = ne.einsum(text, *operands)
        assert type(result) is np.ndarray
        assert result.shape == ()


def test_sums_widen_integers_before_they_multiply() -> None:
    x = np.full(300, 100, np.int8)
    assert ne.einsum("i, i ->", x, x) == 300 * 100 * 100
    assert ne.einsum("i, i ->", x, x).dtype == np.int64
    assert ne.einsum("i, i ->", x.astype(np.uint8), x.astype(np.uint8)).dtype == np.uint64
    assert ne.einsum("i -> : sum", np.ones(5, bool)) == 5
    assert ne.einsum("i, i -> i", x, x).dtype == np.int8


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.int16, np.int8, np.uint8, np.bool_])
def test_large_integer_products_are_exact_on_every_route(dtype: type) -> None:
    """Above the size from which integers go through floats, and with values that do not fit there."""
    info = np.array([0, 1]) if dtype is np.bool_ else np.iinfo(dtype)
    low, high = (0, 2) if dtype is np.bool_ else (max(info.min, -(2**40)), min(info.max, 2**40))
    for bound in (high, 2):
        a = RNG.integers(min(low, 0), max(bound, 2), (40, 50)).astype(dtype)
        b = RNG.integers(0, max(bound, 2), (50, 30)).astype(dtype)
        wide = np.uint64 if np.dtype(dtype).kind == "u" else np.int64
        expected = sum(a[:, k, None].astype(wide) * b[k].astype(wide) for k in range(50))
        np.testing.assert_array_equal(ne.einsum("i j, j k -> i k", a, b), expected)


def test_integers_never_go_through_a_float_that_cannot_hold_their_sum() -> None:
    """At the edge of what floats hold exactly: there an odd sum would lose its last bit."""
    small = RNG.integers(100, 128, (30, 3001)).astype(np.int8) | 1
    wide = small.astype(np.int64)
    np.testing.assert_array_equal(
        ne.einsum("i k, j k -> i j", small, small), np.einsum("ik,jk->ij", wide, wide)
    )
    large = RNG.integers(2**26, 2**26 + 2**20, (30, 60)) | 1
    np.testing.assert_array_equal(
        ne.einsum("i k, j k -> i j", large, large), np.einsum("ik,jk->ij", large, large)
    )


def test_float16_is_summed_in_float32() -> None:
    x = np.full(5000, 1.0, np.float16)
    assert ne.einsum("i -> : sum", x) == 5000
    assert ne.einsum("i, i ->", x, x).dtype == np.float16
    big, tiny = np.full(4, 300, np.float16), np.full(4, 2.0**-10, np.float16)
    assert ne.einsum("i, i, i ->", big, big, tiny, optimize=False) == np.float16(4 * 300 * 300 / 1024)
    uneven = RNG.random(7001).astype(np.float16)
    assert ne.einsum("i -> : sum", uneven) == np.float16(np.sum(uneven, dtype=np.float64))
    large = RNG.random((64, 64)).astype(np.float16)
    expected = (large.astype(np.float64) @ large.astype(np.float64)).astype(np.float16)
    np.testing.assert_allclose(ne.einsum("i j, j k -> i k", large, large), expected, rtol=1e-3)


def test_dtype_is_what_is_computed_in() -> None:
    assert ne.einsum("i j -> j i", A, dtype=np.float32).dtype == np.float32
    assert ne.einsum("i j -> i : sum", A.astype(np.int8), dtype="int32").dtype == np.int32
    with pytest.raises(ne.OptionError) as caught:
        ne.einsum("i j -> i : sum", A, dtype=int)
    assert caught.value.code == "NE610"


def test_out_takes_the_result_and_may_alias_an_operand() -> None:
    out = np.empty((3, 5))
    assert ne.einsum("i j, j k -> i k", A, B, out=out) is out
    np.testing.assert_allclose(out, A @ B)
    square = RNG.random((4, 4))
    expected = square @ square
    ne.einsum("i j, j k -> i k", square, square, out=square)
    np.testing.assert_allclose(square, expected)
    transposed = np.arange(9.0).reshape(3, 3)
    ne.einsum("i j -> j i", transposed, out=transposed)
    np.testing.assert_array_equal(transposed, np.arange(9.0).reshape(3, 3).T)
    strided = np.zeros((5, 3)).T
    ne.einsum("i j, j k -> i k", A, B, out=strided)
    np.testing.assert_allclose(strided, A @ B)


def test_out_follows_pytorch_s_rule_for_names() -> None:
    x = ne.tensor(A, names="N C")
    unnamed = ne.tensor(np.zeros((4, 3)))
    assert ne.einsum("N C -> C N", x, out=unnamed).names == ("C", "N")
    before = np.zeros((4, 3))
    other = ne.as_tensor(before, names="C Z")
    with pytest.raises(ne.DimNameError):
        ne.einsum("N C -> C N", x, out=other)
    assert not before.any()


@pytest.mark.parametrize(
    ("out", "code"),
    [(np.zeros((2, 2)), "NE312"), (np.zeros((3, 5), int), "NE613"), (7, "NE611"), ([[0]], "NE611")],
)
def test_a_wrong_out_is_refused_before_it_is_written(out: object, code: str) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.einsum("i j, j k -> i k", A, B, out=out)
    assert caught.value.code == code
    assert not np.any(out) or out == 7


def test_read_only_out_is_refused() -> None:
    out = np.zeros((3, 5))
    out.flags.writeable = False
    with pytest.raises(ne.OptionError, match="read-only"):
        ne.einsum("i j, j k -> i k", A, B, out=out)


def test_a_callable_reducer_gets_one_merged_axis() -> None:
    seen = []

    def record(array: np.ndarray, axis: int) -> np.ndarray:
        seen.append((array.shape, axis))
        return array.max(axis)

    x = RNG.random((2, 3, 4))
    np.testing.assert_array_equal(ne.einsum("a b c -> b", x, reduce=record), x.max((0, 2)))
    assert seen == [((3, 8), 1)]
    np.testing.assert_array_equal(
        ne.einsum("a b c -> b", x, reduce=np.argmax), x.transpose(1, 0, 2).reshape(3, 8).argmax(1)
    )
    np.testing.assert_array_equal(ne.einsum("a b c -> b", x, reduce="max"), x.max((0, 2)))


def test_what_a_callable_reducer_raises_is_the_caller_s_own() -> None:
    def fail(array: np.ndarray, axis: int) -> np.ndarray:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ne.einsum("a b -> a", A, reduce=fail)
    for wrong in (lambda array, axis: array, lambda array: array, lambda array, axis: [[1], [2, 3]]):
        with pytest.raises(ne.OptionError) as caught:
            ne.einsum("a b -> a", A, reduce=wrong)
        assert caught.value.code == "NE606"

    def inner(array: np.ndarray, axis: int) -> np.ndarray:
        return len(axis)

    with pytest.raises(TypeError, match="len") as own:
        ne.einsum("a b -> a", A, reduce=inner)
    assert not isinstance(own.value, ne.NameExprError)


def test_object_arrays_work_where_their_elements_do() -> None:
    x = np.array([[Fraction(1, 2), Fraction(1, 3)], [Fraction(2), Fraction(0)]], dtype=object)
    result = ne.einsum("i j, j k -> i k", x, x)
    assert result[0, 0] == Fraction(1, 4) + Fraction(2, 3)
    assert ne.einsum("i j -> : sum", x) == Fraction(17, 6)
    assert ne.einsum("i, i -> i", np.array([Decimal(2)]), np.array([Decimal(3)]))[0] == Decimal(6)
    with pytest.raises(ne.OperandError):
        ne.einsum("i, i -> i", np.array(["a", object()], dtype=object), np.array([1, 2], dtype=object))


@pytest.mark.parametrize("limit", [None, 400])
def test_whether_any_or_all_objects_are_true_is_a_truth_value(limit: int | None) -> None:
    x = np.array([[1, 0, "a"], [0, None, ""], [2, 3.0, Fraction(1, 2)]] * 8, dtype=object)
    for reducer, truth in (("any", any), ("all", all)):
        found = ne.einsum(f"a b -> a : {reducer}", x, memory_limit=limit)
        assert found.dtype == np.bool_
        assert found.tolist() == [truth(row) for row in x.tolist()]
        assert ne.einsum(f"a b -> : {reducer}", x) == truth(x.ravel().tolist())


def test_products_of_times_keep_their_unit_or_are_refused() -> None:
    times, counts = np.array([2, 3], "m8[m]"), np.array([4, 5])
    found = ne.einsum("i, i -> i", times, counts)
    assert (found.dtype, found.tolist()) == ("m8[m]", (times * counts).tolist())
    assert ne.einsum("i, i -> : max", times, counts) == (times * counts).max()
    for text, other in (
        ("i, i ->", counts),
        ("i, i ->", times),
        ("i, j -> i j", times),
        ("i, i -> : sum", 2 * counts),
    ):
        with pytest.raises(ne.OperandError, match="NE505"):
            ne.einsum(text, times, other)


def test_any_dtype_can_be_rearranged() -> None:
    words = np.array([["a", "bc"], ["d", "e"]])
    assert ne.einsum("i j -> j i", words).tolist() == [["a", "d"], ["bc", "e"]]
    dates = np.arange("2020-01", "2020-05", dtype="M8[M]")
    assert ne.einsum("(a b) -> b a", dates, a=2).shape == (2, 2)
    assert ne.einsum("i -> : sum", np.array([1, 2], "m8[s]")) == np.timedelta64(3, "s")
    records = np.zeros((2, 3), [("x", "i4"), ("y", "f8")])
    assert ne.einsum("i j -> j i", records).dtype == records.dtype
    swapped = A.astype(">f8")
    assert ne.einsum("i j -> j i", swapped).dtype == swapped.dtype
    np.testing.assert_allclose(ne.einsum("i j, j k -> i k", swapped, B), A @ B)


def test_numbers_lists_and_numpy_scalars_are_operands() -> None:
    np.testing.assert_array_equal(ne.einsum("i j -> j i", [[1, 2], [3, 4]]), [[1, 3], [2, 4]])
    assert ne.einsum("i, -> i", np.ones(2, np.float32), 2.5).dtype == np.float32
    assert ne.einsum("i, -> i", np.ones(2, np.float32), np.float64(2.5)).dtype == np.float64
    with pytest.raises(ne.OperandError, match="300"):
        ne.einsum("i, -> i", np.ones(2, np.uint8), 300)


def test_layouts_and_shapes_that_alternate_get_the_right_program() -> None:
    base = RNG.random((4, 3, 2, 5))
    w = RNG.random((10, 6))
    text = "b (s h) d, (h d) e -> b s e"
    for _ in range(3):
        for x in (
            base.reshape(4, 6, 5),
            base.reshape(4, 6, 5)[::-1],
            np.asfortranarray(base.reshape(4, 6, 5)),
        ):
            expected = x.reshape(4, 3, 10) @ w
            np.testing.assert_allclose(ne.einsum(text, x, w, h=2), expected)
    for n in (2, 3, 2, 4):
        x = RNG.random((n, 3))
        np.testing.assert_allclose(ne.einsum("i j, j k -> i k", x, x.T), x @ x.T)


def test_the_cache_is_bounded_and_can_be_cleared() -> None:
    for number in range(3000):
        ne.einsum(f"a{number} -> a{number}", A[0])
    info = ne.cache_info()
    assert info.misses == 3000
    assert info.maxsize <= info.texts <= 2 * info.maxsize
    ne.cache_clear()
    assert ne.cache_info().texts == 0


def test_programs_of_one_text_are_bounded() -> None:
    for size in range(1, 400):
        ne.einsum("i -> : sum", np.ones(size))
    assert ne.cache_info().programs <= 128


def test_threads_share_the_cache_without_wrong_answers() -> None:
    wrong: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for step in range(200):
            n, m = rng.integers(1, 6, 2)
            x, y = rng.random((n, m)), rng.random((m, n))
            text = f"i{step % 7} j, j k -> i{step % 7} k"
            if not np.allclose(ne.einsum(text, x, y), x @ y):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_compiled_expressions_pickle_and_print() -> None:
    project = ne.compile("i j, j k -> i k : sum", optimize="greedy")
    again = pickle.loads(pickle.dumps(project))
    np.testing.assert_allclose(again(A, B), A @ B)
    assert copy.copy(again).signature == project.signature
    assert str(project.signature) == "i j, j k -> i k : sum"
    assert project.signature.labels == ("i", "j", "k")
    assert project.signature.reducer == "sum"
    assert "i j, j k" in repr(project)
    out = np.empty((3, 5))
    assert project(A, B, out=out) is out


def test_code_runs_when_pasted() -> None:
    x = RNG.random((2, 12, 3))
    project = ne.compile("N (h w) C, C K -> N K : mean", h=3)
    for code in (project.code, project.plan(x, RNG.random((3, 4))).code):
        assert "def compute" in code
        exec(compile(code, "pasted", "exec"), {})
    y = RNG.random((3, 4))
    namespace: dict[str, object] = {}
    exec(project.plan(x, y).code, namespace)
    np.testing.assert_allclose(namespace["compute"](x, y), project(x, y))
    project(x, y)
    assert "N=2 (h w)=12 C=3" in project.code


def test_a_plan_is_a_table_with_totals() -> None:
    plan = ne.compile("i j, j k, k l -> i l").plan((10, 100), (100, 5), (5, 50))
    assert (plan.flops, plan.naive_flops) == (15_000, 750_000)
    assert plan.peak_bytes == (10 * 5 + 10 * 50) * 8
    assert [step.what for step in plan.steps] == ["dot", "dot"]
    assert "a0.dot(a1)" in str(plan)
    assert "15,000 planned, 750,000 naive" in str(plan)
    named = ne.compile("N C -> N : max").plan(ne.tensor(A, names="N C"))
    assert named.result_names == ("N",)
    assert "names ('N',)" in str(named)


def test_check_returns_the_sizes() -> None:
    sizes = ne.check("N C, C", A, A[0])
    assert sizes == {"N": 3, "C": 4}
    assert list(ne.check("b... (h w) _", RNG.random((2, 6, 1)), h=2)) == ["h", "w"]
    assert ne.check("..., ... C", RNG.random((2, 1)), RNG.random((1, 5, 4))).packs == {"...": (2, 5)}
    with pytest.raises(ne.RuleError) as caught:
        ne.check("N C -> N", A)
    assert caught.value.code == "NE219"
    with pytest.raises(ne.RuleError) as caught:
        ne.einsum("N C", A)
    assert caught.value.code == "NE218"


def test_explain_says_everything() -> None:
    text = ne.explain("i j, j k -> i k", A, B)
    assert "flops" in text
    assert "def compute(a0, a1):" in text


def test_names_meet_plain_arrays() -> None:
    x = ne.tensor(A, names=("N", None))
    y = ne.einsum("N C, C K -> N K", x, B)
    assert y.names == ("N", "K")
    assert type(ne.einsum("N C, C K -> N K", A, B)) is np.ndarray
    with pytest.raises(ne.DimNameError):
        ne.einsum("C N -> N C", x)
    with pytest.raises(ne.DimNameError, match="twice"):
        ne.einsum("i -> i i", ne.tensor([1.0, 2.0], names="i"))
    assert ne.einsum("i -> row=i col=i", ne.tensor([1.0, 2.0], names="i")).names == ("row", "col")


def test_operands_that_only_seem_different_find_the_same_program() -> None:
    """Equal dtypes need not be one object, nor a tensor of the very class: no call may go in circles."""
    ne.einsum("i -> : sum", np.ones(3, np.int64))
    assert ne.einsum("i -> : sum", np.ones(3, np.longlong)) == 3
    ne.einsum("i -> i", np.ones(3))
    tagged = np.ones(3, np.dtype("f8", metadata={"unit": "m"}))
    assert ne.einsum("i -> i", tagged).tolist() == [1, 1, 1]

    class Mine(ne.NamedTensor):
        __slots__ = ()

    x = ne.tensor([1.0, 2.0], names="i")
    mine = Mine._wrap(x.data, x.names)
    assert ne.einsum("i -> i", mine).names == ("i",)

    class Sub(np.ndarray):
        pass

    sub = np.ones(3).view(Sub)
    assert type(ne.einsum("i -> i", sub)) is np.ndarray


def test_wrong_options_are_refused_before_an_operand_is_seen() -> None:
    with pytest.raises(ne.OptionError, match="c="):
        ne.compile("a b -> b a", c=3)
    with pytest.raises(ne.OptionError, match="fastest"):
        ne.compile("a b -> b a", optimize="fastest")
    with pytest.raises(ne.OptionError, match="dims="):
        ne.set_limits(dims=-(10**5000))
    with pytest.raises(ne.OptionError):
        ne.set_limits(text=True)
    with pytest.raises(ne.LimitError):
        ne.compile("a b -> b a").plan((10**5000, 3))
    with pytest.raises(ne.OptionError, match="not a shape"):
        ne.compile("a b -> b a").plan((2, -3))
    with pytest.raises(ne.OptionError):
        ne.einsum("a -> a", [1.0], dtype=object)


@pytest.mark.parametrize("text", ["1 a -> a", "() a -> a", "a 1 -> a"])
@pytest.mark.parametrize("size", [0, 2, 3, 100])
def test_a_literal_one_is_a_dim_of_size_one_and_of_no_other(text: str, size: int) -> None:
    shape = (3, size) if text.startswith("a") else (size, 3)
    with pytest.raises(ne.SizeError) as caught:
        ne.einsum(text, np.ones(shape))
    assert caught.value.code == "NE302"
