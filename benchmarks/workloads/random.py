"""Group r: random pairwise contractions from fixed seeds, so that no model is tuned to the named list.

Labels are batch, kept by the left, kept by the right or contracted, in any order in each term. The hands are
the candidates a careful user would try: the C loop, NumPy's optimizer, the product and its sum, and one
matmul with its copies in the orders that may spare some.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.workloads.base import Workload, letters, normal

Hand = Callable[[Any, Any], Any]
COUNT = 150
WORK = (50_000, 5_000_000)  # multiplications in one case, at least and at most
SIZES = (2, 3, 5, 8, 16, 24, 40, 64)


def _matmul(
    np_text: str, size: dict[str, int], by_right: bool, by_out: bool, outside: int, above: bool
) -> Hand:
    """Return one matmul with its copies: permute, merge, multiply, unmerge, all orders fixed before.

    Contracted labels stand as in the right operand or as in the left, kept ones as in the output or as in
    their operand: an order that merges needs no copy. The first ``outside`` labels that only the right
    operand keeps are looped over like a batch, against a left operand of size 1 there; with
    ``above`` so are all that only the left one keeps, and what is multiplied is a row.
    """
    left, right, out = np_text.replace("->", ",").split(",")
    batch = [x for x in (out if by_out else right) if x in left and x in right and x in out]
    rows = [x for x in (out if by_out else left) if x in left and x in out and x not in batch]
    cols = [x for x in (out if by_out else right) if x in right and x in out and x not in batch]
    inner = [x for x in (right if by_right else left) if x in left and x in right and x not in out]
    loop, cols = cols[:outside], cols[outside:]
    high, rows = (rows, []) if above else ([], rows)
    order = [*batch, *high, *loop, *rows, *cols]
    m, k, n = (math.prod(size[x] for x in part) for part in (rows, inner, cols))
    lead = [math.prod(size[x] for x in batch)] if batch else []
    first_axes, first_shape = (
        [left.index(x) for x in (*batch, *high, *rows, *inner)],
        (*lead, *(size[x] for x in high), *[1] * len(loop), m, k),
    )
    second_axes = [right.index(x) for x in (*batch, *loop, *inner, *cols)]
    second_shape = (*lead, *[1] * len(high), *(size[x] for x in loop), k, n)
    shape, axes = [size[x] for x in order], [order.index(x) for x in out]
    multiply = np.matmul if batch or high or loop else np.dot

    def hand(a: Any, b: Any) -> Any:
        first = a.transpose(first_axes).reshape(first_shape)
        second = b.transpose(second_axes).reshape(second_shape)
        return multiply(first, second).reshape(shape).transpose(axes)

    return hand


def _multiply_and_sum(np_text: str, size: dict[str, int]) -> Hand:
    """Return the whole product in the order of the bigger operand, then its sum."""
    terms = np_text.replace("->", ",").split(",")
    bigger = max(terms[:2], key=lambda term: math.prod(size[x] for x in term))
    order = [*(x for x in size if x not in bigger), *bigger]
    axes, fills = zip(*(_aligned(term, order) for term in terms[:2]), strict=True)
    dropped = tuple(i for i, x in enumerate(order) if x not in terms[2])
    left = [x for x in order if x in terms[2]]
    back = [left.index(x) for x in terms[2]]

    def hand(a, b):
        product = np.multiply(a.transpose(axes[0])[fills[0]], b.transpose(axes[1])[fills[1]])
        return np.add.reduce(product, dropped).transpose(back)

    return hand


def _aligned(term: str, order: list[str]) -> tuple[list[int], tuple[Any, ...]]:
    """Return the axes that put a term's labels in this order, and an index that fills in the missing ones."""
    return [term.index(x) for x in order if x in term], tuple(
        slice(None) if x in term else None for x in order
    )


def _matmuls(np_text: str, size: dict[str, int]) -> Iterator[Hand]:
    """Yield the matmuls in all their orders, with either operand first."""
    left, right, out = np_text.replace("->", ",").split(",")
    for by_right, by_out, above in itertools.product((False, True), repeat=3):
        for outside in range(1 + _kept(right, left, out)):
            yield _matmul(np_text, size, by_right, by_out, outside, above)
        for outside in range(1 + _kept(left, right, out)):
            swapped = _matmul(f"{right},{left}->{out}", size, by_right, by_out, outside, above)
            yield functools.partial(_flipped, swapped)


def _kept(term: str, other: str, out: str) -> int:
    """Return how many labels only this term has and keeps."""
    return sum(x in out and x not in other for x in term)


def _flipped(hand: Hand, a: Any, b: Any) -> Any:
    return hand(b, a)


def random_pair(seed: int) -> Workload:
    """Return the random pair of a seed; the group has the first."""
    rng = np.random.default_rng(1000 + seed)
    terms, size = _draw(rng)
    while not WORK[0] <= math.prod(size.values()) <= WORK[1]:
        terms, size = _draw(rng)
    text = "{}, {} -> {}".format(*(" ".join(term) for term in terms)).strip()
    np_text = text.replace(" ", "")
    shapes = [tuple(size[x] for x in term) for term in terms[:2]]
    hands: tuple[Callable[..., Any], ...] = (
        # Twice: the C loop nests its sums by the alphabet, so that other letters may be 15 % quicker.
        functools.partial(np.einsum, np_text),
        functools.partial(np.einsum, letters(text)),
        functools.partial(np.einsum, np_text, optimize=True),
        _multiply_and_sum(np_text, size),
        *_matmuls(np_text, size),
    )
    return Workload(f"random {seed}", "r", text, normal(*shapes), hands)


def _draw(rng: np.random.Generator) -> tuple[list[list[str]], dict[str, int]]:
    """Return the three terms of a contraction and the size of each label."""
    counts = rng.integers((0, 0, 0, 1), (2, 3, 3, 3))
    names = iter("abcdefghij")
    batch, rows, cols, inner = ([next(names) for _ in range(count)] for count in counts)
    size = {x: int(rng.choice(SIZES)) for x in (*batch, *rows, *cols, *inner)}
    parts = (batch + rows + inner, batch + cols + inner, batch + rows + cols)
    return [[str(x) for x in rng.permutation(part)] for part in parts], size


WORKLOADS = tuple(random_pair(seed) for seed in range(COUNT))
