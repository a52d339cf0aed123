"""Random programs on operands so large, and lying in memory in so many ways, that their peaks can be
measured: what `memory` measures.

>>> program = random_expression(random.Random(7))
>>> program.run(program.compiled())  # doctest: +SKIP
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import nameexpr as ne
from oracle.generate.arrays import Values, random_dtypes
from oracle.generate.formulas import draft_statement, join_lines
from oracle.generate.operands import costs, operand_dims
from oracle.generate.pool import Pool
from oracle.generate.terms import LABELS, Draft, draw_input, draw_packs, drop_and_output, write_sizes
from oracle.generate.text import print_text
from oracle.generate.trees import Maker
from oracle.reference.text import REDUCERS

Array = np.ndarray[Any, np.dtype[Any]]
LARGE = 250_000
"""Bytes of a peak from which it is measured: Python's own objects are some thousand."""
MOST = 40_000_000
"""Bytes of a peak, and a hundred times the multiplications, up to which a program is run."""
CELLS = 1_000_000
"""Cells of an operand up to which a draft is taken."""
LAYOUTS = ("C", "C", "C", "F", "transposed", "strided", "reversed", "zero", "unaligned", "shifted", "swapped")
REFUSED_FOR_COMPLEX = {"max", "min", "argmax", "argmin", "median", "logsumexp"}


class TooLarge(Exception):
    """What a draft with too large an operand is dropped by."""


@dataclass(frozen=True)
class Program:
    """A text with operands by position, or by name, and options."""

    text: str
    operands: tuple[Any, ...] | dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)

    def compiled(self, **more: Any) -> Any:
        """Return the text compiled with its options, and more of them."""
        return ne.compile(self.text, **self.options, **more)

    def run(self, function: Callable[..., Any]) -> Any:
        """Call a function with the operands."""
        return function(**self.operands) if isinstance(self.operands, dict) else function(*self.operands)

    def __str__(self) -> str:
        """Return the text, its options and what its operands are."""
        arrays = self.operands.items() if isinstance(self.operands, dict) else enumerate(self.operands)
        told = [f"{name}: {one.dtype.str}{one.shape}{one.strides}" for name, one in _arrays(arrays)]
        return f"{self.text!r} {self.options or ''} {'; '.join(told)}"


def _arrays(operands: Any) -> list[tuple[Any, Array]]:
    return [(name, one) for name, one in operands if isinstance(one, np.ndarray)]


def random_expression(rng: random.Random) -> Program:
    """A valid expression whose largest operand or result has some ten thousand cells or more."""
    while True:
        draft = Draft(rng, named=False)
        names = rng.sample(LABELS, rng.choice([1, 2, 3, 3, 4, 4, 5]))
        draft.sizes = {name: rng.choice([1, 2, 3, 4, 5]) for name in names}
        draw_packs(draft)
        for at in range(count := rng.choices([1, 2, 3, 4], [40, 36, 16, 8])[0]):
            draw_input(draft, single=count == 1, first=at == 0)
        drop_and_output(draft)
        if not _grow(draft, 10 ** rng.uniform(4.3, 5.6)):
            continue
        write_sizes(draft)
        dtypes = random_dtypes(rng, count)
        shapes = [[size for size, _ in dims] for dims in operand_dims(draft)]
        operands = tuple(random_operand(rng, *pair) for pair in zip(shapes, dtypes, strict=True))
        product = np.result_type(*dtypes)
        reducer = _reducer(rng, product) if draft.reduced else None
        text = print_text(rng, draft.inputs, draft.output, reducer)
        return Program(text, operands, _options(rng, draft, product, reducer))


def _grow(draft: Draft, wanted: float) -> bool:
    """Make labels longer until the largest array is as large as wanted; whether that came about."""
    for _ in range(60):
        cost = costs(draft)
        largest = max(cost.operand, cost.output)
        if largest >= wanted:
            return largest <= 10 * wanted
        label = draft.rng.choice(list(draft.sizes))
        draft.sizes[label] = draft.sizes[label] * draft.rng.choice([2, 3, 5]) - draft.rng.choice([0, 0, 1])
    return False


def _reducer(rng: random.Random, product: np.dtype[Any]) -> str:
    names = [name for name in REDUCERS if product.kind != "c" or name not in REFUSED_FOR_COMPLEX]
    return rng.choice(names)


def _options(rng: random.Random, draft: Draft, product: np.dtype[Any], reducer: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {"sizes": draft.keywords} if draft.keywords else {}
    if rng.random() < 0.1:
        options["order"] = "C"
    if rng.random() < 0.1 and product.kind in "buif" and reducer is None:
        options["dtype"] = rng.choice(["float32", "float64"])
    return options


class LargePool(Pool):
    """A pool with some long labels, whose operands are drawn at once and lie in memory in any way."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.named, self.special = False, False
        wanted = 10 ** rng.uniform(4.3, 5.5)
        while self.sizes and math.prod(self.sizes.values()) < wanted:
            label = rng.choice(list(self.sizes))
            self.sizes[label] = max(2, self.sizes[label]) * rng.choice([2, 3, 5]) - rng.choice([0, 0, 1])
        self.values = Values(top=2)

    def array(self, shape: Sequence[int], dtype: str) -> Array:
        """Return an operand, filled without a loop in Python."""
        return random_operand(self.rng, shape, dtype)


def random_formula(rng: random.Random) -> Program:
    """A formula of one to three statements; it may yet be rejected."""
    pool = LargePool(rng)
    maker = Maker(pool)
    lines = [draft_statement(pool, maker) for _ in range(rng.choice([1, 1, 2, 3]))]
    sizes = {label: pool.sizes[label] for label in sorted(pool.mentioned - pool.known)}
    options: dict[str, Any] = {"sizes": sizes} if sizes else {}
    if rng.random() < 0.3:
        names = [made.name for made in pool.made]
        options["outputs"] = tuple(rng.sample(names, rng.randint(1, len(names))))
    return Program(join_lines(rng, lines), {one.name: one.value for one in pool.operands}, options)


def random_operand(rng: random.Random, shape: Sequence[int], dtype: str) -> Array:
    """An array of small numbers that lies in memory in one of many ways."""
    if math.prod(shape) > CELLS:
        raise TooLarge
    kind = np.dtype(dtype).kind
    draws = np.random.default_rng(rng.getrandbits(32))
    cells = draws.integers(0 if kind in "bu" else -4, 2 if kind == "b" else 5, tuple(shape))
    halves = cells / 2 if kind in "fc" else cells
    return laid_out(rng, np.asarray(halves).astype(dtype), rng.choice(LAYOUTS))


def laid_out(rng: random.Random, array: Array, layout: str) -> Array:
    """The same values in a layout of this kind (zero strides repeat the first of an axis)."""
    ndim = array.ndim
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "transposed":
        order = rng.sample(range(ndim), ndim)
        return array.transpose(order).copy().transpose(np.argsort(order))
    if layout in {"strided", "reversed"}:
        steps = [rng.choice([1, 2, 3] if layout == "strided" else [1, -1, -1]) for _ in range(ndim)]
        whole = np.zeros(
            [size * abs(step) for size, step in zip(array.shape, steps, strict=True)], array.dtype
        )
        view = whole[(*(slice(None, None, step) for step in steps), ...)]
        view[...] = array
        return view
    if layout == "zero":
        kept = [rng.random() < 0.5 for _ in range(ndim)]
        first = array[(*(slice(None if keep else 1) for keep in kept), ...)]
        return np.broadcast_to(first.copy(), array.shape)
    if layout == "unaligned":
        record = np.zeros(array.shape, [("tag", "u1"), ("cells", array.dtype)])
        record["cells"] = array
        return record["cells"]
    if layout == "shifted":
        made = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        made[...] = array
        return made
    return array.astype(array.dtype.newbyteorder()) if layout == "swapped" else array
