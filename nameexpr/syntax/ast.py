"""The syntax tree of an expression: one frozen node class per rule of the grammar, each with the span it was
read from.

Spans do not count when nodes are compared, so that `parse(unparse(tree)) == tree`. The grammar, with the node
each item makes:

    expression : terms ["->" terms] [":" NAME]    Expression
    term       : item*                            Term
    item       : NAME                             Label
               | NAME "=" INT                     Sized
               | NAME "=" NAME                    Alias
               | NAME "=" group                   NamedGroup
               | INT                              Literal
               | "_" | "..." | NAME "..."         Anonymous, Dots, Pack
               | "(" item* ")"                    Group
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nameexpr.errors import Span

_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Label:
    """`C`: the dim labelled C."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Sized:
    """`C=3`: the dim labelled C, whose size is 3."""

    name: str
    size: int
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """`batch=N`: the tensor calls this dim batch, the expression calls it N."""

    dim: str
    name: str
    span: Span = field(default=_NOWHERE, compare=False)
    dim_span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """`3`: a dim of exactly this size, without a label."""

    size: int
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Anonymous:
    """`_`: a dim of any name and size."""

    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Dots:
    """`...`: any number of dims, aligned from the right and broadcast."""

    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Pack:
    """`batch...`: any number of dims, the same wherever this pack appears."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """`(h w)`: one dim that is the row-major product of its items."""

    items: tuple[Item, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NamedGroup:
    """`features=(C H W)`: the dim named features, which is a product."""

    dim: str
    group: Group
    span: Span = field(default=_NOWHERE, compare=False)
    dim_span: Span = field(default=_NOWHERE, compare=False)


Item = Label | Sized | Alias | Literal | Anonymous | Dots | Pack | Group | NamedGroup
Atom = Label | Sized | Alias | Literal | Anonymous | Dots | Pack
LABELLED = (Label, Sized, Alias)
"""What has a label. Tuples, since `isinstance` is slow with a union that is made on the spot."""
STRETCHED = (Dots, Pack)
"""What stands for any number of dims."""


@dataclass(frozen=True, slots=True)
class Term:
    """The dims of one operand, or of the result."""

    items: tuple[Item, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Reducer:
    """`: mean`: how what is dropped is combined."""

    name: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Expression:
    """A whole text. `outputs` is None for an assertion (no arrow); the checker wants exactly one output
    term.
    """

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
        """Whether nothing stands left of the arrow, so that named operands bring their own terms."""
        return self.outputs is not None and len(self.inputs) == 1 and not self.inputs[0].items


def atoms(items: tuple[Item, ...]) -> Iterator[Atom]:
    """Yield the items that hold no others, left to right, inside groups too."""
    for item in items:
        match item:
            case Group(inner):
                yield from atoms(inner)
            case NamedGroup(_, group):
                yield from atoms(group.items)
            case _:
                yield item
