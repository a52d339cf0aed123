"""Texts become trees whose spans point at what was read; the stored tables are those of the grammar."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.errors import ParseError, Span
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
    Sized,
    Term,
)
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse, unparse_item
from nameexpr.syntax.walk import atoms
from oracle.generate.expressions import seeded_case

TREES = {
    "": ((),),
    "C": ((Label("C"),),),
    "N C": ((Label("N"), Label("C")),),
    "C=3": ((Sized("C", 3),),),
    "C = 3": ((Sized("C", 3),),),
    "batch=N": ((Alias("batch", "N"),),),
    "features=(C H)": ((NamedGroup("features", Group((Label("C"), Label("H")))),),),
    "(C (H=2 1))": ((Group((Label("C"), Group((Sized("H", 2), Literal(1))))),),),
    "()": ((Group(()),),),
    "1 3 0": ((Literal(1), Literal(3), Literal(0)),),
    "_ __ _a": ((Anonymous(), Label("__"), Label("_a")),),
    "...": ((Dots(),),),
    "batch... seq'...": ((Pack("batch"), Pack("seq'")),),
    "a,b": ((Label("a"),), (Label("b"),)),
    ",": ((), ()),
    "a, ": ((Label("a"),), ()),
    "seq' seq''": ((Label("seq'"), Label("seq''")),),
    "if class None": ((Label("if"), Label("class"), Label("None")),),
    "ﬁ 温度": ((Label("fi"), Label("温度")),),
    "a # b, c -> (\n d": ((Label("a"), Label("d")),),
}


@pytest.mark.parametrize("text", TREES, ids=repr)
def test_each_form_has_its_node(text: str) -> None:
    tree = parse(text)
    assert tuple(term.items for term in tree.inputs) == TREES[text]
    assert tree.outputs is None and tree.reducer is None


def test_an_arrow_and_a_colon_divide_a_text() -> None:
    tree = parse("a b, b -> a : mean")
    assert [unparse_item(item) for term in tree.outputs or () for item in term.items] == ["a"]
    assert tree.reducer is not None and tree.reducer.name == "mean"
    assert parse("->").outputs == (Term(()),) and parse("->").leaves_inputs_out
    assert parse(", ->").outputs == (Term(()),) and not parse(", ->").leaves_inputs_out
    assert parse("a : sum").outputs is None


def test_several_results_are_read_for_the_checker_to_refuse() -> None:
    assert len(parse("a -> a, a").outputs or ()) == 2


def nodes(tree: Expression) -> Iterator[Item]:
    for term in (*tree.inputs, *(tree.outputs or ())):
        yield from below(term.items)


def below(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, Group):
            yield from below(item.items)
        elif isinstance(item, NamedGroup):
            yield from below((item.group,))


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1))
def test_spans_point_at_what_was_read(seed: int) -> None:
    text = seeded_case(seed).text
    for node in nodes(parse(text)):
        part = parse(text[node.span.start : node.span.end])
        assert [item for term in part.inputs for item in term.items] == [node]
        if isinstance(node, Alias | NamedGroup):
            assert unparse(parse(text[node.dim_span.start : node.dim_span.end])) == node.dim
        if isinstance(node, Alias):
            assert unparse(parse(text[node.name_span.start : node.name_span.end])) == node.name


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1))
def test_spans_of_terms_run_from_the_first_item_to_the_last(seed: int) -> None:
    text = seeded_case(seed).text
    tree = parse(text)
    assert tree.text == text
    for term in (*tree.inputs, *(tree.outputs or ())):
        if term.items:
            assert term.span == Span(term.items[0].span.start, term.items[-1].span.end)
        else:
            assert 0 <= term.span.start == term.span.end <= len(text)
    if tree.reducer is not None:
        assert text[tree.reducer.span.start : tree.reducer.span.end] == tree.reducer.name


def test_an_empty_term_has_the_place_where_it_would_stand() -> None:
    tree = parse("a, , b ->")
    assert tree.inputs[1].span == Span(2, 2)
    assert (tree.outputs or ())[0].span == Span(9, 9)


def test_spans_do_not_count_when_trees_are_compared() -> None:
    assert parse("a  b ->b") == parse("a b -> b")
    assert parse("a b") != parse("b a")
    assert hash(parse("a  b")) == hash(parse("a b"))


def test_trees_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        parse("a").inputs[0].items[0].name = "b"  # type: ignore[misc, union-attr]


def test_atoms_are_the_items_that_hold_no_others() -> None:
    (term,) = parse("a (b x=(c 1) ...) d=e").inputs
    assert [unparse_item(atom) for atom in atoms(term.items)] == ["a", "b", "c", "1", "...", "d=e"]


def test_parsing_leaves_the_recursion_limit_alone() -> None:
    before = sys.getrecursionlimit()
    parse("(" * 200 + ")" * 200)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    "text", ["a ->-> b", "a : b : c", "= a", "a =", "(", ")", "a : ", "a : 3", "a -> (", "((a)"]
)
def test_what_the_grammar_refuses_is_a_parse_error(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)
