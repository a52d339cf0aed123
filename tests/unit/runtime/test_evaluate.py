"""`evaluate` as a user calls it: operands of every kind, options, memory, what is cached, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne

RNG = np.random.default_rng(0)
A, B = RNG.random((3, 4)), RNG.random((4, 5))
ATTENTION = """
    s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
    p = softmax[K](where(index[Q] >= index[K], s, -inf))   # causal
    o[B Q (H D)] = sum[K](p * v[B H K D])
"""


def softmax(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    batch, heads, length, depth = q.shape
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(depth)
    mask = np.arange(length)[:, None] >= np.arange(k.shape[2])
    weights = softmax(np.where(mask, scores, -np.inf))
    return scores, weights, (weights @ v).swapaxes(1, 2).reshape(batch, length, heads * depth)


def test_the_formula_of_the_language_is_attention() -> None:
    q, k, v = (RNG.standard_normal((2, 3, 5, 4)) for _ in range(3))
    scores, weights, result = attention(q, k, v)
    assert_allclose(ne.evaluate(ATTENTION, q=q, k=k, v=v), result, rtol=1e-12)
    both = ne.evaluate(ATTENTION, outputs=("o", "p", "s"), q=q, k=k, v=v)
    assert type(both) is tuple
    mentioned = weights.transpose(2, 3, 0, 1)  # index[Q] >= index[K] mentions Q and K before s does B and H
    for found, expected in zip(both, (result, mentioned, scores), strict=True):
        assert_allclose(found, expected, rtol=1e-12)


def test_outputs_always_give_a_tuple_in_the_order_asked_for() -> None:
    text = "s[i j] = x[i j] * 2\nt = sum[j](s)\nu = t + 1"
    one = ne.evaluate(text, outputs=["t"], x=A)
    assert type(one) is tuple and len(one) == 1
    assert_allclose(one[0], 2 * A.sum(1))
    u, s = ne.evaluate(text, outputs=("u", "s"), x=A)
    assert_allclose(u, 2 * A.sum(1) + 1)
    assert_array_equal(s, 2 * A)
    assert_allclose(ne.evaluate(text, x=A), 2 * A.sum(1) + 1)


def test_what_no_output_needs_is_not_computed() -> None:
    text = "huge = x[i] * x[j] * x[k] * x[l] * x[m]\ny = x[i] + 1"
    assert_array_equal(ne.evaluate(text, x=np.ones(1000)), np.full(1000, 2.0))


def test_a_value_without_a_name_is_a_result() -> None:
    assert_allclose(ne.evaluate("sum[j](x[i j])", x=A), A.sum(1))
    assert_allclose(ne.evaluate("s = x[i j] + 1; sum[j](s)", x=A), (A + 1).sum(1))


def test_results_are_always_arrays_even_without_dims() -> None:
    for text, given in (
        ("2 * 3", {}),
        ("x", {"x": 2}),
        ("sum[i j](x[i j])", {"x": A}),
        ("x + 1", {"x": np.float32(1)}),
    ):
        result = ne.evaluate(text, **given)
        assert type(result) is np.ndarray and result.shape == ()
        assert type(ne.evaluate(f"y = {text}", outputs=("y",), **given)[0]) is np.ndarray


def test_a_rearrangement_is_a_view_and_everything_else_is_fresh() -> None:
    for text in (
        "x[i j]",
        "y[j i] = x[i j]",
        "y[(j) 1 i] = x[i j]",
        "y[(i j)] = x[i j]",
        "z = x[i j]; y[j i] = z",
    ):
        result = ne.evaluate(text, x=A)
        assert np.shares_memory(result, A), text
        assert result.flags.writeable
    square = RNG.random((3, 3))
    assert np.shares_memory(ne.evaluate("x[i i]", x=square), square)
    one = RNG.random((1, 3))
    for text in (
        *(
            "x[i j] + 0",
            "+x[i j]",
            "x[i j] * 1",
            "abs(x[i j])",
            "real(x[i j])",
            "round(x[i j])",
            "relu(x[i j])",
        ),
        *("y[i j k=1] = x[i j]", "flip[j](x[i j])", "sort[j](x[i j])", "cumsum[i](x[i j])", "max[i](x[i j])"),
        *(
            "sum[i](x[i j])",
            "mean[i](x[i j])",
            "sum[p...](x[p... i j])",
            "max[p...](x[p... i j])",
            "conj(x[i j])",
        ),
        *(
            "where(1 < 2, x[i j], 0)",
            "clip(x[i j], -1, 2)",
            "x[i j] ** 1",
            "softmax[i](x[i j])",
            "sum[i](x[i j] * 1)",
        ),
        *(
            "prod[i](x[i j])",
            "median[i](x[i j])",
            "all[i](x[i j])",
            "--x[i j]",
            "(x[i j] + 0) * 1",
            "sum[i](x[i j] / 1)",
        ),
    ):
        for dtype in (float, int, bool, np.float32, np.complex128):
            operand = one.astype(dtype)
            try:
                result = ne.evaluate(text, x=operand)
            except ne.OperandError:
                assert dtype in (bool, np.complex128), text
                continue
            assert not np.shares_memory(result, operand), f"{text} of {dtype}"
            assert result.flags.writeable


@pytest.mark.parametrize(
    "text",
    [
        "s = x[i j] * 2; t = s + 1; u = t * s; exp(u) - x",
        "s = softmax[j](x[i j]); t = cumsum[j](s); sort[i](t * x)",
        "s = where(x[i j] > 0.5, x, 0); maximum(s, x) ** 2 + sqrt(s)",
        "y[j i] = x[i j]; z = y + x; -z",
        "s = x[i j] + 0; sum[i](s * x) + max[i](s)",
    ],
)
@pytest.mark.parametrize("size", [3, 400])
def test_operands_are_never_written_to_nor_results_of_earlier_calls(text: str, size: int) -> None:
    x = RNG.random((size, size))
    copy = x.copy()
    x.flags.writeable = False
    first = ne.evaluate(text, x=x)
    kept = first.copy()
    second = ne.evaluate(text, x=x + 1)
    assert_array_equal(x, copy)
    assert_array_equal(first, kept)
    assert not np.shares_memory(first, second)


def test_two_results_never_share_what_writing_would_show() -> None:
    s, p = ne.evaluate("s = x[i j] * 2; p = s + 1", outputs=("s", "p"), x=A)
    assert not np.shares_memory(s, p)
    assert_array_equal(p, s + 1)
    s, p, q = ne.evaluate(
        "s = x[i j] * 2; p = exp(s); q = softmax[j](p)", outputs=("s", "p", "q"), x=A
    )  # each later one could have taken over the memory of the one before
    assert_array_equal(s, A * 2)
    assert_array_equal(p, np.exp(A * 2))
    assert_allclose(q, softmax(p))


DOUBLED = "y[j i] = x[i j] * 2"


def variants() -> list[Any]:
    base = np.arange(12.0).reshape(3, 4)
    return [
        base, base.astype(np.float32), base.astype(int), base.astype(">f8"), base[:2], base[:, :3],
        base[::-1, ::2], base.T,
        np.asfortranarray(base), base.astype(complex), base > 2, base.astype(np.uint8), base.tolist(),
        ne.tensor(base, names="i j"), ne.tensor(base), ne.tensor(base, names=("i", None)),
        np.ma.array(base).data, base.astype(np.float16), np.zeros((0, 4)), base.reshape(3, 4, 1)[..., 0],
        np.broadcast_to(base[0], (3, 4)),
    ]  # fmt: skip


def test_one_text_over_operands_of_every_kind_in_every_order() -> None:
    rng = np.random.default_rng(1)
    operands = variants()
    for place in rng.integers(0, len(operands), 400):
        operand = operands[place]
        array = np.asarray(operand.numpy() if isinstance(operand, ne.NamedTensor) else operand)
        result = ne.evaluate(DOUBLED, x=operand)
        assert isinstance(result, ne.NamedTensor) == isinstance(operand, ne.NamedTensor)
        if isinstance(result, ne.NamedTensor):
            assert result.names == ("j", "i")
            result = result.numpy()
        expected = array.T * 2
        assert_array_equal(result, expected)
        assert result.dtype == expected.dtype.newbyteorder("=")


def test_numbers_of_every_kind_in_every_order() -> None:
    x = np.ones(3, np.float32)
    numbers = [
        2,
        2.5,
        True,
        2j,
        np.float64(2),
        np.int8(2),
        np.array(2),
        np.array(2.0),
        ne.tensor(2.0),
        np.bool_(1),
        10**20,
    ]
    rng = np.random.default_rng(2)
    for place in rng.integers(0, len(numbers), 200):
        number = numbers[place]
        found = ne.evaluate("y = x[N] * a", x=x, a=number)
        plain = number.numpy() if isinstance(number, ne.NamedTensor) else number
        expected = x * plain
        assert np.asarray(found).dtype == expected.dtype, repr(number)
        assert_array_equal(np.asarray(found), expected)
        assert isinstance(found, ne.NamedTensor) == isinstance(number, ne.NamedTensor)


def test_names_are_checked_at_every_call() -> None:
    text = "y = x[N C] + 1"
    good, other = ne.tensor(A, names="N C"), ne.tensor(A, names="C N")
    for _ in range(3):
        assert ne.evaluate(text, x=good).names == ("N", "C")
        with pytest.raises(ne.DimNameError):
            ne.evaluate(text, x=other)
        assert type(ne.evaluate(text, x=A)) is np.ndarray


def test_subclasses_of_arrays_are_arrays() -> None:
    class Mine(np.ndarray):
        pass

    for kind in (A.view(Mine), np.ma.masked_array(A, mask=False)):
        try:
            result = ne.evaluate("y = x[i j] + 1", x=kind)
        except ne.OperandError:
            continue
        assert type(result) is np.ndarray
        assert_array_equal(result, A + 1)


def test_tensors_need_no_terms() -> None:
    x = ne.tensor(A, names="N C")
    w = ne.tensor(B, names="C K")
    result = ne.evaluate("y = sum[C](x * w)", x=x, w=w)
    assert result.names == ("N", "K")
    assert_allclose(result.numpy(), A @ B)
    mixed = ne.evaluate("y[K N] = sum[C](x * w[C K])", x=x, w=B)
    assert mixed.names == ("K", "N")
    assert_allclose(mixed.numpy(), (A @ B).T)
    renamed = ne.evaluate("y[rows=N cols=C] = x + 1; z = sum[N](x)", x=x, outputs=("y", "z"))
    assert [one.names for one in renamed] == [("rows", "cols"), ("C",)]


def test_sizes_are_given_beside_the_operands() -> None:
    x = RNG.random((2, 6))
    assert_array_equal(ne.evaluate("y[N h d] = x[N (h d)]", x=x, sizes={"h": 2}), x.reshape(2, 2, 3))
    assert_array_equal(ne.evaluate("y = x[N (h d)]", x=x, sizes={"d": 2}), x.reshape(2, 3, 2))
    assert_array_equal(
        ne.evaluate("y[N (h d) K] = x[N (h d)]", x=x, sizes={"K": 2, "h": 6}), np.stack([x, x], -1)
    )
    assert ne.evaluate("size[K] * 2", sizes={"K": 4}) == 8
    assert_array_equal(ne.evaluate("index[K]", sizes={"K": 3}), [0, 1, 2])
    assert_array_equal(ne.evaluate("y[a'] = 2", sizes={"a'": 2}), [2, 2])


def test_operands_with_names_of_options_are_given_in_a_mapping() -> None:
    text = "y = sizes[N] + outputs[N] * text + optimize"
    given = {"sizes": np.ones(2), "outputs": np.ones(2), "text": 3}
    assert_array_equal(ne.evaluate(text, operands={**given, "optimize": 4}), [8, 8])
    assert_array_equal(
        ne.evaluate("y = sizes[N] + x[N]", operands={"sizes": np.ones(2)}, x=np.ones(2)), [2, 2]
    )
    assert_array_equal(ne.evaluate("operands[N] * self", operands={"operands": [1, 2], "self": 2}), [2, 4])
    assert_array_equal(ne.evaluate("β[N] * ﬁ", operands={"β": [1, 2], "fi": 2}), [2, 4])
    assert_array_equal(ne.evaluate("x'[N] * 2", operands={"x'": [1, 2]}), [2, 4])


@pytest.mark.parametrize("optimize", [None, True, False, "greedy", "optimal", [(0, 1), (0, 1)], [(0, 1, 2)]])
def test_optimize_changes_the_way_and_not_the_answer(optimize: Any) -> None:
    a, b, c = RNG.random((4, 5)), RNG.random((5, 6)), RNG.random((6, 2))
    text = "y[i l] = sum[j k](a[i j] * b[j k] * c[k l])"
    assert_allclose(ne.evaluate(text, optimize=optimize, a=a, b=b, c=c), a @ b @ c)


def test_an_explicit_order_is_followed() -> None:
    shapes = {"a": (4, 5), "b": (5, 6), "c": (6, 2)}
    text = "y[i l] = sum[j k](a[i j] * b[j k] * c[k l])"
    left = [step.call for step in ne.compile(text, optimize=[(0, 1), (0, 1)]).plan(**shapes).steps]
    right = [step.call for step in ne.compile(text, optimize=[(1, 2), (0, 1)]).plan(**shapes).steps]
    assert left[0] == "a0.dot(a1)" and right[0] == "a1.dot(a2)"


def test_a_keyword_is_an_option_or_an_operand_as_on_the_first_call() -> None:
    formula, x = "y = sizes[a] + dtype[a]", np.arange(3.0)
    compiled = ne.compile(formula)
    for _ in range(3):  # the second finds its function by the text alone
        assert_array_equal(ne.evaluate(formula, operands={"sizes": x}, dtype=x), 2 * x)
        with pytest.raises(ne.NameExprError):
            ne.evaluate(formula, sizes=x, dtype=x)
        assert_array_equal(compiled(sizes=x, dtype=x), 2 * x)
        assert_array_equal(ne.evaluate("y = 2 * x[a]", x=x), 2 * x)
        assert ne.evaluate("y = 2 * x[a]", x=x, dtype="f4").dtype == np.float32
        with pytest.raises(ne.NameExprError, match="no operand 'x'"):
            ne.evaluate("y = 2 * x[a]", z=x)
        with pytest.raises(ne.NameExprError):
            ne.evaluate("y = 2 * x[a]", x)  # type: ignore[call-overload]


def test_a_compiled_formula_with_an_operand_called_out_writes_to_out() -> None:
    x, place = np.arange(3.0), np.empty(3)
    compiled = ne.compile("y = 2 * out[a]")
    for _ in range(3):
        assert compiled(operands={"out": x}, out=place) is place
        assert_array_equal(place, 2 * x)
    with pytest.raises(ne.NameExprError):
        compiled(out=x)
