"""The syntax trees of expressions and formulas: one frozen node class per rule of the grammars, each with its
span in the text.

Spans are ignored in comparisons: `parse(unparse(tree)) == tree`. The grammars, with their nodes:

    expression : terms ["->" terms] [":" NAME]    Expression
    term       : item*                            Term
    item       : NAME                             Label
               | NAME "=" INT                     Sized
               | NAME "=" NAME                    Alias
               | NAME "=" group                   NamedGroup
               | INT                              Literal
               | "_" | "..." | NAME "..."         Anonymous, Dots, Pack
               | "(" item* ")"                    Group
               | "(" item+ ("+" item+)+ ")"       Parts
               | item "@" place                   At
    place      : INT | NAME | NAME "[" term "]" | "(" value ")"

    formula    : statement (";" statement)*                   Formula
    statement  : [NAME ["[" term "]"] "="] value              Statement
               | NAME "[" term "]" "=" value ("," value)+     Statement
    value      : number                                       Number
               | (NAME | "_") ["[" term "]"]                  Use
               | operator value                               Unary
               | value operator value                         Binary
               | NAME "(" value ("," value)* ")"              Call
               | NAME "[" term "]" "(" value ("," value)* ")" CallAlong
"""

from __future__ import annotations

from typing import TypeVar

from nameexpr.errors import Span
from nameexpr.records import field, record

_NOWHERE = Span(0, 0)


@record
class Label:
    """`C`: the dim labelled C."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Sized:
    """`C=3`: the dim labelled C, whose size is 3."""

    name: str
    size: int
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Alias:
    """`batch=N`: a dim named batch in the tensor, and N in the expression."""

    dim: str
    name: str
    span: Span = field(default=_NOWHERE, compare=False)
    dim_span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@record
class Literal:
    """`3`: a dim of exactly this size, without a label."""

    size: int
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Anonymous:
    """`_`: a dim of any name and size."""

    span: Span = field(default=_NOWHERE, compare=False)


@record
class Dots:
    """`...`: any number of dims, aligned from the right and broadcast."""

    span: Span = field(default=_NOWHERE, compare=False)
    word = "..."


@record
class Pack:
    """`batch...`: any number of dims, the same wherever this pack appears."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)

    @property
    def word(self) -> str:
        """The item as it is written."""
        return f"{self.name}..."


@record
class Group:
    """`(h w)`: one dim that is the row-major product of its items."""

    items: tuple[Item, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Parts:
    """`(a + b)`: one dim that is a, followed by b."""

    parts: tuple[Group, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@record
class NamedGroup:
    """`features=(C H W)`: the dim named features, which is a product, or consists of parts."""

    dim: str
    group: Group | Parts
    span: Span = field(default=_NOWHERE, compare=False)
    dim_span: Span = field(default=_NOWHERE, compare=False)


@record
class At:
    """`H@(h+dh)`: the dim H, read at positions; a bare name in `place` is the index along a label."""

    base: Item
    place: Node
    span: Span = field(default=_NOWHERE, compare=False)


Item = Label | Sized | Alias | Literal | Anonymous | Dots | Pack | Group | Parts | NamedGroup | At
Atom = Label | Sized | Alias | Literal | Anonymous | Dots | Pack
AnyAtom = TypeVar("AnyAtom", bound=Atom)
Labelled = Label | Sized | Alias
LABELLED: tuple[type[Labelled], ...] = (Label, Sized, Alias)
"""Items with a label. Tuples, since `isinstance` is slow with a union that is created on the fly."""
ATOMS: tuple[type[Atom], ...] = (Label, Sized, Alias, Literal, Anonymous, Dots, Pack)
STRETCHED: tuple[type[Dots | Pack], ...] = (Dots, Pack)
"""Items that stand for any number of dims."""


@record
class Term:
    """The dims of one operand, or of the result."""

    items: tuple[Item, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Reducer:
    """`: mean`: how dropped dims are combined."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Expression:
    """A whole text; `outputs` is None without an arrow, and has one term if the text passes the checks."""

    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...] | None
    reducer: Reducer | None
    text: str = field(default="", compare=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, inputs first."""
        return (*self.inputs, *(self.outputs or ()))

    @property
    def leaves_inputs_out(self) -> bool:
        """Whether nothing is left of the arrow, so that the names of operands are their terms."""
        return self.outputs is not None and len(self.inputs) == 1 and not self.inputs[0].items


@record
class Number:
    """`2`, `0.5`, `1e-3`: a number, which is weak in promotion like Python scalars."""

    value: int | float
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Use:
    """`x[N C]` or `x`: an operand, an earlier statement, a constant; also `size[N]` and `index[N]`."""

    name: str
    term: Term | None
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@record
class Unary:
    """`-x`, `+x`, `~x`."""

    operator: str
    value: Node
    span: Span = field(default=_NOWHERE, compare=False)


@record
class Binary:
    """`x + y` and the like, including comparisons; dims broadcast by name."""

    operator: str
    left: Node
    right: Node
    span: Span = field(default=_NOWHERE, compare=False)
    operator_span: Span = field(default=_NOWHERE, compare=False)


@record
class Call:
    """`sqrt(x)`, `where(c, x, y)`: a pointwise function."""

    function: str
    arguments: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@record
class CallAlong:
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
"""The precedence of binary operators, as in Python; SIGN is that of a sign."""

Node = Number | Use | Unary | Binary | Call | CallAlong


@record
class Statement:
    """`y[N K] = ...`: a name for a value, and the order of its dims where a term is written.

    `others` are the values after the first, of a result that consists of parts.
    """

    name: str | None
    term: Term | None
    value: Node
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)
    others: tuple[Node, ...] = ()

    @property
    def values(self) -> tuple[Node, ...]:
        """The values: one for each block of a result that consists of parts."""
        return (self.value, *self.others)


@record
class Formula:
    """A whole formula with its text."""

    statements: tuple[Statement, ...]
    text: str = field(default="", compare=False)
