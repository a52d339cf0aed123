"""The orders in which an expression may be computed under a limit, each with nests of loops that fit.

The first order is that of the plan, which is the cheapest without a limit. Orders for slices cost more, but
need fewer loops; their nests also tell the search for loops in the plan's own order what is too costly.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from nameexpr.compiler.planning.network import in_order
from nameexpr.compiler.planning.plan import TooManyDimsError, plan_contractions
from nameexpr.compiler.planning.sliced import SliceEffort, slice_network
from nameexpr.compiler.schedule.limit.loops import measure
from nameexpr.compiler.schedule.limit.network import SingleReduction, StepTree
from nameexpr.compiler.schedule.limit.ordering import in_least_memory
from nameexpr.compiler.schedule.limit.search import (
    ENOUGH,
    CostedNest,
    Effort,
    allowed_seconds,
    find_nests,
    widened,
)
from nameexpr.compiler.schedule.limit.slices import network_of, sliceable, sliced_nests
from nameexpr.records import field, record

FEW = 3
"""The number of steps from which other orders are searched."""

EFFORTS = (
    SliceEffort(100, 0.3, 0),
    SliceEffort(100, 0.3, 1),
    SliceEffort(300, 0.5, 0),
    SliceEffort(100, 0.3, 2),
    SliceEffort(300, 0.5, 1),
)
"""How orders for slices are searched, one after the other."""


class OrderedNests(NamedTuple):
    """An expression with a plan, its tree, nests that fit, the cheapest first, and the one with the lowest
    peak.
    """

    single: SingleReduction
    tree: StepTree
    nests: list[CostedNest]
    lowest: CostedNest

    @property
    def cost(self) -> float:
        """The cost of the cheapest nest."""
        return self.nests[0].cost if self.nests else inf


def order_nests(single: SingleReduction, limit: float, effort: Effort) -> list[OrderedNests]:
    """Return orders with nests that fit a limit, the cheapest first; the plan's own even if none fits."""
    single = single._replace(plan=in_least_memory(single.plan))
    tree = StepTree(single)
    is_simple = len(single.plan.steps) < FEW or not all(single.plan.contraction.sizes.values())
    if not single.is_free or is_simple or tree.elements[tree.result] * tree.width > limit:
        return [OrderedNests(single, tree, *find_nests(tree, limit, effort))]
    search = _Slices(single, tree, limit)
    search.add(EFFORTS[0])
    own = OrderedNests(single, tree, *find_nests(tree, limit, effort, cheapest=search.cheapest))
    search.cheapest = min(search.cheapest, own.cost)
    if search.cheapest > ENOUGH * measure(tree, (), limit).cost:
        for kind in EFFORTS[1:]:
            if search.spent < allowed_seconds(tree, search.cheapest):
                search.add(kind)
        search.improve()
    return sorted([*search.orders, own], key=lambda one: one.cost)


@record(frozen=False)
class _Slices:
    """The orders for slices that were found, the cost of the cheapest nest, and the seconds that it took."""

    single: SingleReduction
    tree: StepTree
    limit: float
    orders: list[OrderedNests] = field(default_factory=list)
    cheapest: float = inf
    spent: float = 0.0

    def add(self, kind: SliceEffort) -> None:
        """Search for one more order."""
        network, pairs = network_of(self.tree, self.single.plan)
        elements = self.limit / self.tree.width
        order = slice_network(network, pairs, elements, sliceable(self.tree), kind)
        self.spent += order.seconds
        if not order.fits:
            return
        numbered = in_order(order.pairs, len(network.terms))
        try:
            plan = plan_contractions(self.single.plan.contraction, order=numbered)
        except TooManyDimsError:
            return
        single = self.single._replace(plan=in_least_memory(plan))
        tree = StepTree(single)
        nests = widened(tree, self.limit, sliced_nests(tree, order.labels, self.limit))
        if nests:
            self.orders.append(OrderedNests(single, tree, nests, nests[0]))
            self.cheapest = min(self.cheapest, nests[0].cost)

    def improve(self) -> None:
        """Search for other loops in the order whose nest costs least."""
        if not self.orders:
            return
        place = min(range(len(self.orders)), key=lambda place: self.orders[place].cost)
        best = self.orders[place]
        nests, _ = find_nests(best.tree, self.limit, cheapest=self.cheapest)
        ranked = sorted([*nests, *best.nests], key=lambda one: one.cost)
        self.orders[place] = best._replace(nests=ranked)
