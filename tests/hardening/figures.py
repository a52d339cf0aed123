"""What a row measured, and how the work of a row is spread over processes."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

SHOWN = 20
"""Breaches that are kept of one row: the first ones say what is wrong."""


class Figures(NamedTuple):
    """What a row measured.

    Attributes
    ----------
    summary
        The figures, for the table of docs/reliability.md.
    breaches
        Everything found that breaks the promise, each with what makes it happen again; none where it holds.
    """

    summary: str
    breaches: tuple[str, ...] = ()


def counted(full: int, scale: float, least: int = 1) -> int:
    """Return how many cases a run at this scale takes, of so many at the full size."""
    return max(least, math.ceil(full * scale))


def over_seeds(run: Callable[[range], list[str]], seeds: range, processes: int | None = None) -> list[str]:
    """Return what `run` finds wrong over ranges of seeds, in processes of their own where there are many.

    A process is replaced after every range, so that no state of it grows into the next; a range that ends its
    process (a crash, a signal) is a finding, too.
    """
    processes = processes or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    size = 2000
    if len(seeds) <= size:
        return run(seeds)[:SHOWN]
    ranges = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    context = multiprocessing.get_context("spawn")
    found: list[str] = []
    with context.Pool(processes, maxtasksperchild=1) as pool:
        for breaches in pool.imap_unordered(run, ranges):
            found += breaches
    return found[:SHOWN]


def chunks(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield runs of so many values."""
    for first in range(0, len(values), size):
        yield values[first : first + size]
