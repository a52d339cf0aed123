"""Loops over blocks of a label: the possible ones in a network, and the costs of a nest of them.

A loop covers the items from the first that has its label to its *top*, to which all of them lead. Items
between them that lack the label are repeated for every block; their other inputs are computed once, before.
If the top keeps the label, each block has its place in the result; if the label was summed before, blocks are
added up, which is possible for linear items.

Sets of items and of labels are the bits of integers. The items below an item are adjacent in the order of the
network, so that a loop with this top changes nothing before the first of them, nor after the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, log
from typing import NamedTuple

from nameexpr.compiler.planning.network import bits
from nameexpr.compiler.schedule.limit.network import StepTree
from nameexpr.records import field, record, replace


@record
class BlockLoop:
    """A loop over blocks of one label; `inner` are the loops inside it, which cover some of its items."""

    label: str
    block: int
    top: int
    items: int
    inner: tuple[BlockLoop, ...] = ()


Nest = tuple[BlockLoop, ...]
Path = tuple[int, ...]
"""The position of a loop: among the outermost loops, then among those inside it."""


class Level(NamedTuple):
    """The items outside all loops, or inside one.

    `times` is how often they run, `looped` are the labels of the loops around them, `turns` the numbers of
    blocks of these, `parts` the sizes of the blocks that have more than one index, `below` the bytes alive
    outside, for values with the labels `around`.
    """

    items: Sequence[int]
    nest: Nest = ()
    path: Path = ()
    times: int = 1
    looped: int = 0
    turns: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    below: float = 0.0
    around: int = 0


class ItemMoment(NamedTuple):
    """The bytes alive before an item runs and while it does, and the excess, cost and flops before and after
    it.
    """

    alive: float
    peak: float
    before: tuple[float, float, float]
    after: tuple[float, float, float]


@record(frozen=False)
class Measure:
    """The costs of a nest: flops, the flops with all calls converted to flops, bytes at the peak, and where
    the peak is.

    `excess` is the sum over all moments above the limit of the logarithm of their ratio to it; items are no
    longer measured once it is more than `enough`. `levels` are the levels, with the moments of their items,
    if they are traced.
    """

    limit: float
    enough: float = inf
    excess: float = 0.0
    flops: float = 0.0
    cost: float = 0.0
    peak: float = 0.0
    path: Path = ()
    item: int = -1
    alive: int = 0
    levels: dict[Path, tuple[Level, dict[int, ItemMoment]]] | None = field(default=None)


def measure(tree: StepTree, nest: Nest, limit: float, *, is_traced: bool = False) -> Measure:
    """Return the costs of the items of a network in a nest of loops."""
    found = Measure(max(1.0, limit), levels={} if is_traced else None)
    walk(tree, Level(range(tree.count), nest), found)
    end = tree.elements[tree.result] * tree.width
    if tree.again and end + tree.again > found.limit:
        found.excess += log((end + tree.again) / found.limit)
    if tree.again and end + tree.again > found.peak:
        found.peak, found.path, found.item = end + tree.again, (), tree.count - 1
        found.alive = tree.result
    return found


def walk(tree: StepTree, level: Level, found: Measure) -> None:
    """Add the costs of the items of one level to `found`, in their order."""
    tops = {loop.top: place for place, loop in enumerate(level.nest)}
    covered = 0
    for loop in level.nest:
        covered |= loop.items
    alive, held, moments = level.below, dict[int, float](), dict[int, ItemMoment]()
    for number in level.items:
        place = tops.get(number)
        if place is None and covered >> number & 1:
            continue
        if found.excess > found.enough:
            return
        before = alive
        costs = found.excess, found.cost, found.flops
        size = part_elements(tree.elements, tree.keep[number], level) * tree.width
        now = alive = alive + size
        if place is None:
            now = _run(tree, level, number, alive, held, found)
            read: Sequence[int] = tree.parts[number]
        else:
            _walk_loop(tree, level, place, alive, held, found)
            items = level.nest[place].items
            read = [value for value in held if items >> tree.parent[value] & 1]
        for value in read:
            alive -= held.pop(value, 0.0)
        held[number] = size
        if found.levels is not None:
            moments[number] = ItemMoment(before, now, costs, (found.excess, found.cost, found.flops))
    if found.levels is not None:
        found.levels[level.path] = level, moments


def _run(
    tree: StepTree, level: Level, number: int, alive: float, held: dict[int, float], found: Measure
) -> float:
    """Add the costs of an item, and return the bytes alive while it runs."""
    _count(tree, number, level, found)
    if tree.copied[number] or number in tree.learned:
        for labels in (*tree.copied[number], *tree.learned.get(number, ())):
            alive += part_elements(tree.elements, labels, level) * tree.width
    if alive > found.limit:
        found.excess += log(alive / found.limit)
    if alive > found.peak:
        labels = tree.every[number] | level.around
        for value in held:
            labels |= tree.keep[value]
        found.peak, found.path, found.item, found.alive = alive, level.path, number, labels
    return alive


def _walk_loop(
    tree: StepTree, level: Level, place: int, alive: float, held: dict[int, float], found: Measure
) -> None:
    """Add the costs of one of the loops of a level."""
    loop = level.nest[place]
    bit = tree.bits[loop.label]
    size = int(tree.elements[bit])
    turns = -(-size // loop.block)
    around = level.around | tree.keep[loop.top]
    for value in held:
        around |= tree.keep[value]
    inside = Level(
        numbers_in(loop.items),
        loop.inner,
        (*level.path, place),
        level.times * turns,
        level.looped | bit,
        (*level.turns, (bit, turns)),
        level.parts if loop.block == 1 else (*level.parts, (bit, loop.block)),
        alive,
        around,
    )
    walk(tree, inside, found)
    if not tree.keep[loop.top] & bit:
        placed = part_elements(tree.elements, tree.keep[loop.top], level)
        found.cost += tree.target.placed_flops * level.times * turns * placed


def _count(tree: StepTree, number: int, level: Level, found: Measure) -> None:
    """Add the flops of an item: all blocks of a label together make up the label."""
    labels, flops = tree.every[number], tree.flops[number]
    for bit, turns in level.turns:
        if not labels & bit:
            flops *= turns
    found.flops += flops
    found.cost += flops + tree.target.step_flops * level.times


def part_elements(elements: dict[int, float], labels: int, level: Level) -> float:
    """Return the elements of a part of a value with these labels."""
    number = elements[labels & ~level.looped]
    if not level.parts:
        return number
    for bit, block in level.parts:
        if labels & bit:
            number *= block
    return number


def numbers_in(items: int) -> list[int]:
    """Return the numbers of a set of items, in order."""
    return [one.bit_length() - 1 for one in bits(items)]


def candidates(
    tree: StepTree, nest: Nest, path: Path, labels: int, tops: Sequence[int] | None = None
) -> Iterator[BlockLoop]:
    """Yield the loops over one of `labels`, an index at a time, that are possible at `path`, by default with
    any top.

    Existing loops that cover some of the items go inside as a whole.
    """
    level, items, around = nest, (1 << tree.count) - 1, 0
    for step in path:
        items, around = level[step].items, around | tree.bits[level[step].label]
        level = level[step].inner
    for label, bit in tree.bits.items():
        if labels & bit & ~around and tree.elements[bit] > 1:
            reading = tree.readers(items, bit)
            for top in numbers_in(items & reading) if tops is None else tops:
                loop = _loop(tree, items & reading, level, label, top)
                if loop is not None:
                    yield loop


def _loop(tree: StepTree, reading: int, level: Nest, label: str, top: int) -> BlockLoop | None:
    """Return the loop with this top over items that need the label, with all items of loops that it overlaps;
    None if there is none.
    """
    below, bit = tree.below[top], tree.bits[label]
    covered = reading & below
    if not covered >> top & 1:
        return None
    inner = []
    for loop in level:
        if loop.items & covered:
            if loop.items & ~below or _labels(tree, loop) & bit:
                return None
            inner.append(loop)
            covered |= loop.items
    if any(loop.items == covered for loop in inner):
        return None
    return BlockLoop(label, 1, top, covered, tuple(inner)) if tree.combines(covered, bit) else None


def _labels(tree: StepTree, loop: BlockLoop) -> int:
    labels = tree.bits[loop.label]
    for inner in loop.inner:
        labels |= _labels(tree, inner)
    return labels


def with_loop(nest: Nest, path: Path, loop: BlockLoop) -> Nest:
    """Return a nest with one more loop at the level of `path`."""
    if path:
        first = nest[path[0]]
        inner = with_loop(first.inner, path[1:], loop)
        return (*nest[: path[0]], replace(first, inner=inner), *nest[path[0] + 1 :])
    return (*[one for one in nest if not one.items & loop.items], loop)


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
