"""Every way to compute an expression that the lowering knows is taken in turn, and gives the same values.

The values are compared with nested loops (`reference`), integers and truth values bit for bit; the figures of
the cost model are not tested, only that it never chooses what is wrong.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.lowering.builder import Builder
from nameexpr.runtime.entry import CallOptions
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.operands import spec_of
from nameexpr.runtime.specialise import function_of, template
from nameexpr.tensors import wrap
from oracle.generate.expressions import same as same_result
from oracle.generate.expressions import seeded_case
from oracle.reference import expressions as reference

RNG = np.random.default_rng(5)
SIZES = dict(zip("abcdefgh", (3, 2, 4, 5, 2, 3, 17, 40), strict=True))
PAIRS = (
    "a b, b c -> a c", "b a, c b -> c a", "a b, a b ->", "a b, b -> a", "a, b -> a b", "a b, a c -> a b c",
    "a b, a b -> a b", "a b c, c b d -> d a", "a b c, b d -> a d c", "c a b, a d b -> d c b",
    "a g, g b -> b a",
    "a b c d, d b a e -> c e", "a b g, a g c -> a b c", "b a g, g a -> a b", "g a, a g b -> b",
    "a b c, a -> c b a",
    "h a, h a -> h", "h a b, h b c -> h a c", "h c b, a h b -> c h a", "a g h b, c g h b -> g h a c",
    "g h a b, g h a b -> g h", "h f b c, h d c b -> h d f", "f a g, f h g b -> h a b",
    "a b g h, b c h g -> c a",
    "a b c d, b d e -> e a c", "g b, b g -> b", "a b, b c, c d -> a d", "h a, h b -> a b", "a h b, h -> b a",
    "a b b, b c -> a c", "a b c, a b c -> c", "a b c, c -> a b c", "a b c, b d c e -> d a e",
)  # fmt: skip
SUMS = (
    "a b -> a : sum", "a b -> b : sum", "a b c -> a c : sum", "g a -> g : sum", "a g -> a : sum",
    "h g -> : sum",
    "a (b c) d -> a c d : sum", "a h g -> a : mean", "g (b c) (d e) -> c g d : mean", "a b c -> c : max",
    "a (b c) (d e) -> a c d : max", "a b c -> b : min", "g a b -> : sum",
)  # fmt: skip
DTYPES = ("f8", "f4", "i8", "i2", "u1", "?", "c16")


def values(text: str, dtype: str, sizes: dict[str, int] = SIZES) -> list[np.ndarray]:
    terms = text.partition("->")[0].split(",")
    made = []
    for term in terms:
        shape, inside, group = [], False, 1
        for letter in term.replace(" ", ""):
            if letter == "(":
                inside, group = True, 1
            elif letter == ")":
                inside = False
                shape.append(group)
            elif inside:
                group *= sizes[letter]
            else:
                shape.append(sizes[letter])
        own = RNG.integers(-4, 5, shape)
        if dtype == "c16":
            own = own + 1j * RNG.integers(-4, 5, shape)
        made.append((abs(own) if dtype in ("u1",) else own).astype(dtype))
    return made


def laid_out(x: np.ndarray, order: int) -> np.ndarray:
    """Return the same values in another layout."""
    if order == 1:
        return np.asfortranarray(x)
    if order == 2:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype) if x.ndim else x.copy()
        if x.ndim:
            wide[..., ::2] = x
            return wide[..., ::2]
    if order == 3 and x.ndim:
        return x[::-1].copy()[::-1]
    return x


def in_every_way(
    text: str, operands: list[np.ndarray], options: CallOptions
) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Return the result of every way at every choice, the others as the model has them."""
    entry = ExpressionEntry(text, options)
    specs = [spec_of(x) for x in operands]
    found = []

    def compute(ranks: tuple[int, ...]) -> tuple[int, ...]:
        compiled = entry.compile(specs, ranks)
        made = template(compiled.program, compiled.shapes, specs)
        function = function_of(made.code, made.constants, pytest.fail, entry._explain)
        found.append((ranks, function(*operands)))
        return tuple(map(len, compiled.program.offers))

    offers = compute(())
    for choice, count in enumerate(offers):
        for rank in range(1, count):
            compute((*(0 for _ in range(choice)), rank))
    return found


def same(found: np.ndarray, expected: np.ndarray, scale: float) -> bool:
    if found.dtype.kind in "biu":
        return found.dtype == expected.dtype and np.array_equal(found, expected)
    return bool(np.all(abs(found - expected) <= np.finfo(found.dtype).eps * scale))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", PAIRS + SUMS)
def test_every_way_gives_the_same_values(text: str, dtype: str) -> None:
    sizes = {"b": 2, "d": 5, "c": 4} if "(" in text else {}
    options = CallOptions(sizes=tuple(sorted(sizes.items())))
    plain = values(text, dtype)
    wide = [x.astype({"f4": "f8"}.get(dtype, dtype)) for x in plain]
    exact = np.asarray(reference.einsum(text, *wide, sizes=sizes))
    scale = 64 * max(1.0, float(abs(exact).max(initial=0)))
    for order in range(4):
        for ranks, value in in_every_way(text, [laid_out(x, order) for x in plain], options):
            assert value.shape == exact.shape, ranks
            assert same(value, exact, scale), (order, ranks)


COMPLEX_SUMS = (
    ("a b -> a : sum", (40, 3), 1), ("a b -> b : sum", (40, 3), 0), ("a b -> a : sum", (5, 40), 1),
    ("a b -> a : sum", (3, 1024), 1), ("a b -> b : sum", (1024, 3), 0), ("a b c -> a c : sum", (4, 30, 5), 1),
    ("a b c -> b : sum", (4, 30, 5), (0, 2)), ("a b -> : sum", (30, 20), (0, 1)),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize(("text", "shape", "axes"), COMPLEX_SUMS)
def test_sums_of_complex_numbers_keep_apart_what_is_infinite_or_nan(
    text: str, shape: tuple[int, ...], axes: tuple[int, ...] | int, dtype: str
) -> None:
    rng = random.Random(text)
    x = (RNG.integers(-4, 5, shape) + 1j * RNG.integers(-4, 5, shape)).astype(dtype)
    odd = [complex(np.inf, 1), complex(2, -np.inf), complex(np.nan, 3), complex(1, np.nan)]
    for number, cell in zip(odd, rng.sample(range(x.size), len(odd)), strict=True):
        x.flat[cell] = number
    expected = x.real.sum(axes), x.imag.sum(axes)
    for order in range(4):
        for ranks, value in in_every_way(text, [laid_out(x, order)], CallOptions()):
            assert value.dtype == x.dtype
            np.testing.assert_array_equal(value.real, expected[0], err_msg=f"{order} {ranks}")
            np.testing.assert_array_equal(value.imag, expected[1], err_msg=f"{order} {ranks}")


@pytest.mark.parametrize("summed", [[], ["s1", "s2"]])
def test_more_labels_than_einsum_has_letters_for(summed: list[str]) -> None:
    left, right = [f"l{number}" for number in range(30)], [f"r{number}" for number in range(25)]
    text = f"{' '.join(left + summed)}, {' '.join(summed + right)} -> {' '.join(left + right)}"
    x = RNG.random([2] * 3 + [1] * 27 + [2] * len(summed))
    y = RNG.random([2] * len(summed) + [2] * 3 + [1] * 22)
    expected = np.tensordot(x, y, len(summed))
    for ranks, value in in_every_way(text, [x, y], CallOptions()):
        np.testing.assert_allclose(value, expected, err_msg=str(ranks))


def test_the_texts_above_offer_several_ways() -> None:
    sums = [(text, np.ones(shape, "c16")) for text, shape, _ in COMPLEX_SUMS]
    assert sum(len(in_every_way(text, [one], CallOptions())) > 2 for text, one in sums) > 5
    counts = [len(in_every_way(text, values(text, "f8"), CallOptions())) for text in PAIRS]
    assert sum(count > 3 for count in counts) > 6
    assert max(counts) > 8


PICKS = {
    "second": lambda ways, rng: ways[min(1, len(ways) - 1)],
    "last": lambda ways, rng: ways[-1],
    "any": lambda ways, rng: rng.choice(ways),
}


@pytest.mark.parametrize("pick", PICKS)
def test_random_expressions_equal_the_nested_loops_in_any_way(
    pick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(3)
    taken: list[str] = []

    def choose(self: Builder, ways: list[object]) -> object:
        taken.append(PICKS[pick](ways, rng))
        self.offers.append(len(ways))
        return taken[-1]

    monkeypatch.setattr(Builder, "choose", choose)
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")
    for seed in range(5000, 5400):
        ne.cache_clear()
        case = seeded_case(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = case.run(reference.einsum)
            found = case.run(ne.einsum, lambda named: wrap(named.array, named.names))
        assert same_result(found, expected, case), case
    assert len(taken) > 200
    ne.cache_clear()


FILTERS = (
    ("T@(t+d) c, d -> t c", "t d c, d -> t c"), ("T@(t+d) c, d c -> t c", "t d c, d c -> t c"),
    ("T@(t+d) c, d k -> t c k", "t d c, d k -> t c k"), ("T@(t+d) c, d c k -> t k", "t d c, d c k -> t k"),
    ("k d c, T@(t+d) c -> k t", "k d c, t d c -> k t"), ("T@(t+d) c, t d -> t c", "t d c, t d -> t c"),
    ("T@(t+d) c, c t d -> c t", "t d c, c t d -> c t"),
    ("T@(t+d) c, e d c k -> t k e", "t d c, e d c k -> t k e"),
    ("T@(t+d) c -> t c : sum", "t d c -> t c"), ("T@(t+d) c -> t : sum", "t d c -> t"),
    ("T@(t+d) c -> c d : sum", "t d c -> c d"),
    ("T@(t+d) c, T@(t+e) k -> d e c k", "t d c, t e k -> d e c k"),
    ("T@(t+d) c, T@(t+e) c -> d e", "t d c, t e c -> d e"), ("T@(t+d) c, t -> d c", "t d c, t -> d c"),
)  # fmt: skip
WINDOW_SIZES = {"t": 7, "c": 3, "d": 4, "k": 2, "e": 2}


def copied(x: np.ndarray, cells: int, count: int, stride: int) -> np.ndarray:
    """Return the windows of an array along its first axis, as an array of their own."""
    return np.stack([np.stack([x[stride * t + d] for d in range(count)]) for t in range(cells)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("text", "plain"), FILTERS)
@pytest.mark.parametrize("stride", [1, 2])
def test_every_way_gives_the_same_values_for_windows(text: str, plain: str, stride: int, dtype: str) -> None:
    operands, wide = [], []
    for term, labels in zip(*[one.partition("->")[0].split(",") for one in (text, plain)], strict=True):
        sizes = [WINDOW_SIZES[label] for label in labels.split()]
        shape = [stride * 6 + 4, *sizes[2:]] if "@" in term else sizes
        own = RNG.integers(0, 5, shape)
        own = (own + 1j * RNG.integers(0, 5, shape) if dtype == "c16" else own).astype(dtype)
        operands.append(own)
        wide.append(copied(own, 7, sizes[1], stride) if "@" in term else own)
    exact = np.einsum(plain.partition(":")[0].replace(" ", ""), *[x.astype("c16") for x in wide])
    given = {label: size for label, size in WINDOW_SIZES.items() if f"+{label})" in text or label == "t"}
    options = CallOptions(sizes=tuple(sorted(given.items())))
    text = text.replace("(t+", f"({stride}*t+")
    for order in range(4):
        for ranks, value in in_every_way(text, [laid_out(x, order) for x in operands], options):
            assert value.shape == exact.shape, ranks
            assert np.array_equal(value, exact), (order, ranks)


@pytest.mark.parametrize(
    ("text", "shapes", "called"),
    [
        ("i k, j k -> i j", ((300, 40), (300, 40)), "matmul"),
        ("k i, k j -> i j", ((40, 300), (40, 300)), "matmul"),
        ("i k l, j k l -> i j", ((300, 8, 5), (300, 8, 5)), "matmul"),
        ("i k, j k -> i j", ((60, 40), (60, 40)), "dot"),
        ("i k, j k -> i j", ((256, 40), (256, 40)), "dot"),
        ("i k, j k -> i j", ((300, 40), (400, 40)), "dot"),
        ("i k, k j -> i j", ((300, 40), (40, 300)), "dot"),
        ("i k, i k ->", ((300, 4000), (300, 4000)), "dot"),
        ("i k, k j -> i j", ((300, 300), (300, 300)), "dot"),
    ],
)
def test_products_that_may_be_of_one_array_are_mirrored_by_matmul(text, shapes, called):
    compiled = ne.compile(text)
    compiled(np.ones((2,) * len(shapes[0])), np.ones((2,) * len(shapes[1])))  # sizes are not kept from it
    one, other = [RNG.standard_normal(shape) for shape in shapes]
    letters = text.replace(" ", "")
    for second in (one, other) if shapes[0] == shapes[1] and one.shape != (300, 300) else (other,):
        np.testing.assert_allclose(compiled(one, second), np.einsum(letters, one, second), atol=1e-11)
    calls = [step.call for step in compiled.plan(one, other).steps]
    assert any(f"{called}(" in call for call in calls), calls


@pytest.mark.parametrize(
    ("text", "kept"), [("i k, j k -> i j", 2), ("k i, k j -> i j", 2), ("i k, k j -> i j", 1)]
)
def test_a_product_that_is_mirrored_only_if_it_is_large_is_compiled_for_each_size(text, kept):
    ne.cache_clear()
    for size in (2, 300):  # `dot`, and `matmul` where the operands may be an array and its transpose
        x, y = RNG.standard_normal((2, size, size))
        np.testing.assert_allclose(ne.einsum(text, x, y), np.einsum(text.replace(" ", ""), x, y), atol=1e-11)
    assert ne.cache_info().programs == kept
