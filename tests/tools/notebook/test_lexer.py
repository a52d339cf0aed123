"""The Pygments lexers: found by name, faithful to any text, harmless as HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator

from nameexpr.notebook.lexer import TYPES, NameExprLexer, NameExprSessionLexer
from nameexpr.session import highlighting
from nameexpr.session.highlighting import line_tokens
from nameexpr.syntax.lexer import tokens
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
LIKELY_TEXT = st.lists(
    st.sampled_from(
        [*"NCx_'.,:=()[]+-*|!#> \n3", "->", "> ", "\n> ", "\n. ", ":plan ", "z = !", "é", "\x00"]
    ),
    max_size=30,
).map("".join)

TRANSCRIPT = """> x = arange(N=2, C=3)
x: N=2, C=3  int64
> y[N] = sum[C](
.   x[N C])
y: N=2  int64
> N C -> N | x
RuleError[NE217]: 'C' would be summed
  N C -> N
    ^
  help: to sum, say so
> y * w
there is no tensor 'w'
  y * w
      ^
> :plan y * 2
result: a table
. is not a prompt here
"""


def types_of(text: str, lexer: type[NameExprLexer] = NameExprLexer) -> dict[str, object]:
    return {value: what for _, what, value in lexer().get_tokens_unprocessed(text)}


def is_faithful(lexer: type[NameExprLexer] | type[NameExprSessionLexer], text: str) -> bool:
    found = list(lexer().get_tokens_unprocessed(text))
    places = [place for place, _, _ in found]
    return "".join(value for _, _, value in found) == text and places == sorted(places)


@pytest.mark.parametrize("name", ["nameexpr", "nameexpr-session"])
def test_the_lexers_are_found_by_name(name: str) -> None:
    (entry,) = entry_points(group="pygments.lexers", name=name)
    assert isinstance(get_lexer_by_name(name), entry.load())
    assert name in entry.load().aliases


@given(ANY_TEXT | LIKELY_TEXT)
def test_the_tokens_of_any_text_are_the_text(text: str) -> None:
    assert is_faithful(NameExprLexer, text)
    assert is_faithful(NameExprSessionLexer, text)


@given(ANY_TEXT | LIKELY_TEXT)
def test_the_tokens_of_any_line_tile_it(text: str) -> None:
    spans = [token.span for token in line_tokens(text)]
    assert "".join(text[slice(*span)] for span in spans) == text


def test_texts_that_are_right_have_no_errors() -> None:
    for seed in range(100):
        for generator in (generate, formula_generate):
            text = generator.seeded_case(seed).text
            assert is_faithful(NameExprLexer, text)
            assert not {Error, Generic.Error} & set(types_of(text).values()), text


def test_every_kind_has_a_type() -> None:
    assert TYPES.keys() == {*tokens.KINDS, *highlighting.KINDS}


def test_an_expression_is_told_from_its_operands() -> None:
    found = types_of("N C, C -> N : sum | x, 2  # why")
    assert (found["N"], found["x"], found["sum"]) == (Name.Attribute, Name.Variable, Name.Function)
    assert (found["->"], found["2"], found["# why"]) == (Operator, Number, Comment.Single)


def test_a_formula_without_brackets_is_one() -> None:
    assert types_of("x * 2")["x"] is types_of("x | y")["y"] is Name.Variable


def test_commands_and_python_are_told_from_texts() -> None:
    assert types_of(":plan x * 2")[":plan"] is Keyword
    assert types_of(":load x a.npy")["x a.npy"] is TYPES["argument"]
    found = types_of("z[N] = !np.ones(2)  # it")
    assert (found["N"], found["np"], found["# it"]) == (Name.Attribute, Name, Comment.Single)


def test_a_session_has_prompts_inputs_and_answers() -> None:
    assert is_faithful(NameExprSessionLexer, TRANSCRIPT)
    found = [(what, value) for _, what, value in NameExprSessionLexer().get_tokens_unprocessed(TRANSCRIPT)]
    assert [value for what, value in found if what is Generic.Prompt] == ["> ", "> ", ". ", "> ", "> ", "> "]
    assert (Name.Function, "sum") in found and (Name.Variable, "y") in found
    outputs = [value for what, value in found if what is Generic.Output]
    assert "x: N=2, C=3  int64\n" in outputs and ". is not a prompt here\n" in outputs


def test_a_mistake_of_a_session_is_coloured_as_one() -> None:
    found = NameExprSessionLexer().get_tokens_unprocessed(TRANSCRIPT)
    assert [value for _, what, value in found if what is Generic.Error] == [
        "RuleError[NE217]: 'C' would be summed\n",
        "    ^\n",
        "there is no tensor 'w'\n",
        "      ^\n",
    ]


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


@pytest.mark.parametrize("name", ["nameexpr", "nameexpr-session"])
@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "> <b> -> </pre>", "> ![<img src=x>]"])
def test_markup_in_a_text_is_harmless(name: str, text: str) -> None:
    lexer = {"nameexpr": NameExprLexer, "nameexpr-session": NameExprSessionLexer}[name]()
    assert Tags(highlight(text, lexer, HtmlFormatter())).found <= {"div", "pre", "span"}
