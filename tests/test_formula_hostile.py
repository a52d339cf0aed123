"""Whatever formula, operand or option is given, there is a result or a `NameExprError`, and soon."""

from __future__ import annotations

import random
import re
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nameexpr as ne
from formula_generate import seeded_case
from hostile import fault_of
from nameexpr.compiler.formula.functions import ALONG, POINTWISE, REDUCTIONS
from nameexpr.syntax.formula_parser import parse_formula
from nameexpr.tensors import wrap

X, W = np.ones((2, 3)), np.ones((3, 2))


def code_of(text: str, **given: Any) -> str:
    fault = fault_of(lambda: ne.evaluate(text, **given))
    return fault.code if fault else ""


alphabet = st.sampled_from(
    [*"xwNCab_'()[]=,;:.+-*/%<>&|~!^@{}0123 \n\t#é𝐚ﬁ", "**", "//", "==", "<=", "...", "x[N C]", "sum[C](", "w[C K]"]
    + ["1e9", "inf", "size[N]", "index[C]", "where(", "softmax[N](", " = ", "\x1b[2J", "\u202e", "\ud800", "\x00"]
)
near_texts = st.lists(alphabet, max_size=24).map("".join)


@settings(max_examples=1500)
@given(st.one_of(near_texts, near_texts, st.text(st.characters(codec=None), max_size=30)))
@example("\ud800")
@example("y\x00 = 2")
@example("y = 2\r\n;\r\n")
@example("y = 2\u2028z = 3")
@example("y = x[N C] ** 99999999")
def test_any_text_gives_a_result_or_an_error_of_ours(text: str) -> None:
    for run in (
        lambda: ne.evaluate(text, x=X),
        lambda: ne.evaluate(text, x=X, w=W, sizes={"N": 2}),
        lambda: ne.evaluate(text, x=wrap(X, ("N", None))),
        lambda: ne.compile(text),
    ):
        fault_of(run)


WORDS = [
    *("x w x[N C] w[C K] x[C N] w[N] x[] [N C] [ ] ( ) ( ) , ; = + - * / // % ** == < <= & | ~ -> ...".split()),
    *("2 0 .5 1e3 1e999 inf nan pi size[N] index[C] size index N C K N=2 (N C) b... _ 1 y y[N] z".split()),
    *("sum[C]( max[N]( argmax[N C]( softmax[N]( cumsum[C]( sort[C]( var[...]( where( sqrt( maximum( clip(".split()),
    "\n",
]  # fmt: skip


def soup(rng: random.Random) -> str:
    return rng.choice(["", "y = ", "y[N] = "]) + " ".join(rng.choices(WORDS, k=rng.randint(1, 14)))


def mended(rng: random.Random) -> str:
    """Return a soup with its brackets closed, which gets further into the compiler."""
    text, stack = "", []
    for word in soup(rng).split(" "):
        if word in ")]":
            text += stack.pop() if stack else ""
            continue
        text += " " + word
        stack += [")"] * (word.count("(") - word.count(")")) + ["]"] * (word.count("[") - word.count("]"))
    return text + "".join(reversed(stack))


@pytest.mark.parametrize("make", [soup, mended])
def test_soups_of_tokens(make: Callable[[random.Random], str]) -> None:
    rng = random.Random(0)
    good = 0
    for _ in range(2500):
        text = make(rng)
        used = {name: array for name, array in (("x", X), ("w", W)) if re.search(rf"\b{name}\b", text)}
        good += fault_of(lambda text=text, used=used: ne.evaluate(text, **used)) is None
    assert good > 10


def mutated(rng: random.Random, text: str) -> str:
    """Return a text with a few characters taken out, doubled, exchanged or put in."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:place] + text[place + 1 :]
            case 1:
                text = text[:place] + rng.choice(WORDS) + text[place:]
            case 2:
                other = rng.randrange(len(text) + 1)
                low, high = sorted((place, other))
                text = text[:low] + text[high : high + 3] + text[low:high] + text[high + 3 :]
            case _:
                text = text[:place] + rng.choice("xN[](),=+-*. 2") + text[place + 1 :]
    return text


def test_mutations_of_valid_formulas() -> None:
    refused = 0
    for seed in range(2500):
        case = seeded_case(seed % 500)
        text = mutated(random.Random(seed), case.text)
        given: dict[str, Any] = {"outputs": case.outputs, "sizes": case.sizes or None}

        def run(text: str = text, case: Any = case, given: Any = given) -> None:
            wrapped = {name: _wrapped(value) for name, value in case.operands.items()}
            ne.evaluate(text, operands=wrapped, **given)

        refused += fault_of(run) is not None
    assert 1000 < refused < 2500


def _wrapped(value: Any) -> Any:
    return wrap(value.array, value.names) if hasattr(value, "names") else value


KINDS = [None, "a", b"a", object(), [[1], [1, 2]], {}, set(), np.array("a"), np.array([None]), 1j, True, 10**30]
KINDS += [-(10**400), float("nan"), np.float16(1), np.bool_(1), np.ma.ones(3), range(3), X, slice(2)]
KINDS += [np.array("2020-01-01", "M8[D]"), np.zeros(2, [("a", int)]), lambda: 0, ne.tensor(X), Ellipsis, np.float64]


@pytest.mark.parametrize("text", ["y = x[N]", "y = x", "y = sum[N](x[N] * x[N])", "y = softmax[N](x[N]) + 1", "~x"])
def test_any_operand_gives_a_result_or_an_error_of_ours(text: str) -> None:
    for kind in KINDS:
        fault_of(lambda kind=kind: ne.evaluate(text, x=kind))
        fault_of(lambda kind=kind: ne.compile(text).plan(x=kind))


@pytest.mark.parametrize("option", ["outputs", "sizes", "optimize", "memory_limit", "operands"])
def test_any_option_gives_a_result_or_an_error_of_ours(option: str) -> None:
    for kind in [*KINDS, (), [()], {1: 2}, {"N": "a"}, {"N": -1}, {"N": 2.0}, {"": 1}, [1], "y", -1, [(0, 9)]]:
        fault_of(lambda kind=kind: ne.evaluate("y = sum[C](x[N C] * w[C K])", x=X, w=W, **{option: kind}))


@settings(max_examples=300)
@given(near_texts)
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    dirty = f"x\x1b[31m\u202e\x07{text}"
    for run in (
        lambda: ne.evaluate(dirty, x=X),
        lambda: ne.evaluate("y = x[N C]", x=X, sizes={dirty: 3}),
        lambda: ne.evaluate("y = x[N C]", x=X, outputs=(dirty,)),
        lambda: ne.evaluate("y = x[N C]", x=X, operands={dirty: 3}),
        lambda: ne.evaluate("y = x[N C]", x=X, optimize=dirty),
        lambda: ne.evaluate("y = x[N C]", x=X, memory_limit=dirty),
    ):
        fault = fault_of(run)
        assert fault is not None
        assert all(character.isprintable() or character == "\n" for character in str(fault))


def chain(count: int, sign: str, value: str = "x") -> str:
    return f" {sign} ".join([value] * count)


HUGE = {
    "a megabyte": "y = x" + " " * 1_000_000,
    "60,000 opening brackets": "(" * 60_000,
    "60,000 square ones": "[" * 60_000,
    "60,000 closing brackets": ")" * 60_000,
    "30,000 pairs": "(" * 30_000 + "x" + ")" * 30_000,
    "60,000 minus signs": "-" * 60_000 + "x",
    "60,000 tildes": "~" * 60_000,
    "a sum of 15,000": chain(15_000, "+"),
    "a tower of 10,000": chain(10_000, "**", "2"),
    "10,000 comparisons": chain(10_000, "<"),
    "20,000 commas": "maximum(" + "x," * 20_000 + "x)",
    "10,000 functions": "sqrt(" * 10_000 + "x" + ")" * 10_000,
    "30,000 equals signs": "x=" * 30_000,
    "60,000 semicolons": ";" * 60_000,
    "60,000 line breaks": "\n" * 60_000,
    "30,000 comments": "#\n" * 30_000,
    "a mistake behind 60,000 line breaks": "\n" * 60_000 + "?",
    "60,000 points": "." * 60_000,
    "60,000 colons": ":" * 60_000,
    "60,000 carets": "^" * 60_000,
    "60,000 accents": "y = a" + "\u0301" * 60_000,
    "a number of 5,000 digits": "y = " + "9" * 5_000,
    "a float of 5,000 digits": "y = 0." + "9" * 5_000,
    "10 to the 400, written out": "y = 1" + "0" * 400,
    "an exponent of 5,000 digits": "y = 1e" + "9" * 5_000,
    "a size of 5,000 digits": "y[N=" + "9" * 5_000 + "] = 2",
    "a name of 60,000 letters": "y = " + "a" * 60_000,
    "two long names that are near": "y[" + "ab" * 10_000 + "] = x[" + "ba" * 10_000 + "]",
    "9,000 values side by side": "y = " + "x " * 9_000,
    "9,000 statements without names": "x\n" * 9_000,
    "5,000 statements of one name": "y = 2\n" * 5_000,
    "5,000 unknown functions": "y = " + "(" + ",\n".join(["fff(x)"] * 5_000) + ")",
    "3,000 wrong statements": "\n".join(f"y{k} = zzz(x)" for k in range(3_000)),
    "2,000 missing operands": "\n".join(f"y{k} = z{k}" for k in range(2_000)),
    "2,000 sums over nothing": "\n".join(f"y{k} = sum[](x)" for k in range(2_000)),
    "20,000 dims": "y = x[" + "a " * 20_000 + "]",
    "9,000 dims of their own": "y = x[" + " ".join(f"d{k}" for k in range(9_000)) + "]",
    "9,000 dims of a sum": "y = sum[" + " ".join(f"d{k}" for k in range(9_000)) + "](x[d0])",
    "9,000 literals on the left": "y[" + "1 " * 9_000 + "] = 2",
}


@pytest.mark.parametrize("title", HUGE)
def test_a_huge_text_is_refused_soon_and_in_little_memory(title: str) -> None:
    fault_of(lambda: ne.evaluate("y = x", x=2))  # what is loaded once does not count
    tracemalloc.start()
    try:
        fault = fault_of(lambda: ne.evaluate(HUGE[title], x=2.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fault is not None or "float" in title
    assert peak < 300e6
    assert fault is None or len(str(fault)) < 40_000


NUMBERS = ["1e999", "1e-999", "0", "00", "999999999999999999", "1.7976931348623157e308", "5e-324", "2 ** 99999"]
NUMBERS += ["2 ** 2 ** 2 ** 2 ** 2 ** 2", "9 ** 999999999", "999999999999999999 * 999999999999999999", "0 ** -1"]
NUMBERS += ["1 // 0", "1 % 0", "-1 ** .5", "(-8) ** (1 / 3)", "inf - inf", "nan // nan", "~inf", "1.5 & 1", "log(-1)"]
NUMBERS += ["~(1 < 2)", "-(1 < 2)", "(1 < 2) ** 9", "1e308 * 10", "exp(1000)", "acos(2)", "0 / 0", "real(2)", "round(2.5)"]


@pytest.mark.parametrize("number", NUMBERS)
def test_any_number_has_a_value_or_is_refused(number: str) -> None:
    for operand in (np.ones(2), np.ones(2, np.int8), np.ones(2, bool), np.float16(2), 3):
        text = f"y = {number}; z = x[...] * y" if isinstance(operand, np.ndarray) else f"y = {number}; z = x * y"
        fault_of(lambda operand=operand, text=text: ne.evaluate(text, outputs=("y", "z"), x=operand))


def test_every_function_of_every_dtype_has_a_value_or_is_refused() -> None:
    dtypes = [*"?bBhHiIlLefdgFDG"]
    for name, function in POINTWISE.items():
        text = f"y = {name}({', '.join(['x[N]', 'z[N]', 'z'][: function.arity])})"
        for dtype in dtypes:
            given = {"x": np.ones(2, dtype)} | ({"z": np.ones(2, "d")} if function.arity > 1 else {})
            fault_of(lambda text=text, given=given: ne.evaluate(text, **given))
    for name in (*REDUCTIONS, *ALONG):
        for dtype in dtypes:
            fault_of(lambda name=name, dtype=dtype: ne.evaluate(f"{name}[N](x[N C])", x=np.ones((2, 3), dtype)))
            fault_of(lambda name=name, dtype=dtype: ne.evaluate(f"{name}[N](x[N C])", x=np.ones((0, 3), dtype)))


def test_many_statements_run_in_time() -> None:
    lines = ["y0 = x[N]"] + [f"y{k} = y{k - 1} * {k % 3} + x" for k in range(1, 800)]
    assert code_of("\n".join(lines), x=np.ones(3)) == ""
    assert code_of("\n".join(reversed(lines)), x=np.ones(3)).startswith("NE2")


def test_doubling_statements_are_computed_once_each() -> None:
    lines = ["y0 = x[N]"] + [f"y{k} = y{k - 1} + y{k - 1}" for k in range(1, 64)]
    result = ne.evaluate("\n".join(lines), x=np.ones(2))
    np.testing.assert_array_equal(result, np.full(2, 2.0**63))


def test_squares_of_squares_are_no_product_of_a_million_factors() -> None:
    lines = ["y0 = x[N]"] + [f"y{k} = y{k - 1} ** 4" for k in range(1, 12)] + ["s = sum[N](y11)"]
    assert code_of("\n".join(lines), x=np.ones(2)) == ""
    assert code_of("s = sum[N](" + "(" * 40 + "x[N]" + ") ** 4" * 40 + ")", x=np.ones(2)) == ""
    assert code_of("s = sum[N](" + "square(" * 60 + "x[N]" + ")" * 60 + ")", x=np.ones(2)) == ""


def test_many_operands_run_in_time() -> None:
    names = [f"x{k}" for k in range(300)]
    text = "s = 0\n" + "\n".join(f"t{k} = {name}[N]" for k, name in enumerate(names))
    text += "\ny = " + " + ".join(f"t{k}" for k in range(100))
    assert code_of(text, **{name: np.ones(2) for name in names}) == ""
    factors = " * ".join(f"x{k}[d{k} d{k + 1}]" for k in range(100))
    inner = " ".join(f"d{k}" for k in range(1, 100))
    eyes = {f"x{k}": np.eye(2) for k in range(100)}
    result = ne.evaluate(f"y[d0 d100] = sum[{inner}]({factors})", **eyes)
    np.testing.assert_array_equal(result, np.eye(2))


def test_64_dims_are_dims_and_65_are_too_many() -> None:
    words = [f"d{k}" for k in range(64)]
    ones = np.ones((1,) * 64)
    assert code_of(f"y = x[{' '.join(words)}] + 1", x=ones) == ""
    assert code_of(f"y = sum[d0](x[{' '.join(words)}]) + 1", x=ones) == ""
    assert code_of(f"y = x[{' '.join(words)}] * w[e]", x=ones, w=np.ones(2)) == "NE705"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("y[N K=99999999999999999] = x[N]", {}),
        ("y[N K=99999999999999999 M=99999999999999999] = x[N]", {}),
        ("y = x[N] * index[K]", {"sizes": {"K": 10**15}}),
        ("y = sum[K](x[N] * index[K])", {"sizes": {"K": 10**17}}),
        ("y[N K] = x[N]", {"sizes": {"K": 10**30}}),
        ("y[N K] = x[N]", {"sizes": {"K": 10**5000}}),
        ("y[N K] = x[N]", {"sizes": {"K": -1}}),
        ("y = size[K]", {"sizes": {"K": 10**30}}),
        ("y = index[K]", {"sizes": {"K": -2}}),
        ("y[i i i i i i i i] = x[i]", {"x": np.ones(1000)}),
    ],
)
def test_what_no_memory_holds_is_refused_before_it_is_made(text: str, given: dict[str, Any]) -> None:
    operands = {"x": np.ones(2)} | given
    if text.startswith("y = size") or text.startswith("y = index"):
        del operands["x"]
    assert code_of(text, **operands)[:3] in {"NE6", "NE7"}


def test_a_reduction_too_large_to_build_is_computed_in_blocks() -> None:
    tracemalloc.start()
    with warnings.catch_warnings():
        result = ne.evaluate("y = min[k](a[i k] + b[k j])", a=np.ones((300, 300)), b=np.ones((300, 300)))
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300**3 * 8 / 20
    np.testing.assert_array_equal(result, np.full((300, 300), 2.0))


def test_parsing_takes_time_in_proportion_to_the_text() -> None:
    fault_of(lambda: parse_formula("\n".join(f"y{k} = x[N C] * 2 + sqrt(w[N])" for k in range(1500))))
