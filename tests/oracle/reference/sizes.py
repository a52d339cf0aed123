"""Sizes in the reference evaluator: what operands, text and keywords say, and what one unknown must be.

Nothing is solved by algebra. A dim is the sum of the products of its labels; an unknown size is the only
number for which that comes out, found by trying. A label that only positions have gets the largest size for
which all of them are inside, found by trying too.
"""

from __future__ import annotations

import itertools
import math
import operator
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from oracle.reference.rules import labels_of
from oracle.reference.text import Affine, At, Blank, Group, Item, Label, Literal, Parts, Refused, Term, parts


@dataclass(frozen=True)
class Positions:
    """Affine positions in a dim: `base` is the item before ``@``, `whole` the size of the dim."""

    place: Affine
    whole: int


def solve(
    sizes: dict[str, int],
    terms: Sequence[Term],
    shapes: Sequence[tuple[int, ...]],
    keywords: Mapping[str, int],
) -> None:
    """Add the size of every label to `sizes`, or reject.

    Parameters
    ----------
    sizes
        What is known of labels that stand for packs, blanks and literals.
    terms
        The input terms, then the output terms, each of items for one dim each.
    shapes
        The shape of each operand.
    keywords
        What the caller said.
    """
    written = [part for term in terms for part in parts(term) if isinstance(part, Label)]
    labels = {part.name for part in written} | {name for _, name in strides_of(terms)}
    for word, size in keywords.items():
        name = unicodedata.normalize("NFKC", word)
        if name not in labels or ":" in name:
            raise Refused("size", f"{word} is not a label of the text")
        learn(sizes, name, operator.index(size))
    for part in written:
        if part.size is not None:
            learn(sizes, part.name, part.size)
    dims = [
        pair for term, shape in zip(terms, shapes, strict=False) for pair in zip(term, shape, strict=True)
    ]
    found = [Positions(item.place, whole) for item, whole in dims if isinstance(item, At)]
    plain = {label for item, _ in dims for label in labels_of((item,))}
    settle(sizes, [(whole, item) for item, whole in dims], found, plain)
    if free := sorted(labels - set(sizes)):
        only_there = set(free) <= {name for _, name in strides_of(terms)} - plain
        raise Refused("NE316" if only_there else "size", f"{free} are free")
    for positions in found:
        refuse_outside(sizes, positions)


def strides_of(terms: Iterable[Term]) -> list[tuple[int, str]]:
    """The labels of the positions of expressions, with what they are multiplied by."""
    return [pair for term in terms for item in term if isinstance(item, At) for pair in item.place.strides]


def settle(
    sizes: dict[str, int],
    equations: Sequence[tuple[int, Item]],
    positions: Sequence[Positions],
    plain: Iterable[str],
) -> None:
    """Find sizes until nothing changes: exact ones first, then those of all windows at once."""
    plain = set(plain)
    while True:
        while any([infer(sizes, whole, item) for whole, item in equations]):  # noqa: C419  all of them
            pass
        fitting: dict[str, int] = {}
        for one in positions:
            unknown = {name for _, name in one.place.strides if name not in sizes}
            if len(unknown) != 1 or unknown & plain:
                continue
            (label,) = unknown
            if (size := largest(sizes, one, label)) is not None:
                fitting[label] = min(size, fitting.get(label, size))
        if not fitting:
            return
        for label, size in fitting.items():
            if size < 1:
                raise Refused("NE315", f"no {label} fits")
            sizes[label] = size


def largest(sizes: Mapping[str, int], positions: Positions, label: str) -> int | None:
    """The largest size of a label for which it leads out of the dim on no side, None if it leads nowhere."""
    slope = sum(times for times, name in positions.place.strides if name == label)
    if slope == 0:
        return None
    for size in itertools.count(1):
        found = cells(positions.place, {**sizes, label: size})
        if max(found) >= positions.whole if slope > 0 else min(found) < 0:
            return size - 1
    raise AssertionError


def cells(place: Affine, sizes: Mapping[str, int]) -> list[int]:
    """All positions; a label without indices counts as if it had one."""
    labels = list(dict.fromkeys(name for _, name in place.strides))
    found = []
    for index in itertools.product(*(range(max(sizes[label], 1)) for label in labels)):
        at = dict(zip(labels, index, strict=True))
        found.append(position_at(place, at))
    return found


def position_at(place: Affine, at: Mapping[str, int]) -> int:
    """The position where the labels have these indices."""
    return place.number + sum(times * at[name] for times, name in place.strides)


def refuse_outside(sizes: Mapping[str, int], positions: Positions) -> None:
    """No position leaves its dim, if there is any."""
    if all(sizes[name] for _, name in positions.place.strides):
        for at in cells(positions.place, sizes):
            if not 0 <= at < positions.whole:
                raise Refused("NE317", f"{at} of {positions.whole}")


def learn(sizes: dict[str, int], label: str, size: int) -> None:
    """Note a size; sizes given more than once agree."""
    if size < 0 or sizes.setdefault(label, size) != size:
        raise Refused("size", f"{label} is {sizes.get(label)} and {size}")


def size_of(item: Item, sizes: Mapping[str, int]) -> int:
    """How many cells an item has along its dim; a ``_`` among parts counts as nothing."""
    if isinstance(item, Label):
        return sizes[item.name]
    if isinstance(item, Group):
        return math.prod(size_of(part, sizes) for part in item.items)
    if isinstance(item, Parts):
        return sum(math.prod(size_of(one, sizes) for one in part) for part in item.parts)
    if isinstance(item, At):
        return size_of(item.base, sizes)
    return item.size if isinstance(item, Literal) else 0


def is_open(item: Item) -> bool:
    """Whether any size will do: the item has a ``_``, which stands for the rest."""
    return any(isinstance(part, Blank) for part in parts((item,)))


def factors(item: Group, sizes: Mapping[str, int], whole: int) -> list[int]:
    """The sizes of the factors of a dim; one with a ``_`` among its parts is what the others leave."""
    found = [size_of(part, sizes) for part in item.items]
    opened = [at for at, part in enumerate(item.items) if is_open(part)]
    if not opened or whole < 0:
        return found
    others = math.prod(size for at, size in enumerate(found) if at != opened[0])
    if len(opened) > 1 or not others or whole % others or whole // others < found[opened[0]]:
        raise Refused("size", f"{item} of {whole}")
    found[opened[0]] = whole // others
    return found


def infer(sizes: dict[str, int], whole: int, item: Item) -> bool:
    """Use one dim: whether it told a size that was unknown."""
    unknown = {label for label in labels_of((item,)) if label not in sizes}
    if not unknown:
        if isinstance(parted(item), Group):
            factors(parted(item), sizes, whole)
        made = size_of(item, sizes)
        if made != whole and not (is_open(item) and (made < whole or not isinstance(parted(item), Parts))):
            raise Refused(
                "NE314" if isinstance(parted(item), Parts) else "size", f"{item}: {made}, not {whole}"
            )
        return False
    if len(unknown) > 1 or is_open(item):
        return False
    (label,) = unknown
    fitting = [size for size in range(whole + 2) if size_of(item, {**sizes, label: size}) == whole]
    if not fitting:
        raise Refused("NE314" if isinstance(parted(item), Parts) else "size", f"no {label} makes {whole}")
    if len(fitting) > 1:
        return False
    sizes[label] = fitting[0]
    return True


def parted(item: Item) -> Item:
    """The item whose size this is."""
    return item.base if isinstance(item, At) else item
