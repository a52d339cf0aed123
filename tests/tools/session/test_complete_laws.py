"""What is offered can be gone on from, for random texts of the grammar; and no text is too much."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from nameexpr.ops import ALONG, POINTWISE, REDUCTIONS
from nameexpr.session.complete import Known, complete
from nameexpr.session.complete.choices import Completion
from nameexpr.session.continuation import python_start
from nameexpr.session.lines import PythonLine, read_line
from nameexpr.syntax.ast import Use
from nameexpr.syntax.grammar import grammar_text
from nameexpr.syntax.parser.formula import parse_formula, with_semicolons
from nameexpr.syntax.walk import nodes
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

pytestmark = pytest.mark.slow

SESSION = Known(
    {"x": (("N", "C"), (2, 3)), "w": (("C", None), (3, 4)), "s": ((), ()), "_": (("N",), (2,))},
    {":names": "the tensors", ":plan": "what would be done"},
    {"optimize": ("greedy", "optimal")},
    {"NE101": "a fat arrow"},
    {"x": "a tensor"},
)


@cache
def fresh(start: str) -> Lark:
    return Lark(grammar_text(start), start=start, parser="lalr", lexer="basic")


def may_go_on(text: str) -> bool:
    """Whether a text begins one that either grammar accepts, by Lark without stored tables."""
    return is_beginning(text, "expression") or is_beginning(with_semicolons(text), "formula")


def is_beginning(text: str, start: str) -> bool:
    try:
        fresh(start).parse_interactive(text).exhaust_lexer()
    except UnexpectedInput:
        return False
    return True


def cuts(text: str, rng: random.Random) -> Iterator[int]:
    yield from (rng.randrange(len(text) + 1) for _ in range(6))
    words = [word.start() + 1 for word in re.finditer(r"\w+", text)]
    yield from rng.sample(words, min(1, len(words)))


def some(choices: Sequence[Completion], seed: int) -> list[Completion]:
    """Return a few of many completions: each is parsed by Lark, from the beginning of its text."""
    return random.Random(seed).sample(choices, min(8, len(choices)))


def formula_session(text: str) -> Known:
    """Return a session that has the operands of a formula, their names those of their plain terms."""
    tensors: dict[str, tuple[tuple[str | None, ...], tuple[int, ...]]] = {}
    for statement in parse_formula(text).statements:
        for node in nodes(statement.value):
            if isinstance(node, Use):
                items = node.term.items if node.term else ()
                names = tuple(getattr(item, "name", None) for item in items)
                tensors.setdefault(node.name, (names, (2,) * len(names)))
    return Known(tensors)


def test_a_completed_formula_can_still_be_accepted() -> None:
    rng, count = random.Random(6), 0
    for seed in range(120):
        text = formula_generate.seeded_case(seed).text
        known = formula_session(text)
        for cut in cuts(text, rng):
            for one in some(complete(text[:cut], cut, known), seed):
                completed = text[: one.start] + one.text
                assert may_go_on(completed), (completed, one)
                count += 1
    assert count > 1500


def test_a_completed_expression_can_still_be_accepted() -> None:
    rng, count = random.Random(7), 0
    for seed in range(300):
        text = generate.seeded_case(seed).text
        known = Known({"x": (("N", "a", "b"), (2, 3, 4)), **SESSION.tensors})
        for cut in cuts(text, rng):
            if re.search(r"\n\s*-$", text[:cut]):
                continue  # half an arrow begins a line like a formula, whose mistakes above are forgiven
            for one in some(complete(text, cut, known), seed):
                completed = text[: one.start] + one.text
                assert may_go_on(completed), (completed, one)
                count += 1
    assert count > 1000


def test_the_word_that_was_written_is_offered_after_its_first_letter() -> None:
    count = 0
    for seed in range(120):
        text = formula_generate.seeded_case(seed).text
        known = formula_session(text)
        for word in re.finditer(
            r"(?<![\w'.])[^\W\d]\w+(?=[\[(])", re.sub(r"#.*", lambda comment: " " * len(comment[0]), text)
        ):
            name = word[0]
            if re.match(r"\[[^\[\]]*\]\s*=(?!=)", text[word.end() :]):
                continue
            cut = word.start() + 1
            found = {one.text.rstrip("([") for one in complete(text[:cut], cut, known)}
            is_known = name in known.tensors or name in POINTWISE or name in (*REDUCTIONS, *ALONG)
            assert not is_known or name in found, (text, name)
            count += is_known
    assert count > 150


def test_python_begins_where_a_line_is_python() -> None:
    rng = random.Random(8)
    for _ in range(3000):
        line = "".join(
            rng.choices(["x", "z ", "[N C]", "= ", "!", "!=", " ", "\n", "+", ":", "é", "1", "'"], k=6)
        )
        if line.lstrip().startswith(":"):
            continue
        try:
            is_python = isinstance(read_line(line), PythonLine)
        except Exception:  # noqa: BLE001  a line that begins as something else
            is_python = False
        assert (python_start(line) is not None) == is_python, line


PIECES = [
    *"abN_'()=,:.->#*+-?;[]0123 \n\té𝐚ﬁ|!~\\\"/&<%@{}",
    *(
        "->",
        "...",
        "_",
        "a=",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "\x00",
        "x[",
        "sum[",
        "sqrt(",
        "N C",
        " | ",
        "y = ",
    ),
    *("randn(", ":load ", ":save ", ":set ", ":draw ", ":plan ", ":help ", "!np.", "~/", "../", "//", "\\'"),
]


def test_no_text_and_no_cursor_raises_anything() -> None:
    rng = random.Random(9)
    known = Known(
        {"x": (("N", "\ud800"), (2,)), "\x1b": ((None,), ()), **SESSION.tensors}, {"": "", "x": "\n"}
    )
    for _ in range(4000):
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 14)))
        for cursor in (rng.randrange(len(text) + 1), len(text), -1, len(text) + 5):
            for one in complete(text, cursor, rng.choice([known, SESSION, Known()])):
                assert 0 <= one.start <= len(text)
                assert one.text


def test_long_and_deep_texts_are_soon_done_with() -> None:
    texts = [
        "(" * 4000,
        "x[" * 4000,
        "\n" * 8000,
        "x\n" * 4000,
        "a=" * 4000,
        "'" * 8000,
        ":load " + "x " * 3000,
    ]
    texts += [
        "N," * 3900 + "|" + "x," * 90,
        "." * 7000,
        "a" * 8000,
        "!" + "a." * 3000,
        "#" * 8000,
        "x" * 9_000_000,
    ]
    texts += ["[" * 8000, "y[" + "N " * 3000, "x + " * 1900, "1" * 8000, "\\" * 8000, "!x" + " " * 7000]
    texts += [
        "x" + " " * 7900,
        "1(" * 3900,
        "#" * 4000 + "\n",
        "y = x" + " " * 7000 + "+",
        "a[" * 2 + " " * 7000,
    ]
    texts += [
        ":load x" + " " * 7000,
        ":draw tree" + " " * 7000,
        ":set" + "=" * 7000,
        ", " * 3900,
        "x = randn(" + ", " * 3000,
    ]
    for text in texts:
        start = time.process_time()
        complete(text, len(text), SESSION)
        assert time.process_time() - start < 2, text[:20]
