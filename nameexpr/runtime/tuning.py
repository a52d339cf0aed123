"""`tune=True`: the best strategies by the cost model are timed on the given operands, and the fastest is
kept: for calls like these in this process, and in files (`saved_tuning`).

The model orders most strategies correctly, and nearly all within a tenth; if a text is called many times,
timing the best three of each step once pays off. The choice changes no value beyond the rounding of float
sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np

from nameexpr.backends.numpy.target import current, this_machine
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.operands import OperandSpec
from nameexpr.runtime.specialise import function_of
from nameexpr.version import __version__

TRIED = 4
"""The number of strategies that are timed for one step."""
STEPS = 6
"""The number of steps of a plan that are tuned, from the first."""
ROUNDS = 5
BATCH = 200e-6
"""The shortest duration of a measurement in seconds."""
LONG = 0.5
"""The seconds of a call from which nothing is tuned."""

Run = Callable[[], Any]
Specs = Sequence[OperandSpec]
Make = Callable[[tuple[int, ...]], tuple[Run, Sequence[int]]]


class Tuning(NamedTuple):
    """The rank of the strategy that is used at each choice, from 0, and how many strategies there are."""

    ranks: tuple[int, ...]
    offers: tuple[int, ...]


class TunedEntry(Protocol):
    """An entry, as far as what was tuned depends on it."""

    text: str
    options: Any
    fixed: dict[int, Any]


UNTUNED = Tuning((), ())
tunings: Generations[str, Tuning] = Generations(4096)
"""What was tuned, or loaded, by its key."""


def machine_key() -> str:
    """Return the part of a key that is the same for all calls: the machine, its profile and the release, on
    which the order of strategies depends.
    """
    return f"{__version__} {this_machine().own} {crc32(repr(current().profile).encode()):08x}"


def key_of(entry: TunedEntry, specs: Specs, same: tuple[int, ...]) -> str:
    """Return what a tuning is for: machine, text, options, and the specifications of all operands."""
    options = [entry.options.sizes, entry.options.dtype_name, entry.options.order, entry.options.memory_limit]
    options += [entry.options.outputs, entry.options.reduce, entry.options.optimize, sorted(entry.fixed)]
    kinds = [(one.shape, one.names, _dtype_name(one.dtype), _strides(one)) for one in specs]
    return repr((machine_key(), entry.text, options, kinds, same))


def _dtype_name(dtype: Any) -> str:
    return dtype.__name__ if isinstance(dtype, type) else np.dtype(dtype).str


def _strides(spec: OperandSpec) -> tuple[int, ...] | None:
    """Return the strides in bytes, None for those of a row-major array, as shapes are planned."""
    if spec.layout is None:
        return None
    step, expected = np.dtype(spec.dtype).itemsize, []
    for size in reversed(spec.shape):
        expected.append(step)
        step *= size
    return None if tuple(reversed(expected)) == tuple(spec.layout) else tuple(spec.layout)


def find(entry: TunedEntry, specs: Specs, same: tuple[int, ...]) -> Tuning:
    """Return the tuning for calls like this, `UNTUNED` if there was none."""
    return (entry.options.tune and tunings.get(key_of(entry, specs, same))) or UNTUNED


def best_ranks(entry: Any, latest: Any, every: Sequence[Any], operands: Sequence[Any]) -> tuple[int, ...]:
    """Return the rank of the fastest strategy at each choice of the text of an `Entry`, timed on its
    operands, of which `operands` are not bound; `latest` is what a function is specialised for.
    """

    def make(ranks: tuple[int, ...]) -> tuple[Run, Sequence[int]]:
        compiled = entry.compile(latest.specs, ranks, latest.same)
        made = entry.template(compiled, latest.specs, every)
        function = function_of(made.code, made.constants, entry.slow_call, entry._explain)
        return lambda: function(*operands), list(map(len, compiled.program.offers))

    key = key_of(entry, latest.specs, latest.same)
    return tunings.get_or_make(key, lambda: autotune(make)).ranks


def autotune(make: Make) -> Tuning:
    """Return the rank of the strategy at each choice; `make` takes ranks, and returns a function that
    computes with them and the number of strategies at each choice.
    """
    ranks: tuple[int, ...] = ()
    run, offers = make(ranks)
    if _seconds_of_one(run) > LONG:
        return Tuning(ranks, ())
    for choice in range(min(STEPS, len(offers))):
        tried = [(*ranks, rank) for rank in range(min(TRIED, offers[choice]))]
        ranks = _quickest(make, tried) if len(tried) > 1 else (*ranks, 0)
    return Tuning(ranks, tuple(offers[: len(ranks)]))


def _quickest(make: Make, tried: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the ranks whose function is the fastest, timed in turns."""
    runs = [make(ranks)[0] for ranks in tried]
    counts = [max(1, round(BATCH / max(_seconds_of_one(run), 1e-7))) for run in runs]
    least = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for number, (run, count) in enumerate(zip(runs, counts, strict=True)):
            start = perf_counter()
            for _ in range(count):
                run()
            least[number] = min(least[number], (perf_counter() - start) / count)
    return tried[least.index(min(least))]


def _seconds_of_one(run: Run) -> float:
    """Return the time of one call; an earlier one has filled the caches."""
    run()
    start = perf_counter()
    run()
    return perf_counter() - start
