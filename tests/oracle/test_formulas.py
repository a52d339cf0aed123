"""The reference for formulas against NumPy and numbers worked out by hand."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from oracle.generate import formulas as formula_generate
from oracle.generate.arrays import Values, random_array
from oracle.reference import expressions as reference
from oracle.reference.formulas import Named, Refused, answers, evaluate
from oracle.reference.text import REDUCERS

A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4) - 5
S = np.array([[1.0, -2.0, 3.0], [4.0, 5.5, -6.0], [0.0, 8.0, 9.0]])
T = np.arange(24.0).reshape(2, 3, 4) % 7 - 3
V = np.array([3.0, -1.0, 2.0])
W = np.array([[0.5, -1.0, 2.0], [1.0, 1.5, -0.5]])
I8 = np.array([100, 100, 27], "int8")
U8 = np.array([200, 200], "uint8")
HALF = np.array([300.0, 300.0], "float16")

FORMULAS: list[tuple[str, dict[str, Any], Any]] = [
    ("y = x[i j] @ 1".replace("@", "*"), {"x": A}, A),
    ("y[k i] = sum[j](x[i j] * w[j k])", {"x": A, "w": B}, (A @ B).T),
    ("y = x[i j] + b[j]", {"x": A, "b": V}, A + V),
    ("y = b[j] + x[i j]", {"x": A, "b": V}, (A + V).T),
    ("y = sum[i](x[i j]) + z[i]", {"x": A, "z": np.ones(2)}, A.sum(0)[:, None] + np.ones(2)),
    ("y = sum[j](x[i j]); z[] = max[i](y)", {"x": A}, np.float64(12)),
    ("y = x[i i]", {"x": S}, np.diagonal(S)),
    ("y[i i] = x[i]", {"x": V}, np.diag(V)),
    ("y[(i i)] = x[i]", {"x": V}, np.diag(V).ravel()),
    ("y[j i 1 r=2] = x[i j]", {"x": A}, np.repeat(A.T[:, :, None, None], 2, 3)),
    ("y = x[i (a b)]", {"x": A, "sizes": {"a": 3}}, A.reshape(2, 3, 1)),
    ("y[(j i) 2] = x[i j]", {"x": A}, np.repeat(A.T.reshape(6, 1), 2, 1)),
    ("y = x[1 i]", {"x": A[:1]}, A[0]),
    ("y = x[...] + z[...]", {"x": T, "z": B[:, :1]}, T + B[:, :1]),
    ("y[... i] = x[i ...] * z[...]", {"x": T, "z": np.arange(4)}, np.moveaxis(T * np.arange(4), 0, -1)),
    ("y = sum[...](x[... i] * 1)", {"x": T}, T.sum((0, 1))),
    ("y = sum[...](x[...]) * z[...]", {"x": V[:1], "z": V}, V[0] * V),
    ("y[b... 1] = max[c](x[b... c])", {"x": T}, T.max(-1)[..., None]),
    ("y = argmax[b...](x[b... c])", {"x": T}, T.reshape(6, 4).argmax(0)),
    ("y = argmax[c a](x[a b c])", {"x": T}, T.transpose(1, 2, 0).reshape(3, 8).argmax(1)),
    ("y = max[b...](x[b...])", {"x": np.float64(3)}, np.float64(3)),
    ("y = -2 ** 2 + x[]", {"x": np.float64(1)}, np.float64(-3)),
    ("y = 2 ** -1 ** 2", {}, np.float64(0.5)),
    ("y = where(2, 2, 1.5) + erf(1 < 0)", {}, np.float64(2)),
    ("y = 7 // 2 * 2 % 4", {}, np.int64(2)),
    ("y = 1 + 2 < 4 & 7", {}, np.bool_(True)),
    ("y = 1 | 2 & 2", {}, np.int64(3)),
    ("y = 1 / 0 - sqrt(-1)", {}, np.float64(math.nan)),
    ("y = x[i] == x[j]", {"x": np.array([1, 2])}, np.eye(2, dtype=bool)),
    ("d[i j] = sum[f]((x[i f] - x[j f]) ** 2)", {"x": A}, np.array([[0.0, 27], [27, 0]])),
    ("y = size[j] * x[i j]", {"x": A}, 3 * A),
    ("y = index[i] * 10 + x[i]", {"x": np.array([1, 2, 3], "int8")}, np.array([1, 12, 23])),
    ("y[i] = 2; z = y[k] + y[j]", {"sizes": {"i": 2}}, np.full((2, 2), 4)),
    ("y = where(index[i] >= index[j], x[i j], -inf)", {"x": S}, np.where(np.tri(3) > 0, S, -np.inf)),
    ("p[(i j)] = x[i j]; q = p[k] * 2 - p[(i j)]", {"x": A, "sizes": {}},
     2 * A.reshape(6, 1, 1) - A),
    ("p[j i] = x[i j] * 2; q = p + 1", {"x": A}, 2 * A.T + 1),
    ("p[j i] = x[i j] * 2; q = p[i j] + p", {"x": S}, 2 * (S.T + S)),
    ("y = x[i j] / sum[j](x)", {"x": A + 1}, (A + 1) / (A + 1).sum(1, keepdims=True)),
    ("y = softmax[a c](x[a b c])", {"x": T}, np.exp(T) / np.exp(T).sum((0, 2), keepdims=True)),
    ("y = log_softmax[j](x[i j])", {"x": A}, A - np.log(np.exp(A).sum(1, keepdims=True))),
    ("y = logsumexp[j](x[i j] * 1000)", {"x": A}, np.array([2000.0, 5000.0])),
    ("y = cumsum[i](x[i j])", {"x": A}, A.cumsum(0)),
    ("y = cumprod[j](x[i j])", {"x": A}, A.cumprod(1)),
    ("y = argsort[i](x[i j])", {"x": S}, S.argsort(0, kind="stable")),
    ("y = argsort[j](-x[i j])", {"x": np.ones((2, 3))}, np.array([[0, 1, 2]] * 2)),
    ("y = cummax[i](x[i j])", {"x": S}, np.maximum.accumulate(S)),
    ("y = cummin[j](x[i j])", {"x": S}, np.minimum.accumulate(S, 1)),
    ("y = int(x[i])", {"x": np.array([-1.5, 2.0, 0.9])}, np.array([-1, 2, 0])),
    ("y = sort[i](x[i j]) - flip[i](x)", {"x": S}, np.sort(S, 0) - S[::-1]),
    ("y = norm[i](x[i j])", {"x": S}, np.sqrt((S**2).sum(0))),
    ("y = median[i](x[i j])", {"x": S}, np.median(S, 0)),
    ("y = median[i j](x[i j])", {"x": A}, np.float64(2.5)),
    ("y = std[i](x[i j]) ** 2 - var[i](x)", {"x": S}, np.zeros(3)),
    ("y = any[i](x[i j] < 0) | all[i](x >= 0)", {"x": S}, np.array([True, True, True])),
    ("y = count_nonzero[j](x[i j])", {"x": S}, np.array([3, 3, 2])),
    ("y = mean[i](x[i])", {"x": I8}, np.float64(I8.mean())),
    ("y = sum[i](x[i] * x)", {"x": I8}, np.int64(20729)),
    ("y = sum[i](x[i] ** 2)", {"x": I8}, np.int64(20729)),
    ("y = sum[i](-x[i] * 3)", {"x": I8}, np.int64(-681)),
    ("p = x[i] * x; y = sum[i](p)", {"x": I8}, np.int64(16 + 16 - 39)),
    ("y = sum[i](abs(x[i] * x))", {"x": I8}, np.int64(16 + 16 + 39)),
    ("y = max[i](x[i] * x)", {"x": U8}, np.uint8(64)),
    ("y = sum[i](x[i] * x)", {"x": U8}, np.uint64(80000)),
    ("y = sum[i](x[i] * x / 100)", {"x": HALF}, np.float16(1800)),
    ("y = x[i] * 2.0", {"x": np.array([1, 2], "float32")}, np.array([2, 4], "float32")),
    ("y = x[i] * c", {"x": np.array([1, 2], "float32"), "c": 2.5}, np.array([2.5, 5], "float32")),
    ("y = x[i] * c", {"x": np.array([1, 2], "float32"), "c": np.float64(2.5)}, np.array([2.5, 5])),
    ("y = x[i] / sqrt(size[i])", {"x": np.array([3] * 4, "float32")}, np.array([1.5] * 4, "float32")),
    ("y = exp(x[i]) * 0", {"x": I8 * 0}, np.zeros(3, "float16")),
    ("y = relu(x[i j]) - maximum(x, 0)", {"x": S}, np.zeros((3, 3))),
    ("y = clip(x[i j], -1, v[j])", {"x": S, "v": V}, np.minimum(np.maximum(S, -1), V)),
    ("y = clip(0.5, 2, x[i])", {"x": HALF}, np.array([2, 2], "float16")),
    ("c[] = 0.5; y = x[i] * c[]", {"x": HALF}, np.array([150, 150], "float16")),
    ("y = gelu(x[i])", {"x": np.array([-1.0, 0, 2])}, np.array([-0.158655253931457, 0, 1.95449973610364])),
    ("y = silu(x[i]) / sigmoid(x)", {"x": V}, V),
    ("y = softplus(x[i])", {"x": np.array([0.0, 1000])}, np.array([math.log(2), 1000])),
    ("y = erf(x[i]) + erfc(x)", {"x": V}, np.ones(3)),
    ("y = ~(x[i] > 0)", {"x": V}, np.array([False, True, False])),
    ("y = atan2(x[i], 1)", {"x": V}, np.arctan2(V, 1)),
    ("y = sum[i](x[i]) + prod[i](x)", {"x": np.zeros((0,))}, np.float64(1)),
    ("y = real(x[i]) + imag(x)", {"x": np.array([1 + 2j])}, np.array([3.0])),
    ("y = 1e-1 + .5 + 2. # y = 3\n", {}, np.float64(2.6)),
    ("\n\n y = (x[i]\n  # no end\n + 1)\n\n", {"x": V}, V + 1),
    ("y[i\n j # ]\n] = x[i j]", {"x": A}, A),
    ("y = max [x] (max[x] * sum)", {"max": V, "sum": 2}, np.float64(6)),
    ("ü' = x[ﬁ]; z = ü' * index[fi]", {"x": V}, V * [0, 1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "operands", "expected"), FORMULAS, ids=[text for text, _, _ in FORMULAS])
def test_a_formula_means_what_numpy_says(text: str, operands: dict[str, Any], expected: Any) -> None:
    actual = evaluate(text, **operands)
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


def test_a_reduced_product_is_what_the_expression_with_the_reducer_is() -> None:
    rng = random.Random(0)
    for _ in range(300):
        reducer = rng.choice(REDUCERS)
        sizes = {label: rng.choice([1, 2, 3]) for label in "abcd"}
        terms = [rng.sample("abcd", rng.choice([1, 2, 3])) for _ in range(2)]
        labels = sorted(set(terms[0] + terms[1]))
        out = rng.sample(labels, rng.randrange(len(labels)))
        dropped = [label for label in dict.fromkeys(terms[0] + terms[1]) if label not in out]
        dtypes = rng.choices(
            ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64"], k=2
        )
        shapes = [[sizes[label] for label in term] for term in terms]
        x, w = (random_array(rng, *pair, Values(top=2)) for pair in zip(shapes, dtypes, strict=True))
        one, two, all_out = (" ".join(term) for term in (*terms, out))
        formula = f"y[{all_out}] = {reducer}[{' '.join(dropped)}](x[{one}] * w[{two}])"
        expected = reference.einsum(f"{one}, {two} -> {all_out} : {reducer}", x, w)
        (answer,) = answers(formula, x=x, w=w)
        assert formula_generate.same(expected, answer), (formula, dtypes)


def test_attention_is_what_numpy_computes() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(2, 3, length, 4)) for length in (5, 5, 5))
    text = """
        s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
        p = softmax[K](where(index[Q] >= index[K], s, -inf))
        o[B Q (H D)] = sum[K](p * v[B H K D])
    """
    scores = np.where(np.tri(5) > 0, q @ k.mT / 2, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    p, o = evaluate(text, outputs=("p", "o"), q=q, k=k, v=v)
    np.testing.assert_allclose(p, shares.transpose(2, 3, 0, 1), atol=1e-15)
    np.testing.assert_allclose(o, (shares @ v).transpose(0, 2, 1, 3).reshape(2, 5, 12), atol=1e-14)


NAMED: list[tuple[str, dict[str, Any], tuple[str | None, ...]]] = [
    ("y = x + b[C]", {"x": Named(A, ("N", "C")), "b": V}, ("N", "C")),
    ("y = sum[N](x)", {"x": Named(A, ("N", "C"))}, ("C",)),
    ("y[row=C N] = x", {"x": Named(A, ("N", "C"))}, ("row", "N")),
    ("y[(C N) 1] = x", {"x": Named(A, ("N", "C"))}, (None, None)),
    ("y[f=(C N)] = x[N C]", {"x": Named(A, (None, "C"))}, ("f",)),
    ("y = x[N=a C] * x[N=b C]", {"x": Named(A, ("N", "C"))}, ("a", "C", "b")),
    ("y = x[b... i] + z[i]", {"x": Named(T, ("P", None, "i")), "z": np.ones(4)}, ("P", None, "i")),
    ("y = x[...] + z[...]", {"x": Named(T, ("P", "Q", "R")), "z": np.ones(4)}, ("P", "Q", "R")),
    ("y[N C] = 0 * c; z = y[a b]", {"c": Named(np.float64(2), ()), "sizes": {"N": 1, "C": 2}}, ("a", "b")),
]


@pytest.mark.parametrize(("text", "operands", "names"), NAMED, ids=[text for text, _, _ in NAMED])
def test_names_are_those_of_the_labels(
    text: str, operands: dict[str, Any], names: tuple[str | None, ...]
) -> None:
    assert evaluate(text, **operands).names == names


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("y = x[i j", {"x": A}, "syntax"),
    ("y = 1 < 2 < 3", {}, "syntax"),
    ("y = 3C", {}, "syntax"),
    ("", {}, "syntax"),
    ("y = x[i]\n + x", {"x": V}, "syntax"),
    ("inf = 3", {}, "name"),
    ("x = x[i]", {"x": V}, "name"),
    ("y = x[i]; y = 2", {"x": V}, "name"),
    ("y = z; z = x[i]", {"x": V}, "name"),
    ("y = sum(x[i])", {"x": V}, "function"),
    ("y = maximum(x[i])", {"x": V}, "function"),
    ("y = sun[i](x[i])", {"x": V}, "function"),
    ("y = sum[](x[i])", {"x": V}, "dims"),
    ("y = sum[i i](x[i])", {"x": V}, "dims"),
    ("y = sum[j](x[i])", {"x": V}, "dims"),
    ("y = sum[...](x[i])", {"x": V}, "dims"),
    ("y = cumsum[i j](x[i j])", {"x": A}, "dims"),
    ("y[j] = x[i j]", {"x": A}, "summation"),
    ("y[i ...] = x[i]", {"x": V}, "pack"),
    ("y[i j] = x[i]", {"x": V}, "size"),
    ("y = x", {"x": V}, "term"),
    ("y = x + x[i]", {"x": V}, "term"),
    ("y = x[i] + x[j] + x", {"x": V}, "term"),
    ("p = x[i]; y = p[j]", {"x": V}, "term"),
    ("y = x[_ i]", {"x": A}, "blank"),
    ("y = x[2 i]", {"x": A}, "literal"),
    ("y = x[i]", {"x": A}, "operands"),
    ("y = x[i] + z", {"x": V}, "operands"),
    ("y = x[i]", {"x": V, "z": 1}, "operands"),
    ("y = x[i] + z[i]", {"x": V, "z": np.ones(2)}, "size"),
    ("y = x[i] + z[i]", {"x": V, "z": np.ones(1)}, "size"),
    ("y = x[i]", {"x": V, "sizes": {"j": 2}}, "size"),
    ("y = max[i](x[i])", {"x": np.ones(0)}, "empty"),
    ("y = ~x[i]", {"x": V}, "dtype"),
    ("y = x[i]", {"x": Named(V, ("N",))}, "name"),
    ("y = x", {"x": Named(A, ("N", None))}, "term"),
    ("y[N=i M=i N] = x[i N]", {"x": A}, "name"),
]


@pytest.mark.parametrize(("text", "operands", "rule"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_what_the_language_refuses_is_refused(text: str, operands: dict[str, Any], rule: str) -> None:
    with pytest.raises(Refused) as caught:
        evaluate(text, **operands)
    assert caught.value.rule == rule, caught.value


def test_small_dyadic_numbers_are_known_to_be_exact() -> None:
    for text in (
        "y = sum[i](x[i j] * x) / 4 - 1",
        "y = max[j](x[i j]) + floor(x[i j] / 2)",
        "y = x[i j] > 1",
    ):
        (answer,) = answers(text, x=S)
        assert not answer.error.any(), text


def test_the_bound_covers_other_orders_and_lower_precision() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(6, 40)).astype("float32"), rng.normal(size=(40, 5)).astype("float32")
    (answer,) = answers("y = tanh(sum[j](x[i j] * w[j k]) / 3)", x=x, w=w)
    other = np.tanh((x[:, ::-1] / np.float32(3)) @ w[::-1])
    assert (abs(other.astype(float) - answer.array) <= answer.error).all()
    assert (answer.error < 3e-4).all()


def test_what_hangs_on_a_rounding_has_no_bound() -> None:
    (answer,) = answers("y = x[i] * 0.1 == 0.3", x=np.array([3.0, 5.0]))
    assert answer.error.tolist() == [math.inf, 0]
