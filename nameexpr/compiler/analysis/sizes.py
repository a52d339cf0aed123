"""Infer sizes by propagation from the operands, the text and the keywords.

A dim is the product of its labels. One unknown in a product is solved for, until nothing changes; a size that
is then still unknown, or has two values, is an error (docs/language.md, section 2). The diagnostics are in
`nameexpr.compiler.analysis.faults.sizes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from nameexpr.compiler.analysis.faults import sizes as faults
from nameexpr.compiler.analysis.faults.misuse import check_keywords
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.ir.axes import DOTS, is_under_dots
from nameexpr.errors import TOLD, error
from nameexpr.records import field, record, replace
from nameexpr.syntax.ast import Expression


@record
class DimEquation:
    """An equation: the size of a dim of an operand is the product of the sizes of its labels."""

    operand: int
    dim: int
    size: int
    labels: tuple[str, ...]


@record(frozen=False)
class SizeEquations:
    """The known sizes, the equations that are not solved yet, those that cannot hold, and the labels with two
    different sizes.
    """

    sizes: dict[str, int]
    unsolved: list[DimEquation] = field(default_factory=list)
    contradictions: list[DimEquation] = field(default_factory=list)
    clashes: dict[str, None] = field(default_factory=dict)

    def assign(self, label: str, size: int) -> None:
        """Record the size of a label."""
        if self.sizes.setdefault(label, size) != size:
            self.clashes[label] = None

    def solve(self, equation: DimEquation) -> bool:
        """Use an equation if at most one of its labels is unknown; return whether it was used."""
        unknown, known = set(), 1
        for label in equation.labels:
            size = self.sizes.get(label)
            if size is None:
                unknown.add(label)
            else:
                known *= size
        if not unknown:
            if known != equation.size:
                self.contradictions.append(equation)
            return True
        if len(unknown) > 1 or (known == 0 and equation.size == 0):
            return False
        label = unknown.pop()
        root = _root(equation.size, known, equation.labels.count(label))
        if root is None:
            self.contradictions.append(equation)
        else:
            self.assign(label, root)
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
    """Return every label's size, and the dims without those of size 1 that an ellipsis broadcasts."""
    check_keywords(tree, keywords)
    sizes = {**resolved.written, **{k: v for k, v in keywords.items() if k not in resolved.written}}
    equations = SizeEquations(sizes)
    for label, size in keywords.items():
        equations.assign(label, size)
    resolved = _broadcast(operands, resolved, sizes)
    for position, (axes, operand) in enumerate(zip(resolved.operands, operands, strict=True)):
        for dim, (labels, size) in enumerate(zip(axes, operand.shape, strict=True)):
            if len(labels) == 1:
                equations.assign(labels[0], size)
            elif labels or size != 1:
                equations.unsolved.append(DimEquation(position, dim, size, labels))
    before = None
    while equations.unsolved and before != len(equations.unsolved):
        before = len(equations.unsolved)
        equations.unsolved = [equation for equation in equations.unsolved if not equations.solve(equation)]
    every = chain.from_iterable(chain.from_iterable((*resolved.operands, resolved.result)))
    is_clear = not (equations.clashes or equations.contradictions or equations.unsolved)
    if not is_clear or not all(label in sizes for label in every):
        scene = faults.Scene(tree, operands, resolved, keywords, sizes)
        mistakes = faults.clashes(scene, equations.clashes)
        wrong = equations.contradictions[:TOLD]
        mistakes += [faults.indivisible(scene, equation.operand, equation.dim) for equation in wrong]
        mistakes = mistakes or faults.missing(scene)
        if mistakes:
            raise error(*mistakes)
    return resolved, sizes


def _broadcast(operands: Sequence[Operand], resolved: Resolved, sizes: dict[str, int]) -> Resolved:
    """Give each dim under the ellipsis its broadcast size; an operand's 1 against n has no label."""
    if DOTS not in resolved.packs:
        return resolved
    for axes, operand in zip(resolved.operands, operands, strict=True):
        for labels, size in zip(axes, operand.shape, strict=True):
            if len(labels) == 1 and is_under_dots(labels[0]) and sizes.get(labels[0], 1) == 1:
                sizes[labels[0]] = size
    arrays = tuple(
        tuple(
            ()
            if size == 1 and len(labels) == 1 and is_under_dots(labels[0]) and sizes[labels[0]] != 1
            else labels
            for labels, size in zip(axes, operand.shape, strict=True)
        )
        for axes, operand in zip(resolved.operands, operands, strict=True)
    )
    return replace(resolved, operands=arrays)
