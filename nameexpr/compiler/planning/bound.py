"""The order of contractions if some operands are bound: contractions among them cost nothing per call.

The usual order counts every contraction. Here a contraction of bound operands alone is free, if its result is
worth keeping (`nameexpr.compiler.schedule.partial`): `x A B C` with a batch of one is fastest from the left,
and with A, B and C bound it is one product. Few operands are searched exactly; of many, each connected group
of bound ones is contracted first, and the cheaper of this and the usual order is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.planning.few import search_all
from nameexpr.compiler.planning.network import Pairs, bits, splice
from nameexpr.compiler.planning.path import Labels, find_path
from nameexpr.compiler.planning.plan import ContractionPlan, flops_of, plan_contractions
from nameexpr.records import field, record

EXACT = 7
"""The number of operands up to which all orders are tried."""


def plan_for_calls(plan: ContractionPlan, constants: Collection[int], target: Target) -> ContractionPlan:
    """Return the plan in the order that is cheapest per call with these operands bound; unchanged if it
    already is.
    """
    count = len(plan.terms)
    if len(constants) < 2 or len(constants) == count or count <= 2:  # noqa: PLR2004
        return plan
    kept, every = plan.kept, [label for term in plan.terms for label in term]
    terms = [frozenset(a for a in term if a in kept or every.count(a) > 1) for term in plan.terms]
    bound = sum(1 << position for position in constants)
    operands = _Operands(terms, kept & frozenset(every), plan.contraction.sizes, bound, target)
    if count <= EXACT:
        pairs = search_all(operands.terms, operands.output, operands.sizes, operands.is_free)
    else:
        pairs = operands.grouped()
    # In the steps of a plan, sums of one operand are numbered too.
    steps = [step.values for step in plan.steps]
    numbers = {number: values[0] for number, values in enumerate(steps, count) if len(values) == 1}
    first = count + len(numbers)
    numbers |= {first + number: count + number for number in range(len(steps))}
    usual = [(numbers.get(one[0], one[0]), numbers.get(one[1], one[1])) for one in steps[first - count :]]
    if operands.cost(pairs) >= operands.cost(usual):
        return plan
    return plan_contractions(plan.contraction, order=[(min(pair), max(pair)) for pair in pairs])


@record(frozen=False)
class _Operands:
    """Terms, the labels of the result, sizes, and which terms are bound; sets of terms are bit masks."""

    terms: Sequence[Labels]
    output: Labels
    sizes: Mapping[str, int]
    bound: int
    target: Target
    kept: dict[int, Labels] = field(default_factory=dict)

    def keep(self, subset: int) -> Labels:
        """Return the labels that remain when a set of terms is contracted."""
        if subset not in self.kept:
            inside, outside = frozenset[str](), self.output
            for position, term in enumerate(self.terms):
                if subset >> position & 1:
                    inside |= term
                else:
                    outside |= term
            self.kept[subset] = inside & outside
        return self.kept[subset]

    def cells(self, labels: Labels) -> int:
        """Return the number of elements of a value with these labels."""
        return flops_of(labels, self.sizes, is_summed=False)

    def is_free(self, subset: int, cells: int, flops: int) -> bool:
        """Return whether the value of a set can be kept: all its operands are bound, and it is small compared
        with them or takes many operations.
        """
        if subset & ~self.bound:
            return False
        target = self.target
        own = sum(self.cells(term) for position, term in enumerate(self.terms) if subset >> position & 1)
        return cells <= max(target.held_cells, target.held_growth * own) or (
            target.held_work * cells <= flops and 8 * cells <= target.held_bytes
        )

    def cost(self, pairs: Pairs) -> tuple[int, int]:
        """Return (operations per call, operations in all) of an order."""
        values = [(1 << position, 0, 0) for position in range(len(self.terms))]
        for first, second in pairs:
            (left, call, total), (right, more, beside) = values[first], values[second]
            labels, result = self.keep(left) | self.keep(right), self.keep(left | right)
            flops = flops_of(labels, self.sizes, is_summed=len(labels) > len(result))
            call, total = call + more + flops, total + beside + flops
            is_free = self.is_free(left | right, self.cells(result), total)
            values.append((left | right, 0 if is_free else call, total))
        return values[-1][1:]

    def grouped(self) -> Pairs:
        """Return an order that contracts each connected group of bound terms first."""
        count = len(self.terms)
        pairs: Pairs = []
        ends = {position: 1 << position for position in range(count) if not self.bound >> position & 1}
        for group in self._groups():
            members = [position for position in range(count) if group >> position & 1]
            inner = find_path([self.terms[position] for position in members], self.keep(group), self.sizes)
            ends[splice(inner, members, pairs, count)] = group
        labels = [self.keep(subset) for subset in ends.values()]
        splice(find_path(labels, self.output, self.sizes), list(ends), pairs, count)
        return pairs

    def _groups(self) -> list[int]:
        groups: list[tuple[int, Labels]] = []
        for mask in bits(self.bound):
            labels = self.terms[mask.bit_length() - 1]
            touching = [group for group in groups if group[1] & labels]
            groups = [group for group in groups if not group[1] & labels]
            for group, more in touching:
                mask, labels = mask | group, labels | more
            groups.append((mask, labels))
        return [mask for mask, _ in groups]
