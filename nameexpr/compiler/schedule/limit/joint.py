"""Joint loops: several results from one loop over blocks of a label.

A value of the graph is *inside* if a block of it can be computed from blocks of its sources. Values inside
that need no sum over the label are computed in one loop, the first phase; what needs a sum of an earlier
phase is computed in a later one. The gradient of a loss that is a sum over samples has one phase: the forward
and the backward direction of a block of samples, whose weight gradients are added up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import COMBINED
from nameexpr.compiler.ir.nodes import Arrange, Place, Reduction, Scalar, is_moved, sources_of
from nameexpr.compiler.schedule.limit.regions import GraphLoop, GraphLoops, Users, carries, users_of
from nameexpr.records import field, record, replace

SWEEPS = 8
"""How often the phases of values that are computed later are determined at most."""


@record(frozen=False)
class Phases:
    """The values of a graph by the phase of the loops over one label in which they are computed.

    `inside` are the phases of values with the label, `combined` those of sums and the like over it; `ready`
    has for every other value how many phases come before it. With `again`, values of earlier phases are
    computed again rather than stored.
    """

    graph: Graph
    label: str
    outputs: Sequence[int]
    needed: Sequence[int]
    given: Collection[int]
    again: bool
    inside: dict[int, int] = field(default_factory=dict)
    combined: dict[int, int] = field(default_factory=dict)
    ready: dict[int, int] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)

    def assign(self) -> None:
        """Determine the phase of each value."""
        for number in self.needed:
            node = self.graph.nodes[number]
            sources = () if number in self.given else sources_of(node)
            phase = max([self._before(source) for source in sources], default=0)
            if number in self.given or isinstance(node, Scalar):
                self.ready[number] = 0
            elif self._is_inside(number):
                self.inside[number] = phase
            elif self._is_combined(number) and any(source in self.inside for source in sources):
                self.combined[number] = phase
            else:
                self.ready[number] = max(
                    [phase, *(self.inside[source] + 1 for source in sources if source in self.inside)]
                )
                self.read |= {source for source in sources if source in self.inside}
        self.read |= {output for output in self.outputs if output in self.inside}
        self._delay()

    def _delay(self) -> None:
        """Compute values in the phase that reads them if less has to be stored for it."""
        users, kept = users_of(self.graph, self.outputs, (), self.given), set[int]()
        for _ in range(SWEEPS):
            phases, before = dict(self.inside), len(kept)
            for number in sorted(phases.keys() - kept, reverse=True):
                read = [phases.get(user, self.combined.get(user, -1)) for user in users[number]]
                phases[number] = max(phases[number], min(read))
            for source in sorted(phases):
                late = [user for user in users[source] if phases.get(user, -1) > phases[source]]
                cells = sum([self.graph.cells(self.graph.labels[user]) for user in late])
                is_less = self.graph.cells(self.graph.labels[source]) < cells
                if late and not is_less and not self._is_stored(source, users):
                    phases |= {user: self.inside[user] for user in late}
                    kept.update(late)
            if len(kept) == before:
                self.inside = phases
                return

    def _is_stored(self, number: int, users: Users) -> bool:
        """Return whether something outside of the loop of a value reads it."""
        phases = [self.inside.get(user, self.combined.get(user, -1)) for user in users[number]]
        return any(phase != self.inside[number] for phase in phases)

    def _before(self, source: int) -> int:
        if source in self.inside:
            return self.inside[source]
        return self.combined[source] + 1 if source in self.combined else self.ready[source]

    def _is_inside(self, number: int) -> bool:
        node = self.graph.nodes[number]
        is_seen = isinstance(node, Arrange) and is_moved(self.graph.nodes[node.value])
        return not is_seen and carries(self.graph, number, self.label)

    def _is_combined(self, number: int) -> bool:
        """Return whether the results for blocks can be combined."""
        node = self.graph.nodes[number]
        if isinstance(node, Place):
            return self.label in node.labels
        if not isinstance(node, Reduction):
            return False
        return (node.reducer or "sum") in COMBINED and self.label in node.labels

    def loops(self) -> GraphLoops:
        """Return a loop for each phase, with one index at a time."""
        tops = dict(self.combined)
        tops |= {number: self.inside[number] for number in self.read}
        loops: list[GraphLoop] = []
        for phase in range(max(tops.values(), default=-1), -1, -1):
            own = sorted([number for number in tops if tops[number] == phase])
            reads, stored = self._reads(own, phase)
            tops |= {number: self.inside[number] for number in stored}
            if own:
                loops.append(GraphLoop(self.label, tuple(own), reads))
        return tuple(loops)

    def _reads(self, tops: Sequence[int], phase: int) -> tuple[tuple[int, ...], set[int]]:
        """Return what a loop reads, and which of that is inside an earlier one."""
        reads, stored, seen, waiting = set[int](), set[int](), set(tops), list(tops)
        while waiting:
            for source in sources_of(self.graph.nodes[waiting.pop()]):
                if source in seen or isinstance(self.graph.nodes[source], Scalar):
                    continue
                seen.add(source)
                if source not in self.inside:
                    reads.add(source)
                elif self.again or self.inside[source] == phase:
                    waiting.append(source)
                else:
                    reads.add(source)
                    stored.add(source)
        return tuple(sorted(reads)), stored


def joint_loops(
    graph: Graph,
    outputs: Sequence[int],
    needed: Sequence[int],
    label: str,
    given: Collection[int] = (),
    *,
    again: bool = False,
) -> GraphLoops:
    """Return the loops over a label that compute all values that can be computed in blocks; with `again`,
    later ones compute values of earlier ones again rather than read them.
    """
    phases = Phases(graph, label, outputs, needed, given, again)
    phases.assign()
    return phases.loops()


def more_joint_loops(graph: Graph, outputs: Sequence[int], loops: GraphLoops) -> Iterator[GraphLoops]:
    """Yield the joint loops over each label, or loops with joint ones over another label in their blocks."""
    needed = sorted(users_of(graph, outputs, (), ()))
    for label in dict.fromkeys([label for number in needed for label in graph.labels[number]]):
        if graph.sizes[label] < 2:  # noqa: PLR2004
            continue
        if loops:
            found = {tuple([_with_inner(graph, loop, label) for loop in loops])}
        else:
            found = {joint_loops(graph, outputs, needed, label, again=again) for again in (False, True)}
        yield from sorted(found - {loops}, key=len)


def _with_inner(graph: Graph, loop: GraphLoop, label: str) -> GraphLoop:
    """Return a loop with joint loops over another label in its blocks, if there can be any."""
    if loop.inner or label == loop.label:
        return loop
    needed = sorted(users_of(graph, loop.tops, (), loop.reads))
    return replace(loop, inner=joint_loops(graph, loop.tops, needed, label, loop.reads))
