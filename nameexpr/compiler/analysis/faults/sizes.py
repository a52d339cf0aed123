"""Diagnostics about sizes: which dims are involved, the size of each, and which sizes would fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import NamedTuple

from nameexpr.compiler.analysis.faults.misuse import OPTIONS
from nameexpr.compiler.analysis.operands import (
    Operand,
    describe,
    is_one_operand,
    labelled,
    stretch,
    title,
    titles,
)
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.analysis.rules.summation import listed
from nameexpr.compiler.ir.axes import Labels, Unnamed, is_under_dots, shown
from nameexpr.dims import is_keyword
from nameexpr.errors import TOLD, Diagnostic, Mark, Span, did_you_mean
from nameexpr.records import record
from nameexpr.syntax.ast import Expression, Item, Sized
from nameexpr.syntax.unparse import unparse_item


@record
class Scene:
    """Everything that a diagnostic about sizes may need."""

    tree: Expression
    operands: Sequence[Operand]
    resolved: Resolved
    keywords: Mapping[str, int]
    sizes: Mapping[str, int]

    @property
    def is_formula(self) -> bool:
        """Whether the operands are views of the operands of a formula."""
        return any(operand.name for operand in self.operands)

    def diagnostic(
        self, code: str, message: str, marks: Sequence[Mark], hint: str, about: Sequence[int] = ()
    ) -> Diagnostic:
        """Return a diagnostic with the operands described; `about` are those of the message."""
        infos = describe(self.tree.inputs, self.operands, about)
        return Diagnostic(code, message, self.tree.text, tuple(marks), infos, hint)

    def title(self, operand: int) -> str:
        """Return the name of an operand in messages."""
        return title(self.operands[operand], operand)

    def item_at(self, operand: int, dim: int) -> Item:
        """Return the item of one dim of one operand."""
        return stretch(self.tree.inputs[operand], len(self.operands[operand].shape))[dim][0]


def clashes(scene: Scene, labels: Iterable[str]) -> list[Diagnostic]:
    """Return a diagnostic for each label with two sizes, but only one for each two views of an operand."""
    diagnostics: dict[object, Diagnostic] = {}
    for label in islice(labels, TOLD):
        statements = _statements(scene, label)
        about = positions_of(_first_two(statements))
        key = tuple(about) if is_one_operand(scene.operands, about) else label
        if key not in diagnostics:
            diagnostics[key] = _clash(scene, label, statements, about)
    return list(diagnostics.values())


def _clash(scene: Scene, label: str, statements: Sequence[SizeStatement], about: Sequence[int]) -> Diagnostic:
    marks: dict[Span, Mark] = {}
    pair = _first_two(statements)
    for statement in statements:
        if statement.item is not None:
            marks.setdefault(statement.item.span, Mark(statement.item.span, str(statement.size)))
    if any(statement.is_written for statement in pair):
        for item in scene.resolved.sized:
            if item.name == label:
                marks.setdefault(item.span, Mark(item.span, str(item.size)))
    said, size = _said(scene, pair, about), statements[0].size
    code, message = "NE304", f"'{label}' is {said}"
    hint = "if these are different dims, rename one; to broadcast over a dim of size 1, write 1"
    if is_under_dots(label):
        code, message = "NE309", f"dims under '...' do not broadcast: {said}"
        hint = "aligned from the right, sizes must be equal or 1"
    elif isinstance(label, Unnamed) and label.is_literal:
        where = _where(scene, statements[0], positions_of(statements[:1]))
        code, message = "NE302", f"a dim written {shown(label)} is {size} {where}"
        hint = "a number in a term is the exact size of a dim: name the dim instead"
    elif isinstance(label, Unnamed):
        message = f"dim {label.number - 1} of '{label.word}' is {said}"
        hint = "a pack stands for the same dims everywhere; to broadcast as NumPy does, write ..."
    else:
        measured = {statement.size for statement in statements if statement.position is not None}
        if len(measured) < 2:  # noqa: PLR2004
            hint = f"write {size}, or leave the size out" if measured else "give the size once"
            hint += _position_of_number(scene, label, size)
    return scene.diagnostic(code, message, list(marks.values()), hint, about)


def _position_of_number(scene: Scene, label: str, size: int) -> str:
    """Return how a position is written, for a size of an input that may be meant as one; else ""."""
    sized = [item.size for item in labelled(scene.tree.inputs, label) if isinstance(item, Sized)]
    return f"; one position is written {label}@{sized[0]}" if sized and sized[0] < size else ""


class SizeStatement(NamedTuple):
    """A statement of a size: the words, the operand (if any), the item of the text, and whether the size is
    written in the text.
    """

    size: int
    how: str
    position: int | None
    item: Item | None
    is_written: bool = False


def positions_of(statements: Sequence[SizeStatement]) -> list[int]:
    """Return the operands that determine sizes."""
    return sorted({statement.position for statement in statements if statement.position is not None})


def _first_two(statements: Sequence[SizeStatement]) -> tuple[SizeStatement, SizeStatement]:
    """Return the first two that differ."""
    first = statements[0]
    return first, next((other for other in statements if other.size != first.size), first)


def _said(scene: Scene, pair: Sequence[SizeStatement], about: Sequence[int]) -> str:
    """Return two sizes, each with the place that states it."""
    (size, other), (here, there) = zip(*[(s.size, _where(scene, s, about)) for s in pair], strict=True)
    return f"{size} and {other} {here}" if here == there else f"{size} {here} and {other} {there}"


def _where(scene: Scene, statement: SizeStatement, about: Sequence[int]) -> str:
    if statement.position is None:
        return statement.how
    called = titles(scene.tree.inputs, scene.operands, about)
    return f"{statement.how} {called[about.index(statement.position)]}"


def _statements(scene: Scene, label: str) -> list[SizeStatement]:
    """Return all statements of the label's size, operands first."""
    statements: list[SizeStatement] = []
    for position, operand in enumerate(scene.operands):
        for dim, size in enumerate(operand.shape):
            labels = scene.resolved.operands[position][dim]
            item = scene.item_at(position, dim)
            if labels == (label,):
                statements.append(SizeStatement(size, "in", position, item))
            elif label in labels and (solved := _solved(scene, label, labels, size)) is not None:
                statements.append(SizeStatement(solved, f"by {unparse_item(item)} in", position, item))
    if label in scene.resolved.written:
        terms = scene.tree.terms
        sized = next((item for item in labelled(terms, label) if isinstance(item, Sized)), None)
        written = scene.resolved.written[label]
        statements.append(SizeStatement(written, "in the text", None, sized, is_written=True))
    if label in scene.keywords:
        how = "in sizes=" if scene.is_formula else f"by the keyword {label}="
        statements.append(SizeStatement(scene.keywords[label], how, None, None))
    return statements


def _solved(scene: Scene, label: str, labels: tuple[str, ...], size: int) -> int | None:
    others = prod(scene.sizes.get(other, 0) for other in labels if other != label)
    return size // others if others and size % others == 0 else None


def indivisible(scene: Scene, operand: int, dim: int) -> Diagnostic:
    """Return the diagnostic for a dim that is not the product of its labels."""
    labels = scene.resolved.operands[operand][dim]
    size = scene.operands[operand].shape[dim]
    item = scene.item_at(operand, dim)
    unknown = [label for label in dict.fromkeys(labels) if label not in scene.sizes]
    factors = " * ".join(shown(label) for label in labels) or "1"
    mark = Mark(item.span, str(size))
    if unknown:
        known = [scene.sizes[label] for label in labels if label in scene.sizes]
        message, hint = _does_not_divide(size, factors, known)
        return scene.diagnostic("NE306", message, [mark], hint)
    if not labels:
        message = f"a dim written {unparse_item(item)} is {size} in {scene.title(operand)}"
        hint = "to keep or to combine this dim, give it a name"
        return scene.diagnostic("NE302", message, [mark], hint, (operand,))
    values = " * ".join(str(scene.sizes[label]) for label in labels)
    product = f"{factors} = {values} = {prod(scene.sizes[label] for label in labels)}"
    message = f"{unparse_item(item)} is {size} in {scene.title(operand)}, but {product}"
    hint = "check these sizes; a size that the operands determine can be left out"
    return scene.diagnostic("NE307", message, [*_sources(scene, labels, item), mark], hint, (operand,))


def _sources(scene: Scene, labels: Sequence[str], group: Item) -> Iterator[Mark]:
    """Yield a mark for each statement of the sizes of a group's labels outside the group."""
    for label in dict.fromkeys(labels):
        for size, _, _, item, _ in _statements(scene, label):
            if size == scene.sizes[label] and item is not None:
                inside = group.span.start <= item.span.start and item.span.end <= group.span.end
                if not inside:
                    yield Mark(item.span, str(size))


def _does_not_divide(size: int, factors: str, known: Sequence[int]) -> tuple[str, str]:
    """Return message and hint for a product that has no solution."""
    product = prod(known)
    divisor = str(product) if len(known) == 1 else f"{' * '.join(map(str, known))} = {product}"
    if product == 0:
        return f"{size} = {factors}, and one of these is 0", "give a size that divides it"
    if size % product == 0:
        power = "a label that occurs twice in a group makes its size a square: write two labels"
        return f"{size} = {factors} has no solution in whole numbers", power
    hint = "choose a size that divides it"
    if 0 < size <= 10_000:  # noqa: PLR2004  listing divisors helps only where there are few candidates
        divisors = [str(number) for number in range(1, size + 1) if size % number == 0]
        hint = f"{', '.join(divisors[:-1])} and {divisors[-1]} do" if len(divisors) > 1 else "only 1 does"
        if len(divisors) > 12:  # noqa: PLR2004
            hint = f"{', '.join(divisors[:11])}, ... do"
    return f"{size} = {factors}, and {divisor} does not divide {size}", hint


def missing(scene: Scene, later: Collection[str]) -> list[Diagnostic]:
    """Return the diagnostics for labels of unknown size: in groups, and in the result alone. Dims with labels
    whose sizes become known later (`later`) are left out.
    """
    diagnostics: list[Diagnostic] = []
    covered: set[str] = set()
    later = _with_neighbours(scene, later) if later else ()
    for position, axes in enumerate(scene.resolved.operands):
        for dim, labels in enumerate(axes):
            free = _free_in(scene, labels)
            if later and not set(free).isdisjoint(later):
                continue
            if free and not covered.issuperset(free) and len(diagnostics) < TOLD:
                covered.update(free)
                diagnostics.append(_free_in_group(scene, position, dim, free))
    made = scene.resolved.made
    only = [label for label in made if label not in scene.sizes and label not in covered]
    return diagnostics + [_free_in_result(scene, label) for label in only[: TOLD - len(diagnostics)]]


def _free_in(scene: Scene, labels: Labels) -> list[str]:
    """Return the labels of a dim whose sizes are not known."""
    parts = [*_parts(scene, labels)]
    for label in labels:
        parts += _parts(scene, (label,))
    every = dict.fromkeys(label for part in parts for label in part)
    free = [label for label in every if label not in scene.sizes]
    return [label for label in free if not isinstance(label, Unnamed)] or free


def _with_neighbours(scene: Scene, labels: Collection[str]) -> set[str]:
    """Return labels, those that share a dim with them while their sizes are not known, and so on."""
    found, before = set(labels), 0
    dims = [set(_free_in(scene, one)) for axes in scene.resolved.operands for one in axes]
    while len(found) != before:
        before = len(found)
        found.update(*[free for free in dims if not free.isdisjoint(found)])
    return found


def _parts(scene: Scene, labels: Labels) -> tuple[Labels, ...]:
    """Return the labels of each part of a dim; one that is not read in parts has one."""
    reading = scene.resolved.readings.get(labels[0]) if len(labels) == 1 else None
    return (labels,) if reading is None else reading.parts


def _free_in_group(scene: Scene, position: int, dim: int, free: list[str]) -> Diagnostic:
    item, label = scene.item_at(position, dim), free[0]
    size = scene.operands[position].shape[dim]
    parts = _parts(scene, scene.resolved.operands[position][dim])
    equation = f"{size} = {' + '.join(' * '.join(map(shown, part)) or '1' for part in parts)}"
    zero = " (a factor is 0)" if size == 0 else ""
    message = f"{listed(free)} {'is' if len(free) == 1 else 'are'} not determined by {equation}{zero}"
    keyword = f"{label}=..."
    if scene.is_formula:
        keyword = f"sizes={{'{label}': ...}}"
    elif not is_keyword(label) or label in OPTIONS:
        keyword = f'sizes={{"{label}": ...}}'
    hint = f"give {'its size' if len(free) == 1 else 'the sizes of all but one'}: {keyword}"
    return scene.diagnostic("NE308", message, [Mark(item.span, str(size))], hint)


def _free_in_result(scene: Scene, label: str) -> Diagnostic:
    known = [name for name in scene.sizes if not isinstance(name, Unnamed)]
    marks = [Mark(item.span) for item in labelled(scene.tree.terms, label)]
    hint = f"{did_you_mean(label, known)} for a new dim write its size: {label}=4".lstrip()
    message = f"'{label}' is only in the result, and its size is not known"
    return scene.diagnostic("NE308", message, marks, hint)
