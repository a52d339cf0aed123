"""Statements with several values: results whose dims have parts."""

from __future__ import annotations

import itertools
import math

from oracle.generate.dims import DOTS, Dim, Made, Node
from oracle.generate.forms import Form, within
from oracle.generate.pointwise import ATOM, broadcast, wider
from oracle.generate.pool import Pool
from oracle.generate.trees import Maker

Part = tuple[str, ...] | int


def draft_join(pool: Pool, maker: Maker) -> str:
    """One statement with parts on its left, which later ones may use."""
    rng = pool.rng
    labels = rng.sample(list(pool.sizes), min(len(pool.sizes), rng.choice([1, 2, 2, 3])))
    dims = [draw_parts(pool, labels) for _ in range(rng.choice([1, 1, 1, 2]))]
    taken = {label for parts in dims for part in parts if not isinstance(part, int) for label in part}
    shared = [label for label in labels if label not in taken and pool.chance(0.6)]
    joins = [joined(pool, parts) for parts in dims]
    inside = [shared.pop()] if shared and pool.chance(0.25) else []
    joins[-1:] = [in_group(pool, dim, *inside) for dim in joins[-1:]]
    blocks = list(itertools.product(*dims))
    filled = [block for block in blocks if not any(isinstance(part, int) for part in block)]
    is_full = not filled or pool.chance(0.5)
    values = [draw_value(pool, maker, block, [*shared, *inside]) for block in (blocks if is_full else filled)]
    packs = sorted({unit for value in values for unit in value.units if unit not in pool.sizes})
    dots: tuple[int, ...] = ()
    for value in values:
        dots = broadcast(dots, value.dots)
    left = [Dim((label,)) for label in shared] + joins
    left += [Dim(pack=pack, shape=dots if pack == DOTS else pool.packs[pack]) for pack in packs]
    rng.shuffle(left)
    order = [dim.form for dim in left if dim.form is not None]
    if order != [dim.form for dim in joins]:  # the blocks are in the order of the dims
        left.sort(key=lambda dim: dim.form is not None)
        left[len(left) - len(dims) :] = joins
    return written(pool, left, values)


def written(pool: Pool, left: list[Dim], values: list[Node]) -> str:
    """The text of a statement, which is noted."""
    name = pool.fresh_name()
    names = [f"c{at}" if dim.form and pool.chance(0.2) else None for at, dim in enumerate(left)]
    if any(dim.pack for dim in left):
        names = []
    comma = pool.rng.choice([", ", ", ", ",", ",\n   "])
    text = f"{name}{pool.term(left, names)} = {comma.join(value.text for value in values)}"
    kind = values[0].kind
    for value in values:
        kind = wider(kind, value.kind)
    shape = tuple(size for dim in left for size in pool.shape_of(dim))
    node = Node("", ATOM, set(), (), kind, bound=max(value.bound for value in values))
    pool.made.append(Made(name, node, bare=False, shape=shape))
    return text


def draw_parts(pool: Pool, labels: list[str]) -> list[Part]:
    """The parts of a dim: labels, products of two, and numbers."""
    parts: list[Part] = []
    for _ in range(pool.rng.choice([2, 2, 2, 3])):
        if labels and pool.chance(0.65):
            count = 2 if len(labels) > 1 and pool.chance(0.1) else 1
            parts.append(tuple(pool.rng.sample(labels, count)))
        else:
            parts.append(pool.rng.choice([1, 1, 1, 2, 3, 0]))
    return parts


def joined(pool: Pool, parts: list[Part]) -> Dim:
    """A dim of parts."""
    words = [str(part) if isinstance(part, int) else " ".join(part) for part in parts]
    sizes = [
        part if isinstance(part, int) else math.prod(pool.sizes[label] for label in part) for part in parts
    ]
    names = tuple(label for part in parts if not isinstance(part, int) for label in part)
    return Dim((), form=Form(f"({' + '.join(words)})", sum(sizes), False, names))


def in_group(pool: Pool, dim: Dim, *labels: str) -> Dim:
    """A dim of parts as a factor of a group with a label, if there is one."""
    for label in labels:
        assert dim.form is not None
        size = dim.form.size * pool.sizes[label]
        text = within(pool.rng, dim.form.text, label)
        dim = Dim((), form=Form(text, size, False, (*dim.form.names, label)))
    return dim


def draw_value(pool: Pool, maker: Maker, block: tuple[Part, ...], shared: list[str]) -> Node:
    """A value that has no dims but those of its block."""
    if pool.chance(0.25):
        return maker.constant()
    node = maker.expression(pool.rng.choice([0, 1, 1, 2]))
    own = {label for part in block if not isinstance(part, int) for label in part}
    foreign = sorted(unit for unit in node.units if unit in pool.sizes and unit not in own | set(shared))
    if not foreign:
        return node
    if pool.special:  # a sum of products with infinities may be computed in another order
        return maker.constant()
    length = math.prod(pool.sizes[label] for label in foreign)
    kind = "i" if node.kind == "b" else node.kind
    pool.mentioned |= set(foreign)
    text = f"sum[{' '.join(foreign)}]({node.text})"
    return Node(text, ATOM, node.units - set(foreign), node.dots, kind, bound=max(node.bound * length, 1.0))
