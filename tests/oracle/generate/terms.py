"""The language side of generated cases: terms, the output, sizes and names, valid by construction.

A `Draft` is built in the order in which a person would think: labels with sizes, input terms, what is
dropped, the output term, and last the sizes that must be written down because nothing else tells them.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from oracle.generate.reads import reach, read_items
from oracle.reference.rules import live_labels, live_literals
from oracle.reference.text import At, Blank, Group, Item, Label, Literal, Pack, Parts, Term, parts

LABELS = [
    "a",
    "b",
    "c",
    "i",
    "j",
    "k",
    "N",
    "C",
    "H",
    "W",
    "batch",
    "chan",
    "height",
    "out_features",
    "x1",
    "i'",
    "seq'",
    "k''",
    "N'",
    "in",
    "for",
    "_hidden",
    "reduce",
    "dtype",
    "fi",
]
FOREIGN = ["é", "λ", "größe", "温度", "β'"]
FRESH = ["row", "col", "x", "y", "rest", "features", "lambda", "p'", "_q", "Out", "heads"]
PACK_WORDS = ["lead...", "space...", "B'..."]


@dataclass
class Draft:
    """One expression in the making.

    `rank` holds the sizes that a pack, `...` or `_` has over all operands; `spans` those it has in each
    operand.
    """

    rng: random.Random
    named: bool
    left_out: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    packs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    blanks: list[int] = field(default_factory=list)
    inputs: list[Term] = field(default_factory=list)
    spans: list[tuple[int, ...]] = field(default_factory=list)
    output: Term = ()
    reduced: bool = False
    keywords: dict[str, int] = field(default_factory=dict)
    reads: bool = False

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.rng.random() < probability


def draft_expression(rng: random.Random) -> Draft:
    """A whole expression: inputs, output and sizes."""
    draft = Draft(rng, named=rng.random() < 0.4, reads=rng.random() < 0.4)
    names = rng.sample(LABELS + (FOREIGN if draft.chance(0.2) else []), rng.choice([1, 2, 3, 3, 4, 4, 5, 6]))
    draft.sizes = {name: 0 if draft.chance(0.02) else rng.choice([1, 2, 2, 3, 3, 4]) for name in names}
    draw_packs(draft)
    for at in range(count := rng.choices([1, 2, 3, 4, 5], [40, 32, 15, 8, 5])[0]):
        draw_input(draft, single=count == 1, first=at == 0)
    drop_and_output(draft)
    write_sizes(draft)
    return draft


def draw_packs(draft: Draft) -> None:
    """The packs that inputs may use, with their sizes."""
    for word in ["...", *draft.rng.sample(PACK_WORDS, 1)]:
        if draft.chance(0.3):
            shape = tuple(draft.rng.choice([1, 2, 2, 3]) for _ in range(draft.rng.choice([0, 1, 1, 2, 3])))
            draft.packs[word] = shape


def draw_input(draft: Draft, single: bool, first: bool) -> None:
    """One input term: labels, literals and blanks, grouped, with at most one pack."""
    rng, labels = draft.rng, list(draft.sizes)
    count = min(rng.choice([0, 1, 1, 2, 2, 3, 3, 4] if single else [0, 1, 2, 2, 2, 3, 3]), len(labels))
    drawn = rng.choices(labels, k=count) if draft.chance(0.15) else rng.sample(labels, count)
    items: list[Item] = [Label(label) for label in drawn]
    if draft.chance(0.15):
        items.insert(rng.randint(0, len(items)), Literal(rng.choice([1, 1, 1, 2, 3])))
    items = named_items(draft, grouped(draft, items, 0.3), strict=False)
    items = read_items(draft, items)
    if single and draft.chance(0.12):
        for _ in range(rng.choice([1, 1, 2])):
            items.insert(rng.randint(0, len(items)), Blank())
            draft.blanks.append(rng.choice([1, 2, 3]))
    span: tuple[int, ...] = ()
    if draft.packs and (first or draft.chance(0.6)):
        word = rng.choice(list(draft.packs))
        items.insert(rng.randint(0, len(items)), Pack(word))
        span = pack_span(draft, word)
    draft.inputs.append(tuple(items))
    draft.spans.append(span)


def pack_span(draft: Draft, word: str) -> tuple[int, ...]:
    """The sizes of a pack in one operand: for `...` a part from the right, some of it 1."""
    shape = draft.packs[word]
    if word != "..." or draft.chance(0.4):
        return shape
    part = shape[draft.rng.randint(0, len(shape)) :]
    return tuple(1 if draft.chance(0.3) else size for size in part)


def grouped(draft: Draft, items: Sequence[Item], probability: float) -> list[Item]:
    """The items, with a run of them put into a group, which may hold another."""
    found = list(items)
    if not draft.chance(probability):
        return found
    start = draft.rng.randint(0, len(found))
    stop = draft.rng.randint(start, min(len(found), start + 3))
    inside = grouped(draft, found[start:stop], 0.25)
    return [*found[:start], Group(tuple(inside)) if inside else Literal(1), *found[stop:]]


def named_items(draft: Draft, items: Sequence[Item], strict: bool, probability: float = 0.1) -> list[Item]:
    """Aliases and group names, no name twice; where `strict`, no label twice without an alias."""
    plain = [item.name for item in items if isinstance(item, Label)]
    aliased = {
        at
        for at, item in enumerate(items)
        if isinstance(item, Label) and (draft.chance(probability) or (strict and plain.count(item.name) > 1))
    }
    taken = {item.name for at, item in enumerate(items) if isinstance(item, Label) and at not in aliased}
    found: list[Item] = []
    for at, item in enumerate(items):
        if at in aliased and isinstance(item, Label):
            item = replace(item, alias=free_name(draft, taken))
        elif isinstance(item, Group) and draft.chance(0.4):
            item = replace(item, name=free_name(draft, taken))
        found.append(item)
    return found


def free_name(draft: Draft, taken: set[str]) -> str:
    """A name that no other dim of the term has; sometimes one that is a label elsewhere."""
    others = list(draft.sizes) if draft.chance(0.3) else []
    choices = [name for name in others or FRESH if name not in taken]
    name = draft.rng.choice(choices or [name for name in FRESH if name not in taken])
    taken.add(name)
    return name


def labels_of(terms: Iterable[Term]) -> list[str]:
    """The labels that values have which are read by these terms, in reading order."""
    return [label for term in terms for label in live_labels(term)]


def drop_and_output(draft: Draft) -> None:
    """Choose what is dropped and lay out the rest, with repeats, new labels and literals."""
    rng, counts = draft.rng, Counter(labels_of(draft.inputs))
    packs = {part.word for term in draft.inputs for part in term if isinstance(part, Pack)}
    literals = [part.size for term in draft.inputs for part in parts(term) if isinstance(part, Literal)]
    reduced = any(size != 1 for size in literals) or draft.chance(0.33)
    kept = [label for label in counts if draft.chance(0.45 if reduced or counts[label] > 1 else 1)]
    kept_packs = [word for word in sorted(packs) if draft.chance(0.5 if reduced else 1)]
    blanks = rng.randint(0, len(draft.blanks)) if reduced else len(draft.blanks)
    dropped = len(kept) < len(counts) or len(kept_packs) < len(packs) or blanks < len(draft.blanks)
    draft.reduced = reduced and (dropped or bool(literals))
    items: list[Item] = [*map(Label, kept), *map(Pack, kept_packs), *[Blank() for _ in range(blanks)]]
    draw_output(draft, items, {size for size in literals if size != 1})


def draw_output(draft: Draft, items: list[Item], avoided: set[int]) -> None:
    """The output term of these items and some more, in a random order."""
    items = [*items, *(item for item in items if isinstance(item, Label) and draft.chance(0.08))]
    unused = [name for name in LABELS if name not in draft.sizes and name + "..." not in draft.packs]
    for name in draft.rng.sample(unused, 2):
        if draft.chance(0.08):
            draft.sizes[name] = draft.rng.choice([0, 1, 2, 2, 3])
            items += [Label(name)] * (2 if draft.chance(0.1) else 1)
    if draft.chance(0.12):
        items.append(Literal(draft.rng.choice([size for size in (1, 1, 1, 2, 3) if size not in avoided])))
    if draft.chance(0.8):
        draft.rng.shuffle(items)
    draft.output = tuple(named_items(draft, grouped(draft, items, 0.3), strict=draft.named))


def write_sizes(draft: Draft) -> None:
    """Give the sizes that nothing tells, as keywords or in the text, and some that are known anyway."""
    labels = set(labels_of([*draft.inputs, draft.output]))
    known: set[str] = set() if draft.left_out else told_by_shapes(draft)
    if draft.left_out:
        known = set(labels_of(draft.inputs))
    while missing := sorted(labels - known):
        label = draft.rng.choice(missing)
        write_size(draft, label)
        known = settle(draft, known | {label})
    for label in sorted(labels):
        if draft.chance(0.06):
            write_size(draft, label)


def told_by_shapes(draft: Draft) -> set[str]:
    """The labels whose sizes the operands' shapes tell."""
    plain = {item.name for term in draft.inputs for item in term if isinstance(item, Label)}
    for item in (item for term in draft.inputs for item in term if isinstance(item, Parts | At)):
        labels = live_labels((item,))
        if len(labels) == 1 and (isinstance(item, At) or (Blank(),) not in item.parts):
            plain |= {*labels}
    return settle(draft, plain)


def settle(draft: Draft, known: set[str]) -> set[str]:
    """Add the one unknown of a product to what is known, until nothing changes."""
    known = set(known)
    for _ in draft.sizes:
        for group in (item for term in draft.inputs for item in term if isinstance(item, Group)):
            factors = labels_of([(group,)])
            unknown = [label for label in factors if label not in known]
            if len(unknown) == 1 and all(draft.sizes[label] for label in factors if label in known):
                known |= set() if 0 in literals_of(group) else set(unknown)
    return known


def literals_of(item: Item) -> list[int]:
    """The sizes of the literals in an item that are dims of the value."""
    return live_literals((item,))


def write_size(draft: Draft, label: str) -> None:
    """Write the size of a label, in the text where a place without an alias is found, or as a keyword."""
    terms = [draft.output] if draft.left_out else [*draft.inputs, draft.output]
    at = draft.rng.randrange(len(terms))
    if Label(label) not in list(parts(terms[at])) or draft.chance(0.5):
        draft.keywords[label] = draft.sizes[label]
        return
    terms[at] = sized(terms[at], label, draft.sizes[label])
    if not draft.left_out:
        draft.inputs = terms[:-1]
    draft.output = terms[-1]


def sized(term: Term, label: str, size: int) -> Term:
    """The term with this size written at every place of the label that has no alias."""
    found: list[Item] = []
    for item in term:
        if isinstance(item, Group):
            item = replace(item, items=sized(item.items, label, size))
        elif isinstance(item, Parts):
            item = replace(item, parts=tuple(sized(part, label, size) for part in item.parts))
        elif item == Label(label):
            item = replace(item, size=size)
        found.append(item)
    return tuple(found)


def item_size(draft: Draft, item: Item) -> int:
    """The size of a dim that is a label, a literal, a group of those, parts, or what positions need."""
    if isinstance(item, At):
        return item.base.size if isinstance(item.base, Literal) else reach(draft, item.place)
    if isinstance(item, Parts):
        return sum(
            1 if part == (Blank(),) else math.prod(item_size(draft, one) for one in part)
            for part in item.parts
        )
    labels = math.prod(draft.sizes[label] for label in labels_of([(item,)]))
    return labels * math.prod(literals_of(item))
