"""Formula to text: the canonical spelling, with `parse_formula(unparse_formula(tree)) == tree`.

>>> from nameexpr.syntax.parser.formula import parse_formula
>>> print(unparse_formula(parse_formula("y[N]=sum[ C ]( (x[N C])*(w) )+1")))
y[N] = sum[C](x[N C] * w) + 1
"""

from __future__ import annotations

import sys

from nameexpr.syntax.ast import Term
from nameexpr.syntax.formula_ast import (
    COMPARISON,
    PRECEDENCE,
    SIGN,
    Along,
    Binary,
    Call,
    Formula,
    Node,
    Number,
    Statement,
    Unary,
    Use,
)
from nameexpr.syntax.unparse import unparse_term

_ATOM = 8
_LARGEST = sys.float_info.max


def unparse_formula(tree: Formula) -> str:
    """Return a formula in its canonical spelling, one statement a line."""
    return "\n".join(map(unparse_statement, tree.statements))


def unparse_statement(statement: Statement) -> str:
    """Return one statement in its canonical spelling."""
    value = unparse_value(statement.value)
    if statement.name is None:
        return value
    return f"{statement.name}{_bracket(statement.term)} = {value}"


def unparse_value(node: Node) -> str:
    """Return an expression in its canonical spelling, with no more brackets than it needs."""
    match node:
        case Number(value):
            return repr(value) if value <= _LARGEST else "1e999"  # `inf` would be a name
        case Use(name, term):
            return name + _bracket(term)
        case Call(function, arguments):
            return f"{function}({', '.join(map(unparse_value, arguments))})"
        case Along(function, term, arguments):
            return f"{function}{_bracket(term)}({', '.join(map(unparse_value, arguments))})"
        case Unary(sign, value):
            return sign + _within(value, SIGN)
        case Binary(sign, left, right):
            level = PRECEDENCE[sign]
            if sign == "**":  # binds tighter than a sign to its left, not to its right
                return f"{_within(left, _ATOM)} ** {_within(right, SIGN)}"
            side = level + 1 if level == COMPARISON else level
            return f"{_within(left, side)} {sign} {_within(right, level + 1)}"


def _level(node: Node) -> int:
    if isinstance(node, Binary):
        return PRECEDENCE[node.operator]
    return SIGN if isinstance(node, Unary) else _ATOM


def _within(node: Node, least: int) -> str:
    text = unparse_value(node)
    return text if _level(node) >= least else f"({text})"


def _bracket(term: Term | None) -> str:
    return "" if term is None else f"[{unparse_term(term)}]"
