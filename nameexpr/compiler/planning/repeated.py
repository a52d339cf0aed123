"""Orders for operands that repeat: equal parts of the network are contracted once.

The cost of a set of operands is the sum over the *different* values in its order, each counted once, and each
part has the order that is best for it alone. This does not guarantee the least cost (for powers of a matrix
that would be a shortest addition chain, for which no fast algorithm is known), but it finds halves, and
halves of halves.

Two values are equal if they are computed alike: from two pairs of equal values, whose axes share labels and
stay in the same positions. If two cost the same, the one that was seen first is used, so that similar parts
are computed alike, and their instructions are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple, TypeAlias

from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.planning.network import WRITING, Pairs, bits, linearize, time_budget
from nameexpr.compiler.planning.plan import ContractionPlan, TooManyDimsError, ordered_plan

Terms: TypeAlias = Sequence[Sequence[int]]
Form: TypeAlias = tuple[int, int, tuple[int, ...], tuple[int, ...]]
Tree: TypeAlias = "int | tuple[Tree, Tree]"

TRIALS, TRIAL = 2500, 1e-5
"""The number of ways to split a set that may always be examined, and the seconds that each takes."""
MOST = 256
"""The number of operands up to which the search is tried: beyond it, too few sets could be examined in time.
"""
FEW = 8
"""The number of parts without a common label up to which the halves are not tried first."""


def plan_repeated(plan: ContractionPlan, axes: Sequence[Axes], same: Sequence[int]) -> ContractionPlan | None:
    """Return the plan in which most values are computed once, or None if the search takes too long.

    `axes` are the labels of each factor's dims (a diagonal of an array is not the array), `same` is for each
    operand the number of the first that is the same array. The flops of the usual plan determine how long the
    search may take.
    """
    contraction, output = plan.contraction, plan.kept
    sizes = contraction.sizes
    uses = Counter(label for labels in contraction.terms for label in labels)
    numbers = {label: number for number, label in enumerate(uses)}
    terms, leaves = [], []
    for first, groups, labels in zip(same, axes, contraction.terms, strict=True):
        left = [label for label in labels if uses[label] > 1 or label in output]
        shape = [tuple((labels.index(label), sizes[label]) for label in group) for group in groups]
        leaves.append((first, tuple(shape), tuple(labels.index(label) for label in left)))
        terms.append(tuple(numbers[label] for label in left))
    kept = frozenset(numbers[label] for label in output if label in numbers)
    trials = max(TRIALS, int(time_budget(plan.flops, len(terms)) / TRIAL))
    pairs = repeated_path(terms, leaves, kept, [sizes[label] for label in uses], trials)
    try:
        return None if pairs is None else ordered_plan(contraction, lambda *_: pairs)
    except TooManyDimsError:
        return None


def repeated_path(
    terms: Terms,
    leaves: Sequence[Hashable],
    output: frozenset[int],
    sizes: Sequence[int],
    trials: int = TRIALS,
) -> Pairs | None:
    """Return an order in which many values are computed once; None if the search takes too long.

    Labels are numbers, in the order of the axes of each operand; operands with equal `leaves` are the same
    array with the same axes.

    Examples
    --------
    The fourth power of a matrix takes two products.

    >>> chain = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> repeated_path(chain, "AAAA", frozenset({0, 4}), [9] * 5)
    [(0, 1), (2, 3), (4, 5)]
    """
    if len(terms) > MOST:
        return None
    search = _Alike(terms, leaves, output, sizes, trials)
    whole = (1 << len(terms)) - 1
    if search.find(whole) is None:
        return None
    return linearize(search.tree(whole), lambda tree: tree, len(terms))


class _Value(NamedTuple):
    """The best known value of a set: the costs of it and of each value in it, by their numbers; its own
    number and labels, and the two sets that it is computed from.
    """

    costs: dict[int, float]
    total: float
    number: int
    labels: tuple[int, ...]
    parts: tuple[int, int] = (0, 0)


class _Alike:
    """The best value of each set of operands, which are bits.

    Operands with the same array and labels are exchangeable: sets that differ in them alone are represented
    by the one with the first of them.
    """

    def __init__(
        self,
        terms: Terms,
        leaves: Sequence[Hashable],
        output: frozenset[int],
        sizes: Sequence[int],
        trials: int,
    ) -> None:
        self.terms, self.leaves, self.output, self.sizes, self.trials = terms, leaves, output, sizes, trials
        self.numbers: dict[Hashable, int] = {}
        self.best: dict[int, _Value] = {}
        self.users: dict[int, int] = {}
        groups: dict[Hashable, list[int]] = {}
        for position, term in enumerate(terms):
            groups.setdefault((leaves[position], tuple(term)), []).append(position)
            for label in term:
                self.users[label] = self.users.get(label, 0) | 1 << position
        self.groups = [
            (group, sum(1 << position for position in group)) for group in groups.values() if len(group) > 1
        ]
        self.near = [reduce(or_, [self.users[label] for label in term], 0) for term in terms]

    def first_of(self, subset: int) -> int:
        """Return the set that represents all that differ from it in exchangeable operands."""
        for group, mask in self.groups:
            inside = subset & mask
            subset ^= inside
            for position in group[: inside.bit_count()]:
                subset |= 1 << position
        return subset

    def find(self, subset: int) -> _Value | None:
        """Find the best value of a set and of its parts; None if the search takes too long."""
        subset = self.first_of(subset)
        if subset in self.best:
            return self.best[subset]
        best: _Value | None = None
        if not subset & (subset - 1):
            position = subset.bit_length() - 1
            best = _Value({}, 0.0, self._number(self.leaves[position]), tuple(self.terms[position]))
        kept = self._kept(subset)
        for part, rest in self._splits(subset):
            left, right = self.find(part), self.find(rest)
            if left is None or right is None:
                break
            value = self._joined((part, left), (rest, right), kept)
            if best is None or (value.total, value.number) < (best.total, best.number):
                best = value
        if best is not None:
            self.best[subset] = best
        return best

    def _number(self, key: Hashable) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def _kept(self, subset: int) -> set[int]:
        """Return the labels that the value of a set has."""
        labels = {label for operand in bits(subset) for label in self.terms[operand.bit_length() - 1]}
        return {label for label in labels if label in self.output or self.users[label] & ~subset}

    def _joined(self, left: tuple[int, _Value], right: tuple[int, _Value], kept: set[int]) -> _Value:
        """Return the product of two values, of which the one that was seen first is on the left."""
        if left[1].number > right[1].number:
            left, right = right, left
        key, labels, cells = self._form(left[1], right[1], kept)
        if left[1].number == right[1].number:
            turned = self._form(right[1], left[1], kept)
            if turned[0] < key:
                (key, labels, cells), left, right = turned, right, left
        number = self._number(key)
        costs = {**left[1].costs, **right[1].costs, number: cells}
        return _Value(costs, sum(costs.values()), number, labels, (left[0], right[0]))

    def _form(self, left: _Value, right: _Value, kept: set[int]) -> tuple[Form, tuple[int, ...], float]:
        """Return what distinguishes the product of two values from others, its labels, and its cost."""
        places = {label: place for place, label in enumerate(left.labels)}
        links = tuple([places.setdefault(label, len(places)) for label in right.labels])
        labels = tuple([label for label in places if label in kept])
        cost = self._cells(places) * (2 if len(labels) < len(places) else 1) + WRITING * self._cells(labels)
        return (left.number, right.number, links, tuple([places[label] for label in labels])), labels, cost

    def _cells(self, labels: Iterable[int]) -> float:
        cells = 1.0
        for label in labels:
            cells *= self.sizes[label]
        return cells

    def tree(self, whole: int) -> Tree:
        """Return the operands of the best value of a set, two by two."""
        pools: dict[int, Iterator[int]] = {}
        for group, _ in self.groups:
            pools |= dict.fromkeys(group, iter(group))

        def made_of(subset: int) -> Tree:
            if subset & (subset - 1):
                left, right = self.best[self.first_of(subset)].parts
                return made_of(left), made_of(right)
            position = subset.bit_length() - 1
            return next(pools[position]) if position in pools else position

        return made_of(whole)

    def _splits(self, subset: int) -> Iterator[tuple[int, int]]:
        """Yield ways to split a set in two parts that are connected as it is, as long as there is time."""
        parts = self._parts(subset)
        if len(parts) > 1:
            values = {part: self.find(part) for part in parts}
            parts.sort(key=lambda part: (value.number if (value := values[part]) else -1, part))
            ends = sorted(range(1, len(parts)), key=lambda end: abs(2 * end - len(parts)))
            for end in ends if len(parts) > FEW else range(1, len(parts)):
                if self.trials <= 0:
                    return
                self.trials -= 1
                yield sum(parts[:end]), sum(parts[end:])
            return
        seen: set[int] = set()
        first = (subset & -subset).bit_length() - 1
        waiting = [(1 << first, self.near[first])]
        while waiting and self.trials > 0:
            part, near = waiting.pop()
            rest = subset ^ part
            key = self.first_of(part)
            if rest and key not in seen:
                self.trials -= 1
                seen.add(key)
                waiting += [(part | new, near | self.near[new.bit_length() - 1]) for new in bits(near & rest)]
                if self._grown(rest) == rest:
                    yield part, rest

    def _grown(self, subset: int) -> int:
        """Return the part of a set that is connected with its first operand."""
        part = waiting = subset & -subset
        while waiting:
            new = self.near[waiting.bit_length() - 1] & subset & ~part
            waiting = (waiting ^ 1 << waiting.bit_length() - 1) | new
            part |= new
        return part

    def _parts(self, subset: int) -> list[int]:
        """Return the parts of a set that share no label."""
        parts = []
        while subset:
            parts.append(self._grown(subset))
            subset ^= parts[-1]
        return parts
