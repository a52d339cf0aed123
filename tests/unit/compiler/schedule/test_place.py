"""Parts that are computed in the array that they are parts of: the same values, and nothing is copied."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Note, Program
from nameexpr.compiler.schedule.place import place
from oracle.generate import instructions as ir

RNG = np.random.default_rng(15)
VALUES = (
    "x[N a]", "2 * x[N a]", "exp(-x[N a])", "-x[N a]", "sum[k](u[N k] * v[k a])", "sum[k](v[k a]) + x[N a]",
    "max[k](u[N k] + v[k a])", "softmax[a](x[N a])", "where(x[N a] > 0, x[N a], 0)", "cumsum[a](x[N a])",
    "s[N]", "sum[k](v[k a])", "x[N a] > 0", "index[a]", "x[N a] ** 2 * s[N] + 1", "sqrt(abs(t[a N]))",
    "sum[k](u[N k] * v[k a]) * 2 + x[N a]", "i[N a] + 1", "mean[k](u[N k]) * x[N a]", "i[N a]",
)  # fmt: skip
"""Values of the part a of operands that end in no number; `second` returns those of the part b."""


def operands(n: int, a: int, k: int, end: str = "") -> dict[str, Any]:
    shapes = {"x": (n, a), "u": (n, k), "v": (k, a), "s": (n,), "t": (a, n)}
    made = {f"{name}{end}": RNG.normal(size=shape) for name, shape in shapes.items()}
    return made | {f"i{end}": RNG.integers(0, 9, (2 * n, a)).astype("int8")[::2]}


def second(value: str) -> str:
    return re.sub(r"\b([xuvsti])\[", r"\1_[", value).replace("a]", "b]").replace("[a ", "[b ")


def evaluated(text: str, given: dict[str, Any], sizes: dict[str, int]) -> Any:
    words = set(re.findall(r"\w+", text))
    return ne.evaluate(
        text, sizes={label: sizes[label] for label in words & sizes.keys()}, **used(text, given)
    )


@pytest.mark.parametrize("left", ["y[N (a + b)]", "y[(a + b) N]", "y[1 N (a + b) M=2]", "y[N (1 + a + b)]"])
@pytest.mark.parametrize("number", range(len(VALUES)))
@pytest.mark.parametrize("sizes", [(3, 4, 2, 5), (1, 1, 1, 1), (40, 30, 20, 6), (2, 0, 3, 2)])
def test_values_are_those_of_each_block_alone(left: str, number: int, sizes: tuple[int, ...]) -> None:
    n, a, b, k = sizes
    size = {"N": n, "a": a, "b": b}
    given = operands(n, a, k) | operands(n, b, k, "_")
    values = VALUES[number], second(VALUES[(7 * number + 3) % len(VALUES)])
    blocks = [evaluated(f"z[N {'ab'[at]}] = {values[at]}", given, size) for at in (0, 1)]
    want = np.concatenate(blocks, 1)
    if left == "y[N (1 + a + b)]":
        want, values = np.concatenate([np.full((n, 1), 1, "int8"), want], 1), ("1", *values)
    if left == "y[(a + b) N]":
        want = want.T
    if left == "y[1 N (a + b) M=2]":
        want = np.stack([want, want], -1)[None]
    got = evaluated(f"{left} = {', '.join(values)}", given, size)
    assert got.shape == want.shape
    assert got.dtype == want.dtype or "1" in values
    np.testing.assert_allclose(got.astype(want.dtype), want, rtol=1e-12, atol=1e-12)


def used(text: str, given: dict[str, Any]) -> dict[str, Any]:
    return {name: array for name, array in given.items() if re.search(rf"\b{name}\[", text)}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("y[N (a + b)] = 2 * x[N a], x_[N b] + 1", ["pointwise", "pointwise", "concatenate"]),
        ("y[(a + b) N] = 2 * x[N a], t_[b N]", ["pointwise", "transpose", "concatenate"]),
        ("y[N (a + b)] = exp(2 * x[N a]), x_[N b]", ["pointwise", "pointwise", "concatenate"]),
    ],
)
def test_computed_parts_take_no_memory_of_their_own(text: str, steps: list[str]) -> None:
    given = used(text, operands(50, 40, 2) | operands(50, 30, 2, "_"))
    plan = ne.compile(text).plan(**given)
    assert [step.what for step in plan.steps] == steps
    assert plan.peak_bytes <= plan.steps[-1].bytes + 50 * 70 * 8 + (1 << 16)
    assert sum(step.bytes for step in plan.steps) == 50 * 70 * 8


def test_products_of_merged_matrices_become_stacks() -> None:
    text = "y[B (a + b) K] = sum[C](x[B a C] * w[C K]), sum[C](z[B b C] * w[C K])"
    given = {"x": RNG.normal(size=(3, 20, 4)), "z": RNG.normal(size=(3, 30, 4)), "w": RNG.normal(size=(4, 5))}
    compiled = ne.compile(text)
    assert [step.what for step in compiled.plan(**given).steps] == ["matmul", "matmul", "concatenate"]
    want = np.concatenate([given["x"] @ given["w"], given["z"] @ given["w"]], 1)
    np.testing.assert_allclose(compiled(**given), want, rtol=1e-12)


def test_a_value_that_is_read_later_is_not_computed_in_the_array() -> None:
    given = {"x": RNG.normal(size=(30, 40)), "z": RNG.normal(size=(30, 20))}
    text = "s[N a] = exp(x[N a]); y[N (a + b)] = s, z[N b]; w[N T] = sqrt(abs(y[N T]))"
    text += "; sum[T](w) + sum[a](s * s)"
    s = np.exp(given["x"])
    want = np.sqrt(abs(np.concatenate([s, given["z"]], 1))).sum(1) + (s * s).sum(1)
    np.testing.assert_allclose(ne.evaluate(text, **given), want, rtol=1e-12)
    results = ne.evaluate(text.rpartition(";")[0], outputs=("s", "y", "w"), **given)
    np.testing.assert_allclose(results[0], s)
    assert not any(np.shares_memory(results[0], other) for other in results[1:])


def test_only_the_last_reader_may_take_the_memory() -> None:
    square = (4, 4)
    made = ir.pointwise("exp", (0,), (None,), square, "float64")
    joined = ir.concatenate((1,), (4, 8), (Piece((0, 2), square, square),), "float64")
    again = ir.pointwise("exp", (1,), (None,), square, "float64")
    note = Note((), "float64", None)

    def factors(*instructions: Any, results: tuple[int, ...]) -> tuple[int, ...]:
        program = Program((square,), instructions, (note,) * len(instructions), results[-1], False, results)
        placed = place(program)
        shapes_of(placed)
        return placed.instructions[1].factors

    assert factors(made, joined, results=(2, 2)) == (0,)
    assert factors(made, joined, again, results=(2, 3)) == ()
    assert factors(made, joined, results=(1, 2)) == ()


@pytest.mark.parametrize("limit", [60_000, 50_000, 30_000])
def test_a_memory_limit_is_kept(limit: int) -> None:
    given = operands(50, 40, 2) | operands(50, 30, 2, "_")
    text = "y[N (a + b)] = exp(2 * x[N a]), x_[N b] + s[N]"
    assert ne.compile(text, memory_limit=limit).plan(**used(text, given)).peak_bytes <= limit
    got = ne.evaluate(text, memory_limit=limit, **used(text, given))
    want = np.concatenate([np.exp(2 * given["x"]), given["x_"] + given["s"][:, None]], 1)
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_bound_operands_are_computed_once() -> None:
    given = {"x": RNG.normal(size=(3, 4)), "z": RNG.normal(size=(3, 5))}
    compiled = ne.compile("y[N (a + b)] = exp(x[N a]), z[N b] * 2")
    want = np.concatenate([np.exp(given["x"]), given["z"] * 2], 1)
    for name, other in (("x", "z"), ("z", "x")):
        bound = compiled.bind(**{name: given[name]})
        for _ in range(2):
            np.testing.assert_allclose(bound(**{other: given[other]}), want, rtol=1e-13)
    both = compiled.bind(**given)
    first, again = both(), both()
    first[:] = 0
    np.testing.assert_allclose(again, want, rtol=1e-13)


def test_what_is_rounded_stays_rounded() -> None:
    x, z = RNG.normal(size=(50, 30)).astype("float16"), np.ones(3, "float32")
    got = ne.evaluate("y[(a + b)] = sum[N](x[N a]), z[b]", x=x, z=z)
    want = x.astype("float64").sum(0).astype("float32").astype("float16").astype("float32")
    assert got.dtype == np.float32 and (got == got.astype("float16")).all()
    np.testing.assert_allclose(got, [*want, 1, 1, 1], rtol=1e-2)


def test_a_product_is_not_written_to_elements_far_apart() -> None:
    given = {"x": RNG.normal(size=(3, 20, 4)), "z": RNG.normal(size=(3, 30, 4)), "w": RNG.normal(size=(4, 5))}
    text = "y[{}] = sum[C](x[B a C] * w[C K]), sum[C](z[B b C] * w[C K])"
    want = np.concatenate([given["x"] @ given["w"], given["z"] @ given["w"]], 1)
    lefts = {
        "(a + b) K B": (1, 2, 0),
        "K (a + b) B": (2, 1, 0),
        "B (a + b) K": (0, 1, 2),
        "B K (a + b)": (0, 2, 1),
    }
    for left, axes in lefts.items():
        compiled = ne.compile(text.format(left))
        np.testing.assert_allclose(compiled(**given), want.transpose(axes), rtol=1e-12)
        products = [step for step in compiled.plan(**given).steps if step.what in {"matmul", "dot"}]
        assert (products[1].bytes == 0) == (left == "B (a + b) K")


@pytest.mark.parametrize("function", ["isinf", "isnan", "signbit"])
def test_parts_that_numpy_computes_incorrectly_into_strided_memory_are_right(function: str) -> None:
    x = np.where(np.arange(40) % 3, -np.inf, np.nan)
    text = f"y[N (1 + a)] = {function}(x[N]), {function}(2 * x[N])"
    expected = [[bool(getattr(np, function)(value))] * 2 for value in x]
    assert ne.evaluate(text, x=x, sizes={"a": 1}).tolist() == expected
