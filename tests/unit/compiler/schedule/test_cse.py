"""Sharing what operands that are the same array have in common: orders that repeat, and instructions."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.compilation import Compilation, Options
from nameexpr.compiler.ir.dtypes import choose_dtypes
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.compiler.planning.repeated import repeated_path
from nameexpr.compiler.schedule.cse import best_shared, share, share_small
from nameexpr.records import replace
from nameexpr.syntax.ast import Expression
from oracle.generate import instructions as ir

SIZE = 6


def chain(count: int) -> str:
    """Return the text of a power of a matrix."""
    labels = "abcdefghijklmnopqrstuvwxyz"[: count + 1]
    return ", ".join(f"{one} {other}" for one, other in pairwise(labels)) + f" -> {labels[0]} {labels[-1]}"


def compiled(
    text: str, same: tuple[int, ...] = (), optimize: object = None, **options: object
) -> Compilation[Expression]:
    tree = read(text)
    shapes = [Operand((SIZE,) * len(term.items)) for term in tree.inputs]
    typed = type_expression(tree, shapes, {})
    names = ("float64",) * len(shapes)
    dtypes = choose_dtypes(names, "float64", typed.reducer, drops=bool(typed.dropped))
    layouts = [None] * len(shapes)
    chosen = Options(TARGET, optimize, same=same, **options)  # type: ignore[arg-type]
    return compile_expression(tree, typed, dtypes, layouts, chosen)


def products(program: Program) -> int:
    return sum(one.primitive in {"dot", "multiply"} for one in program.instructions)


def contracted(text: str, pairs: list[tuple[int, int]], same: str) -> int:
    """Return how many different products an order has, by brute force: told apart by their sorted cells,
    whatever the order of axes.
    """
    inputs, _, output = text.partition("->")
    terms = [term.split() for term in inputs.split(",")]
    rng = np.random.default_rng(1)
    arrays = {name: rng.normal(size=(3,) * len(term)) for name, term in zip(same, terms, strict=True)}
    values = [(arrays[name], term) for name, term in zip(same, terms, strict=True)]
    waiting = set(range(len(terms)))
    seen = set()
    for left, right in pairs:
        waiting -= {left, right}
        needed = {label for number in waiting for label in values[number][1]} | set(output.split())
        both = [*values[left][1], *values[right][1]]
        kept = [label for label in dict.fromkeys(both) if label in needed]
        one, other = ("".join(values[number][1]) for number in (left, right))
        made = np.einsum(f"{one},{other}->{''.join(kept)}", values[left][0], values[right][0])
        seen.add(np.sort(made.ravel()).round(6).tobytes())
        waiting.add(len(values))
        values.append((made, kept))
    return len(seen)


def order_of(text: str, same: str) -> list[tuple[int, int]]:
    inputs, _, output = text.partition("->")
    terms = [term.split() for term in inputs.split(",")]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(inputs.replace(",", " ").split()))}
    kept = frozenset(numbers[label] for label in output.split())
    listed = [[numbers[label] for label in term] for term in terms]
    found = repeated_path(listed, same, kept, [3] * len(numbers))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("count", "least"), [(2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 3), (9, 4), (12, 4), (16, 4)]
)
def test_powers_of_a_matrix_take_as_many_products_as_the_shortest_addition_chain(
    count: int, least: int
) -> None:
    assert contracted(chain(count), order_of(chain(count), "A" * count), "A" * count) == least


@pytest.mark.parametrize(
    ("text", "same", "least"),
    [
        ("a b, b c, c d, d a ->", "AAAA", 2),
        ("a b, b c, c d, d e, e f, f g, g h, h a ->", "AAAAAAAA", 3),
        ("a b, c b, c d, e d -> a e", "AAAA", 2),
        ("a b, c b, c d, e d, e f, g f, g h, i h -> a i", "AAAAAAAA", 3),
        ("a b, b c, c d, d e -> a e", "ABAB", 2),
        ("a b, b c, c d, d e, e f, f g, g h, h i -> a i", "ABABABAB", 3),
        ("i, i, i, i, i, i, i, i -> i", "AAAAAAAA", 3),
        ("a b, a b, c d, c d ->", "AAAA", 2),
        ("p a, p b, a b, q c, q d, c d ->", "AABAAB", 3),
    ],
)
def test_equal_parts_of_a_network_are_contracted_once(text: str, same: str, least: int) -> None:
    assert contracted(text, order_of(text, same), same) == least


def test_an_order_is_given_up_when_it_takes_too_long() -> None:
    terms = [(number, number + 1) for number in range(30)]
    assert repeated_path(terms, "A" * 30, frozenset({0, 30}), [4] * 31, trials=0) is None


def test_equal_instructions_are_one_and_those_of_other_arrays_are_not() -> None:
    both = (
        ir.add_up(0, (0,)),
        ir.add_up(1, (0,)),
        ir.add_up(2, (0,)),
        ir.multiply(3, 4),
        ir.multiply(6, 5),
    )
    notes = tuple(Note((), "float64", step) for step in range(5))
    program = Program(((2, 3),) * 3, both, notes, 7, False)
    shared = share(program, (0, 0, 2))
    assert shared.instructions == (
        ir.add_up(0, (0,)),
        ir.add_up(2, (0,)),
        ir.multiply(3, 3),
        ir.multiply(5, 4),
    )
    assert shared.result == 6
    assert shapes_of(shared)[6] == (3,)


def test_products_of_numbers_commute_and_products_of_objects_do_not() -> None:
    both = (ir.multiply(0, 1), ir.multiply(1, 0), ir.multiply(2, 3))
    for dtype, count in (("float64", 2), ("object", 3), ("", 3)):
        program = Program(((2,), (2,)), both, (Note((), dtype, 0),) * 3, 4, False)
        assert len(share(program, (0, 1)).instructions) == count


def test_views_alone_are_not_worth_a_guard() -> None:
    found = compiled("k i, j k -> i j", (0, 0))
    assert found.same == ()
    assert found.program == compiled("k i, j k -> i j").program


def test_a_plan_counts_what_is_computed_once() -> None:
    for count, least in ((4, 2), (8, 3), (16, 4)):
        found = compiled(chain(count), (0,) * count)
        assert products(found.program) == least
        assert found.plans[0].flops == least * 2 * SIZE**3
        assert len(found.plans[0].repeated) == count - 1 - least
        assert compiled(chain(count)).plans[0].flops == (count - 1) * 2 * SIZE**3


def test_an_order_of_the_callers_stays_and_is_shared() -> None:
    left_to_right = compiled(chain(4), (0,) * 4, optimize=False)
    assert left_to_right.same == ()
    assert products(left_to_right.program) == 3
    halves = compiled(chain(4), (0,) * 4, optimize=((0, 1), (0, 1), (0, 1)))
    assert products(halves.program) == 2
    assert products(compiled(chain(4), (0,) * 4, optimize="greedy").program) <= 3


def test_casts_sums_and_copies_of_one_array_are_made_once() -> None:
    found = compiled("i j, k l -> j l : sum", (0, 0))
    assert found.same == (0, 0)
    assert found.plans[0].flops == 2 * SIZE**2 - SIZE**2 + SIZE * SIZE + SIZE**2


def test_what_needs_more_than_the_limit_when_it_is_kept_is_not_shared() -> None:
    text = "a b, c d, a b, c d -> a b c d"
    operands = Program(
        ((3, 4),) * 2,
        (ir.reshape(0, (12,)), ir.reshape(1, (12,)), ir.multiply(2, 3)),
        (Note((), "", 0),) * 3,
        4,
        False,
    )
    plan = compiled("a b, a b -> a b").plans[0]
    assert best_shared([(plan, operands)], (0, 0), None, ()) is not None
    assert best_shared([(plan, operands)], (0, 0), 12 * 8, ()) is not None
    assert best_shared([(plan, operands)], (0, 0), 12 * 8 - 1, ()) is None
    assert compiled(text, (0, 0, 0, 0)).plans[0].repeated
    assert prod(shapes_of(compiled(text, (0,) * 4).program)[-1]) == SIZE**4


def test_programs_of_different_operands_are_as_they_were() -> None:
    assert compiled(chain(5)).same == ()
    assert compiled(chain(5)).plans[0].repeated == frozenset()
    assert not any(one.primitive == "transpose" for one in compiled(chain(5)).program.instructions)


def test_of_parts_that_look_alike_one_is_tried() -> None:
    assert repeated_path([(0,)] * 8, "A" * 8, frozenset({0}), [4], trials=600) is not None


def test_many_parts_of_one_array_are_halved_before_the_time_is_up() -> None:
    """What is looked at does not grow with their cube: each of 100 equal scalars is a part of its own."""
    pairs = repeated_path([()] * 100, "A" * 100, frozenset(), [])
    assert pairs is not None and len(pairs) == 99
    vectors = ", ".join(f"d{k}" for k in range(100)) + " -> : sum"
    x = np.array([0.25, 0.75])
    assert ne.einsum(vectors, *[x] * 100) == 1
    assert len(ne.compile(vectors).plan(*[x] * 100).steps) < 20


def test_an_array_in_every_one_of_1024_terms_is_no_recursion_too_deep() -> None:
    vectors = ", ".join(f"d{k}" for k in range(1024)) + " -> : sum"
    assert ne.einsum(vectors, *[np.array([0.25, 0.75])] * 1024) == 1
    matrices = ", ".join(f"a{k} b{k}" for k in range(1024)) + " -> : sum"
    assert ne.einsum(matrices, *[np.ones((1, 1))] * 1024) == 1


def test_several_results_share_what_they_have_in_common_but_no_memory() -> None:
    shapes = {"x": (3, 4, 5), "v": (5,)}
    given = {name: np.random.default_rng(1).standard_normal(shape) for name, shape in shapes.items()}
    step = ne.value_and_grad("sum[A D](sum[B C](x[A B C] * y[B C D]) ** 2)", "x y")
    pair = {"x": given["x"], "y": np.random.default_rng(2).standard_normal((4, 5, 6))}
    step(**pair)
    views = [line.split("=", 1)[1] for line in step.code.splitlines() if ".reshape(" in line]
    assert len(set(views)) == len(views)
    product = np.einsum("abc,bcd->ad", pair["x"], pair["y"])
    found = step(**pair)[1]
    np.testing.assert_allclose(found["x"], 2 * np.einsum("ad,bcd->abc", product, pair["y"]))
    np.testing.assert_allclose(found["y"], 2 * np.einsum("ad,abc->bcd", product, pair["x"]))
    text = "y[A B] = sum[C](x[A B C] * v[C]); z[B A] = y; t[A B] = y * 1; s[B A] = z"
    results = ne.compile(text, outputs=("y", "z", "t", "s"))(**given)
    assert not any(np.shares_memory(one, other) for one, other in combinations(results, 2))
    for found, wanted in zip(results, ("ab", "ba", "ab", "ba"), strict=True):
        np.testing.assert_allclose(found, np.einsum(f"abc,c->{wanted}", given["x"], given["v"]))


def test_equal_values_are_shared_up_to_a_number_of_bytes() -> None:
    turned = [Instruction("copy", (operand,)) for operand in (0, 0)]
    twice = Program(((4, 4),), (*turned, ir.multiply(1, 2)), (Note((), "float64", None),) * 3, 3, False)
    assert share_small(twice, 128).instructions == (turned[0], ir.multiply(1, 1))
    assert share_small(twice, 127) == twice
    results = replace(twice, instructions=tuple(turned), notes=twice.notes[:2], result=2, results=(1, 2))
    assert share_small(results, 128) == results


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_tiny_matrices_times_themselves_are_copied(dtype: str) -> None:
    """BLAS has a function for a matrix times itself that is slow for tiny ones."""
    run = ne.compile("i j k, i l k -> i j l")
    for shape, is_copied in (((300, 6, 5), True), ((300, 20, 5), False), ((5000, 6, 6), False)):
        x = np.random.default_rng(3).integers(-4, 5, shape).astype(dtype)
        x = x + 1j * x if dtype == "c16" else x
        found = [step.call for step in run.plan(x, x).steps]
        assert any("copy" in call for call in found) == is_copied
        assert not any("copy" in step.call for step in run.plan(x, x.copy()).steps)
        for other in (x, x.copy(), x[::-1]):
            np.testing.assert_array_equal(run(x, other), np.einsum("ijk,ilk->ijl", x, other.copy()))
