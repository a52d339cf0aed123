"""Regenerate `known.json`: ``python -m benchmarks.search`` takes about forty minutes, and needs cotengra.

For every network it keeps the least work found by any of the searches, and which one found it; for cotengra's
hyper search also what that took. Nothing of nameexpr takes part. Networks that are run get up to three paths.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import cotengra
import opt_einsum

from benchmarks.networks import Network
from benchmarks.planned import NETWORKS
from benchmarks.workloads.networks import KNOWN, RUN

SECONDS, LONG = 30.0, 100.0  # for the hyper search, and for its search of more than 120 operands
EXACT = 20  # dynamic programming over subsets takes minutes on larger networks than chains and rings


def main() -> None:
    """Search all networks, or those named, and write the file; a better plan of an earlier search is kept."""
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {"planned": {}, "paths": {}}
    chosen = set(sys.argv[1:])
    for network in NETWORKS:
        if not chosen or network.name in chosen:
            found, before = _score(network), known["planned"].get(network.name, {})
            if before and before["flops"] < found["flops"]:
                found |= {key: before[key] for key in ("flops", "by")}
            if before and before["hyper_flops"] < found["hyper_flops"]:
                found |= {key: before[key] for key in ("hyper_flops", "hyper_seconds")}
            known["planned"][network.name] = found
            print(network.name, known["planned"][network.name], flush=True)
    for name, (network, *_) in RUN.items():
        if not chosen or name in chosen:
            known["paths"][name] = _best_paths(network)
            print(name, len(known["paths"][name]), flush=True)
    known["made_with"] = f"cotengra {cotengra.__version__}, opt_einsum {opt_einsum.__version__}"
    KNOWN.write_text(json.dumps(known).replace('"], ', '"],\n').replace("}, ", "},\n") + "\n")


def _score(network: Network) -> dict[str, Any]:
    found = {name: (_work(network, path), seconds) for name, path, seconds in _searched(network)}
    best = min(found, key=lambda name: found[name][0])
    hyper, seconds = found["hyper"]
    return {"flops": found[best][0], "by": best, "hyper_flops": hyper, "hyper_seconds": round(seconds, 1)}


def _best_paths(network: Network) -> list[Any]:
    """Return the path of least work, and two that are good in other ways."""
    listed = sorted(_searched(network, "combo"), key=lambda one: _work(network, one[1]))
    paths = [[list(pair) for pair in path] for _, path, _ in listed]
    return [path for i, path in enumerate(paths) if path not in paths[:i]][:3]


def _searched(network: Network, *more: str) -> Iterator[tuple[str, Any, float]]:
    """Yield name, path and seconds of each search."""
    for name in ("flops", *more):
        start = time.perf_counter()
        path = _hyper(network, name)
        yield ("hyper" if name == "flops" else name), path, time.perf_counter() - start
    random.seed(0)
    yield from _timed("random-greedy-128", lambda: _opt_einsum(network, "random-greedy-128"))
    if network.name.startswith("chain"):
        yield from _timed("interval", lambda: _interval(network))
    elif len(network.terms) <= EXACT or network.name == "ring 50":
        yield from _timed("dp", lambda: _opt_einsum(network, opt_einsum.DynamicProgramming()))


def _timed(name: str, search: Callable[[], Any]) -> Iterator[tuple[str, Any, float]]:
    start = time.perf_counter()
    path = search()
    yield name, path, time.perf_counter() - start


def _hyper(network: Network, minimize: str) -> Any:
    optimizer = cotengra.HyperOptimizer(
        minimize=minimize,
        max_time=LONG if len(network.terms) > 120 else SECONDS,
        max_repeats=10_000,
        parallel=False,
        reconf_opts={},
        seed=1,
    )
    return optimizer(list(network.terms), network.out, dict(network.size))


def _opt_einsum(network: Network, optimize: Any) -> Any:
    return opt_einsum.contract_path(network.symbols, *network.shapes, shapes=True, optimize=optimize)[0]


def _work(network: Network, path: Any) -> int:
    """Return a path's flops as opt_einsum counts them."""
    return int(
        opt_einsum.contract_path(network.symbols, *network.shapes, shapes=True, optimize=list(path))[
            1
        ].opt_cost
    )


def _interval(network: Network) -> list[tuple[int, int]]:
    """Return the best order of a chain, by its intervals."""
    sizes = [shape[0] for shape in network.shapes] + [network.shapes[-1][1]]
    count = len(sizes) - 1
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i + 1): (0, 0) for i in range(count)}
    for width in range(2, count + 1):
        for i in range(count - width + 1):
            j = i + width
            best[i, j] = min(
                (best[i, k][0] + best[k, j][0] + sizes[i] * sizes[k] * sizes[j], k) for k in range(i + 1, j)
            )
    steps: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def unfold(i: int, j: int) -> tuple[int, int]:
        if j - i > 1:
            steps.append((unfold(i, best[i, j][1]), unfold(best[i, j][1], j)))
        return i, j

    unfold(0, count)
    stack, path = [(i, i + 1) for i in range(count)], []
    for left, right in steps:
        pair = sorted((stack.index(left), stack.index(right)))
        path.append((pair[0], pair[1]))
        for position in reversed(pair):
            del stack[position]
        stack.append((left[0], right[1]))
    return path


if __name__ == "__main__":
    main()
