"""Group u: what users of other libraries called slow, or too large, in public threads.

Each workload has the name of the project and the number of the thread, its expression, and its shapes, scaled
so that hand takes about 1 to 50 ms; where the thread is about the cost of a small call they are its own.
Hand includes the thread's workaround. `benchmarks/README.md` lists what each thread complains of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.networks import Network
from benchmarks.workloads import by_path
from benchmarks.workloads import user_hands as by_hand
from benchmarks.workloads.base import MEMORY, Operands, Workload, by_einsum, normal

Make = Callable[[np.random.Generator], Operands]


def _case(
    name: str, text: str, make: Make, *hands: Callable[..., Any], tags: tuple[str, ...] = (), **given: Any
) -> Workload:
    return Workload(name, "u", text, make, hands, tags=tags, **given)


def _doubles(*shapes: tuple[int, ...]) -> Make:
    return normal(*shapes, dtype=np.float64)


def _repeated(make: Make, *positions: int) -> Make:
    """Return a maker of operands that are the same arrays several times, as many threads pass them."""

    def again(rng: np.random.Generator) -> Operands:
        arrays = make(rng)
        return tuple(arrays[position] for position in positions)

    return again


def _complex(*shapes: tuple[int, ...]) -> Make:
    def make(rng: np.random.Generator) -> Operands:
        parts = [rng.standard_normal((2, *shape)) for shape in shapes]
        return tuple(part[0] + 1j * part[1] for part in parts)

    return make


def _small(rng: np.random.Generator) -> Operands:
    return np.eye(3), np.arange(3)


def _network(
    name: str,
    text: str,
    sizes: dict[str, int],
    paths: list[list[tuple[int, int]]],
    *better: Callable[..., Any],
    make: Make | None = None,
) -> Workload:
    """Return a workload whose hands are these orders of contraction in several forms, and better ones."""
    inputs, _, out = text.partition("->")
    terms = tuple(tuple(term.split()) for term in inputs.split(","))
    size = {label: sizes[label] for term in terms for label in term}
    network = Network(name, terms, tuple(out.split()), size)
    hands = (*better, *by_path.hands(network, paths))
    return _case(name, text, make or _doubles(*network.shapes), *hands, is_by_cell=False)


VECTORS = [f"x y z i{number}" for number in range(16)]
"""Sixteen vectors at each place of a grid; the core has a dim of size 2 for each, and one more."""

OPT_EINSUM = (
    _network(
        "opt_einsum 8, tetrahedron",
        "a b c, c f d, d b e, e f a ->",
        dict.fromkeys("abcdef", 28),
        [[(0, 1), (0, 2), (0, 1)], [(2, 3), (0, 2), (0, 1)], [(2, 3), (1, 2), (0, 1)]],
        by_hand.tetrahedron,
    ),
    _case(
        "opt_einsum 133, core and vectors",
        f"{', '.join(VECTORS)}, {' '.join(f'i{number}' for number in range(16))} o -> x y z o",
        _doubles(*[(4, 5, 5, 2)] * 16, (2,) * 17),
        by_hand.cores,
        tags=(MEMORY,),
    ),
    _case(
        "opt_einsum 157, sum of Gram matrices",
        "i p x, i q x -> p q",
        _repeated(_doubles((40, 40, 2000)), 0, 0),
        by_hand.summed_grams,
        by_hand.gram_of_copy,
        lambda x, y: np.tensordot(x, y, ((0, 2), (0, 2))),
        lambda x, y: np.matmul(x, y.swapaxes(1, 2)).sum(0),
        tags=(MEMORY,),
    ),
    _case(
        "opt_einsum 234, many bilinear forms",
        "i j k l, j m i k, j m i l -> j m",
        _complex((60, 150, 3, 3), (150, 6, 60, 3), (150, 6, 60, 3)),
        by_hand.sandwiches_in_steps,
        by_hand.sandwiches_of_vectors,
        by_hand.sandwiches_with_long_rows,
        by_hand.sandwiches_by_loop,
        by_hand.sandwiches_of_pairs,
        by_einsum("ijkl,jmik,jmil->jm"),
    ),
    _case(
        "opt_einsum 248, exchange energy",
        "i P, s P, P Q, j Q, t Q, t i, s j ->",
        _repeated(_doubles((120, 800), (20, 800), (800, 800), (20, 120)), 0, 1, 2, 0, 1, 3, 3),
        by_hand.exchange,
        by_hand.exchange_by_loop,
        by_hand.exchange_of_equals,
        tags=(MEMORY,),
        is_by_cell=False,
    ),
)

NUMPY_ORDERS = (
    _case(
        "numpy 9775, graph of five nodes",
        "a b, a c, b c, a d, b d, a e, c e, d e ->",
        _repeated(_doubles((64, 64)), *[0] * 8),
        by_hand.clique,
        by_hand.clique_by_loop,
        by_hand.clique_of_equals,
        is_by_cell=False,
    ),
    _network(
        "numpy 9788, five tensors",
        "a b c, b d i h, d f j m, k f g, c h m g -> a i j k",
        {**dict.fromkeys("ackg", 32), **dict.fromkeys("bdf", 8), **dict.fromkeys("ihjm", 4)},
        [[(0, 4), (0, 3), (0, 2), (0, 1)], [(3, 4), (2, 3), (1, 2), (0, 1)]],
    ),
    _network(
        "numpy 11210, no small intermediate",
        "i k l, p l m, m k i -> p",
        dict.fromkeys("iklmp", 80),
        [[(0, 2), (0, 1)]],
        by_hand.no_small_intermediate,
    ),
    _network(
        "numpy 11825, eight tensors",
        "g f l, e g h, e f j, m j k, c d n, b c k, b d i, o i h -> l m n o",
        {**dict.fromkeys("gfecdb", 40), **dict.fromkeys("lhjmkino", 16)},
        [[(0, 1), (0, 6), (0, 5), (0, 1), (0, 3), (0, 2), (0, 1)]],
        by_hand.halves,
        make=_repeated(_doubles((40, 40, 16), (16, 16, 16)), 0, 0, 0, 1, 0, 0, 0, 1),
    ),
    _case(
        "numpy 14332, Winograd convolution",
        "m n, n r, f c r, n h, o c t h -> o f t m",
        _doubles((8, 10), (10, 3), (50, 50, 3), (10, 10), (20, 50, 40, 10)),
        by_hand.winograd,
        by_hand.winograd_in_batches,
        by_hand.winograd_by_rows,
    ),
)

SIZES = dict(
    zip("kdyzBvhwcqfnbegtiAxou", (5, 3, 2, 2, 2, 2, 2, 2, 2, 5, 2, 4, 3, 2, 2, 2, 5, 3, 2, 2, 4), strict=True)
)

NUMPY_LOOPS = (
    _case("numpy 10357, small call", "i j, j -> i", _small, np.ndarray.dot, by_einsum("ij,j->i")),
    _case(
        "numpy 19647, batch of products",
        "q i j, q j k -> q i k",
        _repeated(_doubles((100, 100, 100)), 0, 0),
        np.matmul,
    ),
    _case(
        "numpy 21019, scaled 3x3",
        "i, i, i j k, i l k -> i j l",
        _repeated(_doubles((50_000,), (50_000,), (50_000, 3, 3)), 0, 1, 2, 2),
        by_hand.scaled_grams,
        by_hand.scaled_grams_by_loop,
        by_hand.scaled_grams_in_columns,
        by_hand.scaled_grams_of_copies,
    ),
    _case(
        "numpy 22604, all pairs",
        "t h d, T h d -> t h T",
        _doubles((400, 1, 500), (400, 1, 500)),
        by_hand.all_pairs,
        lambda x, y: np.matmul(x.transpose(1, 0, 2), y.transpose(1, 2, 0)).transpose(1, 0, 2),
    ),
    _case(
        "numpy 22604, 15 and 13 dims",
        "k d y z B v h w c q f n b e g, h t i A z x o b v u d B w -> y w u k b n v i z x o : sum",
        _doubles(*(tuple(SIZES[x] for x in term) for term in ("kdyzBvhwcqfnbeg", "htiAzxobvudBw"))),
        by_hand.tensors,
        by_hand.tensors_summed_by_product,
        by_hand.tensors_summed_by_loop,
    ),
    *(
        _case(
            f"numpy 25713, Frobenius {size}",
            "i j, i j ->",
            _doubles((size, size), (size, size)),
            by_hand.dot_of_all,
            lambda x, y: np.inner(x.ravel(), y.ravel()),
            by_einsum("ij,ij->"),
        )
        for size in (64, 1024)
    ),
)

PYTORCH = (
    *(
        _case(
            f"pytorch 10661, two rows of {length}",
            "a c, a b c -> c b",
            normal((2, length), (2, 2, length)),
            by_hand.few_rows,
            by_einsum("ac,abc->cb"),
            lambda x, y: np.einsum("ac,abc->bc", x, y).T,
        )
        for length in (2000, 400_000)
    ),
    _case(
        "pytorch 32591, broadcast dots",
        "p s q t r u x y z, n s t u x y z -> n p s q t r u",
        normal((16, 2, 16, 2, 16, 2, 2, 2, 2), (128, 2, 2, 2, 2, 2, 2)),
        by_hand.broadcast_dots,
        by_hand.broadcast_dots_as_columns,
        by_hand.broadcast_dots_by_sum,
    ),
    _case(
        "pytorch 101249, dots of two",
        "N c, N c -> N",
        normal((1 << 20, 2), (1 << 20, 2)),
        by_hand.pairs_of_columns,
        by_hand.each_column,
        by_einsum("ij,ij->i"),
        np.vecdot,
        lambda a, b: (a * b) @ np.ones(2, a.dtype),
    ),
    _case(
        "pytorch 110858, few matrices",
        "i j k, n i k l -> n i j l",
        normal((3, 64, 64), (4096, 3, 64, 1)),
        by_hand.shared_matrices,
        by_hand.shared_matrices_transposed,
        np.matmul,
    ),
    _case(
        "pytorch 149302, batch in the middle",
        "a b c, b c d -> a b d",
        normal((1024, 8, 128), (8, 128, 64)),
        by_hand.middle_batch,
        by_hand.middle_batch_into,
        lambda a, b: np.matmul(a[:, :, None], b)[:, :, 0],
        tags=(MEMORY,),
    ),
)

DASK = (
    _case(
        "dask 10053, eight dims",
        "a i j k l, a m n o p -> i j k l m n o p",
        _doubles((256, 5, 5, 5, 5), (256, 5, 5, 5, 5)),
        by_hand.all_dims,
        lambda a, b: np.tensordot(a, b, (0, 0)),
        tags=(MEMORY,),
    ),
)

WORKLOADS = (*OPT_EINSUM, *NUMPY_ORDERS, *NUMPY_LOOPS, *PYTORCH, *DASK)
