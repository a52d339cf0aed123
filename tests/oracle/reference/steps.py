"""Recurrences in the formula reference: the rows of the statements, one step after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oracle.reference.gather import cells, ranges, write
from oracle.reference.place import Placed, name_of
from oracle.reference.recurrences import Group, Step, refuse_bad_reads, refuse_bare_uses, steps_of
from oracle.reference.rules import labels_of
from oracle.reference.scope import Held
from oracle.reference.sizes import size_of
from oracle.reference.statements import Statement
from oracle.reference.text import Group as Product
from oracle.reference.text import Label, Pack, Parts, Refused, Term
from oracle.reference.values import Value, inexact
from oracle.reference.walks import nodes_of

if TYPE_CHECKING:
    from oracle.reference.run import Run

ROUNDS = 8


@dataclass
class Rows:
    """A statement of a recurrence: its rows so far, and what comes before the first step."""

    statement: Statement
    term: Term
    step: Step
    shape: list[int]
    offset: int
    starts: list[tuple[int, Value]]
    dtype: Any
    array: Any = None
    error: Any = None


def run_group(run: Run, group: Group) -> None:
    """Evaluate the statements of a recurrence, and keep their values."""
    steps = steps_of(group)
    sizes = run.scope.sizes
    refuse_bare_uses(group)
    for statement in group:
        run.refuse_bad_left(statement, [unit for value in statement.values for unit in run.mentions(value)])
    for label in (label for statement in group for label in labels_of(statement.term or ())):
        run.scope.size(label)
    run.see(nodes_of(group))
    rows = [rows_of(run, *pair) for pair in zip(group, steps, strict=True)]
    for row in rows:
        keep(run, row, np.dtype(float))
    run.see(nodes_of(group))
    refuse_bad_reads(group, steps, [row.offset for row in rows], sizes)
    label = steps[0].label
    settle_dtypes(run, rows, label)
    for row in rows:
        keep(run, row, row.dtype)
        for part, value in row.starts:
            put(run, row, part, value)
    for at in range(run.scope.size(label)):
        run.steps[label] = np.array([at])
        for row in rows:
            put(run, row, None, run.value(row.statement.values[-1]))
    run.steps.clear()
    for row in rows:
        run.held[row.statement.name] = run.hold_statement(row.term, run.placed[row.statement.name])


def rows_of(run: Run, statement: Statement, step: Step) -> Rows:
    """A statement before its first step."""
    term, sizes = statement.term or (), run.scope.sizes
    if any(isinstance(item, Pack) for item in term):
        raise Refused("unspecified", "packs in a recurrence")
    parts = step.start.parts if step.start else ()
    count = len(statement.values) - 1
    numbers = [at for at, part in enumerate(parts) if not labels_of(part)]
    with_values = (
        range(len(parts)) if count == len(parts) else [at for at in range(len(parts)) if at not in numbers]
    )
    if count != len(with_values):
        raise Refused("NE222", f"{count} starts for {len(parts)} parts")
    starts = [(at, run.value(value)) for at, value in zip(with_values, statement.values[:-1], strict=True)]
    offset = sum(size_of(Product(part), sizes) for part in parts)
    return Rows(statement, term, step, [size_of(item, sizes) for item in term], offset, starts, None)


def keep(run: Run, row: Rows, dtype: np.dtype[Any]) -> None:
    """Rows of zeros under the name of the statement."""
    held = (complex if dtype.kind == "c" else float) if inexact(dtype) else dtype
    row.array, row.error = np.zeros(row.shape, held), np.zeros(row.shape)
    axes = tuple(f"axis:{at}" for at in range(len(row.shape)))
    names = tuple(
        name_of(run.scope, item, (item.name if isinstance(item, Label) else "",), {}) for item in row.term
    )
    name = row.statement.name
    run.placed[name] = Placed(Value(row.array, axes, dtype, row.error), ((),) * len(axes), names)
    run.held[name] = Held(row.array, names if run.named else (None,) * len(names), None, is_statement=True)


def put(run: Run, row: Rows, part: int | None, value: Value) -> None:
    """Write a value to a part of the start, or to the row of this step."""
    sizes, found = run.scope.sizes, []
    for item, whole in zip(row.term, row.shape, strict=True):
        chosen = {id(item): len(item.parts) - 1 if part is None else part} if isinstance(item, Parts) else {}
        indices = ranges(sizes) if part is not None else run.indices
        found.append(cells(item, indices, sizes, whole, chosen))
    write((row.array, row.error), found, value, row.dtype)


def settle_dtypes(run: Run, rows: Sequence[Rows], label: str) -> None:
    """Find the dtype of each statement: that of its starts and its step, until it stays."""
    run.steps[label] = np.arange(0)
    for row in rows:
        strong = [value.dtype for _, value in row.starts if value.number is None]
        weak = [value.number for _, value in row.starts if value.number is not None]
        run.weak.pop(row.statement.name, None)
        row.dtype = np.result_type(*strong, *weak) if strong else None
        if not strong:
            run.weak[row.statement.name] = (
                type(np.result_type(*weak, False).type(1).item())(1) if weak else False
            )
    for _ in range(ROUNDS):
        before = [row.dtype for row in rows]
        for row in rows:
            if row.dtype is not None:
                keep(run, row, row.dtype)
            value = run.value(row.statement.values[-1])
            kinds = [one.dtype if one.number is None else one.number for _, one in row.starts]
            kinds += [value.dtype if value.number is None else value.number]
            row.dtype = np.result_type(*kinds, *([row.dtype] if row.dtype is not None else []))
            run.weak.pop(row.statement.name, None)
            keep(run, row, row.dtype)
        if before == [row.dtype for row in rows]:
            run.steps.clear()
            return
    raise Refused("dtype", "the rows have no dtype that stays")
