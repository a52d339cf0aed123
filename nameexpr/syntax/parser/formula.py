"""Text of a formula to its syntax tree: limits, line breaks to semicolons, names, then Lark.

A line break ends a statement unless it stands inside brackets. It is replaced by a semicolon before the text
is parsed, comments by spaces, each by as many characters: every span is that of the user's text.

>>> parse_formula("y[N] = sum[C](x[N C])").statements[0].name
'y'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.syntax.ast import Term
from nameexpr.syntax.faults.formula import chained, formula_fault, nothing_written
from nameexpr.syntax.formula_ast import (
    Along,
    Binary,
    Call,
    Formula,
    Node,
    Number,
    Statement,
    Unary,
    Use,
    children,
)
from nameexpr.syntax.lexer.limits import check_limits
from nameexpr.syntax.lexer.names import check_names
from nameexpr.syntax.parser.expression import Nodes, lark_error, load_parser, span_of

if TYPE_CHECKING:
    from lark import Token

DEEPEST = 120
"""Operators, functions and brackets inside each other; Python's own recursion limit is well above."""


def parse_formula(text: str) -> Formula:
    """Return the syntax tree of a formula.

    Parameters
    ----------
    text : str
        Statements such as ``"y[N K] = sum[C](x[N C] * w[C K])"`` (docs/formulas.md).

    Raises
    ------
    ParseError
        If the text is no formula.
    LimitError
        If it is longer, deeper or wider than `nameexpr.set_limits` allows.
    """
    check_limits(text)
    check_names(text, "a formula")
    lines = with_semicolons(text)
    if not lines.strip(" ;\t\n\r"):
        raise error(nothing_written(text))
    try:
        statements = _parse()(lines)
    except lark_error() as fault:
        raise error(formula_fault(text, lines, fault)) from None
    except _ChainedComparison as chain:
        raise error(chained(text, lines, chain.spans)) from None
    tree = Formula(statements, text)
    check_depth(tree)
    return tree


def with_semicolons(text: str) -> str:
    r"""Return the text, of the same length, with one semicolon between every two statements.

    Examples
    --------
    >>> with_semicolons("a = x[i]  # one\n\nb = (a\n+ 1)")
    'a = x[i]       ; b = (a + 1)'
    """
    blank = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    characters, depth, last, is_begun = list(blank), 0, None, False
    for place, character in enumerate(blank):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth = max(0, depth - 1)
        if character == "\n":
            characters[place] = " "
        if character == ";" or (character == "\n" and depth == 0):
            characters[place] = " "
            last = place if last is None else last
        elif not character.isspace():
            if last is not None and is_begun:
                characters[last] = ";"
            last, is_begun = None, True
    return "".join(characters)


@cache
def _parse() -> Callable[[str], Any]:
    return load_parser(FormulaNodes(), "formula").parse


class _ChainedComparison(Exception):  # noqa: N818  a parcel on its way through Lark
    def __init__(self, spans: tuple[Span, ...]) -> None:
        super().__init__(spans)
        self.spans = spans


class FormulaNodes(Nodes):
    """Lark's callbacks for the rules of formulas; those of terms are inherited."""

    def formula(self, children: list[Any]) -> tuple[Statement, ...]:
        """Return the statements."""
        return tuple(child for child in children if isinstance(child, Statement))

    def assignment(self, children: list[Any]) -> Statement:
        """y[N K] = value."""
        (name, term), _, value = children
        start = name.start_pos
        return Statement(normalised(name), term, value, Span(start, value.span.end), span_of(name, name))

    def bare(self, children: list[Any]) -> Statement:
        """A value without a name."""
        (value,) = children
        return Statement(None, None, value, value.span, value.span)

    def target(self, children: list[Any]) -> tuple[Token, Term | None]:
        """Return the name left of "=" and its term."""
        return children[0], _term_of(children[1:])

    def comparison(self, children: list[Any]) -> Node:
        """X < y; a chain is refused, for its meaning in Python is not pointwise."""
        if len(children) > 3:  # noqa: PLR2004  one comparison: two operands and the sign
            raise _ChainedComparison(tuple(span_of(sign, sign) for sign in children[1::2]))
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

    def along(self, children: list[Any]) -> Along:
        """sum[C](x)."""
        name, arguments, closing = children[0], children[-2], children[-1]
        term = _term_of(children[1:4])
        assert term is not None
        return Along(normalised(name), term, arguments, span_of(name, closing), span_of(name, name))

    def enclosed(self, children: list[Any]) -> Node:
        """(x): the brackets are no part of the tree, but of what an operator around them marks."""
        opening, value, closing = children
        enclosed: Node = replace(value, span=span_of(opening, closing))
        return enclosed

    def arguments(self, children: list[Any]) -> tuple[Node, ...]:
        """Return the values between the commas."""
        return tuple(children[::2])


def _term_of(bracket: list[Any]) -> Term | None:
    """Return the term between brackets, or None without brackets; an empty one stands behind the first."""
    if not bracket:
        return None
    opening, term, _ = bracket
    return term if term.items else Term((), Span(opening.end_pos, opening.end_pos))


def check_depth(tree: Formula) -> None:
    """Raise NE708 if values nest deeper than every later pass can follow."""
    for statement in tree.statements:
        depth = {id(statement.value): 1}
        stack: list[Node] = [statement.value]
        while stack:
            node = stack.pop()
            for child in children(node):
                depth[id(child)] = depth[id(node)] + 1
                stack.append(child)
            if depth[id(node)] > DEEPEST:
                message = f"values nest deeper than {DEEPEST}"
                hint = "give a part of it a name, in a statement of its own"
                raise error(Diagnostic("NE708", message, tree.text, (Mark(node.span),), hint=hint))
