"""Sizes by propagation: what the operands, the text and the keywords say of every label, and what follows
from it.

A dim is the product of its labels. One unknown in a product is solved for, until nothing changes; what is
then still unknown, or known in two ways, is an error (docs/language.md, section 2). How those errors read is
in `nameexpr.compiler.analysis.faults.sizes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from nameexpr.compiler.analysis.faults import sizes as faults
from nameexpr.compiler.analysis.faults.misuse import check_keywords
from nameexpr.compiler.analysis.operands import Operand, is_one_operand
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.ir.axes import DOTS, Axes, is_under_dots
from nameexpr.errors import TOLD, Diagnostic, error
from nameexpr.records import field, record, replace
from nameexpr.syntax.ast import Expression


@record
class DimEquation:
    """One equation: a dim of an operand whose size is the product of the sizes of its labels."""

    operand: int
    dim: int
    size: int
    labels: tuple[str, ...]


@record(frozen=False)
class _Book:
    """Sizes known so far, with the equations that are still open and the labels known in two ways."""

    sizes: dict[str, int]
    open: list[DimEquation] = field(default_factory=list)
    clashes: dict[str, None] = field(default_factory=dict)
    broken: list[DimEquation] = field(default_factory=list)

    def learn(self, label: str, size: int) -> None:
        if self.sizes.setdefault(label, size) != size:
            self.clashes[label] = None

    def settle(self, product: DimEquation) -> bool:
        """Use an equation if at most one of its labels is unknown; return whether it is used up."""
        unknown, known = set(), 1
        for label in product.labels:
            size = self.sizes.get(label)
            if size is None:
                unknown.add(label)
            else:
                known *= size
        if not unknown:
            if known != product.size:
                self.broken.append(product)
            return True
        if len(unknown) > 1 or (known == 0 and product.size == 0):
            return False
        label = unknown.pop()
        root = _root(product.size, known, product.labels.count(label))
        if root is None:
            self.broken.append(product)
        else:
            self.learn(label, root)
        return True


def _root(size: int, known: int, power: int) -> int | None:
    """Return the x with known * x**power == size, or None."""
    if known == 0 or size % known:
        return None
    quotient = size // known
    if power == 1:
        return quotient
    root = round(quotient ** (1 / power))
    return root if root**power == quotient else None


def solve(
    tree: Expression, operands: Sequence[Operand], resolved: Resolved, keywords: Mapping[str, int]
) -> tuple[Resolved, dict[str, int]]:
    """Return every label's size, and the dims with those of size 1 taken away that an ellipsis broadcasts.

    Raises
    ------
    SizeError
        If sizes clash, a group does not divide, or a size is missing.
    OptionError
        If a keyword names no label of the text.
    """
    check_keywords(tree, keywords)
    book = _Book({**resolved.written, **{k: v for k, v in keywords.items() if k not in resolved.written}})
    for label, size in keywords.items():
        book.learn(label, size)
    resolved = _broadcast(tree, operands, resolved, book)
    _read_operands(operands, resolved.operands, book)
    _propagate(book)
    found = _problems(tree, operands, resolved, keywords, book)
    if found:
        raise error(*found)
    return resolved, book.sizes


def _read_operands(operands: Sequence[Operand], arrays: Sequence[Axes], book: _Book) -> None:
    for position, (axes, operand) in enumerate(zip(arrays, operands, strict=True)):
        for dim, (labels, size) in enumerate(zip(axes, operand.shape, strict=True)):
            if len(labels) == 1:
                book.learn(labels[0], size)
            elif labels or size != 1:
                book.open.append(DimEquation(position, dim, size, labels))


def _propagate(book: _Book) -> None:
    progress = True
    while progress and book.open:
        remaining = [product for product in book.open if not book.settle(product)]
        progress = len(remaining) < len(book.open)
        book.open = remaining


def _broadcast(tree: Expression, operands: Sequence[Operand], resolved: Resolved, book: _Book) -> Resolved:
    """Give each dim under the ellipsis its broadcast size; an operand's 1 against n is a dim with no
    label.
    """
    if DOTS not in resolved.packs:
        return resolved
    for axes, operand in zip(resolved.operands, operands, strict=True):
        for labels, size in zip(axes, operand.shape, strict=True):
            if len(labels) == 1 and is_under_dots(labels[0]) and book.sizes.get(labels[0], 1) == 1:
                book.sizes[labels[0]] = size
    arrays = tuple(
        tuple(
            ()
            if size == 1 and len(labels) == 1 and is_under_dots(labels[0]) and book.sizes[labels[0]] != 1
            else labels
            for labels, size in zip(axes, operand.shape, strict=True)
        )
        for axes, operand in zip(resolved.operands, operands, strict=True)
    )
    return replace(resolved, operands=arrays)


def _problems(
    tree: Expression,
    operands: Sequence[Operand],
    resolved: Resolved,
    keywords: Mapping[str, int],
    book: _Book,
) -> list[Diagnostic]:
    """Return the diagnostics of everything that is wrong; nothing on the way that is taken."""
    if not (book.clashes or book.broken or book.open) and _all_known(resolved, book.sizes):
        return []
    scene = faults.Scene(tree, operands, resolved, keywords, book.sizes)
    found = [faults.clash(scene, label) for label in _told_apart(scene, book.clashes)]
    found += [faults.indivisible(scene, product.operand, product.dim) for product in book.broken[:TOLD]]
    if not found:
        found = faults.missing(scene)
    return found


def _told_apart(scene: faults.Scene, clashes: Iterable[str]) -> list[str]:
    """Return the labels to tell; of those that clash between the same views of an operand the first."""
    told: dict[object, str] = {}
    for label in islice(clashes, TOLD):
        about = faults.clash_positions(scene, label)
        told.setdefault(tuple(about) if is_one_operand(scene.operands, about) else label, label)
    return list(told.values())


def _all_known(resolved: Resolved, sizes: Mapping[str, int]) -> bool:
    return all(
        label in sizes
        for axes in (*resolved.operands, resolved.result)
        for labels in axes
        for label in labels
    )
