"""Statements that read their own earlier rows, compared with loops in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne

RNN = "h[(1 + T) B D] = 0, tanh(sum[C](x[T B C] * w[C D]) + sum[E](h[_@T B E] * u[E D]))"
LSTM = """z[T G D] = sum[C](x[T C] * w[C G D]) + sum[E](h[_@T E] * u[E G D])
c[(1 + T) D] = 0, sigmoid(z[T G@0 D]) * c[_@T D] + sigmoid(z[T G@1 D]) * tanh(z[T G@2 D])
h[(1 + T) D] = 0, sigmoid(z[T G@3 D]) * tanh(c[_@(T+1) D])"""
DTYPES = ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def network(steps: int) -> tuple[dict[str, Any], Any]:
    x, w, u = RNG.random((steps, 2, 3)), RNG.random((3, 4)), RNG.random((4, 4))
    rows = np.zeros((steps + 1, 2, 4))
    for t in range(steps):
        rows[t + 1] = np.tanh(x[t] @ w + rows[t] @ u)
    return {"x": x, "w": w, "u": u}, rows


def test_a_moving_average() -> None:
    x, start = RNG.random((6, 3)), RNG.random(3)
    rows = [start]
    for step in x:
        rows.append(0.9 * rows[-1] + 0.1 * step)
    text = "m[(1 + T) D] = start[D], 0.9 * m[_@T D] + 0.1 * x[T D]"
    assert_allclose(ne.evaluate(text, start=start, x=x), rows, rtol=1e-15)


def test_two_rows_back_from_a_start_of_two() -> None:
    rows = ne.evaluate("f[(2 + n=8)] = 1, f[_@(n+1)] + f[_@n]")
    assert_array_equal(rows, [1, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    assert rows.dtype == np.int64


def test_a_start_in_several_parts_one_of_them_an_array() -> None:
    rows = ne.evaluate("m[(a + 1 + T)] = i[a], 7, m[_@(T + 1)] + x[T]", i=np.arange(2.0), x=np.ones(4))
    assert_array_equal(rows, [0, 1, 7, 2, 8, 3, 9])


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_network_and_its_last_row(steps: int) -> None:
    operands, rows = network(steps)
    assert_allclose(ne.evaluate(RNN, **operands), rows, rtol=1e-14)
    last = ne.evaluate(f"{RNN}; h[_@(size[T]) B D]", **operands)
    assert_allclose(last, rows[-1], rtol=1e-14)


def test_what_does_not_read_rows_is_computed_before_the_loop() -> None:
    operands, _ = network(5)
    (steps,) = [step for step in ne.compile(RNN).plan(**operands).steps if step.what == "loop"]
    assert "5 steps along T" in str(ne.compile(RNN).plan(**operands)) and steps
    code = ne.compile(RNN).plan(**operands).code
    assert code.index("a0.reshape") < code.index("for j0 in range(0, 5)")
    inside = code[code.index("for j0") :]
    assert "a0" not in inside and "out=" in inside


def test_several_statements_are_one_recurrence() -> None:
    steps, width = 6, 3
    x, w, u = RNG.random((steps, 2)), RNG.random((2, 4, width)), RNG.random((width, 4, width))
    cell, hidden = np.zeros(width), [np.zeros(width)]
    for t in range(steps):
        z = np.einsum("c,cgd->gd", x[t], w) + np.einsum("e,egd->gd", hidden[-1], u)
        cell = sigmoid(z[0]) * cell + sigmoid(z[1]) * np.tanh(z[2])
        hidden.append(sigmoid(z[3]) * np.tanh(cell))
    assert_allclose(ne.evaluate(LSTM, x=x, w=w, u=u), hidden, rtol=1e-14)
    both = ne.compile(LSTM, outputs=["h", "z", "c"])(x=x, w=w, u=u)
    assert_allclose(both[2][-1], cell, rtol=1e-14)
    assert both[1].shape == (steps, 4, width)


def test_a_statement_may_read_a_later_one_of_the_step_before() -> None:
    text = "a[(1 + T)] = 1, b[_@T] + x[T]; b[(1 + T)] = 2, a[_@(T+1)] * b[_@T]; b"
    x, a, b = np.array([1.0, 2, 3]), 1.0, 2.0
    rows = [b]
    for value in x:
        a = b + value
        b = a * b
        rows.append(b)
    assert_array_equal(ne.evaluate(text, x=x), rows)


def test_dims_of_a_row_are_free_where_it_is_read() -> None:
    p, a, b = RNG.random(4), RNG.random((4, 4)), RNG.random((6, 4))
    rows = [p]
    for t in range(6):
        rows.append((rows[-1][:, None] + a).max(0) + b[t])
    text = "v[(1 + T) j] = p[j], max[i](v[_@T i] + a[i j]) + b[T j]"
    assert_allclose(ne.evaluate(text, p=p, a=a, b=b), rows, rtol=1e-15)
    paths = [RNG.random((5, 5))]
    for _ in range(3):
        paths.append((paths[-1][:, :, None] + paths[-1]).min(1))
    text = "d[(1 + s) i j] = w[i j], min[k](d[_@s i k] + d[_@s k j])"
    assert_allclose(ne.evaluate(text, w=paths[0], sizes={"s": 3}), paths, rtol=1e-15)


def test_steps_along_any_dim_and_dims_that_are_products() -> None:
    x, s = RNG.random((4, 2, 3)), RNG.random((2, 3))
    rows = [s]
    for step in x:
        rows.append(2 * rows[-1] + step)
    text = "m[(a b) (1 + T)] = s[a b], 2 * m[(a b) _@T] + x[T a b]"
    assert_allclose(ne.evaluate(text, s=s, x=x), np.reshape(rows, (5, 6)).T, rtol=1e-15)


def test_earlier_rows_are_read_in_parts_later_on() -> None:
    text = "m[D (1 + T)] = 0, m[D _@T] + x[T D]; y[T] = sum[D](m[D (1 + T)])"
    assert_array_equal(ne.evaluate(text, x=np.ones((3, 2))), [2, 4, 6])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_the_dtype_is_that_of_start_and_step(dtype: str, order: str) -> None:
    x = np.asarray(RNG.random((5, 2)) * 3).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::-1] if order == "reversed" else x
    rows = [np.zeros(2, np.result_type(x.dtype, 0) if dtype != "bool" else np.int64)]
    for step in x:
        rows.append(np.add(rows[-1], step))
    found = ne.evaluate("m[(1 + T) D] = 0, m[_@T D] + x[T D]", x=x)
    assert found.dtype == rows[-1].dtype
    assert_array_equal(found, rows)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0), (1, 1)])
def test_of_no_steps_and_no_elements(shape: tuple[int, int]) -> None:
    found = ne.evaluate("m[(1 + T) D] = 0, m[_@T D] + x[T D]", x=np.ones(shape))
    assert_array_equal(found, np.cumsum(np.vstack([np.zeros((1, shape[1])), np.ones(shape)]), 0))


def test_names_bound_operands_and_limits() -> None:
    operands, rows = network(5)
    tensor = ne.tensor(operands["x"], names="T B C")
    named = ne.evaluate(RNN.replace("(1 + T)", "step=(1 + T)", 1), **{**operands, "x": tensor})
    assert named.names == ("step", "B", "D")
    bound = ne.compile(RNN).bind(w=operands["w"], u=operands["u"])
    assert_allclose(bound(x=operands["x"]), rows, rtol=1e-14)
    assert_allclose(ne.evaluate(RNN, **operands, memory_limit=10**6), rows, rtol=1e-14)
    with pytest.raises(ne.LimitError):
        ne.evaluate(RNN, **operands, memory_limit=200)


def test_the_code_that_is_shown_runs_alone() -> None:
    operands, rows = network(5)
    plan = ne.compile(RNN).plan(**operands)
    scope: dict[str, Any] = {}
    exec(plan.code, scope)
    assert_allclose(scope["compute"](*operands.values()), rows, rtol=1e-14)
    assert plan.draw("network").startswith("<svg")


@given(st.integers(0, 4), st.integers(1, 3), st.integers(1, 3), st.data())
def test_rows_further_back(steps: int, start: int, width: int, data: st.DataObject) -> None:
    back = data.draw(st.integers(0, start - 1))
    x, s = RNG.integers(-3, 4, (steps, width)), RNG.integers(-3, 4, (start, width))
    rows = list(s)
    for t in range(steps):
        rows.append(rows[t + back] * 2 + rows[t] - x[t])
    text = f"m[(a + T) D] = s[a D], m[_@(T + {back}) D] * 2 + m[_@T D] - x[T D]"
    assert_array_equal(ne.evaluate(text, s=s, x=x), np.reshape(rows, (start + steps, width)))


def test_what_is_the_same_in_every_step_is_computed_once() -> None:
    x, w, u = RNG.random((6, 2)), RNG.random((2, 4, 3)), RNG.random((3, 4, 3))
    code = ne.compile(LSTM).plan(x=x, w=w, u=u).code
    inside = code[code.index("for j0") :]
    assert "a2.reshape" in code and "reshape((3, 12))" not in inside


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "int8"])
def test_single_elements_have_the_dtype_of_arrays(dtype: str) -> None:
    x = (np.arange(9) % 4 + 1).astype(dtype)
    rows = [np.zeros(1, dtype)]
    for step in x:
        rows.append(np.multiply(rows[-1], 3) - step)
    found = ne.evaluate("m[(1 + T)] = s[], m[_@T] * 3 - x[T]", s=np.zeros((), dtype), x=x)
    assert found.dtype == dtype
    assert_array_equal(found, np.concatenate(rows))


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_only_the_last_rows_are_kept_where_only_they_are_read(steps: int) -> None:
    operands, rows = network(steps)
    last = ne.compile(f"{RNN}; h[_@(size[T]) B D]")
    assert_allclose(last(**operands), rows[-1], rtol=1e-14)
    assert "% 2" in last.plan(**operands).code or not steps
    x, s = RNG.integers(-3, 4, (steps, 2)), RNG.integers(-3, 4, (3, 2))
    found = list(s)
    for t in range(steps):
        found.append(found[t] + 2 * found[t + 2] - x[t])
    text = "m[(a + T) D] = s[a D], m[_@T D] + 2 * m[_@(T + 2) D] - x[T D]"
    for more, expected in (("m[_@(size[T] + k) D]", found[-3:]), ("m[_@(size[T] + 1) D]", found[-2])):
        assert_array_equal(
            ne.evaluate(f"{text}; {more}", s=s, x=x, sizes={"k": 3} if "k" in more else {}), expected
        )
    both = ne.compile(f"{text}; y[D] = m[_@(size[T] + 1) D]", outputs=["m", "y"])(s=s, x=x)
    assert_array_equal(both[0], found)
    assert_array_equal(both[1], found[-2])


def test_the_last_rows_take_little_memory() -> None:
    operands, _ = network(400)
    whole, last = (ne.compile(text).plan(**operands) for text in (RNN, f"{RNN}; h[_@(size[T]) B D]"))
    assert last.peak_bytes < whole.peak_bytes * 0.6


def test_rows_are_read_at_positions_from_data() -> None:
    order, x, rows = np.array([2, 0, 1]), RNG.random((4, 3)), [np.zeros(3)]
    for step in x:
        rows.append(rows[-1][order] + step)
    found = ne.evaluate("m[(1 + T) C] = 0, m[_@T C@order[C]] + x[T C]", order=order, x=x)
    assert_allclose(found, rows, rtol=1e-15)
    parent, scores = np.array([[1, 0, 2], [0, 0, 1]]), [np.arange(3.0)]
    for step in parent:
        scores.append(scores[-1][step] + 1)
    text = "s[(1 + T) j] = start[j], s[_@T j'@parent[T j]] + 1"
    assert_array_equal(ne.evaluate(text, start=scores[0], parent=parent), scores)


def test_neighbours_of_a_row_are_read_as_windows() -> None:
    text = """w[(1 + T) H W] = x[H W],
        sum[i j](w[_@T _@((H + i - 1) % size[H]) _@((W + j - 1) % size[W])])"""
    x = RNG.integers(0, 2, (4, 5))
    expected = sum(np.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1))
    assert_array_equal(ne.evaluate(text, x=x, sizes={"T": 1, "i": 3, "j": 3})[-1], expected)


def test_rows_and_parts_under_a_limit() -> None:
    x, w = RNG.random((4, 60, 60)), RNG.random((60, 60))
    text = """y[T N K] = sum[C](x[T N C] * w[C K]); p[T N (1 + K)] = y[T N K]
        m[(1 + T) N] = 0, m[_@T N] + sum[K](p[T N K'@0] * y[T N K]); m"""
    whole = ne.evaluate(text, x=x, w=w)
    assert_array_equal(ne.evaluate(text, x=x, w=w, memory_limit=400_000), whole)
    large = "s[(1 + T) D] = 0, tanh(s[_@T D]) * 2 + sqrt(x[T D] + s[_@T D]) / (1 + x[T D])"
    x, rows = RNG.random((3, 70_000)), [np.zeros(70_000)]
    for step in x:
        rows.append(np.tanh(rows[-1]) * 2 + np.sqrt(step + rows[-1]) / (1 + step))
    assert_allclose(ne.evaluate(large, x=x), rows, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("h[(1 + n)] = 0.5, cos(h[_@n])", "float64"),
        ("h[(1 + n)] = 1, h[_@n] * 3", "int64"),
        ("h[(1 + n)] = 1, h[_@n] / 2", "float64"),
        ("h[(1 + n)] = 1 == 1, ~h[_@n]", "bool"),
    ],
)
def test_numbers_alone_have_the_dtypes_of_python(text: str, dtype: str) -> None:
    assert ne.evaluate(text, sizes={"n": 4}).dtype == dtype


def test_the_steps_of_a_plan_count() -> None:
    operands, _ = network(50)
    plan = ne.compile(RNN).plan(**operands)
    before = 2 * 50 * 2 * 3 * 4  # the product with x, for all steps at once
    each = 2 * 2 * 4 * 4 + 2 * 2 * 4  # a product, an addition and a tanh for each row
    assert plan.flops == before + 50 * each
    (loop,) = [step for step in plan.steps if step.what == "loop"]
    assert loop.seconds > 50 * 1e-6 and loop.bytes == 51 * 2 * 4 * 8


def test_an_earlier_statement_has_the_dim_of_the_steps() -> None:
    text = "q[N] = 2 * x[N]; h[(1 + T)] = 0, h[_@T] + q[T]"
    assert_array_equal(ne.evaluate(text, x=np.arange(4.0)), [0, 0, 2, 6, 12])
    rows = "m[(1 + T) D] = 1, m[_@T D@i[T D]] + x[T D]"
    x, i = RNG.random((3, 2)), RNG.integers(0, 2, (3, 2))
    found = [np.ones(2)]
    for step, at in zip(x, i, strict=True):
        found.append(found[-1][at] + step)
    assert_allclose(ne.evaluate(rows, x=x, i=i), found, rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "operands", "number"),
    [
        ("h[(1 + n)] = 300, h[_@n] + x[n]", {"x": np.ones(4, np.int8)}, "int8 cannot hold 300"),
        ("h[(1 + n)] = 2 ** 63, h[_@n]", {}, "int64 cannot hold 9223372036854775808"),
    ],
)
def test_a_start_that_the_rows_cannot_hold_is_an_error(
    text: str, operands: dict[str, np.ndarray], number: str
) -> None:
    with pytest.raises(ne.NameExprError, match=number) as caught:
        ne.evaluate(text, operands=operands, sizes={"n": 4})
    assert caught.value.code == "NE526"


@pytest.mark.parametrize("number", [False, 5, -3])
def test_quotients_of_numbers_are_added_to_rows(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")
    found = ne.evaluate("h[(1 + n=3)] = 0, 2 * h[_@n] + i // (abs(i) + 1)", i=number)
    quotient = number // (abs(number) + 1)
    assert_array_equal(found, [0, quotient, 3 * quotient, 7 * quotient])
