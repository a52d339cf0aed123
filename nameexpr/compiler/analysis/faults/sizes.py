"""How errors about sizes read: which dims are involved, what each of them is, and what would fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword
from math import prod
from typing import NamedTuple

from nameexpr.compiler.analysis.faults.misuse import OPTIONS
from nameexpr.compiler.analysis.operands import Operand, describe, places, stretch, title, titles
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.analysis.rules.summation import listed
from nameexpr.compiler.ir.axes import Unnamed, is_under_dots, shown
from nameexpr.errors import TOLD, Diagnostic, Mark, Span, did_you_mean
from nameexpr.records import record
from nameexpr.syntax.ast import Expression, Item, Sized
from nameexpr.syntax.unparse import unparse_item


@record
class Scene:
    """Everything a diagnostic about sizes may need."""

    tree: Expression
    operands: Sequence[Operand]
    resolved: Resolved
    keywords: Mapping[str, int]
    sizes: Mapping[str, int]

    @property
    def is_formula(self) -> bool:
        """Whether the operands are a formula's views of its operands."""
        return any(operand.name for operand in self.operands)

    def diagnostic(
        self, code: str, message: str, marks: Sequence[Mark], hint: str, about: Sequence[int] = ()
    ) -> Diagnostic:
        """Return a diagnostic with the operands described; `about` are those of the message."""
        infos = describe(self.tree.inputs, self.operands, about)
        return Diagnostic(code, message, self.tree.text, tuple(marks), infos, hint)

    def title(self, operand: int) -> str:
        """Return what an operand is called."""
        return title(self.operands[operand], operand)

    def item_at(self, operand: int, dim: int) -> Item:
        """Return the item of one dim of one operand."""
        return stretch(self.tree.inputs[operand], len(self.operands[operand].shape))[dim][0]


def _marks(tree: Expression, label: str) -> tuple[Mark, ...]:
    return tuple(Mark(item.span) for _, item in places(tree.terms, label))


def clash(scene: Scene, label: str) -> Diagnostic:
    """Return the diagnostic for a label that has two sizes."""
    found = _statements(scene, label)
    at: dict[Span, Mark] = {}
    pair = _first_two(found)
    for one in found:
        if one.item is not None:
            at.setdefault(one.item.span, Mark(one.item.span, str(one.size)))
    if any(one.how == IN_TEXT for one in pair):
        for item in scene.resolved.sized:
            if item.name == label:
                at.setdefault(item.span, Mark(item.span, str(item.size)))
    marks = list(at.values())
    about = positions_of(pair)
    said = _said(scene, pair, about)
    if is_under_dots(label):
        message = f"dims under '...' do not broadcast: {said}"
        hint = "aligned from the right, sizes must be equal or 1"
        return scene.diagnostic("NE309", message, marks, hint, about)
    if isinstance(label, Unnamed) and label.is_literal:
        place = _place(scene, found[0], positions_of(found[:1]))
        message = f"a dim written {shown(label)} is {found[0].size} {place}"
        hint = "a number in a term is the exact size of a dim: name the dim instead"
        return scene.diagnostic("NE302", message, marks, hint, about)
    if isinstance(label, Unnamed):
        message = f"dim {label.number - 1} of '{label.word}' is {said}"
        hint = "a pack is the same dims wherever it stands; to broadcast as NumPy does, write ..."
        return scene.diagnostic("NE304", message, marks, hint, about)
    return scene.diagnostic("NE304", f"'{label}' is {said}", marks, _clash_hint(found), about)


IN_TEXT = "in the text"


class SizeStatement(NamedTuple):
    """Something that says a size: how, of which operand if of any, and by which item of the text."""

    size: int
    how: str
    position: int | None
    item: Item | None


def clash_positions(scene: Scene, label: str) -> list[int]:
    """Return the operands whose sizes of a label the message about it tells."""
    return positions_of(_first_two(_statements(scene, label)))


def positions_of(pair: Sequence[SizeStatement]) -> list[int]:
    """Return the operands that say sizes."""
    return sorted({one.position for one in pair if one.position is not None})


def _first_two(found: Sequence[SizeStatement]) -> tuple[SizeStatement, SizeStatement]:
    """Return the first two that differ."""
    return found[0], next((one for one in found if one.size != found[0].size), found[0])


def _said(scene: Scene, pair: Sequence[SizeStatement], about: Sequence[int]) -> str:
    """Return two sizes, each with the place that says it."""
    (size, other), (place, elsewhere) = (
        [one.size for one in pair],
        [_place(scene, one, about) for one in pair],
    )
    return f"{size} and {other} {place}" if place == elsewhere else f"{size} {place} and {other} {elsewhere}"


def _place(scene: Scene, one: SizeStatement, about: Sequence[int]) -> str:
    if one.position is None:
        return one.how
    called = titles(scene.tree.inputs, scene.operands, about)
    return f"{one.how} {called[about.index(one.position)]}"


def _clash_hint(found: Sequence[SizeStatement]) -> str:
    measured = {one.size for one in found if one.position is not None}
    if len(measured) > 1:
        return "if these are two dims, rename one; to broadcast over a dim of size 1, write 1"
    return f"write {measured.pop()}, or leave the size out" if measured else "give the size once"


def _statements(scene: Scene, label: str) -> list[SizeStatement]:
    """Return everything that says a size of the label, operands first."""
    found: list[SizeStatement] = []
    for position, operand in enumerate(scene.operands):
        for dim, size in enumerate(operand.shape):
            labels = scene.resolved.operands[position][dim]
            item = scene.item_at(position, dim)
            if labels == (label,):
                found.append(SizeStatement(size, "in", position, item))
            elif label in labels and (solved := _solved(scene, label, labels, size)) is not None:
                found.append(SizeStatement(solved, f"by {unparse_item(item)} in", position, item))
    if label in scene.resolved.written:
        terms = scene.tree.terms
        sized = next((item for _, item in places(terms, label) if isinstance(item, Sized)), None)
        found.append(SizeStatement(scene.resolved.written[label], IN_TEXT, None, sized))
    if label in scene.keywords:
        how = "in sizes=" if scene.is_formula else f"by the keyword {label}="
        found.append(SizeStatement(scene.keywords[label], how, None, None))
    return found


def _solved(scene: Scene, label: str, labels: tuple[str, ...], size: int) -> int | None:
    others = 1
    for other in labels:
        if other != label:
            others *= scene.sizes.get(other, 0)
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
    hint = "check these sizes; one that is given beside the operands may be left out"
    return scene.diagnostic("NE307", message, [*_sources(scene, labels, item), mark], hint, (operand,))


def _sources(scene: Scene, labels: Sequence[str], group: Item) -> Iterator[Mark]:
    """Yield a mark for whatever says the sizes of a group's labels outside the group."""
    for label in dict.fromkeys(labels):
        for one in _statements(scene, label):
            is_size = one.size == scene.sizes[label]
            if is_size and one.item is not None and not _is_inside(one.item, group):
                yield Mark(one.item.span, str(one.size))


def _is_inside(item: Item, group: Item) -> bool:
    return group.span.start <= item.span.start and item.span.end <= group.span.end


def _does_not_divide(size: int, factors: str, known: Sequence[int]) -> tuple[str, str]:
    """Return message and hint for a product that has no solution."""
    product = prod(known)
    divisor = str(product) if len(known) == 1 else f"{' * '.join(map(str, known))} = {product}"
    if product == 0:
        return f"{size} = {factors}, and one of these is 0", "give a size that divides it"
    if size % product == 0:
        power = "a label that stands twice in a group makes its size a square: write two labels"
        return f"{size} = {factors} has no solution in whole numbers", power
    return f"{size} = {factors}, and {divisor} does not divide {size}", _divisors_hint(size)


def _divisors_hint(size: int) -> str:
    if not 0 < size <= 10_000:  # noqa: PLR2004  listing divisors helps only where there are few candidates
        return "choose a size that divides it"
    divisors = [str(one) for one in range(1, size + 1) if size % one == 0]
    if len(divisors) > 12:  # noqa: PLR2004
        return f"{', '.join(divisors[:11])}, ... do"
    return f"{', '.join(divisors[:-1])} and {divisors[-1]} do" if len(divisors) > 1 else "only 1 does"


def missing(scene: Scene) -> list[Diagnostic]:
    """Return the diagnostics for labels whose size is not known: in groups, and in the result alone."""
    found: list[Diagnostic] = []
    told: set[str] = set()
    for position, axes in enumerate(scene.resolved.operands):
        for dim, labels in enumerate(axes):
            free = [label for label in dict.fromkeys(labels) if label not in scene.sizes]
            if free and not told.issuperset(free) and len(found) < TOLD:
                told.update(free)
                found.append(_free_in_group(scene, position, dim, free))
    result = dict.fromkeys(label for labels in scene.resolved.result for label in labels)
    only = [label for label in result if label not in scene.sizes and label not in told]
    return found + [_free_in_result(scene, label) for label in only[: TOLD - len(found)]]


def _free_in_group(scene: Scene, position: int, dim: int, free: list[str]) -> Diagnostic:
    item = scene.item_at(position, dim)
    size = scene.operands[position].shape[dim]
    labels = scene.resolved.operands[position][dim]
    equation = f"{size} = {' * '.join(map(shown, labels))}"
    zero = " (a factor is 0)" if size == 0 else ""
    verb = "is" if len(free) == 1 else "are"
    message = f"{listed(free)} {verb} not determined by {equation}{zero}"
    hint = f"give {'its size' if len(free) == 1 else 'the sizes of all but one'}: {_keyword(scene, free[0])}"
    return scene.diagnostic("NE308", message, [Mark(item.span, str(size))], hint)


def _keyword(scene: Scene, label: str) -> str:
    """Return how a size is given beside the text; a label that cannot be a keyword needs `sizes=`."""
    if scene.is_formula:
        return f"sizes={{'{label}': ...}}"
    is_keyword = label.isidentifier() and not iskeyword(label) and label not in OPTIONS
    return f"{label}=..." if is_keyword else f'sizes={{"{label}": ...}}'


def _free_in_result(scene: Scene, label: str) -> Diagnostic:
    known = [name for name in scene.sizes if not isinstance(name, Unnamed)]
    marks = _marks(scene.tree, label)
    near = did_you_mean(label, known)
    advice = f"for a new dim write its size: {label}=4"
    hint = f"{near} {advice}" if near else advice
    return scene.diagnostic(
        "NE308", f"'{label}' stands only in the result, and nothing says its size", marks, hint
    )
