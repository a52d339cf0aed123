"""Text to syntax tree: by hand if the text is plain and right (`nameexpr.syntax.parser.plain`), else limits,
then names, then Lark with the grammar in grammar/nameexpr.lark.

Lark is imported on the first parse that needs it, and its tables come from a file beside the grammar, written
by `python -m nameexpr.syntax.parser.generate`; with another release of Lark, or a changed grammar, they are
built anew.

>>> from nameexpr.syntax import parse
>>> parse("N C, C -> N").inputs[0].items
(Label(name='N', span=Span(start=0, end=1)), Label(name='C', span=Span(start=2, end=3)))
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from nameexpr.dims import normalised
from nameexpr.errors import Span, error
from nameexpr.syntax import ast
from nameexpr.syntax.lexer.limits import check_limits
from nameexpr.syntax.lexer.names import check_names
from nameexpr.syntax.parser.plain import read_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput


def parse(text: str) -> ast.Expression:
    """Return the syntax tree of an expression.

    Parameters
    ----------
    text : str
        An expression such as ``"N C H W, C -> N C H W"`` (docs/language.md, section 2).

    Returns
    -------
    Expression
        A frozen tree whose nodes carry the spans of the text they were read from.

    Raises
    ------
    ParseError
        If the text is not an expression.
    LimitError
        If it is longer, deeper or wider than `nameexpr.set_limits` allows.
    """
    return read_plain(text) or parse_by_grammar(text)


def parse_by_grammar(text: str) -> ast.Expression:
    """Return the syntax tree as Lark reads it, or raise what is wrong with the text."""
    check_limits(text)
    check_names(text)
    try:
        inputs, outputs, reducer = _lark_parse()(text)
    except lark_error() as fault:
        from nameexpr.syntax.faults.expression import syntax_fault

        raise error(syntax_fault(text, fault)) from None
    return ast.Expression(inputs, outputs, reducer, text)


@cache
def lark_error() -> type[UnexpectedInput]:
    """Return the class of what Lark raises for a text that it refuses."""
    from lark.exceptions import UnexpectedInput

    return UnexpectedInput


@cache
def _lark_parse() -> Callable[[str], Any]:
    return load_parser(Nodes()).parse


def load_parser(nodes: Nodes, start: str = "expression") -> Lark:
    """Return Lark's parser from the stored tables if they fit, else built from the grammar."""
    import lark

    from nameexpr.syntax.parser.grammar import grammar_text, stored_tables, table_state

    if table_state(start, lark.__version__) == "stored":
        tables = stored_tables(start)
        load: Callable[..., Lark] = lark.Lark._load_from_dict
        return load(tables["data"], tables["memo"], transformer=nodes)
    grammar = grammar_text(start)
    return lark.Lark(grammar, start=start, parser="lalr", lexer="basic", transformer=nodes)


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

    def group(self, children: list[Any]) -> ast.Group:
        """(h w)."""
        return ast.Group(tuple(children[1:-1]), span_of(children[0], children[-1]))
