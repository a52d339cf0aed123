"""A million distinct texts, compiled, planned and drawn, half of them wrong: memory and latency stay flat."""

from __future__ import annotations

import gc
import random
import statistics
import time

import numpy as np

import nameexpr as ne
from hardening.figures import Figures, counted
from oracle.generate.text import mutate_text

TEXTS = 1_000_000
WARM = 20_000
"""Texts before the memory is measured for the first time: the caches are full then."""
BATCH = 1_000
MEGABYTES = 20
SLOWER = 1.25
"""How much slower the last tenth of the texts may be than the first, by the median of their batches."""
KINDS = (
    "{a} {b}, {b} {c} -> {a} {c}",
    "{a} {b} {c} -> {c} {a} : mean",
    "y[{a}] = softmax[{a}](sum[{b}](x[{a} {b}]))",
)


def measure(scale: float) -> Figures:
    """Compile, plan and draw texts that are all different, and measure what the process grows by."""
    count = counted(TEXTS, scale, 10 * BATCH)
    warm = min(WARM, count // 5)
    seconds: list[float] = []
    foreign: list[str] = []
    before = 0.0
    for first in range(0, count, BATCH):
        if first <= warm:
            before = resident()
        start = time.process_time()
        for number in range(first, first + BATCH):
            foreign += _treat(number)
        seconds.append(time.process_time() - start)
    grown, tenth = resident() - before, max(1, len(seconds) // 10)
    warmed = seconds[warm // BATCH :]
    early, late = statistics.median(warmed[:tenth]), statistics.median(warmed[-tenth:])
    ratio = late / early if early else 1.0  # a coarse clock says nothing of what takes no time
    breaches = foreign[:20]
    breaches += [f"the process grew by {grown:.0f} MB"] if grown > MEGABYTES else []
    breaches += [f"the last texts take {ratio:.2f} times as long as the first"] if ratio > SLOWER else []
    summary = f"{count:,} texts: {grown:+.0f} MB, the last tenth at {ratio:.2f} of the first one's time"
    return Figures(summary, tuple(breaches))


def _treat(number: int) -> list[str]:
    """Compile, plan and draw one text; return what came that is not an error of ours."""
    rng = random.Random(number)
    text = KINDS[number // 2 % len(KINDS)].format(a=f"a{number}", b=f"b{number}", c=f"c{number}")
    if number % 2:
        text = mutate_text(rng, text)
    try:
        compiled = ne.compile(text)
        if "[" in text:
            plan = compiled.plan(x=SQUARE)
        else:
            plan = compiled.plan(*[SQUARE, SQUARE] if "," in text else [CUBE])
        plan.draw()
    except ne.NameExprError as error:
        return [] if str(error) else [f"an empty message for {text!r}"]
    except Exception as fault:  # noqa: BLE001  whatever comes is a finding
        return [f"{text!r}: {type(fault).__name__}: {fault}"]
    return []


SQUARE, CUBE = np.ones((4, 4)), np.ones((4, 4, 4))


def resident() -> float:
    """Return the memory of this process in MB, with what is garbage already given back."""
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
