"""Colouring: the tokens are those of Lark's lexer where a text is right, and tile it where it is not."""

from __future__ import annotations

import random
import time
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.dims import normalised
from nameexpr.syntax.ast import Call, CallAlong, Node, Use
from nameexpr.syntax.lexer.tokens import KINDS, Kind, kind_of, tokens
from nameexpr.syntax.parser.formula import parse_formula, with_semicolons
from nameexpr.syntax.walk import children
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate
from oracle.generate.text import mutate_text
from oracle.trees import lark_parser

OF_LARK = {
    "NAME": {"name", "tensor", "function"},
    "ANONYMOUS": {"anonymous", "tensor"},
    "PACK": {"pack"},
    "DOTS": {"dots"},
    "INT": {"number"},
    "FLOAT": {"number"},
    "LPAR": {"bracket"},
    "RPAR": {"bracket"},
    "LSQB": {"bracket"},
    "RSQB": {"bracket"},
}
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
LIKELY_TEXT = st.lists(
    st.sampled_from(
        [*"NCx_'.,:=()[]+-*/%&|~<>;#! \n\t3", "->", "...", "**", "1.5", "1e", "é", "→", "\ud800", "\x00"]
    ),
    max_size=40,
).map("".join)


def check_tiling(text: str, kind: Kind | None) -> None:
    found = tokens(text, kind)
    assert "".join(text[slice(*one.span)] for one in found) == text
    assert all(one.span.start < one.span.end and one.kind in KINDS for one in found)
    assert [one.span.start for one in found[1:]] == [one.span.end for one in found[:-1]]


def check_as_lark(text: str, kind: Kind) -> None:
    """Compare with Lark's own tokens; it sees semicolons for the line breaks of a formula."""
    read = with_semicolons(text) if kind == "formula" else text
    expected = [one for one in lark_parser(kind).lex(read) if text[one.start_pos or 0] != "\n"]
    actual = [one for one in tokens(text, kind) if one.kind not in ("space", "comment")]
    if kind == "formula":  # semicolons that separate nothing
        actual = [one for one in actual if read[one.span.start] != " "]
    assert [one.span for one in actual] == [(one.start_pos, one.end_pos) for one in expected]
    for token, one in zip(actual, expected, strict=True):
        assert token.kind in OF_LARK.get(one.type, {"operator"}), (text, token, one)


def words(text: str, what: str, kind: Kind | None = None) -> list[str]:
    return [text[slice(*one.span)] for one in tokens(text, kind) if one.kind == what]


def names_of(node: Node) -> list[tuple[str, str]]:
    """Return (kind, name) of all tensors and functions of a value, sorted by nothing."""
    found = [pair for child in children(node) for pair in names_of(child)]
    is_label = isinstance(node, Use) and node.name_span == getattr(node.term, "span", None)
    if isinstance(node, Use) and not is_label:
        found.append(("tensor", node.name))
    if isinstance(node, Call | CallAlong):
        found.append(("function", node.function))
    return found


@pytest.mark.parametrize("first", range(0, 600, 200))
def test_tokens_of_valid_expressions_are_those_of_lark(first: int) -> None:
    for seed in range(first, first + 200):
        text = generate.seeded_case(seed).text
        check_as_lark(text, "expression")
        check_tiling(text, "expression")


@pytest.mark.parametrize("first", range(0, 600, 200))
def test_tokens_of_valid_formulas_are_those_of_lark(first: int) -> None:
    for seed in range(first, first + 200):
        text = formula_generate.seeded_case(seed).text
        check_as_lark(text, "formula")
        check_tiling(text, "formula")


def test_tensors_and_functions_of_valid_formulas_are_those_of_the_tree() -> None:
    for seed in range(400):
        text = formula_generate.seeded_case(seed).text
        tree = parse_formula(text)
        expected = [pair for one in tree.statements for value in one.values for pair in names_of(value)]
        expected += [("tensor", one.name) for one in tree.statements if one.name is not None]
        actual = [
            (one.kind, normalised(text[slice(*one.span)]))
            for one in tokens(text, "formula")
            if one.kind in ("tensor", "function")
        ]
        assert sorted(actual) == sorted(expected), text


@pytest.mark.parametrize("first", range(0, 600, 200))
def test_tokens_of_broken_texts_tile_them(first: int) -> None:
    for seed in range(first, first + 200):
        rng = random.Random(seed)
        for generator in (generate, formula_generate):
            check_tiling(mutate_text(rng, generator.seeded_case(seed).text), None)


@settings(max_examples=400)
@given(ANY_TEXT | LIKELY_TEXT, st.sampled_from([*get_args(Kind), None]))
def test_tokens_of_any_text_tile_it(text: str, kind: Kind | None) -> None:
    check_tiling(text, kind)


def test_what_is_wrong_is_one_token_and_what_follows_is_read() -> None:
    text = "N 3C $$ a.b, C -> N"
    assert words(text, "error") == ["3C", "$$", "a.b"]
    assert words(text, "name") == ["N", "C", "N"]


@pytest.mark.parametrize("wrong", ["→", "N→C", "a\u202eb", "\ufeff", "a‘b", "x²..."])
def test_a_name_that_is_no_identifier_is_an_error(wrong: str) -> None:
    assert words(f"N {wrong} C", "error") == [wrong]
    assert words(f"N {wrong} C", "name") == ["N", "C"]


def test_a_reducer_is_a_function() -> None:
    assert words("N sum -> N : sum", "function") == ["sum"]


@pytest.mark.parametrize(
    ("text", "functions", "tensors", "names"),
    [
        ("y[N] = sum[C](x[N C])", ["sum"], ["y", "x"], ["N", "C", "N", "C"]),
        ("z = max[(h w)] (x) * sqrt (w)", ["max", "sqrt"], ["z", "x", "w"], ["h", "w"]),
        ("x[N * sum(y)", ["sum"], ["x", "y"], ["N"]),
        ("x[N\n  C=2] + _", [], ["x", "_"], ["N", "C"]),
        ("y = 2 (x)", [], ["y", "x"], []),
        ("(x)[N](y[N])", [], ["x", "y"], ["N", "N"]),
        ("x[a; y = f(x", ["f"], ["x", "y", "x"], ["a"]),
        ("y[(1 + T) D] = 0, x[_@(t+1) D]", [], ["y", "x"], ["T", "D", "t", "D"]),
        ("t[V@ids[B T] (h w)] * (s)", [], ["t", "ids", "s"], ["V", "B", "T", "h", "w"]),
        ("x[C@i[N@j[M]] D]", [], ["x", "i", "j"], ["C", "N", "M", "D"]),
        ("x[X@(clip(X-1, 0, n[]))]", ["clip"], ["x", "n"], ["X", "X"]),
        ("x[X@(max[k](m[k]) (h)] + y", ["max"], ["x", "m", "y"], ["X", "k", "k", "h"]),
        ("t[ids[B T] D]", [], ["t", "ids"], ["B", "T", "D"]),
        ("x[(a + b] + c", [], ["x", "c"], ["a", "b"]),
        ("x[N C + c", [], ["x", "c"], ["N", "C"]),
    ],
)
def test_names_of_a_formula_are_told_apart(
    text: str, functions: list[str], tensors: list[str], names: list[str]
) -> None:
    assert words(text, "function") == functions
    assert words(text, "tensor") == tensors
    assert words(text, "name") == names


@pytest.mark.parametrize(
    ("text", "kind"),
    [("N C -> N", "expression"), ("y = x", "formula"), ("x[N] # ->", "formula"), ("N C", "expression")],
)
def test_the_kind_is_told_from_the_text(text: str, kind: Kind) -> None:
    assert kind_of(text) == kind
    assert tokens(text) == tokens(text, kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["\n", "\n#", "a", "1.", "a...", "'", "1e", "[", "x[a](", "é", "\ud800", "$", "_.", "é'$", ";\n"]
)
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    text = piece * (65536 // len(piece)) + "."
    start = time.process_time()
    check_tiling(text, None)
    assert time.process_time() - start < 5  # quadratic time would be minutes
