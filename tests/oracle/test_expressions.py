"""The reference evaluator against NumPy, the table of PyTorch's verbs, and the rules; the generator against
it.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from oracle.generate.expressions import same
from oracle.reference.expressions import Named, Refused, check, einsum

A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4) - 5
S = np.array([[1.0, -2.0, 3.0], [4.0, 5.5, -6.0], [0.0, 8.0, 9.0]])
V = np.array([3.0, -1.0, 2.0])
T = np.arange(24.0).reshape(2, 3, 4) % 7 - 3


def tensor(*names: str | None, start: int = 0) -> Named:
    """A tensor with these names and sizes 2, 3, 4 ..."""
    shape = tuple(range(2, 2 + len(names)))
    return Named(np.arange(start, start + np.prod(shape, dtype=int)).reshape(shape), names)


EXPRESSIONS: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("i j, j k -> i k", (A, B), {}, A @ B),
    ("i j, j k, k -> i", (A, B, np.ones(4)), {}, A @ B @ np.ones(4)),
    ("i j -> j i", (A,), {}, A.T),
    ("i i ->", (S,), {}, np.trace(S)),
    ("i i -> i", (S,), {}, np.diagonal(S)),
    ("i -> i i", (V,), {}, np.diag(V)),
    ("-> n n", (3,), {"n": 2}, 3 * np.eye(2, dtype=int)),
    ("i, j -> i j", (V, V), {}, np.outer(V, V)),
    ("i j, j -> i j", (A, V), {}, A * V),
    ("i j, ->", (A[:0], 2.0), {"reduce": "sum"}, np.float64(0)),
    ("..., ... -> ...", (T, B[:, :1]), {}, T * B[:, :1]),
    ("a ... -> ... : max", (T,), {}, T.max(0)),
    ("b... c -> (b... c)", (T,), {}, T.reshape(-1)),
    ("b... c -> c : sum", (T,), {}, T.sum((0, 1))),
    ("a (h d) -> h a d", (B,), {"h": 2}, B.reshape(3, 2, 2).transpose(1, 0, 2)),
    ("a ((h=2 1) d) -> d (a h)", (B,), {}, B.reshape(3, 2, 2).transpose(2, 0, 1).reshape(2, 6)),
    ("a b -> b a r", (A,), {"sizes": {"r": 2}}, np.stack([A.T, A.T], -1)),
    ("a b -> 1 a 2 b ()", (A,), {}, np.stack([A, A], 1)[None, ..., None]),
    ("a 3 -> a : prod", (A,), {}, A.prod(1)),
    ("_ a _ -> _ a : sum", (T,), {}, T.sum(2)),
    ("a b c -> b : argmax", (T,), {}, T.transpose(1, 0, 2).reshape(3, 8).argmax(1)),
    ("i j, i j -> i", (A, A), {"dtype": "float32"}, (A * A).sum(1).astype("float32")),
    ("(i i) -> i", (S.ravel(),), {"i": 3}, np.diagonal(S)),
    ("x=y y=x -> y=x x=y", (A,), {}, A.T),
    ("i é -> ﬁ i é", (A,), {"sizes": {"fi": 2}}, np.stack([A, A])),
]


@pytest.mark.parametrize(
    ("text", "operands", "options", "expected"), EXPRESSIONS, ids=lambda value: str(value)[:40]
)
def test_expressions_are_what_numpy_says(text: str, operands: Any, options: Any, expected: Any) -> None:
    """Hand-chosen expressions."""
    assert same(einsum(text, *operands, **options), np.asarray(expected))


REDUCERS = {
    "norm": lambda x: np.linalg.norm(np.asarray(x, float) if x.dtype.kind != "c" else x, axis=1),
    "logsumexp": lambda x: np.logaddexp.reduce(np.asarray(x, float), axis=1),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=1),
} | {
    name: lambda x, name=name: getattr(np, name)(x, axis=1)
    for name in [
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "any",
        "all",
        "var",
        "std",
        "median",
        "argmax",
        "argmin",
    ]
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("reducer", REDUCERS)
def test_reducers_are_numpys(reducer: str, dtype: str) -> None:
    """Values and dtypes of each reducer, on an even and an odd number of elements."""
    for width in (3, 4, 1):
        array = (np.array([3, -1, 2, 2, 0, 0, 1, 0, 0, 7, 7, -2]) ** (2 if dtype[0] == "u" else 1)).astype(
            dtype
        )
        array = (array * (1 + 2j) if dtype[0] == "c" else array).reshape(-1, width)
        if (reducer, dtype) == ("logsumexp", "complex128"):
            with pytest.raises(Refused):
                einsum("i j -> i : logsumexp", array)
        else:
            expected = REDUCERS[reducer](array)
            if dtype == "float32" and reducer in ("norm", "logsumexp"):
                expected = expected.astype(dtype)
            assert same(einsum(f"i j -> i : {reducer}", array), expected), (width, expected)


@pytest.mark.parametrize("reducer", sorted(set(REDUCERS) - {"logsumexp", "norm"}))
def test_reducers_of_nan_and_infinities_are_numpys(reducer: str) -> None:
    """NaN, infinities and what they meet."""
    rows = list(itertools.product([np.nan, np.inf, -np.inf, -0.0, 2.0], repeat=3))
    with np.errstate(all="ignore"):
        assert same(einsum(f"i j -> i : {reducer}", np.array(rows)), REDUCERS[reducer](np.array(rows)))


@pytest.mark.parametrize(
    ("reducer", "value"),
    [("sum", 0), ("prod", 1), ("any", False), ("all", True), ("count_nonzero", 0), ("norm", 0)]
    + [("logsumexp", -np.inf)]
    + [(name, np.nan) for name in ("mean", "var", "std", "median")],
)
def test_reducers_of_no_elements(reducer: str, value: float) -> None:
    """What a sum or a mean of nothing is."""
    assert np.array_equal(einsum(f"i j -> i : {reducer}", np.zeros((2, 0))), [value] * 2, equal_nan=True)


@pytest.mark.parametrize("seed", range(150))
def test_plain_labels_are_numpys_einsum(seed: int) -> None:
    """Random label-only expressions against NumPy's einsum in its form without text."""
    rng = random.Random(seed)
    sizes = {label: rng.choice([1, 2, 3]) for label in range(4)}
    terms = [[rng.randrange(4) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(1, 3))]
    given_labels = [label for term in terms for label in term]
    kept = [
        label for label in sorted(set(given_labels)) if given_labels.count(label) == 1 or rng.random() < 0.4
    ]
    rng.shuffle(kept)
    arrays = [np.array(rng.choices(range(-3, 4), k=27))[:27] for _ in terms]
    arrays = [np.resize(x, [sizes[label] for label in term]) for x, term in zip(arrays, terms, strict=True)]
    text = ", ".join(" ".join(f"x{label}" for label in term) for term in terms)
    pairs = [part for pair in zip(arrays, terms, strict=True) for part in pair]
    expected = np.asarray(np.einsum(*pairs, kept))
    assert same(einsum(f"{text} -> {' '.join(f'x{label}' for label in kept)}", *arrays), expected)


def test_integers_are_widened_before_they_are_multiplied_only_where_there_is_a_sum() -> None:
    """Rule 8."""
    x = np.full(3, 100, np.int8)
    assert same(einsum("i, i ->", x, x), np.array(30000))
    assert same(einsum("i, i -> i", x, x), x * x)
    assert same(einsum("i, i -> : max", x, x), np.array(16, np.int8))
    assert same(einsum("i, i ->", x, x, dtype="int8"), np.array(48, np.int8))
    assert same(einsum("i, -> i", x.astype("uint8"), 2), np.full(3, 200, np.uint8))
    half = np.full(3, 300, np.float16)
    assert einsum("i, i -> i", half, half).dtype == np.float16
    assert same(einsum("i, i ->", half, np.full(3, 0.1, np.float16)), np.array(90, np.float16))


def test_reducer_callables_get_the_merged_axis_in_the_order_of_the_inputs() -> None:
    """SEMANTICS: row-major, as first mentioned."""
    seen = einsum(
        "c a, b a -> a", T[0], S[:2].repeat(2, 1)[:, :4], reduce=lambda x, axis: np.take(x, 1, axis)
    )
    assert same(seen, T[0][0] * S[:2].repeat(2, 1)[1, :4])


TABLE: list[tuple[str, Any, tuple[str | None, ...], Any]] = [
    ("-> C ... N", ("N", None, "C"), ("C", None, "N"), lambda x: x.transpose(2, 1, 0)),
    ("N C -> batch=N C", ("N", "C"), ("batch", "C"), lambda x: x),
    ("-> batch=N C", ("N", "C"), ("batch", "C"), lambda x: x),
    ("N C H W -> N features=(C H W)", "NCHW", ("N", "features"), lambda x: x.reshape(2, -1)),
    ("C N H -> N (C H)", ("C", None, "H"), ("N", None), lambda x: x.transpose(1, 0, 2).reshape(3, 8)),
    ("N x=(C=1 H=3 W) -> N C H W", "Nx", ("N", "C", "H", "W"), lambda x: x.reshape(2, 1, 3, 1)),
    ("N C H W -> H W : sum", "NCHW", ("H", "W"), lambda x: x.sum((0, 1))),
    ("... a -> ... a", ("q", None, "a"), ("q", None, "a"), lambda x: x),
    ("b... _ -> _ b...", ("q", None, "r"), ("r", "q", None), lambda x: x.transpose(2, 0, 1)),
    ("row=i j -> j col=i 1", ("row", "j"), ("j", "col", None), lambda x: x.T[..., None]),
]


@pytest.mark.parametrize(
    ("text", "names", "expected_names", "expected"), TABLE, ids=[row[0] for row in TABLE]
)
def test_verbs_of_the_table(text: str, names: Any, expected_names: Any, expected: Any) -> None:
    """One NamedTensor in, names out."""
    x = tensor(*names)
    assert same(einsum(text, x), Named(expected(x.array), expected_names))


def test_names_that_several_left_out_inputs_share_contract() -> None:
    """`align_as` and `matmul` of the table."""
    x, w = tensor("N", "C"), Named(np.arange(12).reshape(3, 4), ("C", "K"))
    assert same(einsum("-> N K", x, w), Named(x.array @ w.array, ("N", "K")))
    assert same(einsum("N C, C -> N C", x, np.arange(3)), Named(x.array * np.arange(3), ("N", "C")))
    assert same(einsum("-> : sum", x, 2), Named(2 * x.array.sum(), ()))


def test_assertions_return_sizes_and_packs() -> None:
    """Labels, packs, and `...` as it is broadcast."""
    seen = check("_ (h d) ..., b... h, ...", np.zeros((2, 6, 1, 3)), np.zeros((4, 2)), np.zeros((4, 3)))
    assert (seen.sizes, seen.packs) == ({"h": 2, "d": 3}, {"...": (4, 3), "b": (4,)})


x23, x234, n2, n22 = np.zeros((2, 3)), np.zeros((2, 3, 4)), tensor("i"), Named(np.zeros((2, 2)), ("i", None))
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("i 3C -> i", (x23,), {}, "syntax"),
    ("i * -> i", (x23,), {}, "syntax"),
    ("i (j -> i j", (x23,), {}, "syntax"),
    ("i j => i j", (x23,), {}, "syntax"),
    ("i j=k=3 -> i k", (x23,), {}, "syntax"),
    ("i j", (x23,), {}, "arrow"),
    ("i j -> i, j", (x23,), {}, "output"),
    ("i j, j k -> i k", (x23, x23), {}, "size"),
    ("i, i -> i", (np.zeros(1), np.zeros(3)), {}, "size"),
    ("i j=2 -> i j", (x23,), {}, "size"),
    ("i j -> i j n", (x23,), {}, "size"),
    ("i j -> i j", (x23,), {"k": 2}, "size"),
    ("b... -> b...", (x23,), {"sizes": {"b": 2}}, "size"),
    ("i (h d) -> i h d", (x23,), {}, "size"),
    ("i (h d) -> i h d", (x23,), {"h": 2}, "size"),
    ("i (h d) -> i h d", (np.zeros((2, 0)),), {"h": 0}, "size"),
    ("i 2 -> i", (x23,), {"reduce": "sum"}, "size"),
    ("..., ... -> ...", (x23, np.zeros(2)), {}, "size"),
    ("i j -> i", (x23,), {}, "summation"),
    ("-> i", (tensor("i", "j"),), {}, "summation"),
    ("i ... -> i", (x23,), {}, "pack"),
    ("b... j -> j", (x23,), {}, "pack"),
    ("i j -> i j ...", (x23,), {}, "pack"),
    ("i j -> i j b...", (x23,), {}, "pack"),
    ("b... ... -> b... ...", (x23,), {}, "pack"),
    ("b b... -> b b...", (x23,), {}, "pack"),
    ("b..., b... -> b...", (x23, np.zeros((1, 3))), {}, "pack"),
    ("-> ... i", (n2, n2), {}, "pack"),
    ("(i ...) j -> i ... j", (x23,), {}, "group"),
    ("(i _) j -> i _ j", (x23,), {}, "group"),
    ("(x=(i j)) -> i j", (np.zeros(6),), {"i": 2}, "group"),
    ("i j -> (row=i j)", (x23,), {}, "group"),
    ("i 3 -> 3 i", (x23,), {}, "literal"),
    ("i _ -> i", (x23,), {}, "blank"),
    ("i _ -> i _ _", (x23,), {}, "blank"),
    ("i _, i -> i _", (x23, np.zeros(2)), {}, "blank"),
    ("i j -> i : sums", (x23,), {}, "reducer"),
    ("i j -> i : sum", (x23,), {"reduce": "sum"}, "reducer"),
    ("i j -> i j : sum", (x23,), {}, "reducer"),
    ("i j -> i j", (x23,), {"reduce": np.sum}, "reducer"),
    ("i j -> i : max", (x23[:, :0],), {}, "empty"),
    ("i j -> x=i x=j", (x23,), {}, "name"),
    ("i j -> i i=j", (x23,), {}, "name"),
    ("i j k -> i i=(j k)", (x234,), {}, "name"),
    ("i -> i i", (n2,), {}, "name"),
    ("j -> j", (n2,), {}, "name"),
    ("x=(j k) -> j k", (n2,), {"j": 1}, "name"),
    ("-> ", (n22,), {"reduce": "sum"}, "name"),
    ("..., ... -> ...", (tensor("i", "j"), tensor("i", "k")), {}, "name"),
    ("..., ... -> ...", (Named(x23, ("i", None)), Named(x23[0], ("i",))), {}, "name"),
    ("é -> é", (np.zeros(2),), {"reduce": "sum"}, "reducer"),
    ("i j -> i j", (x234,), {}, "operands"),
    ("i ... j k -> i ... j k", (x23,), {}, "operands"),
    ("i j, j -> i", (x23,), {}, "operands"),
    ("-> a", (np.zeros(2),), {"a": 2}, "operands"),
    ("i -> i", (V,), {"dtype": "int64"}, "dtype"),
]


@pytest.mark.parametrize(("text", "operands", "options", "rule"), REFUSED, ids=lambda value: str(value)[:30])
def test_each_rule_is_kept(text: str, operands: Any, options: Any, rule: str) -> None:
    """A violation names its rule."""
    with pytest.raises(Refused) as caught:
        einsum(text, *operands, **options)
    assert caught.value.rule == rule


@pytest.mark.parametrize("text", ["i j -> i j", "i j : sum", "i k=4", "i i", "i"])
def test_assertions_that_do_not_hold_are_refused(text: str) -> None:
    """An arrow, a reducer, or another shape."""
    with pytest.raises(Refused):
        check(text, x23)
