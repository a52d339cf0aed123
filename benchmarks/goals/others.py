"""What is asked of formulas, of cold starts and of `NamedTensor`: groups f, g and n."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.call import STRING, XARRAY
from benchmarks.goals.base import GATE, GOAL, Goal, at_most, everywhere
from benchmarks.harness import HAND
from benchmarks.results import Results, geomean, quotient
from benchmarks.workloads.formulas import ATTENTION, DISTANCES, MIN_PLUS, SAME, FormulaWorkload
from benchmarks.workloads.layers import BLOCK, LAYER, SMALL_BLOCK
from benchmarks.workloads.named import METHOD, POINTWISE

BLOCKS = 2.0
"""Megabytes that a few blocks may take: no intermediate over all three dims."""


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on formulas, cold starts and named tensors."""
    yield from _formulas(results)
    yield from _cold(results.cold)
    yield from _named(results)


def _formulas(results: Results) -> Iterable[Goal]:
    for workload in results.of("f", ATTENTION):
        asked = f"{workload.name}: time at most 1.1 of hand"
        yield at_most(GATE, "f", asked, results.ratio(workload, STRING), 1.1)
        peak = quotient(results.peak(workload, STRING), results.peak(workload, HAND))
        asked = f"{workload.name}: peak memory at most 1.1 of hand"
        yield at_most(GATE, "f", asked, peak, 1.1, is_timed=False)
    for workload in results.of("f", DISTANCES):
        asked = f"{workload.name}: peak at most the result and {BLOCKS} MB"
        over = _over_result(results, workload)
        yield at_most(GATE, "f", asked, over, BLOCKS, "{:+.2f} MB", is_timed=False)
    for workload in results.of("f", MIN_PLUS):
        asked = f"{workload.name}: at most 1.3 of hand"
        yield at_most(GATE, "f", asked, results.ratio(workload, STRING), 1.3)
    for workload in results.of("f", BLOCK):
        yield at_most(
            GOAL, "f", f"{workload.name}: at most 1.05 of hand", results.ratio(workload, STRING), 1.05
        )
    for tag in (SMALL_BLOCK, LAYER):
        found = {w.name: results.ratio(w, STRING) for w in results.of("f", tag)}
        yield everywhere("f", f"{tag}: at most 1.15 of hand", found, 1.15, "{:.2f}")
    for workload in results.of("f", SAME):
        yield _same_program(workload)


def _over_result(results: Results, workload: FormulaWorkload) -> float | None:
    """Return the megabytes at the peak beside operands and result."""
    peak, call = results.peak(workload, STRING), results.lanes[workload.name][HAND].call
    return None if peak is None or call is None else (peak - np.asarray(call()).nbytes) / 1e6


def _same_program(workload: FormulaWorkload) -> Goal:
    """Compare the code of a formula and of the expression that says the same."""
    ne: Any = importlib.import_module("nameexpr")
    shapes = [x.shape for x in workload.operands()]
    asked = f"{workload.name}: the same program as the expression"
    try:
        formula = ne.compile(workload.text).plan(**dict(zip(workload.inputs, shapes, strict=True))).code
        expression = ne.compile(workload.expression).plan(*shapes).code
    except Exception as error:  # noqa: BLE001 (the verdict is the report)
        return Goal(GATE, "f", asked, f"{type(error).__name__}: {error}", is_met=False, is_timed=False)
    ours, theirs = _statements(formula), _statements(expression)
    return Goal(GATE, "f", asked, "; ".join(ours), ours == theirs, is_timed=False)


def _statements(code: str) -> list[str]:
    """Return the lines of a function's body without their comments."""
    lines = [line.partition("#")[0].strip() for line in code.partition("def ")[2].splitlines()[1:]]
    return [line for line in lines if line]


def _cold(cold: dict[str, Any]) -> Iterable[Goal]:
    ratio = cold["import_ratio"]["nameexpr"] if cold else None
    new, lark = (1e6 * cold["new"][name] if cold else None for name in ("nameexpr", "nameexpr Greek"))
    first = 1e3 * cold["first"]["Greek"] if cold else None
    yield at_most(GATE, "g", "import nameexpr at most 1.3 of import numpy", ratio, 1.3)
    yield at_most(GATE, "g", "a new two-operand expression in at most 300 us", new, 300, "{:.0f} us")
    yield at_most(GOAL, "g", "import nameexpr at most 1.15 of import numpy", ratio, 1.15)
    found = ", ".join(cold["loaded"]) or "neither" if cold else "-"
    is_met = not cold["loaded"] if cold else None
    yield Goal(GOAL, "g", "neither lark nor opt_einsum loaded by it", found, is_met, is_timed=False)
    yield at_most(GOAL, "g", "a new plain two-operand expression in at most 30 us", new, 30, "{:.0f} us")
    yield at_most(GOAL, "g", "a new text through Lark in at most 150 us", lark, 150, "{:.0f} us")
    yield at_most(GOAL, "g", "first text through Lark in at most 45 ms", first, 45, "{:.1f} ms")


def _named(results: Results) -> Iterable[Goal]:
    for tag, limit in ((POINTWISE, 1.0), (METHOD, 2.0)):
        over = {w.name: results.over(w) for w in results.of("n", tag)}
        yield everywhere("n", f"{tag} on 4x4 at most hand + {limit:.1f} us", over, limit, "{:+.2f} us")
    found = {w.name: results.ahead(w, XARRAY) for tag in (POINTWISE, METHOD) for w in results.of("n", tag)}
    mean = geomean(found.values())
    figure, is_met = ("-", None) if mean is None else (f"{mean:.1f}x", mean >= 20)
    yield Goal(GOAL, "n", "on 4x4 at least 20x xarray, geomean", figure, is_met)
    yield everywhere("n", "on 4x4 at least 20x xarray, everywhere", found, 20, "{:.1f}x", is_least=True)
