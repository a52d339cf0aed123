"""Plain texts are read without Lark, into the tree that Lark would give; the grammar is the oracle."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.errors import NameExprError
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.lexer.limits import set_limits
from nameexpr.syntax.parser.expression import parse, parse_by_grammar
from nameexpr.syntax.parser.plain import read_plain
from oracle.generate.expressions import seeded_case

ROOT = Path(__file__).parents[4]
WRITTEN = ["README.md", "docs/*.md", "examples/*.py", "tests/**/*.py", "tests/cases/*.txt"]
PIECES = [
    *("a", "b", "C", "x1", "_", "__", "_a", "a'", "a''", "''", "sum", "batch...", "_...", "a'..."),
    *("1", "12", "0", "007", "9" * 18, "9" * 19, "...", "..", ".", "a=3", "b=N", "h=(a b)"),
    *("(", "(", ")", ")", "=", "=", ",", ",", "->", "->", "-", ">", ":", ": sum", "*", "\0"),
    *(" ", " ", " ", "\t", "\n", "\r", "\f", "\v", "\x1c", "\x85", "\xa0", "# c (,\n", "#", "#\n", "é", "ﬁ"),
]


def tree_by_grammar(text: str) -> Expression | None:
    try:
        return parse_by_grammar(text)
    except NameExprError:
        return None


def assert_read_alike(text: str) -> None:
    """Trees are compared as they are written, for equality leaves the spans out."""
    plain, oracle = read_plain(text), tree_by_grammar(text)
    if plain is not None or (oracle is not None and text and text.isascii()):
        assert repr(plain) == repr(oracle)


def written_texts() -> list[str]:
    files = sorted(path for pattern in WRITTEN for path in ROOT.glob(pattern))
    found = (
        re.findall(r'"([^"\n]*)"|`([^`\n]*)`|^  (\S[^\n]*)$', file.read_text(encoding="utf-8"), re.M)
        for file in files
    )
    texts = {text for matches in found for match in matches for text in match if text}
    return sorted(text for text in texts if "->" in text or len(text) < 30)


def test_texts_of_documents_examples_and_tests_are_read_alike() -> None:
    texts = written_texts()
    assert sum("->" in text for text in texts) > 400
    for text in texts:
        assert_read_alike(text)


def test_all_expressions_of_the_documents_in_ascii_are_plain() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    quoted = {
        text for file in documents for text in re.findall(r'"([^"\n]*)"', file.read_text(encoding="utf-8"))
    }
    right = [text for text in quoted if "->" in text and text.isascii() and tree_by_grammar(text)]
    assert len(right) > 50
    assert all(read_plain(text) is not None for text in right)


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(PIECES), max_size=9), st.sampled_from(["", " "]))
def test_random_tokens_are_read_alike(pieces: list[str], between: str) -> None:
    assert_read_alike(between.join(pieces))


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab_'1.()=,->: #\n"), max_size=12))
def test_random_characters_are_read_alike(text: str) -> None:
    assert_read_alike(text)


@settings(max_examples=500)
@given(st.integers(0, 2**32 - 1))
def test_expressions_are_read_alike_whole_and_broken(seed: int) -> None:
    rng, text = random.Random(seed), seeded_case(seed).text
    assert_read_alike(text)
    at = rng.randrange(len(text) + 1)
    assert_read_alike(text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 1) :])


def test_every_form_is_covered() -> None:
    text = "#x\n_ a a=3 d=a 1 ... a'... (a (b=2) ()) f=(a 2), , b#,\n ->a (b 1) , :\tmean  "
    assert read_plain(text) is not None
    assert_read_alike(text)


@pytest.mark.parametrize("text", [" ", "#", "->", ", ->", "a ->", ": sum", "a : sum", "->: sum", "()"])
def test_terms_that_hold_nothing_stand_where_the_grammar_has_them(text: str) -> None:
    assert read_plain(text) is not None
    assert_read_alike(text)


def test_what_is_above_a_limit_is_left_to_the_grammar() -> None:
    assert read_plain("a b, (c) -> a b") is not None
    for limit in ({"text": 14}, {"operands": 1}, {"nesting": 1}):
        before = set_limits(**limit)
        assert read_plain("a b, ((c)) -> a b") is None
        with pytest.raises(NameExprError):
            parse("a b, ((c)) -> a b")
        set_limits(text=before.text, operands=before.operands, nesting=before.nesting)
    assert read_plain("9" * 18) is not None and read_plain("9" * 19) is None


@pytest.mark.parametrize(
    "text",
    [
        "#" * 60_000 + "\n)",
        ": a" + " #" * 30_000 + "\n)",
        "a" * 60_000 + ".",
        "a" + "'" * 60_000 + "a",
        "a =" + " " * 60_000,
        "a " * 30_000 + "(",
    ],
    ids=["comment", "comments behind a colon", "name", "primes", "blanks", "open"],
)
def test_no_text_makes_the_pattern_try_again_and_again(text: str) -> None:
    """In quadratic time each would take minutes."""
    assert read_plain(text) is None


def test_lark_is_not_loaded_for_plain_texts() -> None:
    source = (
        "import sys, numpy as np, nameexpr as ne\n"
        "ne.einsum('batch chan, chan out -> batch out', np.ones((2, 3)), np.ones((3, 4)))\n"
        "ne.einsum('b (h w) c -> b h w : mean', np.ones((2, 6, 3)), h=2)\n"
        "print('lark' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.split() == ["False"]
