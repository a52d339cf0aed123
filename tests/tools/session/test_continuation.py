"""Lines that want to go on, and lines that must not."""

from __future__ import annotations

import random
import time

import pytest

from nameexpr.session.continuation import continued, is_open
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

OPEN = [
    *("x[", "x[N", "y[N] = sum[C](", "(", "N (h w", "y = (x[N]  # one ]", "x[N # ]"),
    *("N C,", "N C, C ->  N, ", "N C -> N |", "N, N |  # the operands", "N C -> N | x,"),
    *("x[N] \\", "N C -> \\  ", ":plan sum[C](", ":type N C,", ":plan \\"),
    *(
        "!np.ones((2,",
        "z[N C] = !np.ones(",
        "!for i in range(3):",
        "!'''",
        "!def f():\n  return 1",
        "! f(x\n,",
    ),
]
CLOSED = [
    *("", " ", "\n", "x[\n", "x[\n  ", "N C,\n", "x \\\n", "!for i in range(3):\n  f(i)\n", "!'''\n"),
    *(
        "x",
        "x[N]",
        "x]",
        "(x))",
        "x[(N]",
        "(x]",
        "(x]\n(",
        "a)(",
        "N C -> N",
        "i i ->",
        "i ->  # all",
        "# x[",
        "x # (",
    ),
    *("x +", "y[N] =", "a |", "where(a, b, c) |", "N -> N : ", "x == ", "- ", "x \\ y", "a[i] | b["[:-2]),
    *(":load x photo(1.npy", ":save (", ":script (x", ":help (", ":set a (", ":names", ":", ": load x ("),
    *("x[\n:help", "x[N\n!print(1)", "N C,\n: sum"),
    *("!x = 1", "!x = )", "!", "!\\x", "!'\\d'", "!x[1:2]", "z = !1", "x != y", "!" + "(" * 500 + ")" * 500),
]


@pytest.mark.parametrize("text", OPEN)
def test_a_line_wants_to_go_on(text: str) -> None:
    assert is_open(text)


@pytest.mark.parametrize("text", CLOSED)
def test_a_line_ends(text: str) -> None:
    assert not is_open(text)


@pytest.mark.slow
def test_what_can_be_parsed_is_never_waited_for() -> None:
    texts = [generate.seeded_case(seed).text for seed in range(300)]
    formulas = [formula_generate.seeded_case(seed).text for seed in range(300)]
    for text in texts:
        parse(text)
        assert not is_open(text) or text.rstrip().endswith(",")
    for text in formulas:
        parse_formula(text)
        assert not is_open(text)


def test_long_and_deep_texts_are_soon_done_with() -> None:
    texts = [
        "x" + " " * 65_000,
        "(" * 65_000,
        "x[" * 30_000,
        "!" + "(" * 65_000,
        "!" + "x[" * 30_000,
        "[(" * 40_000,
    ]
    texts += [
        "a =" + " " * 65_000,
        " " * 65_000 + "!x",
        "\\\n" * 30_000 + "x",
        ":" * 65_000,
        "x, " * 20_000,
        "!'" * 30_000,
    ]
    for text in texts:
        start = time.process_time()
        assert is_open(text) in (True, False)
        assert time.process_time() - start < 2, text[:20]


def test_an_empty_line_ends_any_text() -> None:
    rng = random.Random(6)
    for _ in range(3000):
        text = "".join(rng.choices("xN [](),|->=!:#\\\n'\"\0{}é;", k=rng.randrange(30)))
        assert is_open(text) in (True, False)
        assert not is_open(text + "\n")
        assert not is_open(text + "\n \t")


def test_a_backslash_before_a_line_break_becomes_spaces() -> None:
    text = "y = x[N] \\\n  * 2 \\ \n + 1"
    assert continued(text) == "y = x[N]     * 2     + 1"
    assert len(continued(text)) == len(text)
    parse_formula(continued(text))
