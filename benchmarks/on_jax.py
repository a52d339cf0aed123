"""``python -m benchmarks.on_jax``: JAX arrays, on one core: nameexpr next to the same by hand.

Every figure is the least time of a peer divided by that of nameexpr, over interleaved rounds, after both are
compiled; a result that differs by more than rounding ends the run. The columns are calls outside of
any function (`eager`), inside one `jax.jit`, and the gradient of all operands inside one `jax.jit`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks import networks

Run = Callable[..., Any]
ROUNDS, BATCH = 15, 2e-3
MANY = 12
"""The number of operands up to which `jnp.einsum(optimize="optimal")` finds a path in time."""


class TracedWorkload(NamedTuple):
    """What is computed: by nameexpr, by its peer, and on which operands."""

    name: str
    peer: str
    ours: Run
    by_hand: Run
    arrays: tuple[Any, ...]
    is_tiny: bool = False


def workloads() -> Iterator[TracedWorkload]:
    """Yield all workloads."""
    yield from _pairs()
    yield from _networks()
    yield from _formulas()


def normal(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Return arrays of JAX, the same in every run."""
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    return tuple([jnp.asarray(rng.normal(size=shape), "float32") for shape in shapes])


PAIRS = (
    ("tiny matmul", "i j, j k -> i k", "ij,jk->ik", (4, 4), (4, 4)),
    ("tiny batched matmul", "b i j, b j k -> b i k", "bij,bjk->bik", (4, 4, 4), (4, 4, 4)),
    ("tiny dot", "i, i ->", "i,i->", (4,), (4,)),
    ("tiny transpose", "i j -> j i", "ij->ji", (4, 4)),
    ("gemm 256", "i j, j k -> i k", "ij,jk->ik", (256, 256), (256, 256)),
    ("gemm nt 256", "i j, k j -> i k", "ij,kj->ik", (256, 256), (256, 256)),
    ("matvec 1000", "i j, j -> i", "ij,j->i", (1000, 1000), (1000,)),
    ("bmm", "b i j, b j k -> b i k", "bij,bjk->bik", (32, 64, 64), (32, 64, 64)),
    ("scores", "b q h d, b k h d -> b h q k", "bqhd,bkhd->bhqk", (4, 64, 8, 32), (4, 64, 8, 32)),
    ("values", "b h q k, b k h d -> b q h d", "bhqk,bkhd->bqhd", (4, 8, 64, 64), (4, 64, 8, 32)),
    ("inner products", "n d, n d -> n", "nd,nd->n", (20000, 16), (20000, 16)),
    ("outer", "i, j -> i j", "i,j->ij", (1000,), (1000,)),
    ("hadamard", "i j, i j -> i j", "ij,ij->ij", (500, 500), (500, 500)),
    ("TCCG", "a e b f, d f c e -> a b c d", "aebf,dfce->abcd", (16, 16, 16, 16), (16, 16, 16, 16)),
)


def _pairs() -> Iterator[TracedWorkload]:
    for name, text, letters, *shapes in PAIRS:
        is_tiny = name.startswith("tiny")
        yield _contraction(name, text, letters, normal(*shapes), "optimal", is_tiny=is_tiny)


def _networks() -> Iterator[TracedWorkload]:
    every = [
        networks.chain(10, 10, 200),
        networks.state_product(20, 8),
        networks.tree(16, 4, 12),
        networks.regular(10, 3, 5),
        networks.tucker(16, 6),
        networks.canonical(12, 8),
    ]
    for one in every:
        optimize = "optimal" if len(one.terms) <= MANY else "auto"
        arrays = [x / np.sqrt(x.shape[0]) for x in normal(*one.shapes)]
        yield _contraction(one.name, one.text, one.symbols, tuple(arrays), optimize)


def _contraction(
    name: str, text: str, letters: str, arrays: tuple[Any, ...], optimize: str, *, is_tiny: bool = False
) -> TracedWorkload:
    import jax.numpy as jnp

    import nameexpr as ne

    def ours(*xs: Any) -> Any:
        return ne.einsum(text, *xs)

    def by_hand(*xs: Any) -> Any:
        return jnp.einsum(letters, *xs, optimize=optimize)

    return TracedWorkload(name, f"jnp.einsum, {optimize}", ours, by_hand, arrays, is_tiny)


NORM = "y[n c] = (x[n c] - mean[c](x[n c])) / sqrt(var[c](x[n c]) + 1e-5) * g[c]"
ATTENTION = """
    s[b h q k] = sum[d](x[b q h d] * y[b k h d]) / sqrt(size[d])
    o[b q h d] = sum[k](softmax[k](s[b h q k]) * z[b k h d])
"""
DISTANCES = "d[i j] = sum[k]((x[i k] - y[j k])**2)"


def _formulas() -> Iterator[TracedWorkload]:
    import jax
    import jax.numpy as jnp

    import nameexpr as ne

    def norm(x: Any, g: Any) -> Any:
        return (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5) * g

    def attention(x: Any, y: Any, z: Any) -> Any:
        s = jnp.einsum("bqhd,bkhd->bhqk", x, y) / np.sqrt(x.shape[-1])
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), z)

    def distances(x: Any, y: Any) -> Any:
        return ((x[:, None] - y[None]) ** 2).sum(2)

    def our_norm(x: Any, g: Any) -> Any:
        return ne.evaluate(NORM, x=x, g=g)

    def our_attention(x: Any, y: Any, z: Any) -> Any:
        return ne.evaluate(ATTENTION, x=x, y=y, z=z)

    def our_distances(x: Any, y: Any) -> Any:
        return ne.evaluate(DISTANCES, x=x, y=y)

    for rows in (64, 4096):
        yield TracedWorkload(f"layer norm {rows}", "by hand", our_norm, norm, normal((rows, 512), (512,)))
    shape = (4, 128, 8, 32)
    yield TracedWorkload("attention", "by hand", our_attention, attention, normal(shape, shape, shape))
    yield TracedWorkload("distances", "by hand", our_distances, distances, normal((500, 32), (500, 32)))


def measure(workload: TracedWorkload, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the microseconds of an eager call, and how many times as long the peer takes, by column."""
    import jax

    arrays, ours, by_hand = workload.arrays, workload.ours, workload.by_hand
    every = tuple(range(len(arrays)))

    def gradient(run: Run) -> Run:
        return jax.jit(jax.grad(lambda *xs: (run(*xs) ** 2).sum(), every))

    columns = {"eager": (ours, by_hand), "jit": (jax.jit(ours), jax.jit(by_hand))}
    if workload.is_tiny:
        columns["bare jit"] = ours, jax.jit(by_hand)
    else:
        columns["grad"] = gradient(ours), gradient(by_hand)
    ratios, fastest = {}, 0.0
    for name, (one, other) in columns.items():
        _compare(one(*arrays), other(*arrays))
        seconds: tuple[list[float], list[float]] = [], []
        for number in range(2 * rounds):  # in turns: what runs first finds other memory
            turn = number % 4 in (1, 2)
            seconds[turn].append(timed(other if turn else one, arrays))
        least, least_of_peer = map(min, seconds)
        ratios[name] = least_of_peer / least
        fastest = fastest or 1e6 * least
    return fastest, ratios


def _compare(one: Any, other: Any) -> None:
    import jax

    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        largest = float(np.max(np.abs(right), initial=1e-30))
        np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-4 * largest)


def timed(run: Run, arrays: tuple[Any, ...]) -> float:
    """Return the seconds of one call, from a batch of them that is long enough."""
    import jax

    start = time.perf_counter()
    jax.block_until_ready(run(*arrays))
    count = max(1, int(BATCH / (time.perf_counter() - start)))
    start = time.perf_counter()
    for _ in range(count):
        jax.block_until_ready(run(*arrays))
    return (time.perf_counter() - start) / count


def main() -> int:
    """Print a line for each workload."""
    parser = argparse.ArgumentParser("python -m benchmarks.on_jax", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--workload", help="only those whose name contains this")
    options = parser.parse_args()
    print("microseconds of an eager call of nameexpr, and how many times as long the others take")
    for workload in workloads():
        if options.workload is None or options.workload in workload.name:
            microseconds, ratios = measure(workload, options.rounds)
            listed = "   ".join(f"{name} {ratio:5.2f}" for name, ratio in ratios.items())
            print(f"{workload.name:<28} {microseconds:9.1f} us   {listed}   ({workload.peer})", flush=True)
    return 0


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    sys.exit(main())
