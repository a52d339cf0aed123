"""Whatever text, size or option is given, there is a result or a `NameExprError`, and soon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.tensors import wrap
from properties.hostile import fault_of

pytestmark = pytest.mark.slow

SIZES = (2, 3)


def code_of(text: str, *operands: Any, **options: Any) -> str:
    fault = fault_of(lambda: ne.einsum(text, *operands, **options))
    return fault.code if fault else ""


def words(count: int, stem: str = "d") -> str:
    return " ".join(f"{stem}{number}" for number in range(count))


alphabet = st.sampled_from(
    [*"abN_'()=,:.->#*+-?;[]0123 \n\té𝐚ﬁ", "->", "...", "_", "a=", "\x1b[2J", "\u202e", "\ud800", "\x00"]
)
near_texts = st.lists(alphabet, max_size=24).map("".join)


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=60), st.text(st.characters(codec=None), max_size=30), near_texts))
@example("\ud800")
@example("a\x00b -> a")
@example("a\r\n->\r\na")
@example("\u2028a -> a")
@example("a -> a\x85")
def test_any_text_gives_a_result_or_an_error_of_ours(text: str) -> None:
    one, two = np.ones(SIZES), np.ones(SIZES[1:])
    for run in (
        lambda: ne.einsum(text, one),
        lambda: ne.einsum(text, one, two),
        lambda: ne.einsum(text, wrap(one, ("a", None))),
        lambda: ne.einsum(text, one, reduce=np.max),
        lambda: ne.check(text, one),
        lambda: ne.compile(text).code,
        lambda: ne.explain(text, SIZES),
    ):
        fault_of(run)


@settings(max_examples=300)
@given(st.text(max_size=12), st.integers() | st.text(max_size=3) | st.floats() | st.none() | st.booleans())
def test_any_size_under_any_name_gives_a_result_or_an_error_of_ours(name: str, size: Any) -> None:
    fault_of(lambda: ne.einsum("a -> a b", np.ones(2), sizes={name: size, "b": 2}))
    fault_of(lambda: ne.einsum("(a b) -> b a", np.ones(6), sizes={"a": size}))


@settings(max_examples=300)
@given(near_texts)
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    dirty = f"a\x1b[31m\u202e\x07{text}"
    faults = [
        fault_of(lambda: ne.einsum(dirty, np.ones(2))),
        fault_of(lambda: ne.einsum(text, np.ones(2), sizes={dirty: 3})),
        fault_of(lambda: ne.einsum("a ->", np.ones(2), reduce=dirty)),
        fault_of(lambda: ne.einsum("a -> a", np.ones(2), dtype=dirty)),
        fault_of(lambda: ne.einsum("a, a, a ->", *[np.ones(2)] * 3, optimize=dirty)),
    ]
    for fault in faults:
        assert fault is not None
        assert all(character.isprintable() or character == "\n" for character in str(fault))


HUGE = {
    "100,000 opening brackets": ("(" * 100_000, "NE701"),
    "30,000 brackets in each other": ("(" * 30_000 + ")" * 30_000, "NE702"),
    "60,000 closing brackets": (")" * 60_000, "NE121"),
    "20,000 empty groups": ("() " * 20_000 + "->", "NE310"),
    "a megabyte": ("a " * 500_000, "NE701"),
    "a megabyte of other letters": ("é" * 500_000, "NE701"),
    "10,000 operands": ("," * 10_000 + "->", "NE703"),
    "10,000 labels": (words(10_000) + " ->", "NE217"),
    "9,000 labels of other letters": (words(9_000, "é") + " ->", "NE217"),
    "10,000 labels of which none is near another": (
        " ".join(chr(0x4E00 + k) * 2 for k in range(10_000)) + " ->",
        "NE217",
    ),
    "3,000 labels and 3,000 that are near": (words(3_000, "name") + " -> " + words(3_000, "nane"), "NE217"),
    "1,000 packs, and 5,000 of other names": (
        ", ".join(f"pack{k}..." for k in range(1_000))
        + " -> "
        + " ".join(f"puck{k}..." for k in range(4_000)),
        "NE210",
    ),
    "two long names that are near": ("ab" * 10_000 + "... -> " + "ba" * 10_000 + "...", "NE210"),
    "a size of 10,000 digits": ("a -> a " + "9" * 10_000, "NE704"),
    "a label's size of 10,000 digits": ("a -> a b=" + "9" * 10_000, "NE704"),
    "20,000 ellipses": ("..." * 20_000, "NE205"),
    "60,000 dots": ("." * 60_002, "NE107"),
    "60,000 colons": (":" * 60_000, "NE124"),
    "60,000 equals signs": ("=" * 60_000, "NE127"),
    "30,000 aliases of aliases": ("a=" * 30_000, "NE127"),
    "60,000 dashes": ("-" * 60_000, "NE101"),
    "30,000 stars": ("a*" * 30_000, "NE103"),
    "60,000 comments": ("#\n" * 30_000, "NE218"),
    "a mistake behind 60,000 lines": ("\n" * 60_000 + "?", "NE100"),
    "60,000 surrogates": ("\ud800" * 60_000, "NE111"),
    "one letter with 60,000 accents": ("a" + "\u0301" * 60_000 + " ->", "NE217"),
    "a name that grows when it is normalised": ("\ufdfa" * 20_000 + " ->", "NE111"),
    "a name of 60,000 letters": ("a" * 60_000 + " ->", "NE217"),
}


@pytest.mark.parametrize("title", HUGE)
def test_a_huge_text_is_refused_soon(title: str) -> None:
    text, code = HUGE[title]
    assert code_of(text, 1) == code


def test_a_long_name_is_a_name() -> None:
    name = "é" * 30_000
    assert code_of(f"{name} -> {name}", np.ones(2)) == ""


def test_brackets_nest_as_deeply_as_the_limit_says() -> None:
    deep = "(" * 200 + "a" + ")" * 200
    assert code_of(f"{deep} -> {deep}", np.ones(2)) == ""
    assert code_of(f"({deep}) -> a", np.ones(2)) == "NE702"
    ne.set_limits(nesting=400)
    deeper = "(" * 400 + "a" + ")" * 400
    assert fault_of(lambda: ne.explain(f"{deeper} -> {deeper}", np.ones(2))) is None


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        (", ".join(["a"] * 1024) + " -> a", [np.ones(2)] * 1024),
        (", ".join(f"d{k} d{k + 1}" for k in range(1024)) + " -> d0 d1024", [np.eye(2)] * 1024),
        ("," * 1023 + "->", [1] * 1024),
    ],
    ids=["one label", "a chain", "scalars"],
)
def test_1024_operands_are_planned_and_run(text: str, operands: list[Any]) -> None:
    assert code_of(text, *operands) == ""


@pytest.mark.parametrize(
    ("text", "shape", "code"),
    [
        (", ".join(f"d{k // 2}" for k in range(1024)) + " ->", None, "NE304"),
        (", ".join(["a"] * 1024) + " ->", (2, 2), "NE310"),
        (", ".join(f"(a{k} b{k})" for k in range(1000)) + " -> : sum", (2,), "NE308"),
    ],
    ids=["clashes", "numbers of dims", "unknown sizes"],
)
def test_a_thousand_mistakes_are_not_all_told(text: str, shape: tuple[int, ...] | None, code: str) -> None:
    count = text.count(",") + 1
    operands = [np.ones(shape or (k % 3 + 1,)) for k in range(count)]
    fault = fault_of(lambda: ne.einsum(text, *operands))
    assert fault is not None and fault.code == code and len(fault.diagnostics) <= 50


def test_64_dims_are_dims_and_65_are_too_many() -> None:
    ones = np.ones((1,) * 64)
    assert code_of(f"{words(64)} -> {words(64)}", ones) == ""
    assert code_of(f"{words(64)}, {words(64, 'e')} -> : sum", ones, ones) == ""
    assert code_of(f"{words(64)} -> {words(64)} 1", ones) == "NE705"
    assert code_of(f"({words(64)}) -> : sum", ones.reshape(1), sizes={f"d{k}": 1 for k in range(63)}) == ""
    assert code_of(f"({words(65)}) -> : sum", ones.reshape(1)) == "NE705"
    assert (
        code_of(f"{words(40)}, {words(40, 'e')} -> {words(40)} {words(40, 'e')}", *[np.ones((1,) * 40)] * 2)
        == "NE705"
    )


SIZES_OF_NOTHING = [10**15, 10**17, 10**18, 10**30, 10**5000, -1, -(10**5000)]


@pytest.mark.parametrize("size", SIZES_OF_NOTHING, ids=lambda size: f"{size.bit_length()} bits")
def test_a_size_that_no_array_has_is_refused(size: int) -> None:
    fault = fault_of(lambda: ne.einsum("a -> a b", np.ones(2), b=size))
    assert isinstance(fault, ne.OptionError if size == -1 else ne.LimitError)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("a -> a b=99999999999999999 c=99999999999999999", [np.ones(2)]),
        ("a -> a b=99999999999999999 c=99999999999999999", [np.ones(0)]),
        ("a, b, c, d, e, f -> a b c d e f", [np.ones(1000)] * 6),
        ("i -> i i i i i i i i", [np.ones(1000)]),
        ("a -> b=1000000000 c=1000000000 : sum", [np.ones(2)]),
    ],
)
def test_a_result_that_no_memory_holds_is_refused_before_it_is_made(text: str, operands: list[Any]) -> None:
    assert code_of(text, *operands) in {"NE706", "NE707"}
