"""Faults at every step: what a tensor and the caches are after a Ctrl-C or a lack of memory.

>>> written = measure_writing(points=3)
>>> written.violations
()

The functions return plain figures; nothing is asserted here. `points` is the number of steps that are tried
of each call (None for all), `count` that of programs.
"""

from __future__ import annotations

import contextvars
import gc
import math
import random
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne
from hardening.fault_writers import Writer, writers
from hardening.figures import SHOWN, Figures
from hardening.injection import Injection, steps
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

PROGRAMS, POINTS, SIGNALS = 50, 50, 10_000
"""Programs, steps of each that are tried (by kind of fault, warm and cold), and calls that a signal ends."""
KINDS = (KeyboardInterrupt, MemoryError)
OUT_OF_MEMORY = "NE707"


def measure(scale: float) -> Figures:
    """Raise faults at every step of all ways to write, and at steps of programs, alone and in a thread."""
    rows = {
        "ways to write, a fault at every step": measure_writing(
            None if scale >= 1 else 2, 0, _whole(1 / scale)
        ),
        "calls, signals at random times": measure_signals(_whole(SIGNALS * scale)),
        "programs": measure_programs(_whole(PROGRAMS * scale), _whole(POINTS * scale), 0),
        "programs in a thread": measure_programs(
            _whole(PROGRAMS * scale / 4), _whole(POINTS * scale), 1, in_thread=True
        ),
    }
    told = [f"{one.cases:,} {what}: {one.injected:,} faults" for what, one in rows.items()]
    violations = [wrong for one in rows.values() for wrong in one.violations]
    return Figures(f"{'; '.join(told)}; {len(violations)} broken", tuple(violations[:SHOWN]))


def _whole(number: float) -> int:
    return max(1, math.ceil(number))


class Faults(NamedTuple):
    """What a run shows: calls that were tried, faults that were raised in them, and what then was wrong."""

    cases: int
    injected: int
    violations: tuple[str, ...]


def points_of(total: int, points: int | None, rng: random.Random) -> Iterable[int]:
    """Return the steps to try out of so many, counted from 1: all, or a sample."""
    every = range(1, total + 1)
    return every if points is None or points >= total else sorted(rng.sample(every, points))


def measure_writing(points: int | None = None, seed: int = 0, every: int = 1) -> Faults:
    """Interrupt every way to write into a tensor (or each so many-th): as before, or whole."""
    rng = random.Random(seed)
    injected, violations = 0, []
    chosen = writers()[seed % every :: every]
    for writer in chosen:
        before, after = states(writer)
        for kind in KINDS:
            tensors, call = writer.make()
            for at in points_of(steps(call, kind), points, rng):
                tensors, call = writer.make()
                fault = Injection(kind, at)
                told = raised(fault, call)
                injected += fault.fired
                wrong = told or judged(map(state, tensors), before, after, is_whole=not fault.fired)
                if wrong:
                    violations.append(f"{writer.name}, {kind.__name__} at step {at}: {wrong}")
    return Faults(len(chosen), injected, tuple(violations))


def states(writer: Writer) -> tuple[list[Any], list[Any]]:
    """Return what the tensors are before and after a call to which nothing happens."""
    tensors, call = writer.make()
    before = [state(x) for x in tensors]
    call()
    return before, [state(x) for x in tensors]


def state(x: ne.NamedTensor) -> tuple[Any, ...]:
    """Return all that belongs together: names, shape, dtype and elements."""
    return x.names, x.shape, x.dtype.str, x.numpy().tobytes()


def judged(now: Iterable[Any], before: list[Any], after: list[Any], *, is_whole: bool) -> str:
    """Return what is wrong with tensors, each of which is to be as before or as after, or ""."""
    for place, (one, old, new) in enumerate(zip(now, before, after, strict=True)):
        if one != new and (is_whole or one != old):
            return (
                f"tensor {place} has names {one[0]} and shape {one[1]}, after {old[:2]} and before {new[:2]}"
            )
    return ""


def raised(fault: Injection, call: Callable[[], Any]) -> str:
    """Return what is wrong with the error that a call raises for a fault, or ""."""
    try:
        fault.run(call)
    except fault.kind:
        return ""
    except ne.NameExprError as error:
        return "" if error.code == OUT_OF_MEMORY else f"is told as {error.code}"
    except BaseException as error:  # noqa: BLE001  whatever else comes out is the finding
        return f"is told as {type(error).__name__}"
    return ""


def measure_signals(count: int = 500, seed: int = 0) -> Faults:
    """Interrupt writing by real signals at random times: where CPython serves them is not our belief then."""
    rng = random.Random(seed)
    chosen = [one for one in writers() if "out= resized" in one.name or "unnamed" in one.name]
    injected, violations = 0, []
    for _ in range(count):
        writer = rng.choice(chosen)
        before, after = states(writer)
        tensors, call = writer.make()
        if interrupted(call, rng.uniform(1e-6, 60e-6)):
            injected += 1
            wrong = judged(map(state, tensors), before, after, is_whole=False)
            violations += [f"{writer.name}, a signal: {wrong}"] if wrong else []
    return Faults(count, injected, tuple(violations))


def interrupted(call: Callable[[], Any], seconds: float) -> bool:
    """Return whether a call was ended by a signal after some time. In the main thread only."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # Hypothesis has a callback of the collector, in which an interrupt would be lost
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        # NumPy's settings can outlive a Ctrl-C in `np.errstate`, as all of a `with` can: not those of a copy.
        contextvars.copy_context().run(call)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
                gc.enable()
                break
            except KeyboardInterrupt:
                continue


class Program(NamedTuple):
    """A call whose result is known, in a few forms."""

    name: str
    call: Callable[[], Any]


def programs(count: int, seed: int) -> Iterator[Program]:
    """Yield random expressions and formulas, each by text, compiled, bound, or within a memory limit."""
    for number in range(seed, seed + count):
        form = ("text", "compiled", "bound", "limited")[number % 4]
        kind, seeded, called = (
            ("expression", generate.seeded_case, expression(form))
            if number % 3
            else ("formula", formula_generate.seeded_case, formula(form))
        )
        case: Any = seeded(number)
        yield Program(f"{kind} {number}, {form}", partial(case.run, called, tensor_of))


def tensor_of(named: Any) -> ne.NamedTensor:
    """Return an operand with names as a tensor."""
    return wrap(named.array, named.names)


def expression(form: str) -> Callable[..., Any]:
    """Return a function that is called as `einsum` is."""

    def run(text: str, *operands: Any, **options: Any) -> Any:
        if form == "text" or (form == "bound" and "->" in text and not text.partition("->")[0].strip()):
            return ne.einsum(text, *operands, **options)
        if form == "limited":
            return ne.einsum(text, *operands, **options, memory_limit=1 << 30)
        compiled = ne.compile(text, **options)
        if form == "bound" and operands:
            return compiled.bind({0: operands[0]})(*operands[1:])
        return compiled(*operands)

    return run


def formula(form: str) -> Callable[..., Any]:
    """Return a function that is called as `evaluate` is."""

    def run(text: str, **options: Any) -> Any:
        if form == "text":
            return ne.evaluate(text, **options)
        if form == "limited":
            return ne.evaluate(text, **options, memory_limit=1 << 30)
        chosen = {name: options.pop(name) for name in ("outputs", "sizes") if name in options}
        compiled: Any = ne.compile(text, **chosen)
        if form == "bound" and options:
            first = next(iter(options))
            compiled = compiled.bind(operands={first: options.pop(first)})
        return compiled(**options)

    return run


def measure_programs(
    count: int = 50, points: int | None = 200, seed: int = 0, *, in_thread: bool = False
) -> Faults:
    """Interrupt random programs, compiled again and known already: the next call is right."""
    if in_thread:
        return beside(lambda: measure_programs(count, points, seed))
    rng = random.Random(seed)
    injected, violations = 0, []
    with np.errstate(all="ignore"):
        for program in programs(count, seed):
            wanted = result_of(program.call)
            for kind in KINDS:
                for is_cold in (False, True):
                    for at in points_of(counted(program, kind, is_cold), points, rng):
                        fault, wrong = tried(program, kind, at, wanted, is_cold=is_cold)
                        injected += fault.fired
                        if wrong:
                            where = f"{kind.__name__} at step {at}{' of a cold call' if is_cold else ''}"
                            violations.append(f"{program.name}, {where}: {wrong}")
    return Faults(count, injected, tuple(violations))


def counted(program: Program, kind: type[BaseException], is_cold: bool) -> int:
    """Return the steps of a program."""
    prepare(program, is_cold)
    return steps(program.call, kind)


def prepare(program: Program, is_cold: bool) -> None:
    """Forget a program, or call it so that it is known."""
    ne.cache_clear()
    if not is_cold:
        program.call()


def tried(
    program: Program, kind: type[BaseException], at: int, wanted: Any, *, is_cold: bool
) -> tuple[Injection, str]:
    """Return what a fault at a step leaves behind: "", if the next call is right."""
    prepare(program, is_cold)
    fault = Injection(kind, at)
    wrong = raised(fault, program.call)
    try:
        right = result_of(program.call) == wanted and result_of(program.call) == wanted
    except Exception as error:  # noqa: BLE001  whatever comes out is the finding
        return fault, f"the next call raises {type(error).__name__}: {error}"
    return fault, wrong or ("" if right else "the next call gives another result")


def result_of(call: Callable[[], Any]) -> Any:
    """Return the result of a call as something that can be compared."""
    result = call()
    parts = result if isinstance(result, tuple) else (result,)
    arrays = [(getattr(part, "names", None), np.asarray(part)) for part in parts]
    return [(names, array.shape, array.dtype.str, array.tobytes()) for names, array in arrays]


def beside(measure: Callable[[], Faults]) -> Faults:
    """Return what is measured in a thread of its own, while another one uses the same caches."""
    found: list[Faults] = []
    worker = threading.Thread(target=lambda: found.append(measure()))
    x, number = np.ones((2, 3)), 0
    worker.start()
    while worker.is_alive():
        number = (number + 1) % 50
        if ne.einsum(f"a b{number} -> b{number} a", x).shape != (3, 2):
            return Faults(0, 0, ("the other thread gets a wrong result",))
    return found[0]
