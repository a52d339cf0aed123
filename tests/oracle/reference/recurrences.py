"""Recurrences in the formula reference: which statements are one, and what a step may read.

A statement that reads itself, or neighbours that read each other, are computed step by step: for each index
of the step's label each statement in the order written, a row at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oracle.reference.affine import affine, is_at
from oracle.reference.statements import Along, Statement, Use
from oracle.reference.text import Item, Label, Parts, Refused
from oracle.reference.walks import nodes_of, walk

Group = list[Statement]


@dataclass(frozen=True)
class Step:
    """How a statement goes on: the label of the steps, the dim it is in, and the parts before it."""

    label: str
    dim: int
    start: Parts | None


def groups_of(statements: Sequence[Statement]) -> list[Group]:
    """The statements in runs: one that reads neither itself nor a later one is alone."""
    numbers = {statement.name: at for at, statement in enumerate(statements)}
    groups: list[Group] = []
    at = 0
    while at < len(statements):
        end = at
        for _ in statements:
            uses = [node for node in nodes_of(statements[at : end + 1]) if isinstance(node, Use)]
            end = max([end, *(numbers.get(use.name, -1) for use in uses)])
        groups.append(list(statements[at : end + 1]))
        at = end + 1
    return groups


def reads_itself(group: Group) -> bool:
    """Whether the statements are a recurrence, or mean to be one."""
    names = {statement.name for statement in group}
    return any(isinstance(node, Use) and node.name in names for node in nodes_of(group))


def steps_of(group: Group) -> list[Step]:
    """How each statement goes on, all along one label."""
    found = [start_of(statement) for statement in group]
    labels = {step.label for step in found if step is not None}
    if len(labels) != 1:
        raise Refused("NE243" if group[0].term is not None else "name", "no start, or steps along two labels")
    (label,) = labels
    steps = []
    for statement, step in zip(group, found, strict=True):
        places = [at for at, item in enumerate(statement.term or ()) if item == Label(label)]
        if step is None and not places:
            raise Refused("NE243", f"{statement.name} does not go along {label}")
        steps.append(step or Step(label, places[0], None))
    return steps


def start_of(statement: Statement) -> Step | None:
    """The only dim with parts, the last of which is the step's label."""
    parted = [(at, item) for at, item in enumerate(statement.term or ()) if isinstance(item, Parts)]
    if len(parted) != 1:
        return None
    ((dim, item),) = parted
    last = item.parts[-1]
    if len(last) != 1 or not isinstance(last[0], Label):
        return None
    return Step(last[0].name, dim, Parts(item.parts[:-1]))


def refuse_bare_uses(group: Group) -> None:
    """A statement of a recurrence is read with its dims."""
    names = {statement.name for statement in group}
    for node in nodes_of(group):
        if isinstance(node, Use) and node.name in names and node.term is None:
            raise Refused("term", f"{node.name} without its dims")


def refuse_bad_reads(
    group: Group, steps: Sequence[Step], offsets: Sequence[int], sizes: dict[str, int]
) -> None:
    """No step reads a row that is not computed yet, or one before the start; none needs all steps."""
    names = [statement.name for statement in group]
    for number, (statement, step) in enumerate(zip(group, steps, strict=True)):
        for node in walk(statement.values[-1]):
            if isinstance(node, Along) and Label(step.label) in node.dims:
                raise Refused("NE244", f"{node.name} along {step.label}")
        for use in (node for node in nodes_of([statement]) if isinstance(node, Use) and node.name in names):
            at = names.index(use.name)
            assert use.term is not None
            item = use.term[steps[at].dim]
            back = reached(item, step.label, sizes)
            latest = offsets[at] - (at >= number)
            if back is None or not 0 <= back <= latest:
                raise Refused("NE242", f"{use.name} at {back} of {latest}")


def reached(item: Item, label: str, sizes: dict[str, int]) -> int | None:
    """The c of ``_@(T + c)``; None if the row is another one."""
    if item == Label(label):
        return 0
    place = affine(item.place, sizes) if is_at(item) else None
    return None if place is None or place.strides != ((1, label),) else place.number
