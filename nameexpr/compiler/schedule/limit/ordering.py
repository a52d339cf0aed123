"""The order of a plan's steps that needs least memory, of those that finish one operand of a step before they
start the other.

Which operand comes first follows from the peak of each and the size of its value: the one whose peak exceeds
its value by more (Liu, "On the storage requirement in the out-of-core multifrontal method for sparse
factorization", 1986).
"""

from __future__ import annotations

from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import replace


def in_least_memory(plan: ContractionPlan) -> ContractionPlan:
    """Return the same contractions in an order that needs less memory."""
    assert not plan.repeated, "values that are computed once have more than one reader"
    count, contraction = len(plan.terms), plan.contraction
    peaks = [(0, 0)] * count
    parts: list[list[int]] = []
    for step in plan.steps:
        size = contraction.size(step.labels)
        reads = sorted(step.values, key=lambda value: peaks[value][1] - peaks[value][0])
        held = peak = 0
        for value in reads:
            peak = max(peak, held + peaks[value][0])
            held += peaks[value][1]
        peaks.append((max(peak, held + size), size))
        parts.append(reads)
    order = _postorder(parts, count)
    numbers = {value: value for value in range(count)}
    for place, old in enumerate(order):
        numbers[count + old] = count + place
    steps = [
        replace(plan.steps[old], values=tuple([numbers[value] for value in plan.steps[old].values]))
        for old in order
    ]
    return replace(plan, steps=tuple(steps))


def _postorder(parts: list[list[int]], count: int) -> list[int]:
    """Return the steps, each after those that compute what it reads, without gaps between them."""
    order: list[int] = []
    waiting = [len(parts) - 1] if parts else []
    while waiting:
        step = waiting.pop()
        order.append(step)
        waiting += [value - count for value in parts[step] if value >= count]
    return order[::-1]
