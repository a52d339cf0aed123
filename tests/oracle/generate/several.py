"""Random expressions that join operands into one result, or split one into several."""

from __future__ import annotations

import itertools
import math
import random

from oracle.generate.arrays import Values, random_array, random_dtypes, random_scalar
from oracle.generate.terms import LABELS
from oracle.generate.text import print_text
from oracle.reference.expressions import Named
from oracle.reference.text import Blank, Group, Item, Label, Literal, Parts, Term

MOST = 5
"""As many operands at most."""
Sizes = dict[str, int]
Drawn = tuple[str, tuple[object, ...], Sizes]


def draw_several(rng: random.Random) -> Drawn:
    """The text, operands and sizes of one expression."""
    names = rng.sample([name for name in LABELS if name not in ("reduce", "dtype")], rng.randint(2, 6))
    sizes = {name: rng.choice([1, 1, 2, 2, 3, 4, 0]) for name in names}
    return draw_split(rng, names, sizes) if rng.random() < 0.4 else draw_join(rng, names, sizes)


def draw_join(rng: random.Random, names: list[str], sizes: Sizes) -> Drawn:
    """Operands that each go into a block of the result."""
    dims, rest = draw_parts(rng, names, allow_rest=False)
    shared = [Label(name) for name in rest if rng.random() < 0.7]
    output: list[Item] = [
        *shared,
        *(Parts(parts, rng.choice([None, None, f"J{at}"])) for at, parts in enumerate(dims)),
    ]
    if not rng.random() < 0.5:
        rng.shuffle(output)
        dims = [item.parts for item in output if isinstance(item, Parts)]
    blocks = list(itertools.product(*dims))
    filled = [block for block in blocks if all(labels_in(part) for part in block)]
    blocks = filled if filled and (len(blocks) > MOST or rng.random() < 0.6) else blocks
    if len(blocks) > MOST:
        return draw_join(rng, names, sizes)
    dtypes = random_dtypes(rng, len(blocks))
    named = rng.random() < 0.3
    inputs, operands = [], []
    for block, dtype in zip(blocks, dtypes, strict=True):
        own = [name for part in block for name in labels_in(part)]
        labels = [
            name for name in dict.fromkeys([*own, *(item.name for item in shared)]) if rng.random() < 0.8
        ]
        rng.shuffle(labels)
        term: list[Item] = [Label(name) for name in labels]
        inputs.append(tuple(term))
        shape = [sizes[name] for name in labels]
        value = random_array(rng, shape, dtype, Values()) if shape else random_scalar(rng, dtype, Values())
        operands.append(Named(value, tuple(labels)) if named and shape and rng.random() < 0.7 else value)
    text = print_text(rng, inputs, tuple(output))
    return text, tuple(operands), missing(inputs, [tuple(output)], sizes)


def draw_split(rng: random.Random, names: list[str], sizes: Sizes) -> Drawn:
    """An operand of which each result has one part of each dim of parts."""
    dims, rest = draw_parts(rng, names, allow_rest=True)
    dims = [parts for parts in dims if any(labels_in(part) for part in parts)] or [((Label(names[0]),),)]
    shared = [Label(name) for name in rest if rng.random() < 0.7]
    term: list[Item] = [*shared, *map(Parts, dims)]
    rng.shuffle(term)
    labelled = [[part for part in parts if labels_in(part)] for parts in dims]
    outputs = []
    for block in itertools.product(*labelled):
        found: list[Item] = [*shared]
        for part in block:
            found += [Group(part)] if len(part) > 1 and rng.random() < 0.3 else part
        rng.shuffle(found)
        outputs.append(tuple(found))
    shape = [size_of(item, sizes) for item in term]
    (dtype,) = random_dtypes(rng, 1)
    value = random_array(rng, shape, dtype, Values())
    text = print_text(rng, [tuple(term)], outputs[0], others=outputs[1:])
    return text, (value,), missing([tuple(term)], outputs, sizes)


def draw_parts(
    rng: random.Random, names: list[str], *, allow_rest: bool
) -> tuple[list[tuple[Term, ...]], list[str]]:
    """The parts of one dim or two, and the names that are in none."""
    rest = list(names)
    dims = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        parts: list[Term] = []
        for _ in range(rng.choice([2, 2, 3])):
            if rest and rng.random() < 0.75:
                count = 2 if len(rest) > 1 and rng.random() < 0.15 else 1
                parts.append(tuple(Label(rest.pop()) for _ in range(count)))
            elif allow_rest and (Blank(),) not in parts and rng.random() < 0.3:
                parts.append((Blank(),))
            else:
                parts.append((Literal(rng.choice([1, 1, 2])),))
        dims.append(tuple(parts))
    return dims, rest


def labels_in(part: Term) -> list[str]:
    """The labels of a part."""
    return [item.name for item in part if isinstance(item, Label)]


def size_of(item: Item, sizes: Sizes) -> int:
    """The size of a dim, one more for a ``_``."""
    if isinstance(item, Parts):
        return sum(math.prod(size_of(one, sizes) for one in part) for part in item.parts)
    if isinstance(item, Label):
        return sizes[item.name]
    return item.size if isinstance(item, Literal) else 1


def missing(inputs: list[Term], outputs: list[Term], sizes: Sizes) -> Sizes:
    """The sizes of labels that are no dim of an input by themselves."""
    plain = {item.name for term in inputs for item in term if isinstance(item, Label)}
    every = [item for term in (*inputs, *outputs) for item in term]
    parts = [part for item in every if isinstance(item, Parts) for part in item.parts]
    labels = {name for part in [*parts, tuple(every)] for name in labels_in(part)}
    return {name: sizes[name] for name in sorted(labels - plain)}
