"""Mistakes, and what is offered to mend them."""

from __future__ import annotations

import pytest

from nameexpr.lsp.problems import fixes, problems

IMPORT = "import nameexpr as ne\n"


def fixed(written: str, word: str) -> dict[str, str]:
    """Return the file after each fix that is offered at a word, by title."""
    source = IMPORT + written
    place = source.index(word)
    done = {}
    for fix in fixes(source, place, place, "x.py"):
        text = source
        for start, end, new in reversed(fix.edits):
            text = text[:start] + new + text[end:]
        done[fix.title] = text.removeprefix(IMPORT)
    return done


def test_mistakes_are_those_of_check() -> None:
    found = problems(IMPORT + "ne.einsum('a b -> a : smu', x)\n", "x.py")
    assert found is not None and [one.code for one in found] == ["NE202"]


def test_a_file_that_does_not_mention_nameexpr_is_not_parsed() -> None:
    assert problems("x = (", "x.py") == ()


def test_what_is_no_python_has_no_answer() -> None:
    assert problems(IMPORT + "x = (", "x.py") is None


@pytest.mark.parametrize(
    ("written", "word", "title", "after"),
    [
        ("ne.einsum('a b -> a : smu', x)", "smu", "Write 'sum'", "ne.einsum('a b -> a : sum', x)"),
        ("ne.evaluate('sqt(x)', x=x)", "sqt", "Write 'sqrt'", "ne.evaluate('sqrt(x)', x=x)"),
        (r"ne.einsum('a b -> a : s\x6du', x)", "s\\x", "Write 'sum'", "ne.einsum('a b -> a : sum', x)"),
        (
            "ne.einsum('batch chan, bacth out -> batch chan out', x, y)",
            "bacth",
            "Write 'batch'",
            "ne.einsum('batch chan, batch out -> batch chan out', x, y)",
        ),
    ],
)
def test_a_proposal_is_applied(written: str, word: str, title: str, after: str) -> None:
    assert fixed(written, word)[title] == after


def test_a_proposal_that_does_not_mend_is_not_offered() -> None:
    """The prime of the word would end the string."""
    text = "batch\\' chan, bacth out -> batch\\' chan out"
    assert fixed(f"ne.einsum('{text}', x, y)", "bacth") == {}
    assert "Write 'batch''" in fixed(f'ne.einsum("{text}", x, y)', "bacth")


def test_a_keyword_is_mended_and_a_value_is_not_mistaken_for_one() -> None:
    written = "ne.einsum('(head a) b -> head a b', x, heda=2)"
    assert fixed(written, "heda") == {"Write 'head'": written.replace("heda", "head")}
    assert fixed("ne.einsum('a b -> a', x, reduce='smu')", "reduce") == {}


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("ne.einsum('a  b->b a', x)", "ne.einsum('a b -> b a', x)"),
        ("ne.evaluate('y=x[ i ];z=2*y')", "ne.evaluate('y = x[i];z = 2 * y')"),
        (
            "ne.evaluate('''\n  y=x[ i ]  # one\n  2*y\n''')",
            "ne.evaluate('''\n  y = x[i]  # one\n  2 * y\n''')",
        ),
    ],
)
def test_a_text_is_formatted_statement_by_statement(written: str, after: str) -> None:
    assert fixed(written, "=" if "=" in written else "a  b")["Format the text"] == after


@pytest.mark.parametrize(
    "written",
    [
        "ne.einsum('a b -> b a', x)",
        "ne.einsum('a  ' 'b->b a', x)",
        r"ne.einsum('\x61  b->b a', x)",
        "ne.einsum('a  (b->a', x)",
    ],
)
def test_what_is_canonical_wrong_or_in_pieces_is_not_formatted(written: str) -> None:
    assert "Format the text" not in fixed(written, written[11:13])
