"""The rows of docs/reliability.md: what is measured, and what it must show."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from hardening.figures import Figures


class Row(NamedTuple):
    """One measure.

    Attributes
    ----------
    name
        What the command calls it; also the name of its module here.
    what
        What is tried.
    wanted
        What it must show.
    """

    name: str
    what: str
    wanted: str

    def measure(self, scale: float = 1.0) -> Figures:
        """Run the measure at a scale, where 1.0 is the full size."""
        run: Callable[[float], Figures] = import_module(f"hardening.{self.name}").measure
        return run(scale)


ROWS = (
    Row(
        "fuzz",
        "coverage-guided fuzzing of both parsers, the checker, the REPL's lines, `check` on hostile sources, "
        "and the loaders of files",
        "10 million inputs: only NameExprErrors, none above 1 s, memory growth below 50 MB",
    ),
    Row(
        "slow_texts",
        "texts within the limits that are made to be slow, at every stage from parsing to drawing",
        "3 s of processor time at most for any stage",
    ),
    Row(
        "programs",
        "random programs against the nested loops of the reference, on strided, reversed, read-only, "
        "byte-swapped, unaligned, 0-d, empty, overlapping and mapped operands, with fusion and loops forced",
        "200,000: integers equal bit for bit, floats within the bound",
    ),
    Row("strategies", "every strategy for the steps of one program", "5,000 programs: all agree"),
    Row(
        "faults",
        "a MemoryError or KeyboardInterrupt at every k-th step of expressions, formulas, in-place operators, "
        "bound and limited programs, also in threads",
        "caches sound, the next call right, a tensor written in place as before or whole",
    ),
    Row(
        "threads",
        "8 threads on shared caches while options change; fork while others compile; spawn, forkserver and "
        "multiprocessing with NamedTensors",
        "no mismatch, no child hangs",
    ),
    Row(
        "memory",
        "the predicted peak against tracemalloc, and `memory_limit`",
        "1,000 expressions and 1,000 formulas: 0.98 to 1.10 of the peak, the limit never exceeded",
    ),
    Row(
        "texts",
        "a million distinct texts, each compiled, planned and drawn, half of them wrong",
        "memory flat, latency flat",
    ),
    Row(
        "seeds",
        "plans, code and values over 20 hash seeds, Python 3.11 to 3.13, one and two BLAS threads",
        "equal; values where no floats are summed",
    ),
    Row(
        "hostile",
        "labels, operands' names, file names, archives and pickles made by hand; SVG, HTML, SARIF, ANSI, "
        "notebooks",
        "nothing executed, nothing unescaped, no path left the folder, no bomb unpacked",
    ),
    Row(
        "mutants",
        "mutants of checker, sizes, planner, lowering and name rules, against the tests",
        "at least 85 % killed",
    ),
    Row("branches", "branches that the tests take", "at least 95 %"),
)
