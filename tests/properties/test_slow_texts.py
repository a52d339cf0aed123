"""Texts that are built to be slow take an effort that grows with their length, at every stage.

Effort is the number of functions that are called: however busy the machine is, it is the same.
"""

from __future__ import annotations

import cProfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from hardening.slow_texts import TEXTS, measured, stages

pytestmark = pytest.mark.slow

GROWTH = 3.0
"""How much more effort a text of twice the length may take: twice, and some more for its logarithms."""
LAID_OUT = 4.5
"""The same for pictures of networks: all pairs of operands are looked at, but never more than 25,000."""
LITTLE = 100_000
"""Calls that nobody feels: up to there some constants may grow."""
SIZES = {
    "terms of 3 of 600 labels, size 1": 250,
    "terms of 20 of 600 labels, size 1": 40,
    "one label in all terms": 100,
    "a star": 50,
    "vectors of one array": 30,
    "undetermined groups": 50,
    "misspelt labels of many terms": 100,
    "statements that multiply by the one before": 30,
    "statements that square the one before": 60,
    "statements that divide the one before": 75,
    "statements that add the one before": 200,
    "reductions of the statement before": 75,
    "views of statements": 100,
    "outputs": 100,
    "sums in each other": 25,
    "unknown labels in a formula": 200,
}
"""Members of the table that are held to it, with the smaller of two sizes."""


def calls_of(run: Callable[[], Any]) -> int:
    """Return how many functions a call calls."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        run()
    except ne.NameExprError as fault:
        str(fault)
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def efforts(name: str, size: int) -> dict[str, int]:
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for stage, run in stages(TEXTS[name].make(size)):
            if stage != "code":  # of an expression without arrays: its effort is that of labels of size 8
                ne.cache_clear()
                found[stage] = calls_of(run)
    return found


@pytest.mark.parametrize("name", SIZES)
def test_twice_the_text_takes_about_twice_the_effort(name: str) -> None:
    efforts(name, 2)  # what is loaded and kept for all texts
    once, twice = (efforts(name, size) for size in (SIZES[name], 2 * SIZES[name]))
    assert once.keys() == twice.keys()
    for stage, calls in twice.items():
        growth = LAID_OUT if stage == "draw network" else GROWTH
        assert calls <= growth * once[stage] + LITTLE, f"{stage}: {once[stage]:,} calls, then {calls:,}"


def test_every_text_of_the_table_is_within_the_limits() -> None:
    """A text that is rejected for its length or its depth measures nothing."""
    bounds = ne.limits()
    for name, row in TEXTS.items():
        slow = row.make(row.size)
        assert len(slow.text) <= bounds.text, name
        assert len(slow.operands) <= bounds.operands, name


def test_figures_name_text_stage_and_error() -> None:
    figures = measured(["two terms of 40 labels, max", "unknown functions"], 0.05)
    assert {figure.stage for figure in figures} >= {
        "compile",
        "check",
        "call",
        "plan",
        "draw tree",
        "explain",
    }
    assert all(figure.seconds < 5 and figure.characters > 10 for figure in figures)
    assert {figure.code for figure in figures if figure.name == "unknown functions"} - {""}
