"""Syntax of products and sums, with signs and sizes where one would write them.

`x * (2 / size[N])` is written `x * 2 / size[N]`, `a + -b` is `a - b`; only numbers and sizes change places.
"""

from __future__ import annotations

from math import isinf, isnan

from nameexpr.ops import SIZE
from nameexpr.syntax import ast

LARGEST_WHOLE = 2**53
"""Up to here floats are written without their fraction of 0."""


def number(value: int | float | complex, *, is_whole: bool = False) -> ast.Node | None:
    """Return a number as syntax, without a fraction of 0 if `is_whole`; None for a complex number."""
    if isinstance(value, bool):
        return ast.Binary("==", ast.Number(1), ast.Number(int(value)))
    if isinstance(value, complex):
        return None
    if isnan(value):
        return ast.Use("nan", None)
    if str(value).startswith("-"):
        inner = number(-value, is_whole=is_whole)
        return None if inner is None else ast.Unary("-", inner)
    if isinf(value):
        return ast.Use("inf", None)
    is_whole = is_whole and value == int(value) and value < LARGEST_WHOLE
    return ast.Number(int(value) if is_whole else value)


def product(left: ast.Node, right: ast.Node) -> ast.Node:
    """Return the product of two values; sizes that divide one of them divide the product."""
    for one, other in ((left, right), (right, left)):
        match one:
            case ast.Binary("/", over, under) if is_sizes(under):
                if over == ast.Number(1):
                    return quotient(other, under)
                return quotient(product(left, over) if one is right else product(over, right), under)
    is_number = isinstance(right, ast.Unary) and isinstance(right.value, ast.Number)
    is_chain = isinstance(left, ast.Binary) and left.operator in {"*", "/"}
    return ast.Binary("*", right, left) if is_number and not is_chain else ast.Binary("*", left, right)


def quotient(left: ast.Node, right: ast.Node) -> ast.Node:
    """Return the quotient of two values."""
    return ast.Binary("/", left, right)


def added(left: ast.Node, right: ast.Node) -> ast.Node:
    """Return the sum of two values."""
    if left == ast.Number(0):
        return right
    if is_negative(right):
        return ast.Binary("-", left, negated(right))
    if is_negative(left):
        return subtracted(right, negated(left))
    return ast.Binary("+", left, right)


def subtracted(left: ast.Node, right: ast.Node) -> ast.Node:
    """Return the difference of two values."""
    return ast.Binary("+", left, negated(right)) if is_negative(right) else ast.Binary("-", left, right)


def negated(value: ast.Node) -> ast.Node:
    """Return a value with the other sign: that of the first factor of a product, which must be signed."""
    match value:
        case ast.Unary("-", inner):
            return inner
        case ast.Binary("*" | "/" as sign, left, right):
            return ast.Binary(sign, negated(left), right)
        case ast.Binary("-", left, right):
            return subtracted(right, left)
    return ast.Unary("-", value)


def is_negative(value: ast.Node) -> bool:
    """Return whether a value is written with a minus before its first factor."""
    while isinstance(value, ast.Binary) and value.operator in {"*", "/"}:
        value = value.left
    return isinstance(value, ast.Unary) and value.operator == "-"


def is_sizes(value: ast.Node) -> bool:
    """Return whether a value is a product of sizes."""
    match value:
        case ast.Use(name):
            return name == SIZE
        case ast.Binary("*", left, right):
            return is_sizes(left) and is_sizes(right)
    return False
