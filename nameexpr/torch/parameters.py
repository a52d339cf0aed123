"""The parameters of a layer: which operands of its text they are, their shapes, and their first values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch

from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean, error
from nameexpr.records import record
from nameexpr.syntax.ast import LABELLED, At, Item, Literal, Sized, Term
from nameexpr.syntax.items import group_of, parts_of
from nameexpr.syntax.walk import atoms


@record
class OperandRole:
    """What an operand of the text of a layer is. `name` is None for an operand of an expression; `term` are
    its dims, none for a number; it is summed over the labels in `summed`. `is_added` means that it is only
    added to other values.
    """

    name: str | None
    position: int
    term: Term
    summed: frozenset[str]
    is_added: bool = False


@record
class ParameterSpec:
    """A parameter: its name, its shape, and how many elements a sum over it has; `is_table` means that it is
    read at positions.
    """

    name: str
    position: int
    shape: tuple[int, ...]
    summed: int
    is_table: bool
    is_added: bool


def parameters_of(
    text: str,
    roles: Sequence[OperandRole],
    sizes: Mapping[str, int],
    requested: Mapping[str, int] | None,
) -> tuple[ParameterSpec, ...]:
    """Return the parameters among operands: those requested by name and position, or else those with sizes
    for all of their dims (NE691 for a name or a size that is missing).
    """
    if requested is None:
        requested = _names([role for role in roles if role.term.items and _is_known(role.term, sizes)])
    found = []
    for name, position in requested.items():
        role = roles[position]
        shape = tuple([_size(text, name, item, sizes) for item in role.term.items])
        labels = {atom.name for atom in atoms(role.term.items) if isinstance(atom, LABELLED)} & role.summed
        count = prod([sizes[label] for label in labels & sizes.keys()]) if labels else 0
        is_table = any(isinstance(item, At) for item in role.term.items)
        found.append(ParameterSpec(name, position, shape, count, is_table, role.is_added))
    return tuple(found)


def _names(roles: Sequence[OperandRole]) -> dict[str, int]:
    """Return the names of parameters: those of a formula's operands, "weight" or numbered ones in others."""
    if len(roles) == 1 and roles[0].name is None:
        return {"weight": roles[0].position}
    return {role.name or f"weight{role.position}": role.position for role in roles}


def _is_known(term: Term, sizes: Mapping[str, int]) -> bool:
    return all(
        atom.name in sizes or isinstance(atom, Sized)
        if isinstance(atom, LABELLED)
        else isinstance(atom, Literal)
        for atom in atoms(term.items)
    )


def _size(text: str, name: str, item: Item, sizes: Mapping[str, int]) -> int:
    """Return the size of a dim of a parameter (NE691 if it is not given)."""
    group, parts = group_of(item), parts_of(item)
    if group is not None:
        return prod([_size(text, name, one, sizes) for one in group.items])
    if parts is not None:
        return sum([_size(text, name, part, sizes) for part in parts.parts])
    if isinstance(item, At):
        return _size(text, name, item.base, sizes)
    if isinstance(item, Literal | Sized):
        return item.size
    if isinstance(item, LABELLED) and item.name in sizes:
        return sizes[item.name]
    if isinstance(item, LABELLED):
        message, hint = f"the size of '{item.name}' is not known", f"pass it as a keyword: {item.name}=..."
    else:
        message, hint = "this dim has no label", "write a label, and pass its size as a keyword"
    raise fault(text, f"'{name}' is a parameter, and {message}", hint, item.span)


def fault(text: str, message: str, hint: str, *spans: Span) -> NameExprError:
    """Return NE691: a layer cannot be made from this text."""
    return error(Diagnostic("NE691", message, text, tuple(map(Mark, spans)), hint=hint))


def unknown(text: str, name: str, known: Sequence[str]) -> NameExprError:
    """Return NE691 for a parameter that is not an operand."""
    listed = f"the operands are {', '.join(known)}" if known else "the text has no operands"
    return fault(
        text, f"parameters= names '{name}', which is not an operand", did_you_mean(name, known) or listed
    )


@torch.no_grad()
def initialise(spec: ParameterSpec, parameter: Any) -> None:
    """Give a parameter its first values, as the modules of PyTorch do.

    A weight that is summed over is uniform, within one over the square root of the number of elements that a
    sum has (`torch.nn.Linear`); a table that is read at positions is normal (`torch.nn.Embedding`); what is
    added is 0, and all others are 1 (`torch.nn.LayerNorm`).
    """
    if spec.is_table:
        torch.nn.init.normal_(parameter)
    elif spec.summed:
        bound = max(1, spec.summed) ** -0.5
        torch.nn.init.uniform_(parameter, -bound, bound)
    else:
        torch.nn.init.constant_(parameter, 0.0 if spec.is_added else 1.0)
