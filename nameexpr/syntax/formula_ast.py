"""The syntax tree of a formula: statements over numbers, uses of operands, operators and functions.

    formula    : statement (";" statement)*                   Formula
    statement  : [NAME ["[" term "]"] "="] expression         Statement
    expression : number                                       Number
               | (NAME | "_") ["[" term "]"]                  Use
               | operator expression                          Unary
               | expression operator expression               Binary
               | NAME "(" expression ("," expression)* ")"    Call
               | NAME "[" term "]" "(" expression ")"         Along

Terms are those of expressions (`nameexpr.syntax.ast`). Spans do not count when nodes are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nameexpr.errors import Span
from nameexpr.syntax.ast import Term

_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Number:
    """`2`, `0.5`, `1e-3`: a number, which is weak in promotion as Python's are."""

    value: int | float
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Use:
    """`x[N C]` or `x`: an operand, an earlier statement, a constant; `size[N]` and `index[N]` too."""

    name: str
    term: Term | None
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x`, `~x`."""

    operator: str
    value: Node
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`x + y` and the like, comparisons among them; dims broadcast by name."""

    operator: str
    left: Node
    right: Node
    span: Span = field(default=_NOWHERE, compare=False)
    operator_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`sqrt(x)`, `where(c, x, y)`: a pointwise function."""

    function: str
    arguments: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Along:
    """`sum[C](x)`, `softmax[K](x)`: a reduction, which binds its dims, or a function along dims."""

    function: str
    term: Term
    arguments: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


COMPARISON, SIGN, POWER = 1, 6, 7
PRECEDENCE = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), COMPARISON),
    "|": 2,
    "&": 3,
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "//", "%"), 5),
    "**": POWER,
}
"""How tightly operators between two values bind, as in Python; a sign before one, SIGN."""

Node = Number | Use | Unary | Binary | Call | Along


@dataclass(frozen=True, slots=True)
class Statement:
    """`y[N K] = ...`: a name for a value, and the order of its dims where a term is written.

    The last statement may go without a name: its value is that of the formula.
    """

    name: str | None
    term: Term | None
    value: Node
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Formula:
    """A whole formula with its text."""

    statements: tuple[Statement, ...]
    text: str = field(default="", compare=False)


LEAVES = (Number, Use)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below a node."""
    match node:
        case Unary(_, value):
            return (value,)
        case Binary(_, left, right):
            return (left, right)
        case Call(_, arguments) | Along(_, _, arguments):
            return arguments
        case _:
            return ()


def nodes(tree: Node) -> Iterator[Node]:
    """Yield all nodes of an expression, from left to right, parents before their children."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, LEAVES):
            stack.extend(reversed(children(node)))
