"""Whatever formula, operand or option is given, there is a result or a `NameExprError`, and soon."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.tensors import wrap
from oracle.generate.formulas import seeded_case
from properties.hostile import fault_of

pytestmark = pytest.mark.slow

X, W = np.ones((2, 3)), np.ones((3, 2))


def code_of(text: str, **given: Any) -> str:
    fault = fault_of(lambda: ne.evaluate(text, **given))
    return fault.code if fault else ""


alphabet = st.sampled_from(
    [
        *"xwNCab_'()[]=,;:.+-*/%<>&|~!^@{}0123 \n\t#é𝐚ﬁ",
        "**",
        "//",
        "==",
        "<=",
        "...",
        "x[N C]",
        "sum[C](",
        "w[C K]",
        "1e9",
        "inf",
        "size[N]",
        "index[C]",
        "where(",
        "softmax[N](",
        " = ",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "\x00",
    ]
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


_WORDS = """
    x  w  x[N C]  w[C K]  x[C N]  w[N]  x[]  [N C]  [  ]  (  )  (  )  ,  ;  =  +  -  *  /  //  %  **
    ==  <  <=  &  |  ~  ->  ...  2  0  .5  1e3  1e999  inf  nan  pi  size[N]  index[C]  size  index
    N  C  K  N=2  (N C)  b...  _  1  y  y[N]  z  sum[C](  max[N](  argmax[N C](  softmax[N](
    cumsum[C](  sort[C](  var[...](  where(  sqrt(  maximum(  clip(
"""
WORDS = [*re.split(r"\s{2,}", _WORDS.strip()), "\n"]  # two spaces stand between them


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
    drawn = [seeded_case(seed) for seed in range(150)]
    for seed in range(2500):
        case = drawn[seed % 150]
        text = mutated(random.Random(seed), case.text)
        given: dict[str, Any] = {"outputs": case.outputs, "sizes": case.sizes or None}

        def run(text: str = text, case: Any = case, given: Any = given) -> None:
            wrapped = {name: _wrapped(value) for name, value in case.operands.items()}
            ne.evaluate(text, operands=wrapped, **given)

        refused += fault_of(run) is not None
    assert 1000 < refused < 2500


def _wrapped(value: Any) -> Any:
    return wrap(value.array, value.names) if hasattr(value, "names") else value


KINDS = [
    None,
    "a",
    b"a",
    object(),
    [[1], [1, 2]],
    {},
    set(),
    np.array("a"),
    np.array([None]),
    1j,
    True,
    10**30,
]
KINDS += [-(10**400), float("nan"), np.float16(1), np.bool_(1), np.ma.ones(3), range(3), X, slice(2)]
KINDS += [
    np.array("2020-01-01", "M8[D]"),
    np.zeros(2, [("a", int)]),
    lambda: 0,
    ne.tensor(X),
    Ellipsis,
    np.float64,
]


@pytest.mark.parametrize(
    "text", ["y = x[N]", "y = x", "y = sum[N](x[N] * x[N])", "y = softmax[N](x[N]) + 1", "~x"]
)
def test_any_operand_gives_a_result_or_an_error_of_ours(text: str) -> None:
    for kind in KINDS:
        fault_of(lambda kind=kind: ne.evaluate(text, x=kind))
        fault_of(lambda kind=kind: ne.compile(text).plan(x=kind))


@pytest.mark.parametrize("option", ["outputs", "sizes", "optimize", "memory_limit", "operands"])
def test_any_option_gives_a_result_or_an_error_of_ours(option: str) -> None:
    for kind in [
        *KINDS,
        (),
        [()],
        {1: 2},
        {"N": "a"},
        {"N": -1},
        {"N": 2.0},
        {"": 1},
        [1],
        "y",
        -1,
        [(0, 9)],
    ]:
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
