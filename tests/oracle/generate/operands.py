"""From a drafted expression to shapes, names and costs; also expressions whose inputs are left out."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass

from oracle.generate.terms import (
    FRESH,
    LABELS,
    Draft,
    draw_output,
    item_size,
    labels_of,
    literals_of,
    write_sizes,
)
from oracle.reference.text import Blank, Group, Item, Label, Literal, Pack, Term, parts


@dataclass(frozen=True)
class Costs:
    """Sizes of the loops: all cells, those of the output, those that are dropped, those of the largest
    operand.
    """

    cells: int
    output: int
    dropped: int
    operand: int


def draft_left_out(rng: random.Random) -> Draft:
    """An expression ``-> OUT`` for operands with names."""
    draft = Draft(rng, named=True, left_out=True)
    names = rng.sample(LABELS, rng.randint(1, 5))
    draft.sizes = {name: 0 if draft.chance(0.02) else rng.choice([1, 2, 2, 3, 3, 4]) for name in names}
    count = rng.choices([1, 2, 3], [6, 3, 1])[0]
    for _ in range(count):
        drawn = rng.sample(names, rng.randint(0 if count > 1 else 1, len(names)))
        draft.inputs.append(tuple(map(Label, drawn)))
        draft.spans.append(())
    if count == 1 and draft.chance(0.6):
        hide_dims(draft)
    else:
        drop_names(draft)
    write_sizes(draft)
    return draft


def hide_dims(draft: Draft) -> None:
    """Put dims that the output does not mention between the others: `...` stands for them."""
    items: list[Item] = list(draft.inputs[0])
    mentioned = [*items]
    for _ in range(draft.rng.choice([0, 1, 1, 2, 3])):
        items.insert(draft.rng.randint(0, len(items)), Blank())
        draft.blanks.append(draft.rng.choice([1, 2, 3]))
    draft.inputs = [tuple(items)]
    draft.packs = {"...": tuple(draft.blanks)}
    draw_output(draft, [*mentioned, Pack("...")], set())


def drop_names(draft: Draft) -> None:
    """Keep some of the names; those that only one operand has are kept or reduced."""
    counts = Counter(labels_of(draft.inputs))
    reduced = draft.chance(0.4)
    kept = [label for label in counts if draft.chance(0.5 if reduced or counts[label] > 1 else 1)]
    draft.reduced = reduced and len(kept) < len(counts)
    draw_output(draft, [Label(label) for label in kept], set())


def operand_dims(draft: Draft) -> list[list[tuple[int, str | None]]]:
    """For each operand the size of each dim and a name that fits it, None where it must have none."""
    taken_blanks = 0
    found = []
    for term, span in zip(draft.inputs, draft.spans, strict=True):
        taken = own_names(term)
        seen: set[str] = set()
        dims: list[tuple[int, str | None]] = []
        for item in term:
            if isinstance(item, Pack):
                dims += [(size, f"{item.word[0]}{at - len(span)}") for at, size in enumerate(span)]
            elif isinstance(item, Blank):
                dims.append((draft.blanks[taken_blanks], f"t{taken_blanks}"))
                taken_blanks += 1
            else:
                dims.append((item_size(draft, item), item_name(draft, item, taken, seen)))
        found.append([(size, clean(name)) for size, name in dims])
    return found


def clean(name: str | None) -> str | None:
    """A made-up pack name as an identifier."""
    return None if name is None else name.replace(".", "dots").replace("-", "_")


def own_names(term: Term) -> set[str]:
    """The names that a term itself gives to dims."""
    labels = {item.alias or item.name for item in term if isinstance(item, Label)}
    return labels | {item.name for item in term if isinstance(item, Group) and item.name}


def item_name(draft: Draft, item: Item, taken: set[str], seen: set[str]) -> str | None:
    """The name of the dim that this item matches; of several dims of one label the first has it."""
    name = (item.alias or item.name) if isinstance(item, Label) else None
    if isinstance(item, Group):
        name = item.name
    if name is None:
        free = [word for word in [*FRESH, *LABELS] if word not in taken]
        name = draft.rng.choice(free)
        taken.add(name)
    if name in seen:
        return None
    seen.add(name)
    return name


def costs(draft: Draft) -> Costs:
    """What evaluating the draft by loops would cost, or somewhat less."""
    labels, wanted = set(labels_of(draft.inputs)), set(labels_of([draft.output]))
    used = {part.word for term in draft.inputs for part in term if isinstance(part, Pack)}
    out_packs = [part.word for part in parts(draft.output) if isinstance(part, Pack)]
    blanks = sum(isinstance(part, Blank) for part in parts(draft.output))
    hidden = 0 if draft.left_out else len(draft.blanks)
    dropped = math.prod(draft.sizes[label] for label in labels - wanted)
    dropped *= math.prod(size for term in draft.inputs for item in term for size in literals_of(item))
    dropped *= math.prod(math.prod(draft.packs[word]) for word in used - set(out_packs))
    dropped *= math.prod(draft.blanks[blanks:hidden])
    output = math.prod(draft.sizes[label] for label in labels_of([draft.output]))
    output *= math.prod(part.size for part in parts(draft.output) if isinstance(part, Literal))
    output *= math.prod(math.prod(draft.packs[word]) for word in out_packs) * math.prod(draft.blanks[:blanks])
    operand = max(math.prod(size for size, _ in dims) for dims in operand_dims(draft))
    return Costs(output * dropped, output, dropped, operand)
