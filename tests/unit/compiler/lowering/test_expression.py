"""Plans and programs: the order of contractions, the NumPy calls that come out, and that the source is only
ours.
"""

from __future__ import annotations

import ast
import itertools
import re

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.codegen import function
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Note, Program
from nameexpr.compiler.planning.path import find_path
from nameexpr.compiler.planning.plan import flops_of
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.tensors import wrap
from oracle.generate import instructions as ir
from oracle.generate.expressions import seeded_case

RNG = np.random.default_rng(1)
ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.If, ast.BoolOp, ast.And, ast.Or,
    ast.UnaryOp,
    ast.Not, ast.USub, ast.Compare, ast.Is, ast.Eq, ast.Try, ast.ExceptHandler, ast.Raise, ast.Call,
    ast.keyword, ast.Name, ast.Load, ast.Store, ast.Del, ast.Delete, ast.Attribute, ast.Assign, ast.Constant,
    ast.Tuple, ast.Starred, ast.Subscript, ast.Slice,
)  # fmt: skip

BOUND = re.compile(r"(np|dtype|scalar|copies|formulas|joining|kernels|reading|rolling|tiny)_[a-z0-9_]+")
"""Names under which NumPy functions's are bound."""
OUR_NAMES = {
    *("a", "t", "s", "d", "n", "r", "np", "kernels", "ndarray", "NamedTensor", "wrap", "names", "missing"),
    *("copies", "c_einsum", "miss", "reduce", "explain", "fault", "rest", "type", "Exception", "float"),
}


def calls(text: str, *operands: object, **options: object) -> list[str]:
    return [step.call for step in ne.compile(text, **options).plan(*operands).steps]


def cost_of(
    pairs: list[tuple[int, int]], terms: list[frozenset[str]], output: frozenset[str], sizes: dict
) -> int:
    values, alive, total = list(terms), set(range(len(terms))), 0
    for left, right in pairs:
        alive -= {left, right}
        both = values[left] | values[right]
        needed = output.union(*(values[number] for number in alive))
        total += flops_of(both, sizes, is_summed=bool(both - needed))
        alive.add(len(values))
        values.append(both & needed)
    return total


def all_orders(count: int) -> list[list[tuple[int, int]]]:
    def extend(alive: tuple[int, ...], number: int) -> list[list[tuple[int, int]]]:
        if len(alive) == 1:
            return [[]]
        found = []
        for left, right in itertools.combinations(alive, 2):
            rest = (*(one for one in alive if one not in (left, right)), number)
            found += [[(left, right), *later] for later in extend(rest, number + 1)]
        return found

    return extend(tuple(range(count)), count)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_the_exact_search_finds_the_cheapest_of_all_orders(count: int) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        labels = "abcdef"
        terms = [frozenset(rng.choice(list(labels), rng.integers(1, 4), replace=False)) for _ in range(count)]
        sizes = {label: int(rng.integers(1, 9)) for label in labels}
        output = frozenset(rng.choice(list(labels), 2, replace=False)) & frozenset().union(*terms)
        shared = [output.union(*terms[:place], *terms[place + 1 :]) for place in range(count)]
        # what only one operand has is summed before a path is looked for
        terms = [term & others for term, others in zip(terms, shared, strict=True)]
        best = min(cost_of(order, terms, output, sizes) for order in all_orders(count))
        assert cost_of(find_path(terms, output, sizes), terms, output, sizes) == best


@pytest.mark.parametrize("count", [6, 12, 40, 200])
def test_long_chains_are_planned_in_pairs(count: int) -> None:
    terms = [frozenset((f"x{i}", f"x{i + 1}")) for i in range(count)]
    sizes = {f"x{i}": 2 + i % 3 for i in range(count + 1)}
    pairs = find_path(terms, frozenset(("x0", f"x{count}")), sizes)
    assert len(pairs) == count - 1
    assert sorted(value for pair in pairs for value in pair) == list(range(2 * count - 2))


def test_explicit_paths_are_followed_and_bad_ones_refused() -> None:
    a, b, c = RNG.random((2, 3)), RNG.random((3, 4)), RNG.random((4, 5))
    text = "i j, j k, k l -> i l"
    assert calls(text, a, b, c, optimize=[(1, 2), (0, 1)])[0] == "a1.dot(a2)"
    assert calls(text, a, b, c, optimize=[(0, 1), (0, 1)])[0] == "a0.dot(a1)"
    np.testing.assert_allclose(ne.einsum(text, a, b, c, optimize=[(0, 1, 2)]), a @ b @ c)
    np.testing.assert_allclose(ne.einsum(text, a, b, c, optimize=["einsum_path", (0, 1), (0, 1)]), a @ b @ c)
    for bad in ([(0, 3)], [(0, 0)], [(0, 1), (0, 2)], [0, 1], "fast", 3.5):
        with pytest.raises(ne.OptionError):
            ne.einsum(text, a, b, c, optimize=bad)
    with pytest.raises(ne.OptionError, match="mine"):
        ne.einsum(text, a, b, c, optimize=lambda *_: (_ for _ in ()).throw(RuntimeError("mine")))


def test_batched_products_go_to_matmul_without_a_copy_in_any_layout() -> None:
    sizes = {"b": 6, "h": 5, "q": 16, "k": 17, "d": 18}
    for left in itertools.permutations("bhqd"):
        for right in (("b", "h", "k", "d"), ("d", "b", "k", "h")):
            x, y = (RNG.random([sizes[label] for label in term]) for term in (left, right))
            text = f"{' '.join(left)}, {' '.join(right)} -> b h q k"
            steps = ne.compile(text).plan(x, y).steps
            assert [step.what for step in steps if step.bytes] == ["matmul"], text
            expected = np.einsum(text.replace(" ", ""), x, y)
            np.testing.assert_allclose(ne.einsum(text, x, y), expected)


def test_groups_of_labels_merge_where_memory_allows_it() -> None:
    x, w = RNG.random((8, 9, 4, 5)), RNG.random((4, 5, 7))
    text = "b s h d, h d e -> b s e"
    assert calls(text, x, w) == [
        "a0.reshape((72, 20))",
        "a1.reshape((20, 7))",
        "t0.dot(t1)",
        "t2.reshape((8, 9, 7))",
    ]
    for view in (x[:, ::2], x[::-1], x.transpose(1, 0, 2, 3)):
        np.testing.assert_allclose(ne.einsum(text, view, w), np.einsum("bshd,hde->bse", view, w))


def test_a_group_that_does_not_merge_joins_the_batch_instead_of_being_copied() -> None:
    x, w = RNG.random((8, 64, 128)), RNG.random((64, 64))
    steps = ne.compile("b h s, h e -> b s e").plan(x, w).steps
    assert [step.what for step in steps] == ["transpose", "matmul"]
    np.testing.assert_allclose(ne.einsum("b h s, h e -> b s e", x, w), x.transpose(0, 2, 1) @ w)


def test_private_labels_are_summed_before_anything_is_multiplied() -> None:
    found = calls("i j k, j l -> i l : sum", (3, 4, 50), (4, 5))
    assert found[:3] == ['np.ones((50,), dtype="float64")', "a0.reshape((12, 50))", "t1.dot(t0)"]


def test_the_c_loop_is_used_where_it_wins_and_nowhere_else() -> None:
    assert calls("b i, b i -> b", (50, 20), (50, 20)) == ["np.vecdot(a0, a1)"]
    assert calls("b i, b i -> b", (900, 3), (900, 3)) == ['np.einsum("ab,ab->a", a0, a1)']
    assert any("np.einsum" in call for call in calls("i j b, j k b -> i k b", (3, 3, 5000), (3, 3, 5000)))
    assert not any("np.einsum" in call for call in calls("b i j, b j k -> b i k", (50, 30, 30), (50, 30, 30)))
    for dtype in (np.float16, np.bool_):
        x = np.ones((40, 40), dtype)
        assert not any("np.einsum" in call for call in calls("i j, j k -> i k", x, x))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "bool"])
@pytest.mark.parametrize("text", ["i j, j -> i", "i j, j k -> k i", "j, i j -> i", "j, j ->"])
def test_dot_casts_few_integers_itself(text: str, dtype: str) -> None:
    for sizes, is_few in (({"i": 4, "j": 3, "k": 5}, True), ({"i": 40, "j": 300, "k": 20}, False)):
        terms = [term.split() for term in text.partition("->")[0].split(",")]
        shapes = [tuple(sizes[label] for label in term) for term in terms]
        for place in (0, 1):
            operands = [RNG.integers(0, 2, shape).astype("float64") + 0.5 for shape in shapes]
            operands[place] = RNG.integers(0, 9, shapes[place]).astype(dtype)
            expected = np.einsum(text.replace(" ", ""), *operands)
            found = ne.einsum(text, *operands)
            assert found.dtype == "float64" and np.array_equal(found, expected)
            assert any("astype" in call for call in calls(text, *operands)) != is_few
            narrow = ne.einsum(text, *operands, dtype="float32")
            assert narrow.dtype == "float32" and np.allclose(narrow, expected)


@pytest.mark.parametrize("order", ["C", "F", "apart"])
def test_contiguous_operands_are_flattened_by_ravel(order: str) -> None:
    x, y = RNG.random((2, 30, 40))
    assert calls("i j, i j ->", x, y)[:2] == ["a0.ravel()", "a1.ravel()"]
    wide = np.zeros((30, 80))
    wide[:, ::2] = x
    other = {"C": x, "F": np.asfortranarray(x), "apart": wide[:, ::2]}[order]
    run = ne.compile("i j, i j ->")
    for one in (x, other):
        np.testing.assert_allclose(run(one, y), (x * y).sum())
        np.testing.assert_allclose(run(y, one), (x * y).sum())


def test_the_order_of_two_matrices_suits_the_result_or_blas() -> None:
    x, y = RNG.random((3, 64, 50)), RNG.random((900, 3, 50, 1))
    made = ne.einsum("i j k, n i k l -> n i j l", x, y)
    assert made.strides[2] == made.itemsize  # `l`, whose size is 1, says nothing
    assert np.allclose(made, np.einsum("ijk,nikl->nijl", x, y))
    for text, shapes, first in (
        ("d a, c b d -> b a c", ((24, 64), (8, 64, 24)), "t0.dot(a0)"),  # both would be transposed
        ("a d, c b d -> b a c", ((20, 24), (8, 64, 24)), "t0.dot(t1)"),  # the second one would be larger
        ("c b d, a d -> b a c", ((8, 64, 24), (20, 24)), "t0.dot(t1)"),
    ):
        operands = [RNG.random(shape) for shape in shapes]
        plan = ne.compile(text).plan(*operands)
        assert first in [step.call for step in plan.steps], text
        assert np.allclose(ne.einsum(text, *operands), np.einsum(text.replace(" ", ""), *operands))


def test_the_sum_of_a_diagonal_is_one_pass() -> None:
    assert calls("i i ->", (5, 5)) == ['np.einsum("aa->", a0)']


def test_simplify_fuses_and_drops_what_is_not_read() -> None:
    notes = (Note((), "", None),) * 3
    program = Program(
        ((2, 3, 4),),
        (ir.transpose(0, (2, 0, 1)), ir.transpose(1, (1, 2, 0)), ir.reshape(2, (6, 4))),
        notes,
        3,
        False,
    )
    simple = simplify(program, TARGET)
    assert simple.instructions == (ir.transpose(0, (0, 1, 2)), ir.reshape(1, (6, 4)))
    assert shapes_of(simple)[simple.result] == (6, 4)


def test_verify_refuses_a_program_that_cannot_run() -> None:
    note = (Note((), "", None),)
    for wrong in (ir.dot(0, 5), ir.dot(0, 1), ir.reshape(0, (5,)), ir.transpose(0, (0, 0))):
        with pytest.raises(AssertionError):
            shapes_of(Program(((2, 3), (4, 5)), (wrong,), note, 2, False))


def test_generated_source_holds_nothing_of_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names are ours, its constants ints and words from a fixed set, and nothing else is in its syntax
    tree.
    """
    sources: list[str] = []
    build = function._source
    monkeypatch.setattr(function, "_source", lambda *given: sources.append(build(*given)) or sources[-1])
    ne.cache_clear()
    for seed in range(400):
        case = seeded_case(seed)
        with np.errstate(all="ignore"):
            case.run(ne.einsum, wrap=lambda named: wrap(named.array, named.names))
    assert len(sources) > 300
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            assert isinstance(node, ALLOWED), ast.dump(node)
            if isinstance(node, ast.Name):
                word = node.id.rstrip("0123456789")
                assert word in OUR_NAMES or BOUND.fullmatch(node.id), node.id
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert set(node.value) <= set(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,->"
                ), node.value


@pytest.mark.slow
def test_the_same_plan_whatever_the_hash_seed() -> None:
    import subprocess
    import sys

    source = (
        "import nameexpr as ne;"
        "shapes = [(3 + i, 3 + (i + 1) % 7) for i in range(7)];"
        "print(ne.compile('a b, b c, c d, d e, e f, f g, g a -> a').plan(*shapes).code)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", source],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(outputs) == 1


NAN = np.array([4, np.nan, np.inf, 3])
SINGLE = {
    "outer": ("a, c -> a c", (np.zeros(1), NAN)),
    "outer from the right": ("c, a -> c a", (NAN, np.zeros(1))),
    "summed over one": ("a k, k c -> a c", (np.zeros((1, 1)), NAN[np.newaxis])),
    "summed over one, a vector": ("k, k c -> c", (np.zeros(1), NAN[np.newaxis])),
    "summed over one, batched": ("b k, b k c -> b c", (np.zeros((1, 1)), NAN[np.newaxis, np.newaxis])),
    "three": ("a, , c -> a c ()", (np.ones(1), np.array(0.0), NAN)),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("case", SINGLE)
def test_a_single_zero_times_nan_is_nan(case: str, dtype: str) -> None:
    text, operands = SINGLE[case]
    with np.errstate(invalid="ignore"):
        result = ne.einsum(text, *(operand.astype(dtype) for operand in operands))
    assert np.isnan(result).ravel().tolist() == [False, True, True, False]


NOTHING = np.zeros((0, 2))
OF_NOTHING = {
    "a b, c -> b c : sum": (NOTHING, NAN),
    "a b, a b, c -> b c": (NOTHING, NOTHING, NAN),
    "a b, c, c -> b : sum": (NOTHING, NAN, NAN),
    "b c, a b -> c : sum": (np.stack([NAN, NAN]), NOTHING),
}


@pytest.mark.parametrize("text", OF_NOTHING)
def test_a_sum_of_no_products_is_0_whatever_its_factors(text: str) -> None:
    for limit in (None, 10_000):
        result = ne.einsum(text, *OF_NOTHING[text], memory_limit=limit)
        assert result.size and (result == 0).all() and result.dtype == np.float64


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2"])
def test_integers_that_were_summed_are_multiplied_exactly(dtype: str) -> None:
    """Whether floats hold a product of integers follows from bounds, and a sum's grows with its length."""
    rng = np.random.default_rng(0)
    top = int(np.iinfo(dtype).max)
    x = rng.integers(top - 3, top, (1000, 32, 64), endpoint=True, dtype=dtype)
    y = rng.integers(top - 3, top, (64, 32), endpoint=True, dtype=dtype)
    expected = x.astype(object).sum(0) @ y.astype(object)
    assert (ne.einsum("a b c, c d -> b d : sum", x, y) == expected).all()


REDUCERS = {
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "var": np.var,
    "std": np.std,
    "norm": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "logsumexp": lambda x, axis: np.log(np.exp(x).sum(axis)),
}


@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_large_product_is_reduced_block_by_block(reducer: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((300, 60)).astype(dtype) + 0.9, rng.random((150, 60)).astype(dtype)[:, ::-1]
    run = ne.compile(f"a b, c b -> c a : {reducer}")
    expected = REDUCERS[reducer](x.astype(float) * y.astype(float)[:, None], axis=2)
    assert run(x, y).dtype == dtype
    np.testing.assert_allclose(run(x, y), expected, rtol=1e-4 if dtype == "float32" else 1e-10)
    plan = run.plan(x, y)
    assert plan.peak_bytes < 2_000_000 < x.size * len(y) * x.itemsize
    assert plan.flops == sum(step.flops for step in plan.steps) == 2 * x.size * len(y)
    np.testing.assert_array_equal(run.bind({1: y})(x), run(x, y))


def test_a_product_of_other_dtypes_is_made_as_a_whole() -> None:
    x, y = np.ones((300, 60), np.int8), np.ones((150, 60))
    run = ne.compile("a b, c b -> c a : max")
    assert "fused" in [step.what for step in run.plan(x, y).steps]
    assert "fused" not in [step.what for step in run.plan(x, x[:150]).steps]
