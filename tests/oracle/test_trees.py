"""The parser makes the trees that Lark makes from the grammars, spans included, and no others."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.errors import NameExprError
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.limits import set_limits
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula
from oracle.generate import expressions, formulas
from oracle.generate.text import mutate_text
from oracle.trees import expression_tree, formula_tree

ROOT = Path(__file__).parents[2]
PYTHON = ("examples", "benchmarks", "tests")
WRITTEN = ["README.md", "docs/*.md", *(f"{folder}/**/*.py" for folder in PYTHON), "tests/cases/*.txt"]
PIECES = [
    *("a", "b", "C", "x1", "_", "__", "_a", "a'", "a''", "''", "sum", "batch...", "_...", "a'..."),
    *("1", "12", "0", "007", "9" * 18, "9" * 19, "...", "..", ".", "a=3", "b=N", "h=(a b)"),
    *("(", "(", ")", ")", "=", "=", ",", ",", "->", "->", "-", ">", ":", ": sum", "*", "\0"),
    *(" ", " ", " ", "\t", "\n", "\r", "\f", "\v", "\x1c", "\x85", "\xa0", "# c (,\n", "#", "#\n"),
    *("é", "ﬁ", "ﬁ...", "e\u0301", "a\u00b7", "\u0301"),
    *(
        " + ",
        "(a + b)",
        "(1 + a)",
        "@",
        "a@0",
        "a@b",
        "@(",
        "a@(b)",
        "a@(_)",
        "_)",
        "@(2*a - b + 1)",
        "_@(-a)",
        "@é",
    ),
]
IN_FORMULAS = [
    *("[", "]", "[", "]", "[a b]", "[a]", "x[N]", "sum[C](", "f(", "(x)", "x", "y", "y = ", "z[N] = "),
    *("é[é]", "ﬁ(", "_[N]", "_(", "_ =", ";", ";", "\n", "2", "1.5", ".5", "2.", "1e3", "1e-3", "1e"),
    *("1e" + "9" * 20, "1e+" + "9" * 20, "1." + "9" * 19, "==", "!=", "<", "<=", "=", "**", "//", "/", "%"),
    *("+", "-", "-", "~", "&", "|", "!", "@", "x[a@i[b]]", "[a@(i[b@n] % 2)]", "@i[", "= 0, ", ", 1", ",\n"),
]
Case = tuple[Any, Any, list[str]]
LANGUAGES: dict[str, Case] = {
    "expression": (parse, expression_tree, PIECES),
    "formula": (parse_formula, formula_tree, PIECES + IN_FORMULAS),
}
LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def assert_read_alike(text: str, language: str) -> bool:
    """Compare the trees as text, for equality leaves the spans out; return whether there is one."""
    read, oracle, _ = LANGUAGES[language]
    expected = oracle(text)
    try:
        assert repr(read(text)) == repr(expected)
    except NameExprError:
        assert expected is None
    return expected is not None


def written_texts() -> list[str]:
    files = sorted(path for pattern in WRITTEN for path in ROOT.glob(pattern))
    quoted = r'"""(.*?)"""|"([^"\n]*)"|`([^`\n]*)`|^  (\S[^\n]*)$'
    found = (re.findall(quoted, file.read_text(encoding="utf-8"), re.M | re.S) for file in files)
    return sorted({text for matches in found for match in matches for text in match if 0 < len(text) < 600})


def test_texts_of_documents_examples_benchmarks_and_tests_are_read_alike() -> None:
    texts = written_texts()
    some = [text for text in texts if "->" in text or len(text) < 30]
    assert sum(assert_read_alike(text, "expression") for text in some) > 400
    some = [text for text in texts if looks_like_formula(text)]
    assert sum(assert_read_alike(text, "formula") for text in some) > 400


@pytest.mark.slow
@LANGUAGE
@settings(max_examples=1000)
@given(data=st.data(), between=st.sampled_from(["", " "]))
def test_random_tokens_are_read_alike(language: str, data: st.DataObject, between: str) -> None:
    pieces = data.draw(st.lists(st.sampled_from(LANGUAGES[language][2]), max_size=12))
    assert_read_alike(between.join(pieces), language)


@LANGUAGE
@settings(max_examples=300)
@given(text=st.text(st.sampled_from("abe_'1.()=,->:[]+*<~ ;#\n"), max_size=12))
def test_random_characters_are_read_alike(language: str, text: str) -> None:
    assert_read_alike(text, language)


@pytest.mark.slow
@LANGUAGE
@settings(max_examples=300)
@given(seed=st.integers(0, 2**32 - 1))
def test_texts_are_read_alike_whole_and_broken(language: str, seed: int) -> None:
    rng = random.Random(seed)
    text = (expressions if language == "expression" else formulas).seeded_case(seed).text
    assert assert_read_alike(text, language)
    assert_read_alike(mutate_text(rng, text), language)
    at = rng.randrange(len(text) + 1)
    piece = rng.choice(LANGUAGES[language][2])
    assert_read_alike(text[:at] + piece + text[at + rng.randint(0, 1) :], language)


def test_every_form_of_an_expression_is_covered() -> None:
    text = "#x\n_ a a=3 d=a 1 ... a'... (a (b=2) ()) f=(a 2), , b#,\n ->a (b 1) , :\tmean  "
    assert assert_read_alike(text, "expression")


@pytest.mark.parametrize("text", ["", " ", "#", "->", ", ->", "a ->", ": sum", "a : sum", "->: sum", "()"])
def test_terms_that_hold_nothing_stand_where_the_grammar_has_them(text: str) -> None:
    assert assert_read_alike(text, "expression")


@pytest.mark.parametrize("text", ["x[]", "x[ ]", "y[ ] = x[\n]", "_", "_[_]", "_[]", "sum[](x)", "(_)"])
def test_empty_terms_and_values_without_names_are_read_alike(text: str) -> None:
    assert assert_read_alike(text, "formula")


@pytest.mark.parametrize(
    "text", ["(x\n[N])", "(sum[N]\n(x))", "(a # (\n+ b)", "f(\n\nx,\n y\n)", "x[N # ]\n]"]
)
def test_line_breaks_inside_brackets_are_blanks(text: str) -> None:
    assert assert_read_alike(text, "formula")


def test_what_is_above_a_limit_is_refused() -> None:
    for limit in ({"text": 14}, {"operands": 1}, {"nesting": 1}):
        before = set_limits(**limit)
        for language in LANGUAGES:
            assert not assert_read_alike("f(b, ((c)) -> a b", language)
        set_limits(text=before.text, operands=before.operands, nesting=before.nesting)
    before = set_limits(operands=2, nesting=1)
    assert assert_read_alike("a (b) # ((,,\n, c -> a c", "expression")
    assert assert_read_alike("f(b, c) # ((,,\n", "formula")
    set_limits(operands=before.operands, nesting=before.nesting)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "#" * 60_000 + "\n)",
        ": a" + " #" * 30_000 + "\n)",
        "a" * 60_000 + ".",
        "a" + "'" * 60_000 + "a",
        "a =" + " " * 60_000,
        "a " * 30_000 + "(",
        "x[" * 30_000,
        "x[" + "a " * 30_000,
        "x " * 30_000 + ")",
        "x;" * 30_000 + ")",
        "x" + "\n" * 60_000 + ")",
    ],
    ids=lambda text: text[:6],
)
def test_no_text_makes_the_patterns_try_again_and_again(text: str) -> None:
    """In quadratic time each would take minutes."""
    for read in (parse, parse_formula):
        with pytest.raises(NameExprError):
            read(text)


def test_lark_is_not_loaded_for_what_is_right() -> None:
    source = (
        "import sys, numpy as np, nameexpr as ne\n"
        "ne.einsum('batch chan, chan out -> batch out', np.ones((2, 3)), np.ones((3, 4)))\n"
        "ne.einsum('b (größe w) c -> b größe w : mean', np.ones((2, 6, 3)), größe=2)\n"
        "ne.evaluate('y[N] = sum[C](x[N C])\\nz = y / size[C]', x=np.ones((2, 3)))\n"
        "print('lark' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.split() == ["False"]
