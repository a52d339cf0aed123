"""Which statements are recurrences: they read their own earlier rows (docs/formulas.md).

    m[(1 + T) D] = start[D], 0.9 * m[_@T D] + 0.1 * x[T D]

The last part of the left side's only dim with parts is the label of the steps; the parts before it are the
start. Neighbouring statements that read each other are one recurrence along one label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nameexpr.errors import Diagnostic, Mark
from nameexpr.records import record, replace
from nameexpr.syntax import ast
from nameexpr.syntax.items import parts_in, parts_of
from nameexpr.syntax.unparse import unparse_value
from nameexpr.syntax.walk import nodes


@record
class StepGroup:
    """One recurrence: the numbers and names of its statements, and the label of its steps."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    label: str


@record
class StepDim:
    """The label of the steps of a statement, and which of its dims has the start before them."""

    label: str
    dim: int


def step_of(statement: ast.Statement) -> StepDim | None:
    """Return how a statement with a start continues; None if its left side is not that of a recurrence."""
    items = () if statement.term is None else statement.term.items
    parted = [(dim, parts) for dim, item in enumerate(items) if (parts := parts_of(item)) is not None]
    if len(parted) != 1 or len(list(parts_in(items))) != 1:
        return None
    dim, parts = parted[0]
    last = parts.parts[-1].items
    if len(last) != 1 or not isinstance(last[0], ast.Label | ast.Sized):
        return None
    return StepDim(last[0].name, dim)


def uses_of(statement: ast.Statement) -> Iterator[ast.Use]:
    """Yield all uses in the values of a statement."""
    for value in statement.values:
        yield from (node for node in nodes(value) if isinstance(node, ast.Use))


def groups_of(statements: Sequence[ast.Statement]) -> tuple[StepGroup, ...]:
    """Return the recurrences of a formula.

    A use of a statement in itself, or in an earlier one, makes all from one to the other a recurrence, if the
    statement has a start, and all of them go along its label.
    """
    numbers = {one.name: number for number, one in enumerate(statements) if one.name is not None}
    if len(numbers) < len([one for one in statements if one.name is not None]):
        return ()  # a name that is defined twice is a mistake of its own
    spans: list[tuple[int, int]] = []
    for first, statement in enumerate(statements):
        read = [numbers[use.name] for use in uses_of(statement) if numbers.get(use.name, -1) >= first]
        if read and all(step_of(statements[number]) is not None for number in read):
            spans.append((first, max(read)))
    found = [_group(statements, range(first, last + 1)) for first, last in _merged(spans)]
    return tuple([group for group in found if group is not None])


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return intervals with those joined that have a statement in common."""
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1]:
            start, end = merged.pop()
            merged.append((start, max(end, last)))
        else:
            merged.append((first, last))
    return merged


def _group(statements: Sequence[ast.Statement], numbers: Sequence[int]) -> StepGroup | None:
    """Return the recurrence of some statements, if all of them go along one label."""
    group = [statements[number] for number in numbers]
    steps = [step_of(one) for one in group]
    labels = {step.label for step in steps if step is not None}
    if len(labels) != 1:
        return None
    (label,) = labels
    for one, step in zip(group, steps, strict=True):
        if step is None and not _has_dim(one.term, label):
            return None
    return StepGroup(tuple(numbers), tuple([one.name or "" for one in group]), label)


def _has_dim(term: ast.Term | None, label: str) -> bool:
    items = () if term is None else term.items
    return any(isinstance(item, ast.Label) and item.name == label for item in items)


def without_start(tree: ast.Formula, statement: ast.Statement, use: ast.Use) -> Diagnostic:
    """Return the diagnostic for a statement that reads itself and has no start (NE243)."""
    name = statement.name or ""
    items = () if statement.term is None else statement.term.items
    marks = (Mark(statement.name_span), Mark(use.span))
    if parts := list(parts_in(items)):
        return _other_steps(tree, name, (*[Mark(one.span) for one in parts], marks[1]))
    labels = [item.name for item in items if isinstance(item, ast.Label)]
    step = next(filter(None, [_earlier(item)[0] for item in _own_items(statement)]), "") or (*labels, "T")[0]
    start = max([lag for item in _own_items(statement) if (lag := _lag(item, step))], default=1)
    left = " ".join([f"({start} + {step})" if label == step else label for label in labels or [step]])
    value = unparse_value(_reading_before(statement.value, name, step, start))
    hint = f"write a start, and read the row before: {name}[{left}] = 0, {value}"
    return Diagnostic("NE243", f"'{name}' uses itself, and has no start", tree.text, marks, hint=hint)


def _other_steps(tree: ast.Formula, name: str, marks: tuple[Mark, ...]) -> Diagnostic:
    """Return the diagnostic for a left side whose parts are not those of a recurrence (NE243)."""
    message = f"'{name}' uses itself, and its parts are not a start and the steps after it"
    example = f"{name}[(1 + T) D] = 0, {name}[_@T D] + x[T D]"
    hint = f"one dim has parts, the last of which is the label of the steps: {example}"
    return Diagnostic("NE243", message, tree.text, marks, hint=hint)


def _own_items(statement: ast.Statement) -> list[ast.Item]:
    """Return the items of the uses that a statement has of itself."""
    uses = [node for node in nodes(statement.value) if isinstance(node, ast.Use)]
    return [item for use in uses if use.name == statement.name and use.term for item in use.term.items]


def _earlier(item: ast.Item) -> tuple[str, int]:
    """Return the label and the number of an item such as `_@(T - 1)`; ("", 0) for others."""
    match item:
        case ast.At(
            _, ast.Binary("-", ast.Use("index", ast.Term((ast.Label(label),))), ast.Number(int(lag)))
        ):
            return label, lag
    return "", 0


def _lag(item: ast.Item, step: str) -> int:
    """Return how many steps before an item is read; 0 for an item of another dim."""
    label, lag = _earlier(item)
    return 1 if item == ast.Label(step) else lag if label == step else 0


def _reading_before(node: ast.Node, name: str, step: str, start: int) -> ast.Node:
    """Return a value in which a statement with a start of this size is read some steps before."""
    match node:
        case ast.Use(own, ast.Term(items)) if own == name:
            index: ast.Node = ast.Use("index", ast.Term((ast.Label(step),)))
            rest = list(items)
            for number, lag in enumerate([_lag(item, step) for item in items]):
                place = index if lag == start else ast.Binary("+", index, ast.Number(start - lag))
                rest[number] = ast.At(ast.Anonymous(), place) if lag else rest[number]
            return replace(node, term=ast.Term(tuple(rest)))
        case ast.Unary(_, value):
            return replace(node, value=_reading_before(value, name, step, start))
        case ast.Binary(_, left, right):
            sides = [_reading_before(side, name, step, start) for side in (left, right)]
            return replace(node, left=sides[0], right=sides[1])
        case ast.Call(_, arguments) | ast.CallAlong(_, _, arguments):
            return replace(
                node, arguments=tuple([_reading_before(one, name, step, start) for one in arguments])
            )
    return node
