"""``python -m benchmarks.chunked``: Dask arrays, on one thread: nameexpr next to other ways to write it.

Every figure is the CPU time of a peer divided by that of nameexpr, from the call until all chunks are
computed, as the median over interleaved rounds; a result that differs by more than rounding ends the run. A
peer that takes `SLOW` times as long as nameexpr runs once. Where users complained of memory, the peak of one
more run is shown, not counting the operands.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Run = Callable[[], Any]
SLOW = 5.0
ROUNDS = 5


class ChunkedWorkload(NamedTuple):
    """What is computed: the lazy result of nameexpr, and those of its peers by name; ``has_peaks`` asks for
    their memory.
    """

    name: str
    ours: Run
    peers: Mapping[str, Run]
    has_peaks: bool = False


def workloads() -> Iterator[ChunkedWorkload]:
    """Yield all workloads; operands are in memory, so that the time is that of the computation."""
    yield from _products()
    yield from _orders()
    yield from _formulas()


def lazy(seed: int, shape: tuple[int, ...], chunks: Any, dtype: str = "f8") -> Any:
    """Return a Dask array of random numbers that are in memory."""
    import dask.array as da
    import numpy as np

    return da.from_array(np.random.default_rng(seed).random(shape, dtype), chunks=chunks)


def _products() -> Iterator[ChunkedWorkload]:
    """Yield products of two operands: the peers choose no order, and only the kernel differs."""
    import dask.array as da

    import nameexpr as ne

    a, b = lazy(0, (2000, 2000), 500), lazy(1, (2000, 2000), 500)
    text = "i k, k j -> i j"
    yield ChunkedWorkload(
        "gemm 2000, chunks of 500",
        lambda: ne.einsum(text, a, b),
        {"a @ b": lambda: a @ b, "da.tensordot": lambda: da.tensordot(a, b, 1), **_peers(text, a, b)},
    )
    q, k = lazy(2, (4, 512, 8, 64), (1, 256, 8, 64), "f4"), lazy(3, (4, 512, 8, 64), (1, 256, 8, 64), "f4")
    text = "b q h d, b k h d -> b h q k"
    yield ChunkedWorkload("attention scores", lambda: ne.einsum(text, q, k), _peers(text, q, k))
    x, y = lazy(4, (300, 8, 300), (100, 8, 100)), lazy(5, (300, 8, 300), (100, 8, 100))
    text = "i b k, k b j -> b i j"
    yield ChunkedWorkload("batch in the middle", lambda: ne.einsum(text, x, y), _peers(text, x, y))
    s, t = lazy(6, (32,) * 4, 16), lazy(7, (32,) * 4, 16)
    text = "a e b f, d f c e -> a b c d"
    turned = {"da.tensordot": lambda: da.tensordot(s, t, ((1, 3), (3, 1))).transpose(0, 1, 3, 2)}
    yield ChunkedWorkload("TCCG 32^4", lambda: ne.einsum(text, s, t), {**turned, **_peers(text, s, t)})
    big, w = lazy(8, (400, 180, 360), (50, 180, 360)), lazy(9, (180,), 180)
    text = "time lat lon, lat -> time lon"
    weigh = {"da.tensordot": lambda: da.tensordot(big, w, (1, 0))}
    yield ChunkedWorkload("weighted mean", lambda: ne.einsum(text, big, w), {**weigh, **_peers(text, big, w)})
    v, z = (lazy(seed, (256, 6, 6, 6, 6), (64, 3, 3, 3, 3)) for seed in (24, 25))
    text = "a i j k l, a m n o p -> i j k l m n o p"
    apart = {"da.tensordot": lambda: da.tensordot(v, z, (0, 0))}
    peers = {**apart, **_peers(text, v, z)}
    yield ChunkedWorkload("dask 10053, eight dims", lambda: ne.einsum(text, v, z), peers, has_peaks=True)


def _orders() -> Iterator[ChunkedWorkload]:
    """Yield products of several operands, where the order matters."""
    import dask.array as da

    import nameexpr as ne

    a, b, c = lazy(10, (1500, 1500), 500), lazy(11, (1500, 1500), 500), lazy(12, (1500, 20), (500, 20))
    text = "i j, j k, k l -> i l"
    left = {"da.tensordot": lambda: da.tensordot(da.tensordot(a, b, 1), c, 1)}
    yield ChunkedWorkload("chain", lambda: ne.einsum(text, a, b, c), {**left, **_peers(text, a, b, c)})
    x, u, v = lazy(13, (200, 200, 200), 100), lazy(14, (200, 30), (100, 30)), lazy(15, (200, 30), (100, 30))
    text = "i j k, j r, k r -> i r"
    yield ChunkedWorkload("MTTKRP", lambda: ne.einsum(text, x, u, v), _peers(text, x, u, v))
    fine = lazy(16, (1000, 1000), 50), lazy(17, (1000, 1000), 50)
    text = "i k, k j -> i j"
    dots = {"a @ b": lambda: fine[0] @ fine[1], "da.tensordot": lambda: da.tensordot(*fine, 1)}
    yield ChunkedWorkload("gemm 1000, chunks of 50", lambda: ne.einsum(text, *fine), dots)


def _formulas() -> Iterator[ChunkedWorkload]:
    """Yield formulas, next to the same operations one by one."""
    import dask.array as da

    import nameexpr as ne

    x = lazy(18, (100_000, 512), (5_000, 512))
    norm = "y[n c] = (x[n c] - mean[c](x[n c])) / sqrt(var[c](x[n c]) + 1e-5)"
    by_hand = lambda: (x - x.mean(1, keepdims=True)) / da.sqrt(x.var(1, keepdims=True) + 1e-5)  # noqa: E731
    yield ChunkedWorkload("layer norm", lambda: ne.evaluate(norm, x=x), {"op by op": by_hand})
    p, q = lazy(19, (3000, 32), (1000, 32)), lazy(20, (3000, 32), (1000, 32))
    pairs = "d[i j] = sqrt(sum[k]((p[i k] - q[j k])**2))"
    apart = lambda: da.sqrt(((p[:, None] - q[None]) ** 2).sum(2))  # noqa: E731
    yield ChunkedWorkload("distances", lambda: ne.evaluate(pairs, p=p, q=q), {"op by op": apart})
    query, key, value = (lazy(seed, (4, 256, 8, 64), (1, 128, 8, 64), "f4") for seed in (21, 22, 23))
    weights = "w[b h q k] = softmax[k](sum[d](x[b q h d] * y[b k h d]) / 8)"
    attention = f"{weights}\nr[b q h d] = sum[k](w * z[b k h d])"

    def one_by_one() -> Any:
        scores = da.einsum("bqhd,bkhd->bhqk", query, key) / 8
        powers = da.exp(scores - scores.max(3, keepdims=True))
        return da.einsum("bhqk,bkhd->bqhd", powers / powers.sum(3, keepdims=True), value)

    ours = lambda: ne.evaluate(attention, x=query, y=key, z=value)  # noqa: E731
    yield ChunkedWorkload("attention", ours, {"op by op": one_by_one})
    ends = "m[c] = mean[n](exp(x[n c]))\ns = max[c](m[c])"
    peak = lambda: da.exp(x).mean(0).max()  # noqa: E731
    yield ChunkedWorkload("reductions", lambda: ne.evaluate(ends, x=x), {"op by op": peak})


def _peers(text: str, *arrays: Any) -> dict[str, Run]:
    """Return the general peers: `da.einsum` with letters, and `xarray.dot` with the names of the text."""
    import dask.array as da
    import xarray as xr

    terms, _, result = text.partition("->")
    letters = {
        name: chr(97 + number) for number, name in enumerate(dict.fromkeys(terms.replace(",", " ").split()))
    }
    subscripts = "".join(letters.get(word, word) for word in text.replace(",", " , ").split())
    dims = [term.split() for term in terms.split(",")]
    named = [xr.DataArray(array, dims=own) for array, own in zip(arrays, dims, strict=True)]
    summed = [name for name in letters if name not in result.split()]
    return {
        "da.einsum": lambda: da.einsum(subscripts, *arrays, optimize=len(arrays) > 2),
        "xarray.dot": lambda: xr.dot(*named, dim=summed).transpose(*result.split()).data,
    }


def measure(workload: ChunkedWorkload, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the seconds of nameexpr, and how many times as long each peer takes."""
    import numpy as np

    expected, seconds = timed(workload.ours)
    ratios: dict[str, list[float]] = {}
    slow = set()
    for name, run in workload.peers.items():
        found, taken = timed(run)
        np.testing.assert_allclose(found, expected, rtol=1e-4 if expected.dtype == np.float32 else 1e-8)
        if taken > SLOW * seconds:
            slow.add(name)
        ratios[name] = [taken / seconds]
    ours = [seconds]
    for _ in range(rounds):
        seconds = timed(workload.ours)[1]
        ours.append(seconds)
        for name, run in workload.peers.items():
            if name not in slow:
                ratios[name].append(timed(run)[1] / seconds)
    return min(ours), {name: statistics.median(found) for name, found in ratios.items()}


def timed(run: Run) -> tuple[Any, float]:
    """Return a result whose chunks are in memory, and the CPU seconds that it took: others use the machine,
    too.
    """
    import dask

    start = time.process_time()
    (result,) = dask.persist(run(), scheduler="threads", num_workers=1)
    return result, time.process_time() - start


def megabytes(run: Run) -> float:
    """Return the peak of one computation, with its result."""
    import dask

    from benchmarks.memory import peak

    return peak(lambda: dask.persist(run(), scheduler="threads", num_workers=1)) / 1e6


def main() -> int:
    """Print a line for each workload."""
    parser = argparse.ArgumentParser("python -m benchmarks.chunked", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--workload", help="only those whose name contains this")
    options = parser.parse_args()
    print("CPU seconds of nameexpr, and how many times as much the others take")
    for workload in workloads():
        if options.workload is None or options.workload in workload.name:
            seconds, ratios = measure(workload, options.rounds)
            listed = "   ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
            print(f"{workload.name:<26} {seconds:7.3f} s   {listed}", flush=True)
            if workload.has_peaks:
                runs = {"nameexpr": workload.ours, **workload.peers}
                print(
                    "  peak MB: " + "   ".join(f"{name} {megabytes(run):.1f}" for name, run in runs.items())
                )
    return 0


if __name__ == "__main__":
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    sys.exit(main())
