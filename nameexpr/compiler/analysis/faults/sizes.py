"""How errors about sizes read: which dims are involved, what each of them is, and what would fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from keyword import iskeyword
from math import prod

from nameexpr.compiler.analysis.operands import Operand, describe, places, stretch
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.analysis.rules.unsummed import listed
from nameexpr.compiler.ir.axes import shown
from nameexpr.errors import TOLD, Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.syntax.ast import LABELLED, Alias, Expression, Item, NamedGroup, Sized, atoms
from nameexpr.syntax.unparse import unparse_item

OPTIONS = ("out", "dtype", "optimize", "sizes", "reduce", "order", "memory_limit", "tune")
"""Keywords of `einsum` that are no sizes of labels."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a diagnostic about sizes may need."""

    tree: Expression
    operands: Sequence[Operand]
    resolved: Resolved
    keywords: Mapping[str, int]
    sizes: Mapping[str, int]

    def diagnostic(self, code: str, message: str, marks: Sequence[Mark], hint: str) -> Diagnostic:
        """Return a diagnostic with the operands described."""
        return Diagnostic(
            code, message, self.tree.text, tuple(marks), describe(self.tree.inputs, self.operands), hint
        )

    def item_at(self, operand: int, dim: int) -> Item:
        """Return the item of one dim of one operand."""
        return stretch(self.tree.inputs[operand], len(self.operands[operand].shape))[dim][0]


def check_keywords(tree: Expression, keywords: Mapping[str, int]) -> None:
    """Raise an `OptionError` for a size keyword that no label of the text has, or whose value is no size."""
    if not keywords:
        return
    terms = (*tree.inputs, *(tree.outputs or ()))
    labels = {a.name for term in terms for a in atoms(term.items) if isinstance(a, LABELLED)}
    found = list(islice(_keyword_faults(tree, keywords, labels), TOLD))
    if found:
        raise error(*found)


def _keyword_faults(tree: Expression, keywords: Mapping[str, int], labels: set[str]) -> Iterator[Diagnostic]:
    for name, size in keywords.items():
        if name not in labels:
            yield _unknown_keyword(tree, name, labels)
        elif size < 0:
            message = f"{name}={size} is not a size: sizes are 0 or more"
            hint = "leave it out, and it is found from the operands where they determine it"
            yield Diagnostic("NE603", message, tree.text, _marks(tree, name), hint=hint)


def _unknown_keyword(tree: Expression, name: str, labels: set[str]) -> Diagnostic:
    for term in (*tree.inputs, *(tree.outputs or ())):
        for item in term.items:
            if isinstance(item, Alias | NamedGroup) and item.dim == name:
                inner = item.name if isinstance(item, Alias) else unparse_item(item.group)
                hint = f"'{name}' is the dim's name on the tensor, its label here is {inner}: give its size"
                message = f"{name}= is the size of no label"
                return Diagnostic("NE602", message, tree.text, (Mark(item.dim_span),), hint=hint)
    known = f"the text has the labels {listed(sorted(labels))}" if labels else "the text has no labels"
    hint = did_you_mean(name, sorted(labels)) or known
    return Diagnostic("NE602", f"{name}= names no label of the text", tree.text, hint=hint)


def _marks(tree: Expression, label: str) -> tuple[Mark, ...]:
    return tuple(Mark(item.span) for _, item in places((*tree.inputs, *(tree.outputs or ())), label))


def clash(scene: Scene, label: str) -> Diagnostic:
    """Return the diagnostic for a label that has two sizes."""
    found = _statements(scene, label)
    at: dict[Span, Mark] = {}
    for size, _, item in found:
        if item is not None:
            at.setdefault(item.span, Mark(item.span, str(size)))
    marks, said = list(at.values()), _said(found)
    if label.startswith("..."):
        message = f"dims under '...' do not broadcast: {said}"
        hint = "aligned from the right, sizes must be equal or 1"
        return scene.diagnostic("NE309", message, marks, hint)
    if "@" in label:
        size, place, _ = found[0]
        message = f"a dim written {shown(label)} is {size} {place}"
        hint = "a number in a term is the exact size of a dim: name the dim instead"
        return scene.diagnostic("NE302", message, marks, hint)
    if "..." in label:
        word, _, number = label.partition("...")
        message = f"dim {int(number) - 1} of '{word}...' is {said}"
        hint = "a pack is the same dims wherever it stands; to broadcast as NumPy does, write ..."
        return scene.diagnostic("NE304", message, marks, hint)
    return scene.diagnostic("NE304", f"'{label}' is {said}", marks, _clash_hint(scene, label, found))


Statement = tuple[int, str, Item | None]


def _said(found: Sequence[Statement]) -> str:
    """Return the first two sizes that differ, each with the place that says it."""
    size, place, _ = found[0]
    other, elsewhere, _ = next((one for one in found if one[0] != size), found[0])
    return f"{size} and {other} {place}" if place == elsewhere else f"{size} {place} and {other} {elsewhere}"


def _clash_hint(scene: Scene, label: str, found: Sequence[Statement]) -> str:
    given = [size for size, place, _ in found if place.startswith(("in the text", "by the keyword"))]
    measured = {size for size, _, _ in found[: len(found) - len(given)]}
    if len(measured) > 1:
        return "if these are two dims, rename one; to broadcast over a dim of size 1, write 1"
    return f"write {measured.pop()}, or leave the size out" if measured else "give the size once"


def _statements(scene: Scene, label: str) -> list[Statement]:
    """Return everything that says a size of the label: (size, where, item), operands first."""
    found: list[Statement] = []
    for position, operand in enumerate(scene.operands):
        for dim, size in enumerate(operand.shape):
            labels = scene.resolved.operands[position][dim]
            item = scene.item_at(position, dim)
            if labels == (label,):
                found.append((size, f"in operand {position}", item))
            elif label in labels and (solved := _solved(scene, label, labels, size)) is not None:
                found.append((solved, f"by {unparse_item(item)} in operand {position}", item))
    if label in scene.resolved.written:
        terms = (*scene.tree.inputs, *(scene.tree.outputs or ()))
        sized = next((item for _, item in places(terms, label) if isinstance(item, Sized)), None)
        found.append((scene.resolved.written[label], "in the text", sized))
    if label in scene.keywords:
        found.append((scene.keywords[label], f"by the keyword {label}=", None))
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
        message = f"a dim written {unparse_item(item)} is {size} in operand {operand}"
        return scene.diagnostic("NE302", message, [mark], "to keep or to combine this dim, give it a name")
    values = " * ".join(str(scene.sizes[label]) for label in labels)
    product = f"{factors} = {values} = {prod(scene.sizes[label] for label in labels)}"
    message = f"{unparse_item(item)} is {size} in operand {operand}, but {product}"
    hint = "check these sizes; one that is given beside the operands may be left out"
    return scene.diagnostic("NE307", message, [*_sources(scene, labels, item), mark], hint)


def _sources(scene: Scene, labels: Sequence[str], group: Item) -> Iterator[Mark]:
    """Yield a mark for whatever says the sizes of a group's labels outside the group."""
    for label in dict.fromkeys(labels):
        for size, _, item in _statements(scene, label):
            if size == scene.sizes[label] and item is not None and not _is_inside(item, group):
                yield Mark(item.span, str(size))


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
    hint = f"give {'its size' if len(free) == 1 else 'the sizes of all but one'}: {_keyword(free[0])}"
    return scene.diagnostic("NE308", message, [Mark(item.span, str(size))], hint)


def _keyword(label: str) -> str:
    """Return how a size is given beside the text; a label that cannot be a keyword needs `sizes=`."""
    is_keyword = label.isidentifier() and not iskeyword(label) and label not in OPTIONS
    return f"{label}=..." if is_keyword else f'sizes={{"{label}": ...}}'


def _free_in_result(scene: Scene, label: str) -> Diagnostic:
    known = [name for name in scene.sizes if name.rstrip("'").isidentifier()]
    marks = _marks(scene.tree, label)
    near = did_you_mean(label, known)
    advice = f"for a new dim write its size: {label}=4"
    hint = f"{near} {advice}" if near else advice
    return scene.diagnostic(
        "NE308", f"'{label}' stands only in the result, and nothing says its size", marks, hint
    )
