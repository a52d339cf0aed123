"""Orders for operands that repeat: equal parts of the network are contracted once.

Sets of operands that look alike (`nameexpr.compiler.planning.alike`) make the same value, but for the order
of its axes. So the best order is looked for by what sets look like, not by which they are: all runs of four
in a chain of one matrix are one thing, with one order. What a set costs is the sum over the *different*
things in its order, and each part has the order that is best for it alone. That proves no least cost (for
powers of a matrix that would be a shortest addition chain, which nobody knows how to find quickly), but it
finds halves, and halves of halves.

Sets that look alike have the same order, operand by operand, so that their instructions come out equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from nameexpr.compiler.ir.axes import Axes, Contraction
from nameexpr.compiler.planning.alike import Form, Likeness, Terms, members
from nameexpr.compiler.planning.cost import WRITING, allowance
from nameexpr.compiler.planning.pairs import Pairs, unfold

TRIALS, TRIAL = 4000, 5e-6
"""Operands that may be looked at in any case to tell sets apart, and the seconds that each takes."""
MOST = 256
"""Operands up to which anything is looked for: of more, too few sets could be told apart in the time."""

Tree: TypeAlias = "int | tuple[Tree, Tree]"

FEW = 8
"""Parts that share no label up to which the halves are not tried first."""


def path_of_repeated(
    contraction: Contraction,
    axes: Sequence[Axes],
    same: Sequence[int],
    output: frozenset[str],
    cost: float,
) -> Pairs | None:
    """Return the order for the operands of an expression, as `repeated_path` does.

    Parameters
    ----------
    contraction : Contraction
        What is computed.
    axes : sequence of Axes
        For each factor how its dims are labelled.
    same : sequence of int
        For each operand the number of the first operand that is the same array.
    output : frozenset of str
        Labels that are not summed over; those of one operand alone are summed before.
    cost : float
        Flops of an order that is known: they say what the search is worth.
    """
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
    trials = max(TRIALS, int(allowance(cost, len(terms)) / TRIAL))
    return repeated_path(terms, leaves, kept, [sizes[label] for label in uses], trials)


def repeated_path(
    terms: Terms,
    leaves: Sequence[Hashable],
    output: frozenset[int],
    sizes: Sequence[int],
    trials: int = TRIALS,
) -> Pairs | None:
    """Return an order in which much is computed once; None if that takes too long to find.

    Parameters
    ----------
    terms, leaves, output
        The network, as for `Likeness`.
    sizes : sequence of int
        Size of each label.
    trials : int
        Operands that may be looked at; beyond that the search gives up.

    Examples
    --------
    The fourth power of a matrix takes two products.

    >>> chain = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> repeated_path(chain, "AAAA", frozenset({0, 4}), [9] * 5)
    [(0, 1), (2, 3), (4, 5)]
    """
    if len(terms) > MOST:
        return None
    search = _Search(Likeness(terms, leaves, output), sizes, trials)
    whole = (1 << len(terms)) - 1
    if not search.find(whole):
        return None
    form, order = search.likeness.read(whole)
    tree = search.best[form].tree
    return unfold(tree, lambda it: order[it] if isinstance(it, int) else it, len(terms))


class _Best(NamedTuple):
    """The best order known of all sets of one form, in places of the form, and what each form in it costs."""

    costs: dict[Form, float]
    total: float
    tree: Tree


class _Search:
    """The best order of each form; sets of operands are bits."""

    def __init__(self, likeness: Likeness, sizes: Sequence[int], trials: int) -> None:
        self.likeness, self.sizes, self.trials = likeness, sizes, trials
        self.best: dict[Form, _Best] = {}

    def find(self, made: int) -> bool:
        """Find the best order of a set and of its parts; False if that takes too long."""
        form, order = self.likeness.read(made)
        if form in self.best:
            return True
        if len(order) == 1:
            self.best[form] = _Best({}, 0.0, 0)
            return True
        found: _Best | None = None
        places = {operand: place for place, operand in enumerate(order)}
        for one, other in self._splits(made, order[0]):
            if not (self.find(one) and self.find(other)):
                break
            (first, left), (second, right) = self._ordered(one, places), self._ordered(other, places)
            costs = {**first.costs, **second.costs, form: self._step(one, other)}
            total = sum(costs.values())
            if found is None or total < found.total:
                found = _Best(costs, total, (left, right))
        if found is not None:
            self.best[form] = found
        return found is not None

    def _is_late(self) -> bool:
        return self.likeness.looked > self.trials

    def _ordered(self, made: int, places: dict[int, int]) -> tuple[_Best, Tree]:
        """Return the best order of a set, and the same in places of a larger set."""
        form, order = self.likeness.read(made)

        def moved(tree: Tree) -> Tree:
            return places[order[tree]] if isinstance(tree, int) else (moved(tree[0]), moved(tree[1]))

        return self.best[form], moved(self.best[form].tree)

    def _step(self, one: int, other: int) -> float:
        """Return what the last step of a set costs."""
        kept = self.likeness.kept
        together, left = kept(one) | kept(other), kept(one | other)
        return self._cells(together) * (2 if left != together else 1) + WRITING * self._cells(left)

    def _cells(self, labels: set[int]) -> float:
        cells = 1.0
        for label in labels:
            cells *= self.sizes[label]
        return cells

    def _splits(self, made: int, first: int) -> Iterator[tuple[int, int]]:
        """Return ways to part a set in two that hang together as it does; of those that look alike one."""
        read, parts = self.likeness.read, self.likeness.parts(made)
        if len(parts) > 1:
            parts.sort(key=lambda part: (read(part)[0], part))
            ends = range(1, len(parts))
            # Halves of many lead to few other sets, so that there is an order when the time is up.
            for end in ends if len(parts) <= FEW else sorted(ends, key=lambda end: abs(2 * end - len(parts))):
                if self._is_late():
                    return
                yield sum(parts[:end]), sum(parts[end:])
            return
        seen: set[Hashable] = set()
        waiting = [1 << first]
        while waiting and not self._is_late():
            one = waiting.pop()
            other = made ^ one
            fits = len(self.likeness.parts(other)) == 1
            key = (read(one)[0], read(other)[0]) if fits else one
            self.likeness.looked += 1
            if other and key not in seen:
                seen.add(key)
                waiting += [one | 1 << near for near in members(self.likeness.near(one) & other)]
                if fits:
                    yield one, other
