"""Random formulas with operands for them.

>>> case = seeded_case(7)
>>> result = case.run(formula_reference.evaluate)  # doctest: +SKIP

`seeded_case` makes the case of a seed; `cases` is the same as a hypothesis strategy over seeds, so that a
failure prints the seed; `same` compares a result with the reference's answer. A draft that the reference
rejects is dropped and another one drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracle.generate.dims import DOTS, FORMS, Dim, Made, Node
from oracle.generate.expressions import array_of, names_of
from oracle.generate.joins import draft_join
from oracle.generate.loops import draft_loop
from oracle.generate.pool import Pool
from oracle.generate.trees import Maker
from oracle.reference.formulas import Answer, Named, Refused, answers
from oracle.reference.rounding import distance

__all__ = ["Case", "cases", "draft_case", "same", "seeded_case"]

LIMIT = 20_000


@dataclass(frozen=True)
class Case:
    """One formula with all that is passed to it.

    Attributes
    ----------
    text
        The formula.
    operands
        Arrays, Python numbers, and `Named` ones, by name.
    sizes
        Sizes of labels.
    outputs
        The statements that are wanted, None for the last one.
    special
        Whether an operand may hold NaN or infinities.
    seed
        What `seeded_case` made the case from.
    """

    text: str
    operands: dict[str, Any]
    sizes: dict[str, int]
    outputs: tuple[str, ...] | None
    special: bool
    seed: int

    def run(self, function: Callable[..., Any], wrap: Callable[[Named], Any] = lambda named: named) -> Any:
        """Call a function as `evaluate` is called; `wrap` turns a `Named` into the function's own kind."""
        given = {
            name: wrap(operand) if isinstance(operand, Named) else operand
            for name, operand in self.operands.items()
        }
        options = {"outputs": self.outputs, "sizes": self.sizes}
        return function(self.text, **{word: value for word, value in options.items() if value}, **given)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A hypothesis strategy of cases, by seed."""
    return seeded_case(draw(st.integers(0, 2**32 - 1)))


def seeded_case(seed: int) -> Case:
    """The case of a seed: the first draft that is not rejected."""
    rng = random.Random(seed)
    while True:
        case = draft_case(rng, seed)
        try:
            if case is not None:
                case.run(answers)
                return case
        except Refused:
            continue


def draft_case(rng: random.Random, seed: int = 0) -> Case | None:
    """A case that may still be rejected, None if it is too large."""
    pool = Pool(rng)
    maker = Maker(pool)
    count = 1 if pool.special else rng.choice([1, 1, 2, 2, 3, 4])
    lines = [draft_statement(pool, maker) for _ in range(count)]
    volume = np.prod([max(size, 1) for label, size in pool.sizes.items() if label in pool.mentioned])
    if volume > LIMIT:
        return None
    sizes = {label: pool.sizes[label] for label in sorted(pool.mentioned - pool.known)}
    for label in sorted(pool.mentioned & pool.known):
        if pool.chance(0.05):
            sizes[label] = pool.sizes[label]
    outputs = None
    if pool.chance(0.4):
        names = [made.name for made in pool.made]
        outputs = tuple(rng.sample(names, rng.randint(1, len(names))))
    operands = {operand.name: operand.value for operand in pool.operands}
    return Case(join_lines(rng, lines), operands, sizes, outputs, pool.special, seed)


def join_lines(rng: random.Random, lines: Sequence[str]) -> str:
    """The statements with what may stand between them."""
    text = rng.choice(["", "", "\n", "\n\n    ", "# y = [\n"])
    for at, line in enumerate(lines):
        ends = ["\n", "\n", "; ", ";", "\n\n   ", "  # s = (\n", "\n# none\n"]
        text += line + (rng.choice(ends) if at < len(lines) - 1 else rng.choice(["", "", "\n", "  # end"]))
    return text


def draft_statement(pool: Pool, maker: Maker) -> str:
    """One statement, which later ones may use."""
    if "join" in FORMS and pool.chance(0.12):
        return draft_join(pool, maker)
    if "loop" in FORMS and not pool.packs and not pool.special and pool.chance(0.1):
        return draft_loop(pool, maker)
    node = maker.expression(pool.rng.choice([1, 2, 2, 3, 3, 4]))
    name = pool.fresh_name()
    equals = pool.rng.choice([" = ", " = ", "="])
    if pool.chance(0.5):
        pool.made.append(Made(name, node, bare=True, shape=None))
        return f"{name}{equals}{node.text}"
    dims = left_dims(pool, node)
    shape = tuple(size for dim in dims for size in pool.shape_of(dim))
    labels = [label for dim in dims for label in dim.labels]
    left = f"{name}{left_term(pool, dims)}"
    units = set(labels) | {dim.pack for dim in dims if dim.pack}
    placed = Node(node.text, node.level, units, node.dots, node.kind, node.weak, node.bound)
    pool.made.append(Made(name, placed, bare=len(set(labels)) == len(labels), shape=shape))
    return f"{left}{equals}{node.text}"


def left_dims(pool: Pool, node: Node) -> list[Dim]:
    """The dims of a term on the left: those of the value in any order, some merged, some new."""
    rng = pool.rng
    units = sorted(node.units)
    rng.shuffle(units)
    dims = [left_dim(pool, node, unit) for unit in units]
    if pool.chance(0.1):
        label = pool.label_of_size(pool.draw_size(), units)
        dims.insert(rng.randint(0, len(dims)), Dim((label,)))
    if units and pool.chance(0.08) and units[0] in pool.sizes:
        dims.insert(rng.randint(0, len(dims)), Dim((units[0],)))
    labels = [at for at in range(len(dims) - 1) if dims[at].labels and dims[at + 1].labels]
    if labels and pool.chance(0.25):
        at = rng.choice(labels)
        dims[at : at + 2] = [Dim((*dims[at].labels, *dims[at + 1].labels), group=True)]
    if pool.chance(0.1):
        dims.insert(rng.randint(0, len(dims)), Dim())
    return dims


def left_dim(pool: Pool, node: Node, unit: str) -> Dim:
    """The dim of a label or pack."""
    if unit in pool.sizes:
        return Dim((unit,))
    return Dim(pack=unit, shape=node.dots if unit == DOTS else pool.packs[unit])


def left_term(pool: Pool, dims: Sequence[Dim]) -> str:
    """The text of a term on the left: with names for some dims, and one name for one dim in any case."""
    names: list[str | None] = []
    for dim in dims:
        alias = bool(dim.labels) and (pool.chance(0.1) or (not dim.group and dim.labels[0] in names))
        own = dim.labels[0] if dim.labels and not dim.group else None
        for _ in pool.shape_of(dim):
            names.append(f"c{len(names)}" if alias else own)
    return pool.term(dims, names)


def same(actual: Any, expected: Answer) -> bool:
    """Whether a result agrees with the reference's in names, shape, dtype and values.

    Bools and integers agree exactly, NaN with NaN, infinities with their like; others differ by at most twice
    the reference's bound.
    """
    array = array_of(actual)
    if names_of(actual) != expected.names or array.shape != expected.array.shape:
        return False
    if array.dtype != expected.array.dtype:
        return False
    with np.errstate(all="ignore"):
        return bool(np.all(distance(array, expected.array) <= 2 * expected.error))
