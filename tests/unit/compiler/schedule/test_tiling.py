"""Slices: what is cut, what is left alone, that values stay the same, and that memory is predicted."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nameexpr as ne
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Loop, Program
from nameexpr.compiler.schedule import tiling as slices
from nameexpr.compiler.schedule.tiling import tile_leading_axes
from nameexpr.records import replace

ATTENTION = """s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
p = softmax[K](where(index[Q] >= index[K], s, -inf))
o[B Q (H D)] = sum[K](p * v[B H K D])"""
SHARED_KEYS = "p = softmax[K](sum[D](q[B H Q D] * k[B K D])); o[B H Q D] = sum[K](p * v[B K D])"
UPSIDE_DOWN = "s = sum[D](q[D B Q] * k[B K D]); o[B Q D] = sum[K](tanh(s) * v[K B D])"
SEVERAL = "s = sum[D](q[B H Q D] * k[B H K D]); m = max[K](s); o[B H Q D] = sum[K](exp(s - m) * v[B H K D])"
SCALED = "s = sum[D](q[B H Q D] * k[B H K D]) * w[B H]; o[B H Q D] = sum[K](relu(s + b[Q K]) * v[B H K D])"
RUNNING = (
    "s = cumsum[K](sum[D](q[B H Q D] * k[B H K D])); o[B H Q] = std[K](s ** 2 + 1) + logsumexp[K](s / 9)"
)
CYCLE = "p = softmax[K](sum[D](q[B H Q D] * k[B H K D])); o[Q B H D] = sum[K](p * v[B H K D])"
BIASED = "s = sum[D](q[B H Q D] * k[B H K D]) + b[H Q K]; o[B H Q D] = sum[K](softmax[K](s) * v[B H K D])"
HEADS = dict.fromkeys("qkv", "B H L D")
TEXTS: dict[str, tuple[str, dict[str, str]]] = {
    "attention": (ATTENTION, HEADS),
    "shared keys": (SHARED_KEYS, {"q": "B H L D", "k": "B L D", "v": "B L D"}),
    "axes elsewhere": (UPSIDE_DOWN, {"q": "D B L", "k": "B L D", "v": "L B D"}),
    "a value used twice": (SEVERAL, HEADS),
    "factors of few dims": (SCALED, {**HEADS, "w": "B H", "b": "L L"}),
    "dims in a cycle": (CYCLE, HEADS),
    "a bias without a batch": (BIASED, {**HEADS, "b": "H L L"}),
    "running sums": (RUNNING, {"q": "B H L D", "k": "B H L D"}),
}
SIZES = {"B": 2, "H": 3, "L": 5, "D": 4}
DTYPES = ("float64", "float32", "float16", "complex128", "int64", "int8", "bool")


def compiled(text: str, operands: dict[str, Any]) -> Any:
    formula = ne.compile(text)
    formula(operands=operands)
    return formula._entry.compile(*formula._entry.latest)


def compiled_expression(text: str, shapes: list[tuple[int, ...]]) -> Program:
    run = ne.compile(text)
    run(*[np.ones(shape, np.float32) for shape in shapes])
    program: Program = run._entry.compile(*run._entry.latest).program
    return program


def sliced(program: Program) -> list[Loop]:
    return [one.loop for one in program.instructions if one.loop]


def operands_of(letters: dict[str, str], sizes: dict[str, int], dtype: str = "float64") -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        name: (rng.standard_normal([sizes[letter] for letter in word.split()]) * 2).astype(dtype)
        for name, word in letters.items()
    }


def shapes_only(**shapes: tuple[int, ...]) -> dict[str, Any]:
    return {name: np.ones(shape, np.float32) for name, shape in shapes.items()}


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slice whatever can be sliced, large or not."""

    def tiled(program: Program, shapes: Any, target: Any) -> Program:
        least = replace(target, tiled_bytes=1, tile_cells=1, cached_cells=8)
        return tile_leading_axes(program, shapes, least)

    monkeypatch.setattr(slices, "tile_leading_axes", tiled)


def both(monkeypatch: pytest.MonkeyPatch, text: str, operands: dict[str, Any]) -> tuple[Any, Any, int]:
    """Return the value with slices, the value without, and how many parts are sliced."""
    with np.errstate(all="ignore"):
        count = len(sliced(compiled(text, operands).program))
        value = ne.compile(text)(**operands)
        with monkeypatch.context() as patch:
            patch.setattr(slices, "MOST_INSTRUCTIONS", -1)
            return value, ne.compile(text)(**operands), count


def close(value: Any, expected: Any) -> None:
    assert value.dtype == expected.dtype and value.shape == expected.shape
    rough = {"float16": 2e-2, "float32": 1e-4}.get(value.dtype.name, 1e-10)
    assert_allclose(value, expected, rtol=rough, atol=rough)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("title", TEXTS)
def test_slices_give_what_whole_arrays_give(monkeypatch: pytest.MonkeyPatch, title: str, dtype: str) -> None:
    text, letters = TEXTS[title]
    try:
        value, expected, count = both(monkeypatch, text, operands_of(letters, SIZES, dtype))
    except ne.NameExprError:
        assert dtype == "complex128"  # softmax, max and relu have no complex numbers
        return
    close(value, expected)
    assert count or dtype != "float64"


@pytest.mark.slow
@pytest.mark.usefixtures("everywhere")
@given(sizes=st.fixed_dictionaries(dict.fromkeys("BHLD", st.integers(0, 4))), title=st.sampled_from([*TEXTS]))
def test_slices_of_any_size_give_what_whole_arrays_give(sizes: dict[str, int], title: str) -> None:
    text, letters = TEXTS[title]
    if sizes["L"] == 0 and "max" in text:
        return
    with pytest.MonkeyPatch.context() as patch:
        value, expected, _ = both(patch, text, operands_of(letters, sizes))
    close(value, expected)


def test_attention_runs_head_by_head_in_place_and_its_result_is_not_copied() -> None:
    operands = shapes_only(**dict.fromkeys("qkv", (2, 4, 256, 32)))
    program = compiled(ATTENTION, operands).program
    (one,) = sliced(program)
    assert one.sizes == (2, 4) and one.layout == (0, 2, 1, 3)
    assert sum(inner.primitive == "matmul" for inner in one.body.instructions) == 2
    assert all(inner.over is not None for inner in one.body.instructions if inner.primitive == "pointwise")
    assert not any(inner.primitive == "fused" for inner in one.body.instructions)
    shapes_of(program)
    result = ne.evaluate(ATTENTION, **operands)
    assert result.flags.c_contiguous and result.shape == (2, 256, 128)


def test_slices_are_no_smaller_than_need_be() -> None:
    operands = shapes_only(**dict.fromkeys("qkv", (64, 2, 128, 8)))
    (one,) = sliced(compiled(ATTENTION, operands).program)
    assert one.sizes == (64,)


def test_what_is_broadcast_over_some_of_the_looped_dims_does_not_end_a_region() -> None:
    operands = shapes_only(**dict.fromkeys("qkv", (2, 4, 256, 32)), b=(4, 256, 256))
    program = compiled(BIASED, operands).program
    (one,) = sliced(program)
    assert one.sizes == (2, 4) and sorted(map(one.leading, range(4))) == [1, 2, 2, 2]
    assert not any(other.primitive == "matmul" for other in program.instructions)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        (ATTENTION, shapes_only(**dict.fromkeys("qkv", (2, 4, 64, 32)))),  # all of it is small
        (ATTENTION, shapes_only(**dict.fromkeys("qkv", (900, 2, 24, 8)))),  # each slice is
        (ATTENTION, shapes_only(**dict.fromkeys("qkv", (1, 1, 600, 8)))),  # there is one slice
        ("sum[D](q[B H Q D] * k[B H K D])", shapes_only(**dict.fromkeys("qk", (2, 4, 256, 32)))),
        ("max[K](exp(q[B H Q K]) + sqrt(q))", shapes_only(q=(2, 4, 256, 256))),  # pointwise: in blocks
        ("softmax[K](sum[D](q[B Q D] * k[B K D]))", shapes_only(**dict.fromkeys("qk", (8, 256, 32)))),
    ],
)
def test_what_does_not_pay_is_left_alone(text: str, operands: dict[str, Any]) -> None:
    assert not sliced(compiled(text, operands).program)


def test_a_value_that_is_an_output_or_used_elsewhere_stays_whole() -> None:
    operands = shapes_only(**dict.fromkeys("qkv", (2, 4, 256, 32)))
    text = "s = sum[D](q[B H Q D] * k[B H K D]); o[B H Q D] = sum[K](softmax[K](s * 2) * v[B H K D])"
    formula = ne.compile(text, outputs=["s", "o"])
    s, o = formula(**operands)
    alone = ne.compile(text)(**operands)
    assert s.shape == (2, 4, 256, 256) and (s == 32).all()
    assert_allclose(o, alone, rtol=1e-6)
    elsewhere = f"{text}; r[B H] = sum[Q D](o) + sum[Q K](s)"
    assert_allclose(ne.evaluate(elsewhere, **operands), alone.sum((2, 3)) + s.sum((2, 3)), rtol=1e-5)


def test_a_long_chain_of_functions_runs_one_by_one_in_place_of_blocks() -> None:
    operands = operands_of(HEADS, {"B": 2, "H": 4, "L": 256, "D": 8})
    text = "s = sum[D](q[B H Q D] * k[B H K D]); t = exp(tanh(s) * 2 - 1 / (1 + s ** 2)) - sqrt(abs(s)) / 3"
    text += "; o[B H Q D] = sum[K](t * v[B H K D])"
    (one,) = sliced(compiled(text, operands).program)
    assert [inner.primitive for inner in one.body.instructions].count("pointwise") == 11
    s = operands["q"] @ operands["k"].swapaxes(-1, -2)
    t = np.exp(np.tanh(s) * 2 - 1 / (1 + s**2)) - np.sqrt(np.abs(s)) / 3
    assert_allclose(ne.evaluate(text, **operands), t @ operands["v"], rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 8, 256, 64), (1, 8, 512, 64), (64, 2, 128, 8)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_peak_of_slices_is_predicted(shape: tuple[int, ...], dtype: Any) -> None:
    operands = {name: np.ones(shape, dtype) for name in "qkv"}
    formula = ne.compile(ATTENTION)
    formula(**operands)
    tracemalloc.start()
    formula(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = formula.plan(**operands).peak_bytes
    assert measured / 1.3 <= predicted <= measured * 1.3


def test_the_code_that_is_shown_runs_alone_and_labels_the_values_of_a_slice() -> None:
    operands = operands_of(HEADS, {"B": 2, "H": 4, "L": 256, "D": 16})
    formula = ne.compile(ATTENTION)
    expected = formula(**operands)
    space: dict[str, Any] = {}
    exec(formula.code, space)
    assert (space["compute"](*(operands[name] for name in "qkv")) == expected).all()
    assert "for j1 in range(4):" in formula.code and "np.matmul(p1, v0)  # Q K" in formula.code


@pytest.mark.usefixtures("everywhere")
def test_several_sliced_parts_have_names_of_their_own() -> None:
    operands = operands_of(HEADS, {"B": 3, "H": 3, "L": 24, "D": 16})
    text = "a = sum[D](q[B H Q D] * k[B H K D]); o[B H Q D] = sum[K](softmax[K](a) * v[B H K D])"
    text += "; m[H P D] = sum[B](o[B H P D]); c = sum[D](m[H P D] * m[H R D])"
    text += "; y[H P D] = sum[R](softmax[R](c) * m[H R D])"
    compiled_formula = compiled(text, operands)
    assert len(sliced(compiled_formula.program)) == 2
    formula = ne.compile(text)
    formula(**operands)
    made = [
        line.split(" = ")[0].strip() for line in formula.code.splitlines() if line.strip().startswith("v")
    ]
    assert len(made) == len(set(made)) > 3


def test_verify_refuses_a_body_that_does_not_fit_its_sources() -> None:
    operands = shapes_only(**dict.fromkeys("qkv", (2, 4, 256, 32)), b=(4, 256, 256))
    program = compiled(BIASED, operands).program
    (one,) = sliced(program)
    bias = one.cuts.index((None, 0))
    parts = tuple((256, 1) if number == bias else part for number, part in enumerate(one.body.operands))
    place = next(number for number, each in enumerate(program.instructions) if each.loop)
    for broken in (
        replace(one, sizes=(2, 5)),
        replace(one, cuts=((None, 0), *one.cuts[1:])),
        replace(one, cuts=tuple((0, 1) if number == bias else cut for number, cut in enumerate(one.cuts))),
        replace(one, body=replace(one.body, operands=parts)),
        replace(one, layout=(0, 1, 1, 3)),
        replace(one, body=replace(one.body, operands=((256, 31), *one.body.operands[1:]))),
    ):
        changed = program.instructions[place]._replace(loop=broken)
        instructions = (*program.instructions[:place], changed, *program.instructions[place + 1 :])
        with pytest.raises(AssertionError):
            shapes_of(replace(program, instructions=instructions))


EXPRESSIONS = {
    "b i j, b j k, b k l -> b i l": [(16, 256, 8), (16, 8, 256), (16, 256, 8)],
    "b i d, b j d -> b i : median": [(32, 64, 32), (32, 64, 32)],
    "b i d, b j d, b j e -> b i e : max": [(8, 32, 16), (8, 32, 16), (8, 32, 16)],
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_with_large_values_go_through_slices_too(text: str) -> None:
    rng = np.random.default_rng(0)
    operands = [rng.random(shape) for shape in EXPRESSIONS[text]]
    run = ne.compile(text, optimize=[(0, 1)] * (len(operands) - 1))
    plan = run.plan(*operands)
    assert plan.steps[0].what == "sliced"
    assert plan.flops == sum(step.flops for step in plan.steps)
    whole = run.bind({1: operands[1]})  # what is bound is read by every slice, and made ahead
    rest = [operands[0], *operands[2:]]
    assert "sliced" not in [step.what for step in whole.plan(*rest).steps]
    np.testing.assert_allclose(run(*operands), whole(*rest), rtol=1e-12)
    assert plan.peak_bytes < whole.plan(*rest).peak_bytes / 5
    assert plan.draw("tree").startswith("<svg")


def test_copies_are_made_whole_not_in_slices() -> None:
    shapes = [(64, 5, 8, 24, 24), (64, 8, 24)]
    found = compiled_expression("a b d c e, a d e -> c a b", shapes)
    assert any(one.primitive == "copy" for one in found.instructions) and not sliced(found)
