"""Loops over blocks of a label: the possible ones in a network, and the costs of a nest of them.

A loop covers the items from the first that has its label to its *top*, to which all of them lead. Items
between them that lack the label are repeated for every block; their other inputs are computed once, before.
If the top keeps the label, each block has its place in the result; if the label was summed before, blocks are
added up, which is possible for linear items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log, prod

from nameexpr.compiler.schedule.limit.network import COMBINED, Item, Labels, StepNetwork
from nameexpr.records import field, record, replace


@record
class BlockLoop:
    """A loop over blocks of one label; `inner` are the loops inside it, which cover some of its items."""

    label: str
    block: int
    top: int
    items: frozenset[int]
    inner: tuple[BlockLoop, ...] = ()


Nest = tuple[BlockLoop, ...]
Path = tuple[int, ...]
"""The position of a loop: among the outermost loops, then among those inside it."""


@record(frozen=False)
class Measure:
    """The costs of a nest: flops, the flops with all calls converted to flops, bytes at the peak, and where
    the peak is.

    `excess` is the sum over all moments above the limit of the logarithm of their ratio to it.
    """

    limit: int
    excess: float = 0.0
    flops: int = 0
    cost: float = 0.0
    peak: int = 0
    path: Path = ()
    alive: Labels = field(default_factory=frozenset)


@record
class _Level:
    """The items outside all loops, or inside one: `times` is how often they run, `looped` are the labels of
    the loops around them, `below` the bytes that are alive outside.
    """

    items: Sequence[int]
    nest: Nest
    sizes: Mapping[str, int]
    path: Path = ()
    times: int = 1
    looped: Labels = frozenset()
    below: int = 0


def measure(network: StepNetwork, nest: Nest, limit: int) -> Measure:
    """Return the costs of the items of a network in a nest of loops."""
    found = Measure(limit)
    _walk(network, _Level(range(len(network.items)), nest, network.sizes), found)
    end = prod(network.sizes[label] for label in network.values[-1]) * network.width
    if network.again:
        _note(found, end + network.again, (), [network.values[-1]])
    return found


def _walk(network: StepNetwork, level: _Level, found: Measure) -> None:
    """Add the costs of the items of one level to `found`, in their order."""
    tops = {loop.top: place for place, loop in enumerate(level.nest)}
    covered = {item for loop in level.nest for item in loop.items}
    last = _last_reads(network, level)
    held: dict[int, int] = {}
    for number in level.items:
        if number in covered and number not in tops:
            continue
        item = network.items[number]
        size = 0 if item.is_free else _bytes(network, item.labels, level.sizes)
        alive = level.below + sum(held.values()) + size
        if number in tops:
            _walk(network, _inside(level, tops[number], alive), found)
            if level.nest[tops[number]].label not in item.labels:
                blocks = -(-level.sizes[level.nest[tops[number]].label] // level.nest[tops[number]].block)
                found.cost += network.target.placed_flops * level.times * blocks * size / network.width
        else:
            alive += sum(_bytes(network, network.values[one], level.sizes) for one in item.casts)
            _count(network, item, level, found)
            labels = [item.labels | item.summed, *(network.values[one] for one in held)]
            _note(found, alive, level.path, labels)
        if item.is_free and item.reads[0] in held:
            size = held.pop(item.reads[0])
        held[network.count + number] = size
        for read in [read for read in held if last.get(read, -1) == number]:
            del held[read]


def _inside(level: _Level, place: int, alive: int) -> _Level:
    """Return the level inside one of a level's loops."""
    loop = level.nest[place]
    blocks = -(-level.sizes[loop.label] // loop.block)
    return _Level(
        sorted(loop.items),
        loop.inner,
        {**level.sizes, loop.label: loop.block},
        (*level.path, place),
        level.times * blocks,
        level.looped | {loop.label},
        alive,
    )


def _note(found: Measure, alive: int, path: Path, labels: Sequence[Labels]) -> None:
    """Record a moment at which `alive` bytes are alive, for values with these labels."""
    if alive > found.limit:
        found.excess += log(alive / max(1, found.limit))
    if alive > found.peak:
        found.peak, found.path, found.alive = alive, path, frozenset[str]().union(*labels)


def _last_reads(network: StepNetwork, level: _Level) -> dict[int, int]:
    """Return after which item of a level each value is no longer needed."""
    tops = {item: loop.top for loop in level.nest for item in loop.items}
    last: dict[int, int] = {}
    for number in level.items:
        for read in network.items[number].reads:
            last[read] = max(last.get(read, -1), tops.get(number, number))
    return last


def _count(network: StepNetwork, item: Item, level: _Level, found: Measure) -> None:
    """Add the flops of an item: all blocks of a label together make up the label."""
    labels = item.labels | item.summed
    flops = item.factor * prod(network.sizes[label] for label in labels)
    for label in level.looped - labels:
        flops *= -(-network.sizes[label] // level.sizes[label])
    found.flops += flops
    found.cost += flops + network.target.step_flops * level.times


def _bytes(network: StepNetwork, labels: Labels, sizes: Mapping[str, int]) -> int:
    return prod([sizes[label] for label in labels]) * network.width


def candidates(network: StepNetwork, nest: Nest, path: Path, labels: Labels) -> Iterator[BlockLoop]:
    """Yield the loops over one of `labels`, an index at a time, that are possible at `path`.

    Existing loops that cover some of the items go inside as a whole.
    """
    level, items, around = nest, frozenset(range(len(network.items))), frozenset[str]()
    for step in path:
        items, around = level[step].items, around | {level[step].label}
        level = level[step].inner
    for label in sorted(labels - around):
        if network.sizes[label] < 2:  # noqa: PLR2004
            continue
        for top in sorted(items):
            covered = _covered(network, items, level, label, top)
            if covered is not None:
                within = tuple(loop for loop in level if loop.items & covered)
                yield BlockLoop(label, 1, top, covered, within)


def _labels(loop: BlockLoop) -> set[str]:
    return {loop.label}.union(*map(_labels, loop.inner))


def _covered(
    network: StepNetwork, items: frozenset[int], level: Nest, label: str, top: int
) -> frozenset[int] | None:
    """Return the items that a loop with this top has to cover, with all items of loops that it overlaps; None
    if there is no such loop.
    """
    if network.items[top].is_free:
        return None
    covered: set[int] = set()
    below = {top}
    waiting = [top]
    while waiting:
        made = (read - network.count for read in network.items[waiting.pop()].reads)
        fresh = [one for one in made if one in items and one not in below]
        below.update(fresh)
        waiting += fresh
    for number in sorted(below):
        reads = network.items[number].reads
        if any(label in network.values[read] or read - network.count in covered for read in reads):
            covered.add(number)
    touched = [loop for loop in level if loop.items & covered]
    if any(label in _labels(loop) or not loop.items <= below for loop in touched):
        return None
    covered = covered.union(*(loop.items for loop in touched))
    if top not in covered or not _is_closed(network, covered, top):
        return None
    if any(loop.items == covered for loop in touched):
        return None
    return frozenset(covered) if _can_be_parted(network, covered, label, top) else None


def _is_closed(network: StepNetwork, covered: set[int], top: int) -> bool:
    """Return whether only the covered items read the values that they compute, except for the top's
    result.
    """
    made = {network.count + number for number in covered if number != top}
    return all(number in covered or not made & set(item.reads) for number, item in enumerate(network.items))


def _can_be_parted(network: StepNetwork, covered: set[int], label: str, top: int) -> bool:
    """Return whether the results of the top for blocks of a label make up its result for the whole label."""
    for number in covered:
        item = network.items[number]
        if item.is_linear or label in item.labels:
            continue
        if number != top or label not in item.summed or network.reducer not in COMBINED:
            return False
    return True


def with_loop(nest: Nest, path: Path, loop: BlockLoop) -> Nest:
    """Return a nest with one more loop at the level of `path`."""
    if path:
        first = nest[path[0]]
        inner = with_loop(first.inner, path[1:], loop)
        return (*nest[: path[0]], replace(first, inner=inner), *nest[path[0] + 1 :])
    return (*(one for one in nest if not one.items & loop.items), loop)


def with_block(nest: Nest, path: Path, block: int) -> Nest:
    """Return a nest in which the loop at `path` has blocks of another size."""
    first = nest[path[0]]
    if len(path) > 1:
        made = replace(first, inner=with_block(first.inner, path[1:], block))
    else:
        made = replace(first, block=block)
    return (*nest[: path[0]], made, *nest[path[0] + 1 :])


def paths_of(nest: Nest) -> Iterator[tuple[Path, BlockLoop]]:
    """Yield every loop of a nest with its position, outer ones first."""
    for number, loop in enumerate(nest):
        yield (number,), loop
        for path, inner in paths_of(loop.inner):
            yield (number, *path), inner
