"""The reference for parts and positions against NumPy and the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from oracle.reference import expressions, formulas
from oracle.reference.text import Refused

A = np.arange(6.0).reshape(2, 3)
V = np.array([3.0, -1.0, 2.0, 5.0, 0.5, -4.0])
T = np.arange(24.0).reshape(2, 3, 4) % 7 - 3
I = np.array([2, 0, 1, 1])  # noqa: E741  positions
K = np.array([1.0, -2.0, 0.5])
BLOCKS = np.block([[A, np.zeros((2, 2))], [np.zeros((3, 3)), A.T]])
NEGATIVE = 2 * (V < 0).sum() * np.r_[1, V[:-1] < 0]
WINDOWS = sliding_window_view(V, 3)

EDGES = sliding_window_view(np.pad(V, 1, mode="edge"), 3) @ K

EXPRESSIONS: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("(1 + T) -> T", (V,), {}, V[1:]),
    ("(T + 2) -> T", (V,), {}, V[:-2]),
    ("N (1 + c + 1) -> c N", (A,), {}, A[:, 1:2].T),
    ("(a=2 + _) -> a", (V,), {}, V[:2]),
    ("(_ + a=2) -> a", (V,), {}, V[-2:]),
    ("(2 + h d) -> d h", (V,), {"d": 2}, V[2:].reshape(2, 2).T),
    ("_@(t+d), d -> t", (V, K), {}, WINDOWS @ K),
    ("_@(2*t+d), d -> t", (V, K), {}, WINDOWS[::2] @ K),
    ("_@(t+2*d) -> t d", (V,), {"d": 3}, np.stack([V[0::2], V[1::2]])),
    ("_@(5-t) -> t", (V,), {}, V[::-1]),
    ("a b c@3 -> b a", (T,), {}, T[:, :, 3].T),
    ("_@(t+d) -> t : max", (V,), {"d": 3}, WINDOWS.max(1)),
    ("(h w)@(2*k) -> k", (V,), {"w": 2}, V[::2]),
    ("_@(i+j) -> i j", (V,), {"j": 3}, WINDOWS),
    ("_@i _@i -> i", (A,), {}, np.diagonal(A)),
    ("(3@1 h) -> h", (V,), {}, V[2:4]),
    ("((1 + a) c) -> c a", (V,), {"c": 2}, V.reshape(3, 2)[1:].T),
    ("((a + 1) (1 + b)) -> b a", (V,), {"b": 2}, V.reshape(2, 3)[:1, 1:].T),
    ("(c (a + _)) -> a c", (V,), {"c": 2, "a": 1}, V.reshape(2, 3)[:, :1].T),
    ("((1 + a) c), a -> c", (V, K[:2]), {"c": 2}, K[:2] @ V.reshape(3, 2)[1:]),
    ("(h 3@(2-c)) -> c h", (V,), {"c": 3}, V.reshape(2, 3).T[::-1]),
]


@pytest.mark.parametrize(("text", "operands", "sizes", "expected"), EXPRESSIONS, ids=lambda v: str(v)[:40])
def test_expressions_read_parts_and_positions(text: str, operands: Any, sizes: Any, expected: Any) -> None:
    np.testing.assert_array_equal(expressions.einsum(text, *operands, sizes=sizes), expected)


FORMULAS: list[tuple[str, dict[str, Any], Any]] = [
    ("y = x[_@(t+1)] - x[_@t]", {"x": V}, np.diff(V)),
    ("y = x[(1 + T)] - x[(T + 1)]", {"x": V}, np.diff(V)),
    ("y = x[N C@(size[C]-1-c)]", {"x": A}, A[:, ::-1]),
    ("y = median[d](x[_@(t+d)] * k[d]**0)", {"x": V, "k": K}, np.median(WINDOWS, 1)),
    ("y[t d] = x[_@(t+d)] * k[d]**0", {"x": V, "k": K}, WINDOWS),
    ("y = x[X@((X+1) % size[X])]", {"x": V}, np.roll(V, -1)),
    ("y = sum[d](x[X@(clip(X+d-1, 0, size[X]-1))] * k[d])", {"x": V, "k": K}, EDGES),
    ("y = x[N C@i[k]]", {"x": A, "i": I}, A[:, I]),
    ("y = x[_@(i[k] % 2) k]", {"x": np.arange(8.0).reshape(2, 4), "i": I}, np.array([0, 1, 6, 7.0])),
    ("y = i[_@i[k]]", {"i": I}, I[I]),
    ("y = x[(3@i[k] h)]", {"x": V, "i": I}, V.reshape(3, 2)[I]),
    ("y = x[(G=2@1 h d=3)]", {"x": np.arange(12.0)}, np.arange(6.0, 12).reshape(2, 3)),
    ("y = x[N=2 3@1]", {"x": A}, A[:, 1]),
    ("p[(1 + T + 2)] = x[T]", {"x": V}, np.pad(V, (1, 2))),
    ("p[(1 + T)] = 7, x[T]", {"x": V}, np.r_[7, V]),
    ("p[N (a + b)] = x[N a], x[N b] * 2", {"x": A}, np.hstack([A, 2 * A])),
    ("p[(a + b) (c + d)] = x[a c], 0, 0, x[d b]", {"x": A}, BLOCKS),
    ("p[(1 + H + 1) (W + 1)] = x[H W]", {"x": A}, np.pad(A, ((1, 1), (0, 1)))),
    (
        "p[N (1 + T)] = 1, x[T] < 0; y = sum[N T](p[N (1 + T)]) * p[N@0 (T + 1)]",
        {"x": V, "sizes": {"N": 2}},
        NEGATIVE,
    ),
    ("p[((a + b) c)] = x[a c], 0 * x[b c] + 1", {"x": A}, np.r_[A.ravel(), np.ones(6)]),
    ("p[(1 + T)] = 1, i[T]; y = p[_@(t+1)] - p[_@t]", {"i": I}, np.diff(np.r_[1, I])),
    ("y = x[((1 + a) c)]", {"x": V, "sizes": {"c": 2}}, V.reshape(3, 2)[1:]),
    ("y = x[(c (_ + a))]", {"x": V, "sizes": {"a": 2, "c": 2}}, V.reshape(2, 3)[:, 1:]),
    ("p[(c (1 + a + 1))] = x[a c]; y[c a] = p[(c (1 + a + _))] * p[(c (1 + a + 1))]", {"x": A}, A.T**2),
    ("p[(c (1 + a + 1))] = x[a c]; y = p[k]", {"x": A}, np.pad(A.T, ((0, 0), (1, 1))).ravel()),
    ("p[((a + b) (c + d))] = x[a c], 0, 0, x[d b]", {"x": A}, BLOCKS.ravel()),
    ("p[N ((a + b) 1)] = x[N a], 7 * x[N b]", {"x": A}, np.hstack([A, 7 * A])),
]  # fmt: skip


@pytest.mark.parametrize(("text", "operands", "expected"), FORMULAS, ids=[text for text, _, _ in FORMULAS])
def test_formulas_read_and_write_parts(text: str, operands: dict[str, Any], expected: Any) -> None:
    actual = formulas.evaluate(text, **operands)
    np.testing.assert_array_equal(actual, expected)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("y = x[(a + b)]", {"x": V}, "NE220"),
    ("y = x[(2 + 4)]", {"x": V}, "NE220"),
    ("p[(a + b + c)] = x[a], x[b]", {"x": V}, "NE222"),
    ("p[a] = x[a], x[a]", {"x": V}, "NE222"),
    ("p[(a + b) c] = x[b c], x[a c]", {"x": A}, "NE223"),
    ("p[K@i[N]] = x[N] + i[N]", {"x": V[:4], "i": I}, "NE224"),
    ("y = x[...@0]", {"x": V}, "NE226"),
    ("y = x[(3 + T + 4)]", {"x": V}, "NE314"),
    ("y = sum[d](x[_@(t+d)] * w[d])", {"x": V[:2], "w": K}, "NE315"),
    ("y = x[_@(i+j)]", {"x": V}, "NE316"),
    ("y = x[_@(t-1)] + x[t]", {"x": V}, "NE317"),
    ("y = x[C@(0-1)]", {"x": V}, "NE317"),
    ("y = x[C@i[N]]", {"x": V[:2], "i": I}, "NE805"),
    ("y = x[C@(i[N]-1)]", {"x": V, "i": I}, "NE805"),
    ("y = x[(2@i[k] h)]", {"x": V, "i": I}, "NE805"),
    ("y = x[(2@2 h)]", {"x": V}, "NE317"),
    ("y = x[C@w[N]]", {"x": V, "w": K}, "NE528"),
]


@pytest.mark.parametrize(("text", "operands", "rule"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_what_does_not_fit_is_refused(text: str, operands: dict[str, Any], rule: str) -> None:
    with pytest.raises(Refused) as caught:
        formulas.evaluate(text, **operands)
    assert caught.value.rule == rule


def test_the_least_size_is_taken_whatever_the_order() -> None:
    texts = ["y = x[_@(t+1)] + x[_@(2*t)]", "y = x[_@(2*t)] + x[_@(t+1)]"]
    for text in texts:
        np.testing.assert_array_equal(formulas.evaluate(text, x=V), V[1:4] + V[:6:2])


HALVES = V[:2].astype("float16")
ROUND = np.array([[0.0, 1, 9], [9, 0, 1], [1, 9, 0]])

RECURRENCES: list[tuple[str, dict[str, Any], Any]] = [
    ("m[(1 + T)] = 2, 0.5 * m[_@T] + x[T]", {"x": K}, [2, 2, -1, 0]),
    ("f[(2 + n=6)] = 1, f[_@(n+1)] + f[_@n]", {}, [1, 1, 2, 3, 5, 8, 13, 21]),
    ("m[(1 + T)] = 0, m[_@T] + x[T]; y = m[_@(size[T])]", {"x": V}, V.sum()),
    ("m[(a + 1 + T)] = x[a], 7, m[_@(T+1)] * 2", {"x": K, "sizes": {"T": 2}}, [1, -2, 0.5, 7, -4, 1]),
    ("d[(1 + s) i j] = w[i j], min[k](d[_@s i k] + d[_@s k j]); y = d[_@size[s] i j]",
     {"w": ROUND, "sizes": {"s": 2}}, [[0, 1, 2], [2, 0, 1], [1, 2, 0]]),
    ("a[(1 + T)] = 0, b[_@T] + x[T]; b[(1 + T)] = 1, a[_@(T+1)]*2; y[c T] = a[(1+T)] + index[c] * b[(1+T)]",
     {"x": K, "sizes": {"c": 2}}, [[2, 2, 4.5], [6, 6, 13.5]]),
    ("z[T] = h[_@T] * x[T]; h[(1 + T)] = 1, z[T] + 1", {"x": K}, [1, 2, -3, -0.5]),
    ("m[(1 + T)] = 0, m[_@T] + x[T]", {"x": V[:0]}, [0]),
    ("m[D (1 + T)] = 1, m[D _@T] * x[_@T D]", {"x": A}, [[1, 0, 0], [1, 1, 4], [1, 2, 10]]),
    ("m[(1 + T)] = 0, m[_@T] * 2 + b", {"b": 2.5, "sizes": {"T": 3}}, [0, 2.5, 7.5, 17.5]),
    ("m[(1 + T)] = b, where(b == 1, m[_@T], b) / 2", {"b": 1, "sizes": {"T": 2}}, [1, 0.5, 0.25]),
    ("m[(1 + T)] = 0.5, 0.5 * m[_@T] + x[T]", {"x": HALVES}, np.array([0.5, 3.25, 0.625], "float16")),
    ("m[(1 + T)] = 0, m[_@T] + i[T]", {"i": np.array([200, 100], "uint8")}, np.array([0, 200, 44], "uint8")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "operands", "expected"), RECURRENCES, ids=[row[0] for row in RECURRENCES])
def test_recurrences_go_on_from_row_to_row(text: str, operands: dict[str, Any], expected: Any) -> None:
    actual = formulas.evaluate(text, **operands)
    np.testing.assert_array_equal(actual, expected)
    assert actual.dtype == np.asarray(expected).dtype or actual.dtype == float


NO_RECURRENCES: list[tuple[str, str]] = [
    ("m[T] = m[T] + x[T]", "NE243"),
    ("m[(T + 1)] = m[_@(T+1)] + x[T], 0", "NE243"),
    ("m[(1 + T)] = 0, m[_@(T+1)] + x[T]", "NE242"),
    ("m[(1 + T)] = 0, m[_@(T-1)] + x[T]", "NE242"),
    ("m[(1 + T)] = 0, m[_@0] + x[T]", "NE242"),
    ("m[(1 + T)] = 0, m[_@T] + mean[T](x[T])", "NE244"),
    ("a[(1 + T)] = 0, b[_@(T+1)] + x[T]; b[(1 + T)] = 1, a[_@T]", "NE242"),
]


@pytest.mark.parametrize(("text", "rule"), NO_RECURRENCES, ids=[text for text, _ in NO_RECURRENCES])
def test_what_is_no_recurrence_is_rejected(text: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        formulas.evaluate(text, x=V)
    assert caught.value.rule == rule
