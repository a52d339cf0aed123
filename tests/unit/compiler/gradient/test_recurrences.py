"""Gradients of recurrences: by what they start with, by what their steps read, and by their rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import nameexpr as ne
from unit.compiler.gradient.test_functions import check

GENERATOR = np.random.default_rng(51)
GIVEN = {
    "x": GENERATOR.normal(size=4),
    "s": np.array(0.7),
    "w": np.array(0.8),
    "k": np.array([0.7, 0.3]),
    "r": GENERATOR.normal(size=(2, 3)),
    "u": GENERATOR.normal(size=(4, 3)),
    "m": GENERATOR.normal(size=(3, 3)),
    "b": GENERATOR.normal(size=3),
    "q": GENERATOR.normal(size=(3, 3)) * 0.5,
    "z": GENERATOR.normal(size=(2, 4, 3)),
}
WEIGHTED = "y = sum[i](h[i] ** 2 * (1 + index[i]))"
ROWS = "y = sum[i H](h[i H] ** 2 * (1 + index[i]))"
RNN = "h[(1 + T)] = s[], tanh(w * h[_@T] + x[T])"
LAYER = "h[(1 + T) H] = b[H], tanh(sum[G](m[G H] * h[_@T G]) + u[T H])"
GATES = (
    "i[T H] = sigmoid(u[T H] + sum[G](m[G H] * h[_@T G]));"
    "o[T H] = sigmoid(sum[G](q[G H] * h[_@T G]) + u[T H]);"
    "c[(1 + T) H] = 0, c[_@T H] * (1 - i[T H]) + i[T H] * tanh(sum[G](q[H G] * h[_@T G]) + x[T]);"
    "h[(1 + T) H] = b[H], o[T H] * tanh(c[_@(T+1) H])"
)
PENDULUM = "p[(1 + T)] = s[], p[_@T] + 0.1 * h[_@T]; h[(1 + T)] = w[], h[_@T] - 0.1 * sin(p[_@{}]) + x[T]"


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def given_to(text: str) -> dict[str, np.ndarray]:
    names = set(ne.compile(text).operands)
    return {name: array for name, array in GIVEN.items() if name in names}


LAST = "y = h[_@(size[T])]"
SECOND = "h[_@T] * w + h[_@(T + 1)] * x[T]"
WITHOUT_START = "v[T] = tanh(h[_@T] * w) + x[T]; h[(1 + T)] = s[], h[_@T] / 2 + v[T] ** 2"
VITERBI = "v[(1 + T) j] = b[j], max[i](v[_@T i] + m[i j]) + u[T j]; y = sum[j](v[_@(size[T]) j] ** 2)"
SQUARES = "y = sum[t i j](h[t i j] ** 2 * (1 + index[t] * index[j]))"
SLOPES = f"{RNN}; g[T] = grad(sum[i](h[i] ** 2 * (1 + index[i])), x[T]); v = grad(sum[i](h[i] ** 3), w[])"
BATCH = "h[(1 + T) B H] = 0, tanh(sum[G](m[G H] * h[_@T B G]) + sum[D](q[D H] * z[B T D]) + b[H])"
GROUPED = "h[(1 + T) (i j)] = m[i j], sum[l](h[_@T (i l)] * h[_@T (l j)]) / 4 + x[T]"
TURNED = "y = sum[i H](h[H i] ** 2 * (1 + index[i]))"
CASES = [
    (f"h[(1 + T)] = s[], 0.5 * h[_@T] + x[T]; {WEIGHTED}", "x[T], s[]"),
    (f"h[(1 + T)] = s[], w * h[_@T] * x[T]; {WEIGHTED}", "x[T], s[], w[]"),
    (f"{RNN}; {WEIGHTED}", "x[T], s[], w[]"),
    (f"{RNN}; {LAST}", "x[T], s[], w[]"),
    (f"h[(2 + T)] = s[], {SECOND}; {WEIGHTED}", "x[T], s[], w[]"),
    (f"h[(K + T)] = k[K], {SECOND}; {WEIGHTED}", "x[T], k[K], w[]"),
    (f"h[(1 + K + T)] = w[], k[K], {SECOND} + h[_@(T + 2)] ** 2 / 9; {WEIGHTED}", "x[T], k[K], w[]"),
    (f"h[(a b + T)] = r[b a], h[_@T] / 2 + tanh(h[_@(T + 4)]) + x[T]; {WEIGHTED}", "x[T], r[b a]"),
    (f"{LAYER}; {ROWS}", "u[T H], b[H], m[G H]"),
    (
        f"h[H (1 + T)] = b[H], tanh(sum[G](m[G H] * h[G _@T])) + u[T H]; {ROWS.replace('i H]', 'H i]')}",
        "u, b, m",
    ),
    (f"{BATCH}; y = sum[i B H](h[i B H] ** 2 * (1 + index[i]))", "m[G H], q[D H], z[B T D], b[H]"),
    (f"{GATES}; {ROWS}", "u[T H], x[T], m[G H], q[G H], b[H]"),
    (f"{PENDULUM.format('T')}; {WEIGHTED}", "x[T], s[], w[]"),
    (f"{PENDULUM.format('(T+1)')}; {WEIGHTED}", "x[T], s[], w[]"),
    (f"{PENDULUM.format('T')}; y = p[_@(size[T])] * h[_@(size[T])]", "x[T], s[], w[]"),
    (f"{WITHOUT_START}; {WEIGHTED}", "x[T], s[], w[]"),
    (f"{WITHOUT_START}; y = sum[T](v[T] ** 3)", "x, s, w"),
    (VITERBI, "b[j], m[i j], u[T j]"),
    (VITERBI.replace("max", "logsumexp"), "b, m, u"),
    (f"h[(1 + T) i j] = m[i j], sum[k l](q[i k] * h[_@T k l] * q[j l]) + x[T]; {SQUARES}", "m, q[i k], x"),
    (f"h[(1 + T) i j] = m[i j], h[_@T i i] * h[_@T j i] / 2 + x[T]; {SQUARES}", "m[i j], x[T]"),
    (f"{GROUPED}; y = sum[t n](h[t n] ** 2 * (1 + index[n]))", "m[i j], x[T]"),
    (f"h[(1 + T)] = s[], where(h[_@T] > 0, sqrt(h[_@T]) * w, x[T]); {WEIGHTED}", "x[T], s[], w[]"),
    (f"h[(1 + T)] = s[], prod[a](h[_@T] + k[a]) * x[T]; {WEIGHTED}", "x[T], s[], k[a]"),
    (f"{SLOPES}; y = sum[T](g ** 2 * index[T]) + v ** 2", "x[T], s[], w[]"),
]


@pytest.mark.parametrize(("text", "uses"), CASES, ids=range(len(CASES)))
def test_gradients_are_slopes(text: str, uses: str) -> None:
    given = given_to(text)
    for use in uses.split(", "):
        check(text, given, use, 1e-6)


@pytest.mark.parametrize("text", [RNN, RNN.replace("tanh(w * h[_@T] + x[T])", "h[_@T] ** 2 * w + x[T] ** 3")])
def test_higher_derivatives(text: str) -> None:
    """Each is the slope of the one before."""
    given, step = given_to(text), 1e-5
    calls = ["y", "grad(y, x[A])", "grad(grad(y, x[A]), x[B])", "grad(grad(grad(y, x[A]), x[B]), x[C])"]
    for lower, higher in pairwise(calls):
        slopes = []
        for place in range(4):
            ends = [{**given, "x": given["x"] + sign * step * np.eye(4)[place]} for sign in (1, -1)]
            values = [ne.evaluate(f"{text}; {WEIGHTED}; {lower}", **one) for one in ends]
            slopes.append((values[0] - values[1]) / (2 * step))
        found = ne.evaluate(f"{text}; {WEIGHTED}; {higher}", **given)
        np.testing.assert_allclose(found, np.stack(slopes, -1), rtol=1e-6, atol=1e-6 * np.abs(found).max())


def test_jacobians() -> None:
    given = given_to(RNN)
    found = ne.evaluate(f"{RNN}; grad(h[i], x[S])", **given)
    assert not found[0].any()
    for row in range(1, 5):
        wanted = ne.evaluate(f"{RNN}; y = h[_@{row}]; grad(y, x[S])", **given)
        np.testing.assert_allclose(found[row], wanted, rtol=1e-13)
    found = ne.evaluate(f"{RNN}; v[T] = h[(1 + T)]; grad(v, x[S])", **given)
    np.testing.assert_allclose(found, ne.evaluate(f"{RNN}; grad(h[i], x[S])", **given)[1:])


def test_gradients_by_rows_and_by_earlier_statements() -> None:
    given = given_to(RNN)
    rows = ne.evaluate(RNN, **given)
    np.testing.assert_allclose(ne.evaluate(f"{RNN}; y = sum[i](h[i] ** 2); grad(y, h[i])", **given), 2 * rows)
    found = ne.evaluate(f"{RNN}; y = sum[i](h[i] ** 2); grad(y, h[(1 + T)])", **given)
    np.testing.assert_allclose(found, 2 * rows[1:])
    text = "u[T] = x[T] ** 2; h[(1 + T)] = s[], h[_@T] / 2 + u[T]; y = h[_@(size[T])]; grad(y, u[T])"
    np.testing.assert_allclose(ne.evaluate(text, x=given["x"], s=given["s"]), 0.5 ** np.arange(4.0)[::-1])


def test_complex_numbers() -> None:
    given = {"x": GIVEN["x"] + 1j * GIVEN["x"][::-1], "s": np.array(0.3 + 0.2j), "w": np.array(0.5 - 0.4j)}
    text = "h[(1 + T)] = s[], sin(w * h[_@T] + x[T]); y = sum[i](abs(h[i]) ** 2 * (1 + index[i]))"
    for use in ("x[T]", "s[]", "w[]"):
        check(text, given, use, 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    given = {name: array.astype(dtype) for name, array in given_to(RNN).items()}
    for use in ("x[T]", "s[]", "w[]"):
        assert ne.evaluate(f"{RNN}; y = real(sum[i](h[i] ** 2)); grad(y, {use})", **given).dtype == dtype


def test_no_steps() -> None:
    given = {**given_to(RNN), "x": np.zeros(0)}
    assert ne.evaluate(f"{RNN}; y = sum[i](h[i] ** 2); grad(y, s[])", **given) == pytest.approx(1.4)
    assert ne.evaluate(f"{RNN}; y = sum[i](h[i] ** 2); grad(y, w[])", **given) == 0
    assert ne.evaluate(f"{RNN}; y = sum[i](h[i] ** 2); grad(y, x[T])", **given).shape == (0,)


def test_stopped_rows_need_no_recurrence() -> None:
    step = ne.grad("h[(1 + T)] = 0, stop(h[_@T]) / 2 + x[T]; y = sum[i](h[i])", "x")
    np.testing.assert_array_equal(step(x=np.ones(3))["x"], np.ones(3))
    assert "for j0" not in step.code


def test_what_steps_lose_is_marked() -> None:
    with pytest.raises(ne.NameExprError, match="reaches y only through round"):
        ne.evaluate("h[(1 + T)] = 0, h[_@T] + round(x[T]); y = sum[i](h[i]); grad(y, x[T])", x=GIVEN["x"])


def test_rows_are_not_computed_again() -> None:
    """The derivative of tanh follows from its result, which is a row."""
    text = "h[(1 + T) H] = 0, tanh(sum[G](m[G H] * h[_@T G]) + u[T H]); y = sum[H](h[_@(size[T]) H])"
    step = ne.grad(text, "m u")
    step(m=GIVEN["m"], u=GIVEN["u"])
    assert step.code.count("np.tanh") == 1
