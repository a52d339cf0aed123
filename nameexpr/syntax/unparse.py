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

from nameexpr.syntax import ast, walk

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
        case ast.Parts(parts):
            return f"({' + '.join(' '.join(map(unparse_item, part.items)) for part in parts)})"
        case ast.NamedGroup(dim, group):
            return f"{dim}={unparse_item(group)}"
        case ast.At(base, place):
            return f"{unparse_item(base)}@{_place(place)}"


def unparse_place(place: ast.Node) -> str:
    """Return the value of a position in its canonical spelling; the index along a label is the bare label."""
    return unparse_value(place, in_place=True)


def _place(place: ast.Node) -> str:
    text = unparse_place(place)
    is_plain = isinstance(place, ast.Number) or walk.is_bare_label(place)
    return text if is_plain or (isinstance(place, ast.Use) and place.term is not None) else f"({text})"


def unparse_formula(tree: ast.Formula) -> str:
    """Return a formula in its canonical spelling, one statement a line."""
    return "\n".join(map(unparse_statement, tree.statements))


def unparse_statement(statement: ast.Statement) -> str:
    """One statement in its canonical spelling."""
    value = ", ".join(map(unparse_value, statement.values))
    if statement.name is None:
        return value
    return f"{statement.name}{_bracket(statement.term)} = {value}"


def unparse_value(node: ast.Node, *, in_place: bool = False) -> str:
    """Return a value in its canonical spelling, with only the necessary brackets."""

    def text(inner: ast.Node) -> str:
        return unparse_value(inner, in_place=in_place)

    def within(inner: ast.Node, least: int) -> str:
        return text(inner) if _level(inner) >= least else f"({text(inner)})"

    match node:
        case ast.Number(value):
            return repr(value) if value <= _LARGEST else "1e999"  # `inf` would be a name
        case ast.Use(name, term):
            is_bare = in_place and walk.is_bare_label(node)
            return unparse_item(term.items[0]) if is_bare and term is not None else name + _bracket(term)
        case ast.Call(function, arguments):
            return f"{function}({', '.join(map(text, arguments))})"
        case ast.CallAlong(function, term, arguments):
            return f"{function}{_bracket(term)}({', '.join(map(text, arguments))})"
        case ast.Unary(sign, value):
            return sign + within(value, ast.SIGN)
        case ast.Binary(sign, left, right):
            level = ast.PRECEDENCE[sign]
            if sign == "**":  # binds tighter than a sign to its left, not to its right
                return f"{within(left, _ATOM)} ** {within(right, ast.SIGN)}"
            side = level + 1 if level == ast.COMPARISON else level
            return f"{within(left, side)} {sign} {within(right, level + 1)}"


def _level(node: ast.Node) -> int:
    if isinstance(node, ast.Binary):
        return ast.PRECEDENCE[node.operator]
    return ast.SIGN if isinstance(node, ast.Unary) else _ATOM


def _bracket(term: ast.Term | None) -> str:
    return "" if term is None else f"[{unparse_term(term)}]"
