"""Infer sizes by propagation from the operands, the text and the keywords.

A dim is the product of its labels. One unknown in a product is solved for, until nothing changes; a size that
is then still unknown, or has two values, is an error (docs/language.md, section 2). The diagnostics are in
`nameexpr.compiler.analysis.faults.sizes`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import prod

from nameexpr.compiler.analysis.faults import sizes as faults
from nameexpr.compiler.analysis.faults.misuse import check_keywords
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.readings import Reading, sized_by_positions
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.ir.axes import DOTS, Labels, is_under_dots, under_dots
from nameexpr.errors import TOLD, Diagnostic, error
from nameexpr.records import field, record, replace
from nameexpr.syntax.ast import Expression


@record
class DimEquation:
    """One equation: a dim of an operand whose size is the sum of that of its parts, each of which is the
    product of the sizes of its labels. The size of a factor of a dim is that of the factor's own label.
    """

    operand: int
    dim: int
    size: int | str
    parts: tuple[tuple[str, ...], ...]

    @property
    def is_single(self) -> bool:
        """Whether it is about a single label."""
        return len(self.parts) == 1 == len(self.parts[0])


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
        unknown = {label for part in equation.parts for label in part if label not in self.sizes}
        if isinstance(equation.size, str) and not unknown:
            self.sizes.setdefault(equation.size, self.total(equation.parts))
        size = self.sizes.get(equation.size) if isinstance(equation.size, str) else equation.size
        if len(unknown) > 1 or size is None:
            return False
        rest, factors, power = size, 0, 1
        for part in equation.parts:
            known = prod([self.sizes[label] for label in part if label not in unknown])
            if unknown.isdisjoint(part):
                rest -= known
            else:
                power = sum(label in unknown for label in part)
                factors += known
        if not unknown:
            if rest:
                self.contradictions.append(equation)
            return True
        if factors == 0 and rest == 0:
            return False
        root = _root(rest, factors, power)
        if root is None:
            self.contradictions.append(equation)
        else:
            self.assign(unknown.pop(), root)
        return True

    def total(self, parts: Sequence[Labels]) -> int:
        """Return the size of parts of known sizes together."""
        return sum([prod([self.sizes[label] for label in part]) for part in parts])

    def solve_all(self) -> None:
        """Use the equations until nothing changes."""
        before = None
        while self.unsolved and before != len(self.unsolved):
            before = len(self.unsolved)
            self.unsolved = [equation for equation in self.unsolved if not self.solve(equation)]


def _root(size: int, known: int, power: int) -> int | None:
    """Return the x with known * x**power == size, or None."""
    if known == 0 or size < 0 or size % known:
        return None
    quotient = size // known
    if power == 1:
        return quotient
    root = round(quotient ** (1 / power))
    return root if root**power == quotient else None


def solve(
    tree: Expression,
    operands: Sequence[Operand],
    resolved: Resolved,
    keywords: Mapping[str, int],
    plain: Collection[str] = (),
    later: Collection[str] = (),
) -> tuple[Resolved, dict[str, int]]:
    """Return every label's size, and the dims with those of size 1 taken away that an ellipsis broadcasts.

    `plain` are labels that are dims elsewhere, so that no position determines their sizes; `later` those
    whose sizes may become known later, with those of other labels.
    """
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
            parts = _parts_of(labels, resolved)
            if parts and (parts != (labels,) or (len(labels) != 1 and (labels or size != 1))):
                equations.unsolved.append(DimEquation(position, dim, size, parts))
            for label, parts in _factors(labels, resolved):
                equations.unsolved.append(DimEquation(position, dim, label, parts))
    equations.solve_all()
    scene = faults.Scene(tree, operands, resolved, keywords, sizes)
    if resolved.readings and not (equations.clashes or equations.contradictions):
        _solve_positions(scene, equations, plain, later)
    dims = [labels for axes in resolved.operands for labels in axes]
    inside = [part for labels in dims for part in _parts_of(labels, resolved)]
    inside += [part for labels in dims for _, parts in _factors(labels, resolved) for part in parts]
    every = chain(chain.from_iterable(chain(dims, inside)), resolved.made)
    is_clear = not (equations.clashes or equations.contradictions or equations.unsolved)
    if not is_clear or not all(label in sizes for label in every):
        scene = replace(scene, resolved=_with_bases(resolved))
        single = [one.parts[0][0] for one in equations.contradictions if one.is_single]
        mistakes = faults.clashes(scene, equations.clashes | dict.fromkeys(single))
        wrong = [one for one in equations.contradictions if not one.is_single][:TOLD]
        mistakes += [_contradiction(scene, equation) for equation in wrong]
        mistakes = mistakes or faults.missing(scene, later)
        if mistakes:
            raise error(*mistakes)
    for label, reading in resolved.joined.items():
        sizes[label] = sum(prod([sizes[own] for own in part]) for part in reading.parts)
    return resolved, sizes


def _parts_of(labels: Labels, resolved: Resolved) -> tuple[Labels, ...]:
    """Return the labels of the parts whose sizes add up to that of a dim; of most dims there is one."""
    reading = resolved.readings.get(labels[0]) if len(labels) == 1 else None
    return (_bases(labels, resolved),) if reading is None else reading.parts


def _factors(labels: Labels, resolved: Resolved) -> Iterator[tuple[str, tuple[Labels, ...]]]:
    """Yield the factors of a dim that have parts: the label of each, and those of its parts."""
    for label in labels if len(labels) > 1 else ():
        reading = resolved.readings.get(label)
        if reading is not None and reading.place is None:
            yield label, reading.parts


def _bases(labels: Labels, resolved: Resolved) -> Labels:
    """Return labels with those of the dims in place of dims that are read at positions."""
    own = [resolved.readings.get(label) for label in labels]
    pairs = zip(labels, own, strict=True)
    return tuple(
        [
            base
            for label, one in pairs
            for base in (one.parts[0] if one and one.place and one.parts else (label,))
        ]
    )


def _with_bases(resolved: Resolved) -> Resolved:
    axes = [tuple([_bases(labels, resolved) for labels in dims]) for dims in resolved.operands]
    return replace(resolved, operands=tuple(axes))


def _contradiction(scene: faults.Scene, equation: DimEquation) -> Diagnostic:
    axes = scene.resolved.operands[equation.operand][equation.dim]
    size = scene.operands[equation.operand].shape[equation.dim]
    if isinstance(equation.size, str):
        axes, size = (equation.size,), scene.sizes[equation.size]
    reading = scene.resolved.readings.get(axes[0]) if len(axes) == 1 else None
    if reading is None or len(equation.parts) == 1:
        return faults.indivisible(scene, equation.operand, equation.dim)
    from nameexpr.compiler.analysis.faults.positions import does_not_add_up

    return does_not_add_up(scene, equation.operand, size, reading)


def _solve_positions(
    scene: faults.Scene, equations: SizeEquations, plain: Collection[str], later: Collection[str]
) -> None:
    """Find the sizes of labels that only positions have, and check that no position leaves its dim.

    A label that is a dim somewhere (`plain` are those of other terms) has its size from there. Sizes of
    `later` may stay unknown.
    """
    from nameexpr.compiler.analysis.faults.positions import no_window, position_fault

    resolved, sizes = scene.resolved, equations.sizes
    dims = {label for axes in resolved.operands for labels in axes for label in labels}
    parts = {label for reading in resolved.readings.values() for part in reading.parts for label in part}
    used = {
        label: position
        for position, axes in enumerate(resolved.operands)
        for labels in axes
        for label in labels
        if label in resolved.readings
    }
    readings = [resolved.readings[label] for label in used]
    _size_factors(readings, sizes)
    while found := sized_by_positions(readings, sizes, {*plain, *dims, *parts}):
        for label, (size, reading) in found.items():
            if size < 1:
                raise error(no_window(scene, used[reading.label], reading, label))
            equations.assign(label, size)
        equations.solve_all()
        _size_factors(readings, sizes)
    if equations.clashes or equations.contradictions:
        return
    positions = [reading for reading in readings if reading.place is not None]
    waiting = {*plain, *later} - sizes.keys()
    known = [reading for reading in positions if waiting.isdisjoint(reading.labels)]
    mistakes = [position_fault(scene, used[reading.label], reading) for reading in known]
    if any(mistakes):
        raise error(*[mistake for mistake in mistakes if mistake is not None][:TOLD])


def _size_factors(readings: Sequence[Reading], sizes: dict[str, int]) -> None:
    """Learn the sizes of factors of dims that are read at positions."""
    for reading in readings:
        for base in reading.parts if reading.place is not None else ():
            if reading.label not in sizes and all(label in sizes for label in base):
                sizes[reading.label] = prod([sizes[label] for label in base])


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


def local_dots(resolved: Resolved, operands: Sequence[Operand]) -> Resolved:
    """Return the dims under `...` with their size in their label, as `...` differs between values."""
    if DOTS not in resolved.packs:
        return resolved
    arrays = tuple(
        tuple(
            tuple(under_dots(label.number, size) if is_under_dots(label) else label for label in labels)
            for labels, size in zip(axes, operand.shape, strict=True)
        )
        for axes, operand in zip(resolved.operands, operands, strict=True)
    )
    packs = {word: length for word, length in resolved.packs.items() if word != DOTS}
    return replace(resolved, operands=arrays, packs=packs)
