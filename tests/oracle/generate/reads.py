"""Items of random expressions that are read in parts or at positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oracle.reference.text import Affine, At, Blank, Item, Label, Literal, Parts, Term

if TYPE_CHECKING:
    from oracle.generate.terms import Draft


def read_items(draft: Draft, items: Sequence[Item]) -> list[Item]:
    """The items, of which some labels are read in parts or at positions."""
    if not draft.reads:
        return list(items)
    found = [read_item(draft, item) if item == Label(getattr(item, "name", "")) else item for item in items]
    if draft.chance(0.1):
        size = draft.rng.choice([1, 2, 3])
        place = Affine(draft.rng.randrange(size), ())
        found.insert(draft.rng.randint(0, len(found)), At(Literal(size), place))
    return found


def read_item(draft: Draft, item: Item) -> Item:
    """A way to read a dim so that the value has this label."""
    rng = draft.rng
    if not isinstance(item, Label) or not draft.chance(0.35):
        return item
    if draft.chance(0.5):
        parts: list[Term] = [(item,)]
        for _ in range(rng.choice([1, 1, 2])):
            blank = draft.chance(0.15) and (Blank(),) not in parts
            parts.insert(
                rng.choice([0, len(parts)]), (Blank(),) if blank else (Literal(rng.choice([1, 1, 2])),)
            )
        return Parts(tuple(parts))
    names = [item.name, *rng.sample(list(draft.sizes), 1)] if draft.chance(0.3) else [item.name]
    slopes = [rng.choice([1, 1, 1, 2, -1, -2]) for _ in dict.fromkeys(names)]
    pairs = list(zip(slopes, dict.fromkeys(names), strict=True))
    low = sum(min(slope * (draft.sizes[name] - 1), 0) for slope, name in pairs)
    return At(Blank(), Affine(-low, tuple(pairs)))


def reach(draft: Draft, place: Affine) -> int:
    """The size of the smallest dim in which all these positions are."""
    return 1 + place.number + sum(max(slope * (draft.sizes[name] - 1), 0) for slope, name in place.strides)
