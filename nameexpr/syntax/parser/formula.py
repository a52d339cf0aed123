r"""From the text of a formula to its syntax tree: line breaks become semicolons, then operators are parsed by
precedence.

A line break ends a statement unless it is inside brackets. It is replaced by a semicolon before the text is
parsed, comments by as many spaces: every span is that of the user's text. Values wait on one stack and
operators on another until an operator of lower precedence follows, so that no depth of nesting reaches
Python's recursion limit. Terms are parsed like those of expressions, and as there the grammar is
authoritative and Lark explains errors.

>>> parse_formula("y[N] = sum[C](x[N C])").statements[0].name
'y'
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.syntax import ast
from nameexpr.syntax.limits import SIZE_DIGITS, check_limits, is_plain
from nameexpr.syntax.parser.expression import (
    Scanner,
    Token,
    name_patterns,
    read_terms,
    read_tokens,
)

DEEPEST = 120
"""The largest depth of nested operators, functions and brackets; Python's recursion limit is well above."""
DEEPEST_POSITION = 20
"""Positions inside each other: each takes several calls of its own."""


def parse_formula(text: str) -> ast.Formula:
    """Return the syntax tree of a formula (docs/formulas.md)."""
    if not is_plain(text):
        from nameexpr.syntax.lexer.names import check_names

        check_limits(text)
        check_names(text, is_formula=True)
    lines = with_semicolons(text)
    statements = read_statements(lines)
    if statements is None:
        from nameexpr.syntax.faults.formula import formula_fault

        check_limits(text)
        raise error(formula_fault(text, lines))
    tree = ast.Formula(tuple(statements), text)
    if len(text) > DEEPEST:
        from nameexpr.syntax.walk import check_depth

        check_depth(tree, DEEPEST)
    return tree


def with_semicolons(text: str) -> str:
    r"""Return the text, of the same length, with one semicolon between every two statements.

    Examples
    --------
    >>> with_semicolons("a = x[i]  # one\n\nb = (a\n+ 1)")
    'a = x[i]       ; b = (a + 1)'
    """
    if "\n" not in text and ";" not in text and "#" not in text:
        return text
    blank = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    first = re.search(r"[^\s;]", blank)
    begin, end, depth = first.start() if first else len(blank), len(blank), 0

    def spaced(match: re.Match[str]) -> str:
        """Replace the ends of statements by spaces, and the first by a semicolon if any is between two."""
        nonlocal depth
        mark = match[0]
        if mark in "()[]":
            depth = depth + 1 if mark in "([" else max(0, depth - 1)
            return mark
        spaces = mark.replace("\n", " ").replace(";", " ")
        if mark[0] == ",":  # another value of the statement follows
            return mark.replace("\n", " ")
        index = mark.find(";") if depth else 0
        if index < 0 or match.start() < begin or match.end() == end:
            return spaces
        return spaces[:index] + ";" + spaces[index + 1 :]

    return re.sub(r"[()\[\]]|(?:,[^\S\n]*)?[;\n][\s;]*", spaced, blank)


_NAME, _WITH_TERM, _CALL, _TARGET, _REAL, _INTEGER, _OPERATOR, _OPEN, _CLOSE, _COMMA, _END = range(1, 12)


@cache
def _scanner(letter: str) -> Scanner:
    name = name_patterns(letter)[1]
    digits = rf"[0-9]{{1,{SIZE_DIGITS}}}"
    exponent = rf"[eE](?:[0-9]+|[+-]{digits})"
    pattern = rf"""
          ({name}|_(?!{letter}|'))\s*(?:\[([^\[\]]*)\]\s*)?(?:(\()|(=)(?!=))?\s*
        | (?:((?:{digits}\.(?:{digits})?|\.{digits}|{digits}(?=[eE]))(?:{exponent})?(?!{letter}|['.]))
            |({digits}(?!{letter}|'))|(==|!=|[<>]=?|\*\*|//|[-+*/%&|~])|(\()|(\))|(,)|(;))\s*
        """
    return re.compile(pattern, re.VERBOSE).scanner  # type: ignore[attr-defined,no-any-return]  # faster


def read_statements(lines: str) -> list[ast.Statement] | None:
    """Read statements between semicolons; None means that the text is wrong."""
    if "@" in lines:
        from nameexpr.syntax.parser.positions import HIDDEN, hidden

        return None if HIDDEN in lines else _OperatorParser(lines).read(hidden(lines), 0)
    return _OperatorParser(lines).read(lines, 0)


def _read_place(original: str, span: Span, depth: int) -> ast.Node | None:
    """Return the value of a position, `depth` of which are around what it holds; None if it is wrong.

    In it a bare name is the index along the label.
    """
    from nameexpr.syntax.parser.positions import hidden

    if depth > DEEPEST_POSITION:
        message = f"positions nest deeper than {DEEPEST_POSITION}"
        hint = "give a part of it a name, in a statement of its own"
        raise error(Diagnostic("NE708", message, original, (Mark(span),), hint=hint))
    lines = hidden(original, *span)[: span.end]
    statements = _OperatorParser(original, depth).read(lines, span.start)
    if statements is None or len(statements) > 1 or statements[0].name is not None:
        return None
    return statements[0].value


class _Name(NamedTuple):
    """A name with the term after it."""

    name: str
    span: Span
    term: ast.Term | None


def _name(token: Token, original: str, depth: int) -> _Name | None:
    """Return a name and its term; None if the term is wrong."""
    name, span = token[_NAME], Span(*token.span(_NAME))
    start, end = token.span(_WITH_TERM)
    if start < 0:
        return _Name(name, span, None)
    terms = read_terms(token.string, start, end, lambda span: _read_place(original, span, depth + 1))
    if terms is None or len(terms[0]) != 1 or terms[1] is not None or terms[2] is not None:
        return None
    return _Name(name, span, terms[0][0])


class _OperatorParser:
    """Operator-precedence parsing, a token at a time: a method returns whether the token is allowed.

    `values`, and `pending` operators between and before them, are those since the innermost open bracket;
    `brackets` are open: their position, the function that is called, and the stacks before them. `target` is
    to the left of "=" in the statement, and `blocks` are its values before a comma. `is_open` means that a
    value must follow. `original` is the text in which nothing is hidden, `depth` counts the positions around.
    """

    def __init__(self, original: str, depth: int = 0) -> None:
        self.original, self.depth = original, depth
        self.blocks: list[ast.Node] = []
        self.statements: list[ast.Statement] = []
        self.values: list[ast.Node] = []
        self.pending: list[tuple[int, Token]] = []
        self.brackets: list[tuple[int, _Name | None, list[ast.Node], list[tuple[int, Token]]]] = []
        self.target: _Name | None = None
        self.is_open = True

    def read(self, lines: str, start: int) -> list[ast.Statement] | None:
        """Read the statements from an index on; None means that the text is wrong."""
        start += len(lines) - start - len(lines[start:].lstrip())
        for token in read_tokens(_scanner, lines + ";", start, len(lines) + 1) or ():
            read = self.operand if self.is_open else self.operator
            if not read(token, token.lastindex or 0):
                return None
        return self.statements or None

    def operand(self, token: Token, kind: int) -> bool:
        """Read a token at the beginning of a value."""
        if kind <= _TARGET:
            name = _name(token, self.original, self.depth)
            return name is not None and self._named(name, token, kind)
        if kind == _OPERATOR:
            self.pending.append((ast.SIGN, token))
            return token[_OPERATOR] in "+-~"
        if kind == _OPEN:
            self._open(token.start(), None)
            return True
        if kind > _INTEGER:
            return False
        number = (int if kind == _INTEGER else float)(token[kind])
        self.values.append(ast.Number(number, Span(*token.span(kind))))
        self.is_open = False
        return True

    def _named(self, name: _Name, token: Token, kind: int) -> bool:
        if kind == _NAME and self.depth and name.name != "_":
            from nameexpr.syntax.parser.positions import index_of

            self.values.append(index_of(name.name, name.span))
            self.is_open = False
            return True
        if kind <= _WITH_TERM:
            end = name.span.end if kind == _NAME else token.end(_WITH_TERM) + 1
            self.values.append(ast.Use(name.name, name.term, Span(name.span.start, end), name.span))
            self.is_open = False
            return True
        if kind == _CALL:
            self._open(name.span.start, name)
            return name.name != "_"
        is_first = not (self.target or self.brackets or self.values or self.pending)
        self.target = name
        return is_first and name.name != "_"

    def _open(self, start: int, name: _Name | None) -> None:
        self.brackets.append((start, name, self.values, self.pending))
        self.values, self.pending = [], []

    def operator(self, token: Token, kind: int) -> bool:
        """Read a token after a value."""
        if kind == _OPERATOR:
            return self._binary(token)
        self._fold(0)
        if kind == _CLOSE and self.brackets:
            self._close(token.end(_CLOSE))
            return True
        self.is_open = True
        if kind == _COMMA and not self.brackets:
            self.blocks += self.values
            self.values = []
            return self.target is not None
        if kind == _COMMA:
            return self.brackets[-1][1] is not None
        if kind != _END or self.brackets:
            return False
        self._end()
        return True

    def _end(self) -> None:
        value, *others = (*self.blocks, *self.values)
        statement = ast.Statement(None, None, value, value.span, value.span)
        if self.target:
            name, at, term = self.target
            span = Span(at.start, self.values[0].span.end)
            statement = ast.Statement(name, term, value, span, at, tuple(others))
        self.statements.append(statement)
        self.values, self.blocks, self.target = [], [], None

    def _binary(self, token: Token) -> bool:
        level = ast.PRECEDENCE.get(token[_OPERATOR])
        if level is None:
            return False
        if level != ast.POWER:  # which associates to the right
            self._fold(max(level, ast.COMPARISON + 1))
        is_chained = level == ast.COMPARISON and bool(self.pending) and self.pending[-1][0] == ast.COMPARISON
        self.pending.append((level, token))
        self.is_open = True
        return not is_chained

    def _fold(self, level: int) -> None:
        """Apply the pending operators of at least this precedence."""
        values, pending = self.values, self.pending
        while pending and pending[-1][0] >= level:
            kind, token = pending.pop()
            operator, right = Span(*token.span(_OPERATOR)), values.pop()
            if kind == ast.SIGN:
                node: ast.Node = ast.Unary(token[_OPERATOR], right, Span(operator.start, right.span.end))
            else:
                left = values.pop()
                span = Span(left.span.start, right.span.end)
                node = ast.Binary(token[_OPERATOR], left, right, span, operator)
            values.append(node)

    def _close(self, end: int) -> None:
        """Replace the arguments by their call; a value in brackets gets their span."""
        inside = self.values
        start, name, self.values, self.pending = self.brackets.pop()
        span = Span(start, end)
        if name is None:
            object.__setattr__(inside[0], "span", span)  # the node is not shared yet
            self.values += inside
        elif name.term is None:
            self.values.append(ast.Call(name.name, tuple(inside), span, name.span))
        else:
            self.values.append(ast.CallAlong(name.name, name.term, tuple(inside), span, name.span))
