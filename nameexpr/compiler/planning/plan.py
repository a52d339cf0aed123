"""The plan: the order of contractions, in terms of labels.

A plan does not depend on axes or on NumPy. Labels that only one operand has are summed before anything is
multiplied; then pairs are contracted in the order of `nameexpr.compiler.planning.path`; a reducer that is not
a sum is applied to the product at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from nameexpr.compiler.ir.axes import Contraction, hint_of
from nameexpr.compiler.planning.path import Labels, Optimize, find_path
from nameexpr.records import record, replace
from nameexpr.syntax.limits import MOST_DIMS

if TYPE_CHECKING:
    from nameexpr.compiler.planning.network import Pairs

ADDING = frozenset({None, "sum", "mean"})
"""Reducers that are sums of products, so that a contraction can compute them."""
FEW_DIMS = MOST_DIMS - 2
"""The number of dims up to which a value can be computed by every strategy: products of matrices and sums of
blocks add some.
"""
Find: TypeAlias = "Callable[[Sequence[Labels], Labels], Pairs]"


class TooManyDimsError(Exception):
    """An error for a plan with a value of more dims than an array can have.

    `dims` are those of the value, and `operands` the positions of its operands.
    """

    def __init__(self, dims: int, operands: Sequence[int]) -> None:
        super().__init__(dims, operands)
        self.dims, self.operands = dims, tuple(operands)


@record
class Step:
    """One contraction: of one value (a sum over labels that only it has) or of two.

    Values are numbered as they are created, operands first. `labels` are those of the result; `summed` are
    those that are removed.
    """

    values: tuple[int, ...]
    labels: tuple[str, ...]
    summed: tuple[str, ...]
    flops: int


@record
class ContractionPlan:
    """The order of contractions.

    `reduced` are the labels that the reducer is applied to at the end. `repeated` are the numbers of the
    steps whose values were computed by earlier steps, because operands are the same array. `is_open` means
    that another order of nearly as few flops may be used, if its calls take less time.
    """

    contraction: Contraction
    steps: tuple[Step, ...]
    reduced: tuple[str, ...]
    repeated: frozenset[int] = frozenset()
    is_open: bool = False

    @property
    def terms(self) -> tuple[tuple[str, ...], ...]:
        """Labels of each factor."""
        return self.contraction.terms

    @property
    def kept(self) -> Labels:
        """The labels that contractions may not sum over."""
        return frozenset((*self.contraction.result, *self.reduced))

    @property
    def naive_flops(self) -> int:
        """The flops of one loop over all labels."""
        contraction, everything = self.contraction, {label for term in self.terms for label in term}
        is_summed, count = bool(contraction.dropped), len(self.terms)
        return flops_of(everything, contraction.sizes, is_summed=is_summed, operands=count)

    @property
    def flops(self) -> int:
        """Scalar multiplications and additions of all steps that are computed."""
        computed = (step.flops for number, step in enumerate(self.steps) if number not in self.repeated)
        return sum(computed) + self.reduction_flops

    @property
    def reduction_flops(self) -> int:
        """The number of elements that a reducer other than a sum visits at the end."""
        if not self.reduced:
            return 0
        return self.contraction.size(self.steps[-1].labels if self.steps else self.terms[0])


def plan_contractions(
    contraction: Contraction, optimize: Optimize = None, order: Pairs | None = None
) -> ContractionPlan:
    """Return the plan of a contraction, in the order that `optimize` selects, or in a given one.

    A plan that had to remove the labels of size 1, in order not to exceed the dims of an array, lacks them;
    TooManyDimsError if no order is found in which all values can be arrays.
    """
    sizes = contraction.sizes
    if optimize is None and len(contraction.terms) <= 2:  # noqa: PLR2004  there is one order
        order = [(0, 1)]

    def find(terms: Sequence[Labels], output: Labels) -> Pairs:
        if order is not None:
            return order
        return find_path(terms, output, {label: hint_of(size) for label, size in sizes.items()}, optimize)

    can_be_fewer = any(abs(size) <= 1 for size in sizes.values())  # of a symbol its hint
    try:
        return ordered_plan(contraction, find, FEW_DIMS if can_be_fewer else MOST_DIMS)
    except TooManyDimsError:
        if not can_be_fewer:
            raise
    # The elements of empty arrays cost nothing in any order: with a size of 2 for each label, few elements
    # mean few dims.
    sizes = {label: max(2, size) for label, size in sizes.items()}
    return ordered_plan(_without_ones(contraction), find)


def _without_ones(contraction: Contraction) -> Contraction:
    """Remove the labels of size 1: factors and result are reshaped for it."""

    def left(labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(label for label in labels if contraction.sizes[label] != 1)

    terms, dropped = tuple(map(left, contraction.terms)), left(contraction.dropped)
    return replace(contraction, terms=terms, result=left(contraction.result), dropped=dropped)


def flops_of(labels: Iterable[str], sizes: Mapping[str, int], *, is_summed: bool, operands: int = 2) -> int:
    """Return the scalar operations of one step: one multiplication per pair, one addition if it sums."""
    return prod([sizes[label] for label in labels]) * (max(1, operands - 1) + is_summed)


def ordered_plan(contraction: Contraction, find: Find, most: int = MOST_DIMS) -> ContractionPlan:
    """Return the plan that sums the labels of single operands, then contracts pairs in the order that is
    found.

    A label is removed as soon as no later value needs it. No value may have more dims than `most`.
    """
    terms, sizes = contraction.terms, contraction.sizes
    reduced = () if contraction.reducer in ADDING else contraction.dropped
    kept = frozenset((*contraction.result, *reduced))
    values = list(enumerate(terms))
    inside = [[position] for position in range(len(terms))]
    steps: list[Step] = []
    uses: dict[str, int] = {}
    for term in terms:
        for label in term:
            uses[label] = uses.get(label, 0) + 1
    for position, term in enumerate(terms):
        private = tuple(label for label in term if uses[label] == 1 and label not in kept)
        if private:
            _check_dims(term, [position], most)
            rest = tuple(label for label in term if label not in private)
            values[position] = (len(terms) + len(steps), rest)
            flops = flops_of(term, sizes, is_summed=True, operands=1)
            steps.append(Step((position,), rest, private, flops))
    sets = [frozenset(labels) for _, labels in values]
    for first, second in find(sets, kept & frozenset().union(*sets)) if len(terms) > 1 else ():
        (left, left_labels), (right, right_labels) = values[first], values[second]
        inside.append(inside[first] + inside[second])
        labels: list[str] = []
        summed: list[str] = []
        for label in dict.fromkeys((*left_labels, *right_labels)):
            here = (label in left_labels) + (label in right_labels)
            is_needed = label in kept or uses[label] > here
            (labels if is_needed else summed).append(label)
            uses[label] -= here - 1
        _check_dims(labels, inside[-1], most)
        flops = flops_of({*left_labels, *right_labels}, sizes, is_summed=bool(summed))
        values.append((len(terms) + len(steps), tuple(labels)))
        steps.append(Step((left, right), tuple(labels), tuple(summed), flops))
    return ContractionPlan(contraction, tuple(steps), reduced)


def _check_dims(labels: Sequence[str], operands: Sequence[int], most: int) -> None:
    if len(labels) > most:
        raise TooManyDimsError(len(labels), operands)
