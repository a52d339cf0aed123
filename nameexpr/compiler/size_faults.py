"""How errors about sizes read: which dims are involved, what each of them is, and what would fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameexpr.compiler.operands import Operand, describe, places, stretch
from nameexpr.compiler.resolve import Resolved
from nameexpr.compiler.typed import shown
from nameexpr.errors import Diagnostic, Mark, did_you_mean, error
from nameexpr.syntax.ast import Alias, Expression, Item, Label, NamedGroup, Sized, atoms
from nameexpr.syntax.unparse import unparse_item


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


def check_keywords(tree: Expression, resolved: Resolved, keywords: Mapping[str, int]) -> None:
    """Raise an `OptionError` for a size keyword that no label of the text has, or whose value is no size."""
    if not keywords:
        return
    terms = (*tree.inputs, *(tree.outputs or ()))
    labels = {a.name for term in terms for a in atoms(term.items) if isinstance(a, Label | Sized | Alias)}
    found = []
    for name, size in keywords.items():
        if name not in labels:
            found.append(_unknown_keyword(tree, name, labels))
        elif size < 0:
            message = f"{name}={size} is not a size: sizes are 0 or more"
            found.append(Diagnostic("NE603", message, tree.text, _marks(tree, name)))
    if found:
        raise error(*found)


def _unknown_keyword(tree: Expression, name: str, labels: set[str]) -> Diagnostic:
    for term in (*tree.inputs, *(tree.outputs or ())):
        for item in term.items:
            if isinstance(item, Alias | NamedGroup) and item.dim == name:
                inner = item.name if isinstance(item, Alias) else unparse_item(item.group)
                hint = f"'{name}' is the dim's name on the tensor, its label here is {inner}: give its size"
                message = f"{name}= is the size of no label"
                return Diagnostic("NE602", message, tree.text, (Mark(item.dim_span),), hint=hint)
    listed = ", ".join(sorted(labels)) or "none"
    hint = did_you_mean(name, labels) or f"the labels of the text: {listed}"
    return Diagnostic("NE602", f"{name}= names no label of the text", tree.text, hint=hint)


def _marks(tree: Expression, label: str) -> tuple[Mark, ...]:
    return tuple(Mark(item.span) for _, item in places((*tree.inputs, *(tree.outputs or ())), label))


def clash(scene: Scene, label: str) -> Diagnostic:
    """Return the diagnostic for a label that has two sizes."""
    found = list(_statements(scene, label))
    sizes = list(dict.fromkeys(size for size, _, _ in found))
    where = [next(place for size, place, _ in found if size == one) for one in sizes]
    said = " and ".join(f"{size} {place}" for size, place in zip(sizes[:2], where[:2], strict=True))
    marks = [Mark(item.span, str(size)) for size, _, item in found if item is not None]
    if label.startswith("..."):
        message = f"dims under '...' do not broadcast: {said}"
        hint = "aligned from the right, sizes must be equal or 1"
        return scene.diagnostic("NE309", message, marks, hint)
    if "@" in label:
        message = f"a dim written {shown(label)} is {said}"
        hint = "a number in a term is the exact size of a dim: name the dim instead"
        return scene.diagnostic("NE302", message, marks, hint)
    hint = "if these are two dims, rename one; to broadcast over a dim of size 1, write 1"
    return scene.diagnostic("NE304", f"'{label}' is {said}", marks, hint)


def _statements(scene: Scene, label: str) -> list[tuple[int, str, Item | None]]:
    """Return everything that says a size of the label: (size, where, item)."""
    found: list[tuple[int, str, Item | None]] = []
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
    values = " * ".join(str(scene.sizes.get(label, shown(label))) for label in labels) or "1"
    mark = Mark(item.span, str(size))
    if unknown:
        known = [scene.sizes[label] for label in labels if label in scene.sizes]
        return scene.diagnostic("NE306", _does_not_divide(size, factors, known), [mark], _divisors_hint(size))
    if not labels:
        message = f"a dim written {unparse_item(item)} is {size} in operand {operand}"
        return scene.diagnostic("NE302", message, [mark], "to keep or to combine this dim, give it a name")
    total = 1
    for label in labels:
        total *= scene.sizes[label]
    message = f"{size} is not {factors} = {values} = {total} in operand {operand}"
    return scene.diagnostic(
        "NE307", message, [mark], "check the sizes given for this group; one of them may be left out"
    )


def _does_not_divide(size: int, factors: str, known: Sequence[int]) -> str:
    product = 1
    for one in known:
        product *= one
    divisor = str(product) if len(known) == 1 else f"{' * '.join(map(str, known))} = {product}"
    if product == 0 or size % product == 0:
        return f"{size} = {factors} has no solution in whole numbers"
    return f"{size} = {factors}, and {divisor} does not divide {size}"


def _divisors_hint(size: int) -> str:
    if not 0 < size <= 10_000:  # noqa: PLR2004  listing divisors helps only where there are few candidates
        return "choose a size that divides it"
    divisors = [str(one) for one in range(1, size + 1) if size % one == 0]
    if len(divisors) > 12:  # noqa: PLR2004
        divisors = [*divisors[:11], "..."]
    return f"{', '.join(divisors[:-1])} and {divisors[-1]} do" if len(divisors) > 1 else "only 1 does"


def missing(scene: Scene) -> list[Diagnostic]:
    """Return the diagnostics for labels whose size is not known: in groups, and in the result alone."""
    found = []
    told: set[str] = set()
    for position, axes in enumerate(scene.resolved.operands):
        for dim, labels in enumerate(axes):
            free = [label for label in dict.fromkeys(labels) if label not in scene.sizes]
            if free and not told.issuperset(free):
                told.update(free)
                found.append(_free_in_group(scene, position, dim, free))
    result = dict.fromkeys(label for labels in scene.resolved.result for label in labels)
    only = [label for label in result if label not in scene.sizes and label not in told]
    return found + [_free_in_result(scene, label) for label in only]


def _free_in_group(scene: Scene, position: int, dim: int, free: list[str]) -> Diagnostic:
    item = scene.item_at(position, dim)
    size = scene.operands[position].shape[dim]
    labels = scene.resolved.operands[position][dim]
    listed = " and ".join(f"'{label}'" for label in free)
    equation = f"{size} = {' * '.join(map(shown, labels))}"
    zero = " (a factor is 0)" if size == 0 else ""
    verb = "is" if len(free) == 1 else "are"
    message = f"{listed} {verb} not determined by {equation}{zero}"
    hint = f"give the size of {'it' if len(free) == 1 else 'all but one'}, as a keyword: {free[0]}=..."
    return scene.diagnostic("NE308", message, [Mark(item.span, str(size))], hint)


def _free_in_result(scene: Scene, label: str) -> Diagnostic:
    known = [name for name in scene.sizes if name.rstrip("'").isidentifier()]
    marks = _marks(scene.tree, label)
    near = did_you_mean(label, known)
    advice = f"for a new dim give its size in the text, {label}=4, or as a keyword"
    hint = f"{near} {advice}" if near else advice
    return scene.diagnostic(
        "NE308", f"'{label}' stands only in the result, and nothing says its size", marks, hint
    )
