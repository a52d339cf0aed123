"""The plan: which contraction first, in the language of labels.

A plan knows nothing of axes or of NumPy. Labels that only one operand has are summed before anything is
multiplied; then pairs are contracted in the order of `nameexpr.compiler.path`; a reducer that is not a sum is
applied to the product at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameexpr.compiler.path import Labels, Optimize, find_path, flops_of
from nameexpr.compiler.paths.pairs import Pairs
from nameexpr.compiler.typed import Axes, Typed

ADDING = frozenset({None, "sum", "mean"})
"""Reducers that are sums of products, so that a contraction can compute them."""
Find = Callable[[Sequence[Labels], Labels], Pairs]


@dataclass(frozen=True, slots=True)
class Step:
    """One contraction: of one value (a sum over labels that only it has) or of two.

    Values are numbered as they arise, operands first. `labels` are those of the result; `summed` those that
    go away.
    """

    values: tuple[int, ...]
    labels: tuple[str, ...]
    summed: tuple[str, ...]
    flops: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of contractions of one typed expression.

    `terms` are the labels of each operand after diagonals are taken; `reduced` are the labels that the
    reducer takes at the end. `naive_flops` is what one loop over all labels would do. `repeated` are the
    numbers of the steps whose values earlier ones have made, because operands are the same array.
    """

    typed: Typed
    terms: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    reduced: tuple[str, ...]
    naive_flops: int
    repeated: frozenset[int] = frozenset()

    @property
    def flops(self) -> int:
        """Scalar multiplications and additions of all steps that are computed."""
        computed = (step.flops for number, step in enumerate(self.steps) if number not in self.repeated)
        return sum(computed) + self.reduction_flops

    @property
    def reduction_flops(self) -> int:
        """Cells that a reducer which is not a sum goes through at the end."""
        if not self.reduced:
            return 0
        return self.typed.size(self.steps[-1].labels if self.steps else self.terms[0])


def plan_contractions(typed: Typed, optimize: Optimize = None) -> Plan:
    """Return the plan of a typed expression.

    Raises
    ------
    OptionError
        If `optimize` is not one of opt_einsum's strategies, nor a path that fits.
    """
    return _planned(typed, lambda terms, output: find_path(terms, output, typed.sizes, optimize))


def plan_repeated(typed: Typed, same: Sequence[int], cost: int) -> Plan | None:
    """Return the plan in which most is computed once, or None if that takes too long to find.

    Parameters
    ----------
    typed : Typed
        The expression.
    same : sequence of int
        For each operand the number of the first operand that is the same array.
    cost : int
        Flops of the usual plan.
    """
    from nameexpr.compiler.paths.repeated import path_of_repeated

    pairs = path_of_repeated(typed, same, _kept(typed), cost)
    return None if pairs is None else _planned(typed, lambda *_: pairs)


def _kept(typed: Typed) -> frozenset[str]:
    """Return the labels that contractions may not sum over."""
    return frozenset(_unique(typed.result)) | frozenset(() if typed.reducer in ADDING else typed.dropped)


def _planned(typed: Typed, find: Find) -> Plan:
    terms = tuple(_unique(axes) for axes in typed.operands)
    is_adding = typed.reducer in ADDING
    steps = _steps(terms, _kept(typed), typed, find)
    everything = frozenset(label for term in terms for label in term)
    naive = flops_of(everything, typed.sizes, is_summed=bool(typed.dropped), operands=len(terms))
    return Plan(typed, terms, tuple(steps), () if is_adding else typed.dropped, naive)


def _unique(axes: Axes) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for labels in axes for label in labels))


def _steps(terms: Sequence[tuple[str, ...]], kept: frozenset[str], typed: Typed, find: Find) -> list[Step]:
    values = [(position, term) for position, term in enumerate(terms)]
    steps: list[Step] = []
    number = len(terms)
    counts: dict[str, int] = {}
    for term in terms:
        for label in term:
            counts[label] = counts.get(label, 0) + 1
    for position, term in enumerate(terms):
        private = tuple(label for label in term if counts[label] == 1 and label not in kept)
        if private:
            rest = tuple(label for label in term if label not in private)
            flops = flops_of(frozenset(term), typed.sizes, is_summed=True, operands=1)
            steps.append(Step((position,), rest, private, flops))
            values[position] = (number, rest)
            number += 1
    if len(terms) > 1:
        steps += _pair_steps(values, number, kept, typed, find)
    return steps


def _pair_steps(
    values: list[tuple[int, tuple[str, ...]]],
    number: int,
    kept: frozenset[str],
    typed: Typed,
    find: Find,
) -> list[Step]:
    """Contract pairs in the order of the path; a label goes as soon as no later value needs it."""
    terms = [frozenset(term) for _, term in values]
    steps = []
    uses: dict[str, int] = {}
    for term in terms:
        for label in term:
            uses[label] = uses.get(label, 0) + 1
    for first, second in find(terms, kept & frozenset().union(*terms)):
        (left, one), (right, other) = values[first], values[second]
        labels: list[str] = []
        summed: list[str] = []
        for label in dict.fromkeys((*one, *other)):
            here = (label in one) + (label in other)
            is_needed = label in kept or uses[label] > here
            (labels if is_needed else summed).append(label)
            uses[label] -= here - 1
        flops = flops_of(frozenset(one) | frozenset(other), typed.sizes, is_summed=bool(summed))
        steps.append(Step((left, right), tuple(labels), tuple(summed), flops))
        values.append((number, tuple(labels)))
        number += 1
    return steps
