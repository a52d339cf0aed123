"""Trees as Lark makes them from the grammars: what the parser of the package is held to.

>>> expression_tree("N C, C -> N").inputs[0].items[0].name
'N'
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from nameexpr.dims import normalised
from nameexpr.errors import NameExprError, Span
from nameexpr.records import replace
from nameexpr.syntax import ast
from nameexpr.syntax.ast import (
    Binary,
    Call,
    CallAlong,
    Expression,
    Formula,
    Node,
    Number,
    Statement,
    Term,
    Unary,
    Use,
)
from nameexpr.syntax.grammar import load_parser
from nameexpr.syntax.lexer.names import check_names
from nameexpr.syntax.limits import check_limits
from nameexpr.syntax.parser.formula import DEEPEST, with_semicolons
from nameexpr.syntax.walk import check_depth


@cache
def lark_parser(start: str) -> Lark:
    """Lark's parser with the callbacks that make trees."""
    return load_parser(start, FormulaNodes() if start == "formula" else Nodes())


def expression_tree(text: str) -> Expression | None:
    """The tree of an expression, or None if there is none."""
    try:
        check_limits(text)
        check_names(text)
        inputs, outputs, reducer = lark_parser("expression").parse(text)  # type: ignore[misc]
    except (NameExprError, UnexpectedInput):
        return None
    return Expression(inputs, outputs, reducer, text)


def formula_tree(text: str) -> Formula | None:
    """The tree of a formula, or None if there is none."""
    try:
        check_limits(text)
        check_names(text, is_formula=True)
        statements: Any = lark_parser("formula").parse(with_semicolons(text))
        tree = Formula(statements, text)
        check_depth(tree, DEEPEST)
    except (NameExprError, UnexpectedInput, ChainedError):
        return None
    return tree


def span_of(first: Token, last: Token) -> Span:
    """Return the span from one token to another."""
    return Span(first.start_pos or 0, last.end_pos or 0)


class Nodes:
    """Lark's callbacks: one method per rule of the grammar, which builds the node and does nothing else."""

    def expression(self, children: list[Any]) -> Any:
        """Return (input terms, output terms or None, reducer or None)."""
        inputs, outputs, reducer = children[0], None, None
        for mark, part in zip(children[1::2], children[2::2], strict=True):
            if mark.type == "ARROW":
                outputs = self._placed(part, mark.end_pos)
            else:
                reducer = ast.Reducer(normalised(part), span_of(part, part))
        return self._placed(inputs, 0), outputs, reducer

    def _placed(self, parts: list[Any], start: int) -> tuple[ast.Term, ...]:
        """Give the terms that hold nothing the place where they would stand."""
        terms = []
        for part in parts:
            if isinstance(part, ast.Term):
                terms.append(part if part.items else ast.Term((), Span(start, start)))
            else:
                start = part.end_pos
        return tuple(terms)

    def terms(self, children: list[Any]) -> Any:
        """Return the terms with the commas between them."""
        return children

    def term(self, items: list[Any]) -> ast.Term:
        """Return one term; one that holds nothing is placed later."""
        if not items:
            return ast.Term(())
        return ast.Term(tuple(items), Span(items[0].span.start, items[-1].span.end))

    def label(self, children: list[Token]) -> ast.Label:
        """C."""
        (name,) = children
        return ast.Label(normalised(name), span_of(name, name))

    def sized(self, children: list[Token]) -> ast.Sized:
        """C=3."""
        name, _, size = children
        return ast.Sized(normalised(name), int(size), span_of(name, size))

    def alias(self, children: list[Token]) -> ast.Alias:
        """batch=N."""
        dim, _, name = children
        return ast.Alias(
            normalised(dim), normalised(name), span_of(dim, name), span_of(dim, dim), span_of(name, name)
        )

    def named_group(self, children: list[Any]) -> ast.NamedGroup:
        """features=(C H W)."""
        dim, _, group = children
        return ast.NamedGroup(normalised(dim), group, Span(dim.start_pos, group.span.end), span_of(dim, dim))

    def literal(self, children: list[Token]) -> ast.Literal:
        """3."""
        (size,) = children
        return ast.Literal(int(size), span_of(size, size))

    def anonymous(self, children: list[Token]) -> ast.Anonymous:
        """_."""
        return ast.Anonymous(span_of(children[0], children[0]))

    def dots(self, children: list[Token]) -> ast.Dots:
        """...."""
        return ast.Dots(span_of(children[0], children[0]))

    def pack(self, children: list[Token]) -> ast.Pack:
        """Batch...."""
        (token,) = children
        return ast.Pack(normalised(token[:-3]), span_of(token, token))

    def group(self, children: list[Any]) -> ast.Group | ast.Parts:
        """(h w), and (a + b)."""
        span = span_of(children[0], children[-1])
        parts = [
            ast.Group(tuple(items), Span(items[0].span.start, items[-1].span.end))
            for items in children[1:-1:2]
        ]
        if len(parts) > 1:
            return ast.Parts(tuple(parts), span)
        return ast.Group(parts[0].items if parts else (), span)

    def part(self, items: list[Any]) -> list[Any]:
        """Return the items of a part."""
        return items

    def at(self, children: list[Any]) -> ast.At:
        """H@(h + dh)."""
        base, _, place = children
        return ast.At(base, place, Span(base.span.start, place.span.end))

    def at_number(self, children: list[Token]) -> Number:
        """@0."""
        (number,) = children
        return Number(int(number), span_of(number, number))

    def at_label(self, children: list[Token]) -> Use:
        """@h."""
        (name,) = children
        return index_along(name)

    def at_value(self, children: list[Any]) -> Node:
        """@(h + dh)."""
        opening, value, closing = children
        return replace(value, span=span_of(opening, closing))

    def stride_sum(self, children: list[Any]) -> Node:
        """-2*h + dh."""
        first = children.pop(0)
        value = first
        if isinstance(first, Token):
            term = children.pop(0)
            start = first.start_pos or 0
            if isinstance(term, Binary):  # a sign binds tighter than *
                signed = Unary("-", term.left, Span(start, term.left.span.end))
                value = replace(term, left=signed, span=Span(start, term.span.end))
            else:
                value = Unary("-", term, Span(start, term.span.end))
        for sign, right in zip(children[::2], children[1::2], strict=True):
            value = Binary(
                str(sign), value, right, Span(value.span.start, right.span.end), span_of(sign, sign)
            )
        return value  # type: ignore[no-any-return]

    def stride(self, children: list[Token]) -> Node:
        """2*h."""
        if len(children) == 1:
            (only,) = children
            return Number(int(only), span_of(only, only)) if only.type == "INT" else index_along(only)
        number, star, name = children
        left = Number(int(number), span_of(number, number))
        return Binary("*", left, index_along(name), span_of(number, name), span_of(star, star))


def index_along(name: Token) -> Use:
    """Return what a bare name in a position is."""
    span = span_of(name, name)
    return Use("index", Term((ast.Label(normalised(name), span),), span), span, span)


def in_place(node: Any) -> Any:
    """Return a value of a position, whose bare names are labels."""
    match node:
        case Use(name, None) if name != "_":
            term = Term((ast.Label(name, node.name_span),), node.name_span)
            return Use("index", term, node.span, node.name_span)
        case Unary(_, value):
            return replace(node, value=in_place(value))
        case Binary(_, left, right):
            return replace(node, left=in_place(left), right=in_place(right))
        case Call(_, arguments) | CallAlong(_, _, arguments):
            return replace(node, arguments=tuple(map(in_place, arguments)))
    return node


class ChainedError(Exception):
    """A comparison of more than two values."""


class FormulaNodes(Nodes):
    """Lark's callbacks for the rules of formulas; those of terms are inherited."""

    def formula(self, children: list[Any]) -> tuple[Statement, ...]:
        """Return the statements."""
        return tuple(child for child in children if isinstance(child, Statement))

    def assignment(self, children: list[Any]) -> Statement:
        """y[N K] = value."""
        (name, term), _, value, *others = children
        span = Span(name.start_pos, children[-1].span.end)
        return Statement(normalised(name), term, value, span, span_of(name, name), tuple(others[1::2]))

    def bare(self, children: list[Any]) -> Statement:
        """A value without a name."""
        (value,) = children
        return Statement(None, None, value, value.span, value.span)

    def at_use(self, children: list[Any]) -> Use:
        """@ids[B T]."""
        return self.use(children)

    def at_value(self, children: list[Any]) -> Node:
        """@(h + dh), whose bare names are labels."""
        opening, value, closing = children
        return replace(in_place(value), span=span_of(opening, closing))  # type: ignore[no-any-return]

    def target(self, children: list[Any]) -> tuple[Token, Term | None]:
        """Return the name left of "=" and its term."""
        return children[0], _term_of(children[1:])

    def comparison(self, children: list[Any]) -> Node:
        """X < y; a chain is rejected, for its meaning in Python is not pointwise."""
        if len(children) > 3:
            raise ChainedError
        return self._folded(children)

    def _folded(self, children: list[Any]) -> Node:
        """Return operators of one precedence as nested pairs, from the left."""
        value: Node = children[0]
        for sign, right in zip(children[1::2], children[2::2], strict=True):
            span = Span(value.span.start, right.span.end)
            value = Binary(str(sign), value, right, span, span_of(sign, sign))
        return value

    disjunction = conjunction = arithmetic = product = power = _folded

    def signed(self, children: list[Any]) -> Unary:
        """-x."""
        sign, value = children
        return Unary(str(sign), value, Span(sign.start_pos, value.span.end))

    def integer(self, children: list[Token]) -> Number:
        """2."""
        return Number(int(children[0]), span_of(children[0], children[0]))

    def real(self, children: list[Token]) -> Number:
        """0.5."""
        return Number(float(children[0]), span_of(children[0], children[0]))

    def use(self, children: list[Any]) -> Use:
        """X or x[N C]."""
        name, *bracket = children
        return Use(normalised(name), _term_of(bracket), span_of(name, children[-1]), span_of(name, name))

    def call(self, children: list[Any]) -> Call:
        """sqrt(x)."""
        name, _, arguments, closing = children
        return Call(normalised(name), arguments, span_of(name, closing), span_of(name, name))

    def along(self, children: list[Any]) -> CallAlong:
        """sum[C](x)."""
        name, arguments, closing = children[0], children[-2], children[-1]
        term = _term_of(children[1:4])
        assert term is not None
        return CallAlong(normalised(name), term, arguments, span_of(name, closing), span_of(name, name))

    def enclosed(self, children: list[Any]) -> Node:
        """(x): the brackets are no part of the tree, but of what an operator around them marks."""
        opening, value, closing = children
        enclosed: Node = replace(value, span=span_of(opening, closing))
        return enclosed

    def arguments(self, children: list[Any]) -> tuple[Node, ...]:
        """Return the values between the commas."""
        return tuple(children[::2])


def _term_of(bracket: list[Any]) -> Term | None:
    """Return the term between brackets, or None without brackets; an empty one stands after the first."""
    if not bracket:
        return None
    opening, term, _ = bracket
    return term if term.items else Term((), Span(opening.end_pos, opening.end_pos))
