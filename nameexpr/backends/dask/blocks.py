"""Block sizes: into which blocks the labels of a piece are cut.

A label gets the blocks that the arrays have, the coarser ones where they differ. Blocks are halved until what
a task holds fits into the budget, and merged where there would be thousands of small tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod

from nameexpr.backends.dask.pieces import Sizes, lead, without_lead
from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.records import record

Cuts = dict[str, tuple[int, ...]]
"""The sizes of the blocks of each label."""

MOST_TASKS = 2000
"""The number of tasks of a step above which blocks are merged, if its operands have fewer."""
LIGHT = 8
"""An array with less than 1 / `LIGHT` of the bytes of another one has no say in its blocks."""
LONG = 1000
"""The size down to which labels of the result are not halved while others can be: each block of an operand is
made again for every block of the others.
"""


@record
class Chunked:
    """The blocks of an array: the labels of its dims, its chunks, and its bytes; 0 if they do not matter."""

    axes: Axes
    chunks: tuple[tuple[int, ...], ...]
    bytes: int


@record
class Load:
    """What a task of a step holds, as terms: the labels and the bytes of one element of each array.

    `kept` are the labels of its result; those in `whole` are not split.
    """

    terms: tuple[tuple[Labels, int], ...]
    kept: Labels
    whole: frozenset[str]
    sizes: Sizes

    def bytes(self, blocks: Mapping[str, int]) -> int:
        """Return the bytes for the largest blocks."""
        return sum([prod([blocks[label] for label in labels]) * item for labels, item in self.terms])

    @property
    def labels(self) -> Labels:
        """All labels."""
        return tuple(dict.fromkeys([label for labels, _ in self.terms for label in labels]))


def natural_cuts(
    arrays: Sequence[Chunked], labels: Iterable[str], whole: Collection[str], sizes: Sizes
) -> Cuts:
    """Return the blocks that arrays give to labels; one block for those in `whole` or in no array."""
    offers: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for array in arrays:
        for group, chunks in zip(array.axes, array.chunks, strict=True):
            label = lead(group, sizes)
            if label is not None and label not in whole:
                offers.setdefault(label, []).append((array.bytes, _of_lead(label, group, chunks, sizes)))
    return {label: _coarsest(offers.get(label, ()), sizes[label]) for label in labels}


def _of_lead(label: str, group: Labels, chunks: tuple[int, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return the blocks of the label along which a dim is cut."""
    inner = prod([sizes[one] for one in without_lead(group, sizes)])
    chunks = tuple([chunk for chunk in chunks if chunk])
    if not chunks:
        return (sizes[label],)
    if all(chunk % inner == 0 for chunk in chunks):
        return tuple([chunk // inner for chunk in chunks])
    return regular(sizes[label], max(1, max(chunks) // inner))


def _coarsest(offers: Sequence[tuple[int, tuple[int, ...]]], size: int) -> tuple[int, ...]:
    if not offers:
        return (size,)
    heaviest = max(weight for weight, _ in offers)
    heard = [offer for offer in offers if offer[0] * LIGHT >= heaviest]
    return max(heard, key=lambda offer: (max(offer[1]), offer[0]))[1]


def regular(size: int, block: int) -> tuple[int, ...]:
    """Return the cuts of a label into equal blocks, the last one smaller.

    >>> regular(10, 4), regular(0, 4)
    ((4, 4, 2), (0,))
    """
    return tuple([min(block, size - start) for start in range(0, size, max(1, block))]) or (0,)


def fitted(load: Load, cuts: Cuts, budget: int | None, inputs: int) -> Cuts | None:
    """Return cuts whose tasks fit into a budget; None if none do. `inputs` is the number of blocks that the
    arrays have.
    """
    blocks = {label: max(cuts[label]) for label in load.labels}
    changed = {*_shrunk(load, blocks, budget)}
    if budget is not None and load.bytes(blocks) > budget:
        return None
    changed |= _grown(load, blocks, budget, max(MOST_TASKS, inputs))
    return cuts | {label: regular(load.sizes[label], blocks[label]) for label in changed}


def _shrunk(load: Load, blocks: dict[str, int], budget: int | None) -> set[str]:
    """Halve the label that saves most until the load fits, and return the labels that were halved."""
    changed: set[str] = set()

    def halved(label: str) -> tuple[bool, int]:
        is_kept_long = label in load.kept and blocks[label] < 2 * LONG
        return is_kept_long, load.bytes({**blocks, label: -(-blocks[label] // 2)})

    while budget is not None and load.bytes(blocks) > budget:
        free = [label for label, block in blocks.items() if block > 1 and label not in load.whole]
        if not free:
            break
        label = min(free, key=halved)
        blocks[label] = -(-blocks[label] // 2)
        changed.add(label)
    return changed


def _grown(load: Load, blocks: dict[str, int], budget: int | None, most: int) -> set[str]:
    """Double blocks while there are too many and larger ones fit, and return the labels that were doubled."""
    changed: set[str] = set()
    count = {label: len(regular(load.sizes[label], block)) for label, block in blocks.items()}
    if prod(count.values()) <= most or budget is None:
        return changed
    while prod(count.values()) > MOST_TASKS:
        fits = []
        for label in [label for label, number in count.items() if number > 1]:
            size = load.bytes({**blocks, label: min(load.sizes[label], 2 * blocks[label])})
            if size <= budget:
                fits.append((size, label))
        if not fits:
            break
        label = min(fits)[1]
        blocks[label] = min(load.sizes[label], 2 * blocks[label])
        count[label] = len(regular(load.sizes[label], blocks[label]))
        changed.add(label)
    return changed


def number_of_blocks(chunks: Sequence[Sequence[int]]) -> int:
    """Return the number of blocks of an array."""
    return prod(map(len, chunks))
