"""From syntax trees to texts: the canonical spelling, with `parse(unparse(tree)) == tree`, also for formulas.

>>> from nameexpr.syntax.parser.expression import parse
>>> from nameexpr.syntax.unparse import unparse
>>> unparse(parse("N  (C  H=2),C->N   H:sum"))
'N (C H=2), C -> N H : sum'
>>> from nameexpr.syntax.parser.formula import parse_formula
>>> print(unparse_formula(parse_formula("y[N]=sum[ C ]( (x[N C])*(w) )+1")))
y[N] = sum[C](x[N C] * w) + 1
"""

from __future__ import annotations

import sys

from nameexpr.syntax import ast

_ATOM = 8
_LARGEST = sys.float_info.max


def unparse(tree: ast.Expression) -> str:
    """Return the expression in its canonical spelling: one space between items, none inside brackets."""
    parts = [_terms(tree.inputs)]
    if tree.outputs is not None:
        parts += ["->", _terms(tree.outputs)]
    if tree.reducer is not None:
        parts += [":", tree.reducer.name]
    return " ".join(part for part in parts if part)


def _terms(terms: tuple[ast.Term, ...]) -> str:
    return ", ".join(map(unparse_term, terms)).strip()


def unparse_term(term: ast.Term) -> str:
    """One term in its canonical spelling."""
    return " ".join(map(unparse_item, term.items))


def unparse_item(item: ast.Item) -> str:
    """One item in its canonical spelling."""
    match item:
        case ast.Label(name):
            return name
        case ast.Sized(name, size):
            return f"{name}={size}"
        case ast.Alias(dim, name):
            return f"{dim}={name}"
        case ast.Literal(size):
            return str(size)
        case ast.Anonymous():
            return "_"
        case ast.Dots():
            return "..."
        case ast.Pack(name):
            return f"{name}..."
        case ast.Group(items):
            return f"({' '.join(map(unparse_item, items))})"
        case ast.NamedGroup(dim, group):
            return f"{dim}={unparse_item(group)}"


def unparse_formula(tree: ast.Formula) -> str:
    """Return a formula in its canonical spelling, one statement a line."""
    return "\n".join(map(unparse_statement, tree.statements))


def unparse_statement(statement: ast.Statement) -> str:
    """One statement in its canonical spelling."""
    value = unparse_value(statement.value)
    if statement.name is None:
        return value
    return f"{statement.name}{_bracket(statement.term)} = {value}"


def unparse_value(node: ast.Node) -> str:
    """Return a value in its canonical spelling, with only the necessary brackets."""
    match node:
        case ast.Number(value):
            return repr(value) if value <= _LARGEST else "1e999"  # `inf` would be a name
        case ast.Use(name, term):
            return name + _bracket(term)
        case ast.Call(function, arguments):
            return f"{function}({', '.join(map(unparse_value, arguments))})"
        case ast.CallAlong(function, term, arguments):
            return f"{function}{_bracket(term)}({', '.join(map(unparse_value, arguments))})"
        case ast.Unary(sign, value):
            return sign + _within(value, ast.SIGN)
        case ast.Binary(sign, left, right):
            level = ast.PRECEDENCE[sign]
            if sign == "**":  # binds tighter than a sign to its left, not to its right
                return f"{_within(left, _ATOM)} ** {_within(right, ast.SIGN)}"
            side = level + 1 if level == ast.COMPARISON else level
            return f"{_within(left, side)} {sign} {_within(right, level + 1)}"


def _level(node: ast.Node) -> int:
    if isinstance(node, ast.Binary):
        return ast.PRECEDENCE[node.operator]
    return ast.SIGN if isinstance(node, ast.Unary) else _ATOM


def _within(node: ast.Node, least: int) -> str:
    text = unparse_value(node)
    return text if _level(node) >= least else f"({text})"


def _bracket(term: ast.Term | None) -> str:
    return "" if term is None else f"[{unparse_term(term)}]"
