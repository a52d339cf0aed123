"""Formulas become text in one canonical spelling, which reads as the same tree; formulas are told from
expressions.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.syntax.ast import (
    Alias,
    Binary,
    Call,
    CallAlong,
    Dots,
    Formula,
    Group,
    Label,
    Literal,
    NamedGroup,
    Node,
    Number,
    Pack,
    Sized,
    Statement,
    Term,
    Unary,
    Use,
)
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_formula, unparse_value
from nameexpr.syntax.walk import nodes
from oracle.generate.expressions import seeded_case as expression_case
from oracle.generate.formulas import seeded_case

SPELLINGS = {
    "y[N]=sum[ C ]( (x[N C])*(w) )+1": "y[N] = sum[C](x[N C] * w) + 1",
    "y=x;z=y": "y = x\nz = y",
    "a - (b - c)": "a - (b - c)",
    "(a - b) - c": "a - b - c",
    "(a ** b) ** c": "(a ** b) ** c",
    "a ** (b ** c)": "a ** b ** c",
    "(-a) ** b": "(-a) ** b",
    "-(a ** b)": "-a ** b",
    "a ** (-b)": "a ** -b",
    "-(a * b)": "-(a * b)",
    "(-a) * b": "-a * b",
    "a * (-b)": "a * -b",
    "a < (b < c)": "a < (b < c)",
    "(a < b) < c": "(a < b) < c",
    "(a < b) & (c | d)": "(a < b) & (c | d)",
    "(a & b) | c": "a & b | c",
    "- - a": "--a",
    "a - - b": "a - -b",
    "~(a == b)": "~(a == b)",
    "where((a),(b),(c))": "where(a, b, c)",
    "x[ ]": "x[]",
    "2. + .50 + 1e3": "2.0 + 0.5 + 1000.0",
    "x[N (h=2 d) a=b ...] # c": "x[N (h=2 d) a=b ...]",
    "(\n a +\n b\n)": "a + b",
    "1e999": "1e999",
}


@pytest.mark.parametrize("text", SPELLINGS, ids=repr)
def test_there_is_one_spelling(text: str) -> None:
    tree = parse_formula(text)
    spelled = unparse_formula(tree)
    assert spelled == SPELLINGS[text]
    assert parse_formula(spelled) == tree


names = st.sampled_from(["a", "x", "batch", "seq'", "_x", "温度", "and_", "max", "pi", "size"])
functions = st.sampled_from(["sqrt", "sum", "where", "softmax", "f"])
dims = st.lists(
    st.one_of(
        names.map(Label),
        st.builds(Sized, names, st.integers(0, 10**17)),
        st.builds(Alias, names, names),
        st.integers(0, 99).map(Literal),
        st.just(Dots()),
        names.map(Pack),
        st.builds(Group, st.lists(names.map(Label), max_size=3).map(tuple)),
        st.builds(NamedGroup, names, st.builds(Group, st.lists(names.map(Label), max_size=2).map(tuple))),
    ),
    max_size=3,
)
terms = dims.map(lambda items: Term(tuple(items)))
numbers = st.integers(0, 10**17) | st.floats(0, allow_nan=False)
values: st.SearchStrategy[Node] = st.recursive(
    numbers.map(lambda number: Number(abs(number))) | st.builds(Use, names, st.none() | terms),
    lambda inner: st.one_of(
        st.builds(Unary, st.sampled_from("+-~"), inner),
        st.builds(Binary, st.sampled_from("+ - * / // % ** & | == != < <= > >=".split()), inner, inner),  # noqa: SIM905
        st.builds(Call, functions, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(CallAlong, functions, terms, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=12,
)
statements = st.builds(Statement, names, st.none() | terms, values)
formulas = st.builds(
    lambda first, last: Formula((*first, *last)),
    st.lists(statements, max_size=2),
    st.lists(statements | st.builds(Statement, st.none(), st.none(), values), min_size=1, max_size=1),
)


@pytest.mark.slow
@settings(max_examples=250)
@given(formulas)
def test_a_printed_tree_reads_as_itself(tree: Formula) -> None:
    text = unparse_formula(tree)
    again = parse_formula(text)
    assert again == tree
    assert [repr(n) for n in numbers_of(again)] == [repr(n) for n in numbers_of(tree)]


def numbers_of(tree: Formula) -> list[int | float]:
    every = (node for statement in tree.statements for node in nodes(statement.value))
    return [node.value for node in every if isinstance(node, Number)]


@settings(max_examples=120)
@given(values, st.randoms(use_true_random=False))
def test_no_bracket_of_the_canonical_spelling_can_be_left_out(value: Node, rng: random.Random) -> None:
    text = unparse_value(value)
    pairs, stack = [], []
    for place, character in enumerate(text):
        if character == "(":
            stack.append(place)
        elif character == ")":
            start = stack.pop()
            before = text[start - 1 : start]
            if not (before.isalnum() or before in ("]", "_", "'")) and text.count(
                "[", 0, start
            ) == text.count("]", 0, start):
                pairs.append((start, place))
    if not pairs:
        return
    start, end = rng.choice(pairs)
    without = text[:start] + " " + text[start + 1 : end] + " " + text[end + 1 :]
    try:
        again = parse_formula(without).statements[0].value
    except ne.ParseError:
        return
    assert again != value, text


def test_a_text_and_its_canonical_spelling_are_one_formula() -> None:
    for seed in range(150):
        tree = parse_formula(seeded_case(seed).text)
        text = unparse_formula(tree)
        assert parse_formula(text) == tree, f"seed {seed}"
        assert unparse_formula(parse_formula(text)) == text
        assert text.count("\n") == len(tree.statements) - 1
        assert "#" not in text and ";" not in text and "  " not in text


def test_formulas_are_told_from_expressions() -> None:
    for seed in range(150):
        text = seeded_case(seed).text
        is_telling = "[" in text or any(statement.name for statement in parse_formula(text).statements)
        assert looks_like_formula(text) or not is_telling, text
        assert not looks_like_formula(expression_case(seed).text), expression_case(seed).text


@pytest.mark.parametrize(
    "text",
    ["y = x", "y=x", "x[N]", "sum[C](x[N C])", "y = x; z = y", "a = x # ->\nb = a", "# c\ny = 2", "y' = x[]"],
)
def test_a_text_without_an_arrow_that_could_be_both_is_a_formula(text: str) -> None:
    assert looks_like_formula(text)


@pytest.mark.parametrize(
    "text",
    ["a b -> b a", "N (h d=2) -> N h d", "a b : sum", "", "a", "(a b)", "C=3 -> C", "a # [x]", "y = x -> y"],
)
def test_expressions_are_not_taken_for_formulas(text: str) -> None:
    assert not looks_like_formula(text)
