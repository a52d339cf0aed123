"""Trees become text in one canonical spelling, which reads as the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.syntax.ast import (
    Alias,
    Anonymous,
    Dots,
    Expression,
    Group,
    Item,
    Label,
    Literal,
    NamedGroup,
    Pack,
    Reducer,
    Sized,
    Term,
)
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse, unparse_item, unparse_term
from oracle.generate.expressions import seeded_case

SPELLINGS = {
    "N  (C  H=2),C->N   H:sum": "N (C H=2), C -> N H : sum",
    "": "",
    "->": "->",
    " - > ".replace(" ", ""): "->",
    ",": ",",
    ",,->": ", , ->",
    "a,->a": "a, -> a",
    ",a->": ", a ->",
    "batch = ( a\n b )": "batch=(a b)",
    "( )": "()",
    "a # comment\n->": "a ->",
    "007": "7",
    "ﬁ": "fi",
    "a...(b)": "a... (b)",
    "a:sum": "a : sum",
}

names = st.sampled_from(["a", "b", "batch", "seq'", "_x", "__", "温度", "class", "N0"])
sizes = st.integers(0, 10**17)
plain: st.SearchStrategy[Item] = st.one_of(
    names.map(Label),
    st.builds(Sized, names, sizes),
    st.builds(Alias, names, names),
    sizes.map(Literal),
    st.just(Anonymous()),
    st.just(Dots()),
    names.map(Pack),
)
groups = st.recursive(
    st.lists(plain, max_size=3).map(lambda items: Group(tuple(items))),
    lambda inner: st.lists(plain | inner | st.builds(NamedGroup, names, inner), max_size=3).map(
        lambda items: Group(tuple(items))
    ),
    max_leaves=6,
)
terms = st.lists(plain | groups | st.builds(NamedGroup, names, groups), max_size=4).map(
    lambda items: Term(tuple(items))
)
lists = st.lists(terms, min_size=1, max_size=3).map(tuple)
expressions = st.builds(Expression, lists, st.none() | lists, st.none() | names.map(Reducer))


@pytest.mark.slow
@settings(max_examples=500)
@given(expressions)
def test_a_printed_tree_reads_as_itself(tree: Expression) -> None:
    assert parse(unparse(tree)) == tree


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1))
def test_a_text_and_its_canonical_spelling_are_one_expression(seed: int) -> None:
    tree = parse(seeded_case(seed).text)
    text = unparse(tree)
    assert parse(text) == tree
    assert unparse(parse(text)) == text
    assert "\n" not in text and "#" not in text and "  " not in text


@pytest.mark.parametrize("text", SPELLINGS, ids=repr)
def test_there_is_one_spelling(text: str) -> None:
    assert unparse(parse(text)) == SPELLINGS[text]


def test_terms_and_items_print_alone() -> None:
    (term,) = parse("a  x=( b   3 ) _").inputs
    assert unparse_term(term) == "a x=(b 3) _"
    assert [unparse_item(item) for item in term.items] == ["a", "x=(b 3)", "_"]
