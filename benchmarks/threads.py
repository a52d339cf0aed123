"""What several threads gain: `python -m benchmarks.threads` prints it, with the goals.

Each formula is compiled once and called on one thread and on several, in turns; a ratio is that of two times
of the same round, and the figure is the median of all rounds. The ratio of processor times shows what
distributing costs, also on a machine that is busy, where times do not.

`--ceiling` adds what independent processes gain that each compute a share of the operands on one thread: what
processors, caches and memory of the machine allow.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

GOAL, LEAST = 1.7, 0.95
"""The least gain on two threads of formulas without products of matrices, and of all others."""
ATTENTION = (
    "p[B h Q K] = softmax[K](sum[d](q[B h Q d] * k[B h K d]) / sqrt(size[d]))\n"
    "o[B h Q d] = sum[K](p[B h Q K] * v[B h K d])"
)
NORM = "m[a] = mean[b](x[a b]); v[a] = mean[b]((x - m) ** 2); y[a b] = (x - m) / sqrt(v + 1e-5) * w[b]"


class Formula(NamedTuple):
    """A formula, the shapes of its operands, and whether it has to reach the goal on two threads."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    has_goal: bool = True


WIDE = {"x": (2000, 1000), "w": (1000,)}
HEADS = dict.fromkeys("qkv", (4, 8, 256, 64))
SMALL = dict.fromkeys("xw", (400, 48, 48))
FORMULAS = (
    Formula("pointwise chain", "y[a b] = tanh(x[a b] * 2 + w[b]) / (1 + x[a b] ** 2)", WIDE),
    Formula("exp", "y[a b] = exp(x[a b])", WIDE),
    Formula("gelu", "y[a b] = gelu(x[a b] + w[b])", WIDE),
    Formula("softmax", "p[B h Q K] = softmax[K](s[B h Q K])", {"s": (2, 8, 512, 256)}),
    Formula("log-softmax of other dims", "p[a b] = log_softmax[a](x[a b])", {"x": (1000, 2000)}),
    Formula("logsumexp", "y[a] = logsumexp[b](x[a b] * w[b])", WIDE),
    Formula("sum of a chain", "y = sum[a b](exp(x[a b]) * w[b])", WIDE),
    Formula("sums of columns", "y[b] = sum[a](exp(x[a b]) + w[b])", WIDE),
    Formula("layer norm", NORM, WIDE, has_goal=False),
    Formula("its gradient", f"{NORM}; l = sum[a b](tanh(y)); g[a b] = grad(l, x[a b])", WIDE, has_goal=False),
    Formula("attention", ATTENTION, HEADS, has_goal=False),
    Formula("small matrices", "y[B i k] = sum[j](x[B i j] * w[B j k])", SMALL, has_goal=False),
    Formula("sum of two arrays", "y[a b] = x[a b] + w[b]", WIDE, has_goal=False),
    Formula("sort", "y[a b] = sort[b](x[a b])", WIDE, has_goal=False),
    Formula("4 x 4", "y[a b] = tanh(x[a b] * 2 + w[b])", {"x": (4, 4), "w": (4,)}, has_goal=False),
    Formula("100 x 100", "y[a b] = tanh(x[a b] * 2 + w[b])", {"x": (100, 100), "w": (100,)}, has_goal=False),
    Formula("400 x 400", "y[a b] = tanh(x[a b] * 2 + w[b])", {"x": (400, 400), "w": (400,)}, has_goal=False),
)  # fmt: skip


class Figures(NamedTuple):
    """The milliseconds on one thread, and the ratios of one thread to several: of times, of processor times,
    and as plans expect them.
    """

    milliseconds: float
    gain: float
    processor: float
    expected: float


def main() -> int:
    """Measure all formulas and print a table; return 1 if a result has other bits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--formula", action="append", help="one formula; may be repeated")
    parser.add_argument("--ceiling", action="store_true", help="also measure processes")
    options = parser.parse_args()
    print(f"{'formula':<28} {'ms':>8} {'gain':>6} {'cpu':>6} {'plan':>6}  goal on two threads")
    is_wrong = False
    for formula in FORMULAS:
        if options.formula and formula.name not in options.formula:
            continue
        figures = measured(formula, options.threads, options.rounds)
        is_wrong |= figures is None
        line = "other bits: WRONG" if figures is None else _shown(formula, figures)
        if options.ceiling:
            line += f"; {options.threads} processes: {ceiling(formula, options.threads, options.rounds):.2f}"
        print(f"{formula.name:<28} {line}", flush=True)
    return int(is_wrong)


def measured(formula: Formula, threads: int, rounds: int) -> Figures | None:
    """Return the figures of a formula; None if the bits of its results depend on threads."""
    import nameexpr as ne

    rng = np.random.default_rng(0)
    compiled = ne.compile(formula.text)
    operands = {name: rng.standard_normal(formula.shapes[name]) for name in compiled.operands}
    before = ne.get_threads()
    found: dict[int, list[tuple[float, float]]] = {1: [], threads: []}
    bits, expected = {}, {}
    try:
        for _ in range(rounds):
            for count, times in found.items():
                ne.set_threads(count)
                bits[count] = np.asarray(compiled(**operands)).tobytes()  # also starts the threads
                times.append(_timed(lambda: compiled(**operands)))
                expected[count] = expected.get(count) or compiled.plan(**operands).seconds
    finally:
        ne.set_threads(before)
    if bits[1] != bits[threads]:
        return None
    rounds_of = list(zip(found[1], found[threads], strict=True))
    return Figures(
        1e3 * min(wall for wall, _ in found[1]),
        statistics.median(one[0] / other[0] for one, other in rounds_of),
        statistics.median(one[1] / other[1] for one, other in rounds_of),
        expected[1] / expected[threads],
    )


def ceiling(formula: Formula, processes: int, rounds: int) -> float:
    """Return the ratio of the time of one process that computes everything to that of several that each
    compute a share of the largest operands: the median of all rounds.
    """
    context = multiprocessing.get_context("spawn")
    together, times = context.Barrier(processes), context.Queue()
    given = formula.text, formula.shapes, processes, rounds, together, times
    others = [context.Process(target=_share, args=(number, *given)) for number in range(processes)]
    for other in others:
        other.start()
    found = [times.get() for _ in range(processes * rounds)]
    for other in others:
        other.join()
    alone, shares = {at: whole for at, whole, _ in found if whole}, dict[int, float]()
    for at, _, share in found:
        shares[at] = max(share, shares.get(at, 0.0))
    return statistics.median(alone[at] / shares[at] for at in alone)


def _share(
    number: int,
    text: str,
    shapes: Mapping[str, tuple[int, ...]],
    processes: int,
    rounds: int,
    together: Any,
    times: Any,
) -> None:
    """Report for each round the time of all operands in the first process, then that of shares in all."""
    import nameexpr as ne

    compiled, rng = ne.compile(text), np.random.default_rng(0)
    most = max([shapes[name] for name in compiled.operands], key=lambda shape: (len(shape), shape))
    whole = {name: rng.standard_normal(shapes[name]) for name in compiled.operands}
    part = {
        name: np.array(x[: -(-len(x) // processes)] if (x.ndim, len(x)) == (len(most), most[0]) else x)
        for name, x in whole.items()
    }
    for at in range(rounds):
        together.wait()
        alone = _timed(lambda: compiled(**whole))[0] if number == 0 else 0.0
        together.wait()
        times.put((at, alone, _timed(lambda: compiled(**part))[0]))


def _timed(call: Callable[[], Any], least: float = 0.01) -> tuple[float, float]:
    """Return the seconds, and the seconds of all processors, of a call: the least times of a few batches."""
    start = time.perf_counter()
    call()
    count = max(1, round(least / max(1e-7, time.perf_counter() - start)))
    walls, processors = [], []
    for _ in range(3):
        start, processor = time.perf_counter(), time.process_time()
        for _ in range(count):
            call()
        walls.append((time.perf_counter() - start) / count)
        processors.append((time.process_time() - processor) / count)
    return min(walls), min(processors)


def _shown(formula: Formula, figures: Figures) -> str:
    goal = GOAL if formula.has_goal else LEAST
    verdict = "met" if figures.gain >= goal else "NOT MET"
    ratios = f"{figures.gain:6.2f} {figures.processor:6.2f} {figures.expected:6.2f}"
    return f"{figures.milliseconds:8.3f} {ratios}  at least {goal}: {verdict}"


if __name__ == "__main__":
    raise SystemExit(main())
