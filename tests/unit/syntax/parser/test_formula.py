"""Formulas become trees: precedence is Python's, spans point at what was read, line breaks end statements."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.errors import LimitError, ParseError, Span
from nameexpr.syntax.ast import (
    Binary,
    Call,
    CallAlong,
    Formula,
    Group,
    Label,
    Literal,
    Node,
    Number,
    Sized,
    Statement,
    Term,
    Unary,
    Use,
)
from nameexpr.syntax.parser.formula import parse_formula, with_semicolons
from nameexpr.syntax.unparse import unparse_value
from nameexpr.syntax.walk import children, nodes, places
from oracle.generate.formulas import seeded_case

X, Y = Use("x", None), Use("y", None)
N = Term((Label("N"),))

VALUES: dict[str, Node] = {
    "2": Number(2),
    "007": Number(7),
    "2.": Number(2.0),
    ".5": Number(0.5),
    "1e3": Number(1000.0),
    "1e-3": Number(0.001),
    "1.5E+2": Number(150.0),
    "1e999": Number(float("inf")),
    "x": X,
    "x[]": Use("x", Term(())),
    "x [ N ]": Use("x", N),
    "x[N C=3 (a 1)]": Use("x", Term((Label("N"), Sized("C", 3), Group((Label("a"), Literal(1)))))),
    "((x))": X,
    "x + y": Binary("+", X, Y),
    "-x ** y": Unary("-", Binary("**", X, Y)),
    "x ** -y ** x": Binary("**", X, Unary("-", Binary("**", Y, X))),
    "x - y - x": Binary("-", Binary("-", X, Y), X),
    "x / y * x": Binary("*", Binary("/", X, Y), X),
    "x & y | x": Binary("|", Binary("&", X, Y), X),
    "x & y == x": Binary("==", Binary("&", X, Y), X),
    "~x + -+y": Binary("+", Unary("~", X), Unary("-", Unary("+", Y))),
    "sqrt(x)": Call("sqrt", (X,)),
    "where(x, y, 1)": Call("where", (X, Y, Number(1))),
    "sum [N] (x[N])": CallAlong("sum", N, (Use("x", N),)),
    "max(max[N](x), max)": Call("max", (CallAlong("max", N, (X,)), Use("max", None))),
    "size[N] * index[N]": Binary("*", Use("size", N), Use("index", N)),
    "ﬁ": Use("fi", None),
    "x'": Use("x'", None),
    "(x\n+\ny)": Binary("+", X, Y),
    "x[N # dims\n]": Use("x", N),
}


@pytest.mark.parametrize("text", VALUES, ids=repr)
def test_each_form_has_its_node(text: str) -> None:
    (statement,) = parse_formula(text).statements
    assert statement == Statement(None, None, VALUES[text])
    (named,) = parse_formula(f"out[N] = {text}").statements
    assert named == Statement("out", N, VALUES[text])


BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
PYTHON: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def as_python_reads_it(text: str) -> Node:
    def node(tree: Any) -> Node:
        match tree:
            case ast.BinOp(left, sign, right):
                return Binary(PYTHON[type(sign)], node(left), node(right))
            case ast.Compare(left, [sign], [right]):
                return Binary(PYTHON[type(sign)], node(left), node(right))
            case ast.UnaryOp(sign, value):
                return Unary(PYTHON[type(sign)], node(value))
            case ast.Call(ast.Name(name), arguments):
                return Call(name, tuple(map(node, arguments)))
            case ast.Constant(value):
                return Number(value)
            case ast.Name(name):
                return Use(name, None)
            case ast.Subscript(ast.Name(name), ast.Name(label)):
                return Use(name, Term((Label(label),)))
        raise AssertionError(ast.dump(tree))

    return node(ast.parse(text, mode="eval").body)


def tokens(rng: random.Random, depth: int, *, compares: bool = True) -> str:
    """Return random text that both Python and the formulas accept, brackets where a draw says so."""
    if depth == 0:
        return rng.choice(["x", "y", "2", "1.5", "x[N]", ".5", "3e2", "sqrt(x)"])
    kind = rng.random()
    if kind < 0.2:
        return rng.choice(["-", "+", "~", "- ", "--"]) + tokens(rng, depth - 1, compares=False)
    if kind < 0.35:
        return f"({tokens(rng, depth - 1)})"
    if kind < 0.45:
        return f"where({tokens(rng, depth - 1)}, {tokens(rng, depth - 1)})"
    if kind < 0.55 and compares:
        sign = rng.choice(COMPARISONS)
        return " ".join([tokens(rng, depth - 1, compares=False), sign, tokens(rng, 0, compares=False)])
    sides = [tokens(rng, depth - 1, compares=False) for _ in range(2)]
    return rng.choice([" ", ""]).join([sides[0], rng.choice(BINARY), sides[1]])


def test_precedence_is_python_s() -> None:
    rng = random.Random(0)
    for _ in range(2000):
        text = tokens(rng, rng.randint(1, 5))
        assert parse_formula(text).statements[0].value == as_python_reads_it(text), text


def test_every_two_operators_are_grouped_as_python_groups_them() -> None:
    for first in (*BINARY, *COMPARISONS):
        for second in (*BINARY, *COMPARISONS):
            for text in (f"x {first} y {second} 2", f"-x {first} ~y {second} -2"):
                if first in COMPARISONS and second in COMPARISONS:
                    with pytest.raises(ParseError) as caught:
                        parse_formula(text)
                    assert caught.value.code == "NE141"
                    assert [text[span.start : span.end] for span in caught.value.spans] == [first, second]
                else:
                    assert parse_formula(text).statements[0].value == as_python_reads_it(text), text


LINES = {
    "a = x\nb = y": 2,
    "a = x; b = y": 2,
    "a = x;\n;\n\n b = y ; ": 2,
    "\n\n  a = x  # = (\n\n# [\n  b = y\n": 2,
    "a = (x\n+ y)\nb = x[N\nC]": 2,
    "a = x[N (h\nd)]": 1,
    "a = x # no; b = y": 1,
    "a = sqrt(\n\n  x\n)": 1,
    "a = x\r\nb = y\r\n": 2,
    "a = x\n\tb = y": 2,
    ";;a = x": 1,
}


@pytest.mark.parametrize("text", LINES, ids=repr)
def test_line_breaks_and_semicolons_end_statements(text: str) -> None:
    tree = parse_formula(text)
    assert [statement.name for statement in tree.statements] == ["a", "b"][: LINES[text]]
    assert tree.text == text


line_texts = st.lists(st.sampled_from([*"ab ;\n()[]#=+", "\r\n"]), max_size=30).map("".join)


@settings(max_examples=300)
@given(line_texts)
def test_semicolons_take_the_place_of_line_breaks_and_nothing_moves(text: str) -> None:
    lines = with_semicolons(text)
    assert len(lines) == len(text) and "\n" not in lines and "#" not in lines
    in_comment, depth = False, 0
    for before, after in zip(text, lines, strict=True):
        in_comment = (in_comment or before == "#") and before != "\n"
        if not in_comment and before not in " ;\n":
            assert after == before
        else:
            assert after in " ;"
        depth = max(0, depth + (after in "([") - (after in ")]"))
        assert not (before == "\n" and after == ";" and depth)
    assert with_semicolons(lines) == lines


@settings(max_examples=200)
@given(line_texts)
def test_no_statement_is_empty(text: str) -> None:
    parts = with_semicolons(text).split(";")
    assert len(parts) == 1 or all(part.strip() for part in parts)


def everything(tree: Formula) -> Iterator[tuple[Node, bool]]:
    """Yield all nodes, and whether each is in a position, where names are labels."""
    for statement in tree.statements:
        for value in statement.values:
            inside = {
                id(one)
                for use in nodes(value)
                if isinstance(use, Use) and use.term
                for place in places(use.term)
                for one in nodes(place)
            }
            yield from [(node, id(node) in inside) for node in nodes(value)]


def read(text: str, is_place: bool) -> Node:
    if not is_place:
        return parse_formula(f"({text})").statements[0].value
    use = parse_formula(f"x[_@({text})]").statements[0].value
    assert isinstance(use, Use) and use.term
    (place,) = places(use.term)
    return place


def test_spans_point_at_what_was_read() -> None:
    for seed in range(150):
        text = seeded_case(seed).text
        tree = parse_formula(text)
        for statement in tree.statements:
            (again,) = parse_formula(text[statement.span.start : statement.span.end]).statements
            assert again == statement
        for node, is_place in everything(tree):
            start, end = node.span.start, node.span.end
            part = read(text[start:end], is_place)
            assert part == node, f"seed {seed}: {text[start:end]!r}"
            for child in children(node):
                assert start <= child.span.start < child.span.end <= end
            is_label = isinstance(node, Use) and node.name_span == getattr(node.term, "span", None)
            if isinstance(node, Use | Call | CallAlong) and not is_label:
                name = text[node.name_span.start : node.name_span.end]
                assert unparse_value(parse_formula(name).statements[0].value) == getattr(
                    node, "name", getattr(node, "function", None)
                )
            if isinstance(node, Binary):
                assert text[node.operator_span.start : node.operator_span.end] == node.operator


def test_the_span_of_brackets_includes_them() -> None:
    (statement,) = parse_formula("y = (a + b) * (c)").statements
    assert isinstance(statement.value, Binary)
    assert statement.span == Span(0, 17) and statement.name_span == Span(0, 1)
    assert statement.value.span == Span(4, 17) and statement.value.operator_span == Span(12, 13)
    assert statement.value.left.span == Span(4, 11) and statement.value.right.span == Span(14, 17)


def test_an_empty_term_has_the_place_where_it_would_stand() -> None:
    (statement,) = parse_formula("y[] = x[ ]").statements
    assert statement.term is not None and statement.term.span == Span(2, 2)


def test_spans_do_not_count_when_trees_are_compared() -> None:
    assert parse_formula("y=(x[N])+1") == parse_formula("y  = x[ N ] + 1 # more")
    assert hash(parse_formula("y=x")) == hash(parse_formula("y = x"))
    assert parse_formula("y = x + 1") != parse_formula("y = 1 + x")


def test_the_kind_of_a_number_counts() -> None:
    assert repr(parse_formula("2").statements[0].value) != repr(parse_formula("2.0").statements[0].value)


def test_values_nest_as_deeply_as_the_limit_says() -> None:
    assert parse_formula("-" * 119 + "x").statements[0].value is not None
    assert parse_formula("(" * 200 + "x" + ")" * 200).statements[0].value == X
    for text in (
        "-" * 120 + "x",
        "sqrt(" * 150 + "x" + ")" * 150,
        " + ".join("x" * 200),
        "2 ** " * 200 + "x",
    ):
        with pytest.raises(LimitError) as caught:
            parse_formula(text)
        assert caught.value.code == "NE708"
        assert caught.value.hint


def test_parsing_leaves_the_recursion_limit_alone() -> None:
    before = sys.getrecursionlimit()
    parse_formula("(" * 200 + "x" + ")" * 200)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    "text",
    [
        "y = x x",
        "y = 2x",
        "= x",
        "y =",
        "y = x +",
        "y = (x",
        "y = x)",
        "y = x[N",
        "y = f(x,)",
        "y = f()",
        "y[N][C] = x",
        "y(x) = x",
        "y = x[N](x)(x)",
        "y = x[N][C]",
        "2 = x",
        "y = ;z = x",
        "y == x = 2",
        "y = x[N, C]",
        "y = x[N;C]",
        "y = x.T",
        "y = 1.5.2",
        "y = 0x10",
        "y = 'a'",
        "y = x @ x",
        "y = !x",
    ],
)
def test_what_the_grammar_refuses_is_a_parse_error_with_a_mark(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    assert caught.value.spans
