"""What the compiler knows of an operand, its shape and its names, and how a diagnostic shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameexpr.compiler.ir.axes import Names
from nameexpr.errors import OperandInfo
from nameexpr.syntax.ast import (
    LABELLED,
    STRETCHED,
    Alias,
    Dots,
    Item,
    Label,
    Literal,
    NamedGroup,
    Pack,
    Sized,
    Term,
    atoms,
)
from nameexpr.syntax.unparse import unparse_item


@dataclass(frozen=True, slots=True)
class Operand:
    """The shape of one operand; `names` is None for a plain array."""

    shape: tuple[int, ...]
    names: Names | None = None


def stretch(term: Term, ndim: int) -> list[tuple[Item, int]]:
    """Return the item of each dim of an operand with `ndim` dims, with its number inside a pack or ellipsis,
    else 0.

    The term must fit: exactly `ndim` items, or at least one pack or ellipsis and no more other items than
    dims.
    """
    spare = ndim - (len(term.items) - 1)
    dims: list[tuple[Item, int]] = []
    for item in term.items:
        if isinstance(item, STRETCHED):
            dims += [(item, number) for number in numbers(item, spare)]
        else:
            dims.append((item, 0))
    return dims


def numbers(item: Dots | Pack, count: int) -> range:
    """Return the numbers of the dims of a pack, from the left, or of an ellipsis, from the right: that is how
    each is aligned.
    """
    return range(count, 0, -1) if isinstance(item, Dots) else range(1, count + 1)


def fits(term: Term, ndim: int) -> bool:
    """Whether an operand with this number of dims can have this term."""
    if any(isinstance(item, STRETCHED) for item in term.items):
        return ndim >= len(term.items) - 1
    return ndim == len(term.items)


def describe(terms: Sequence[Term], operands: Sequence[Operand]) -> tuple[OperandInfo, ...]:
    """Return every operand with its dims labelled as far as the terms fit."""
    infos = []
    for position, operand in enumerate(operands):
        term = terms[position] if position < len(terms) else None
        labels: tuple[str, ...] = ()
        if term is not None and fits(term, len(operand.shape)):
            dims = stretch(term, len(operand.shape))
            labels = tuple(
                _with_size(item, size) for (item, _), size in zip(dims, operand.shape, strict=True)
            )
        infos.append(OperandInfo(position, operand.shape, operand.names, labels))
    return tuple(infos)


def _with_size(item: Item, size: int) -> str:
    match item:
        case Literal(written):
            return f"{written}={size}" if written != size else str(size)
        case Label(name) | Sized(name, _) | Alias(_, name) | NamedGroup(name, _):
            return f"{name}={size}"
        case _:
            return f"{unparse_item(item)}={size}"


def places(terms: Sequence[Term], name: str) -> list[tuple[int, Item]]:
    """Return every place where the label stands, as (position of the term, item)."""
    return [
        (position, atom)
        for position, term in enumerate(terms)
        for atom in atoms(term.items)
        if isinstance(atom, LABELLED) and atom.name == name
    ]
