"""Threads on shared caches, forks while others compile, and tensors and compiled texts in other processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.figures import SHOWN, Figures, counted

THREADS = 8
CALLS = 20_000
"""Calls of every thread."""
FORKS = 500
SECONDS = 60
"""After which a child hangs: it needs milliseconds."""


def measure(scale: float) -> Figures:
    """Call from threads, fork under load, and compute in spawned processes."""
    calls, forks = counted(CALLS, scale), counted(FORKS, scale)
    mismatches = mismatches_of_threads(calls)
    hung = hung_children(forks)
    others = [fault for method in multiprocessing.get_all_start_methods() for fault in faults_of(method)]
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    summary = (
        f"{THREADS} threads of {calls:,} calls{'' if has_gil else ' without the GIL'}: "
        f"{len(mismatches)} mismatches; "
        f"{forks} forks under load: {len(hung)} children hang or fail; "
        f"{', '.join(multiprocessing.get_all_start_methods())}: {len(others)} faults"
    )
    return Figures(summary, (*mismatches[:SHOWN], *hung[:SHOWN], *others[:SHOWN]))


X = np.arange(12.0).reshape(3, 4)
Y = np.arange(20.0).reshape(4, 5)
Check = Callable[[int], bool]


def _einsum(number: int) -> bool:
    text = f"r{number % 300} k, k c{number % 7} -> r{number % 300} c{number % 7}"
    return bool(np.array_equal(ne.einsum(text, X, Y), X @ Y))


def _options(number: int) -> bool:
    optimize = ("auto", "greedy", "optimal")[number % 3]
    found = ne.einsum("a b, b c, c d -> a d", X, Y, Y.T, optimize=optimize, memory_limit=10**6)
    return bool(np.array_equal(found, X @ Y @ Y.T))


def _formula(number: int) -> bool:
    text = f"y[b{number % 200}] = sum[a](x[a b{number % 200}]) + {number % 5}"
    return bool(np.array_equal(ne.evaluate(text, x=X), X.sum(0) + number % 5))


def _named(number: int) -> bool:
    names = (f"n{number % 50}", "C")
    tensor = ne.tensor(X, names=names)
    return (tensor + tensor).sum("C").names == names[:1] and tensor.align_to("C", names[0]).shape == (4, 3)


def _bound(number: int) -> bool:
    bound = ne.compile("a b, b c -> a c").bind({1: Y}) if number % 2 else ne.compile("a b, b c -> a c")
    return bool(np.array_equal(bound(X) if number % 2 else bound(X, Y), X @ Y))


def _wrong(number: int) -> bool:
    try:
        ne.einsum(f"a{number % 100} b, c -> a{number % 100} c", X, Y)
    except ne.NameExprError as error:
        return f"a{number % 100}" in str(error)
    return False


def _limits(number: int) -> bool:
    if number % 97 == 0:
        ne.cache_clear()
    before = ne.limits().operands
    ne.set_limits(operands=before)
    return ne.cache_info().programs >= 0


CHECKS: tuple[Check, ...] = (_einsum, _options, _formula, _named, _bound, _wrong, _limits)


def mismatches_of_threads(calls: int) -> list[str]:
    """Return what was wrong in calls of all kinds from several threads, which change places all the time."""
    wrong: list[str] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(calls):
            check, number = rng.choice(CHECKS), rng.randrange(10_000)
            try:
                if not check(number):
                    wrong.append(f"{check.__name__}({number}) is wrong")
            except Exception as fault:  # noqa: BLE001  whatever comes is a finding
                wrong.append(f"{check.__name__}({number}): {type(fault).__name__}: {fault}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return wrong


def hung_children(forks: int) -> list[str]:
    """Return the forked children that hang or fail, while threads of the parent compile and draw numbers."""
    if not hasattr(os, "fork"):
        return []
    with _load():
        return [why for number in range(forks) if (why := _forked(number))]


@contextmanager
def _load() -> Iterator[None]:
    """Keep three threads compiling new texts and formulas, and drawing, all of which take locks."""
    is_over = threading.Event()

    def compile_always(thread: int) -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            ne.einsum(f"a{thread}x{number} b -> b a{thread}x{number}", X)
            ne.evaluate(f"sum[q{thread}x{number}](x[q{thread}x{number} b])", x=X)
            ne.randn(50)

    threads = [threading.Thread(target=compile_always, args=(thread,), daemon=True) for thread in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)


def _forked(number: int) -> str:
    """Fork a child that compiles and draws; return how it failed, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads
        child = os.fork()
    if child == 0:
        os._exit(_status(number))
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "" if status == 0 else f"child {number} ended with {os.waitstatus_to_exitcode(status)}"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"child {number} hangs"


def _status(number: int) -> int:
    """Return the child's exit status: 0 if all that it computes is right."""
    try:
        right = all(check(number * 100 + call) for call in range(10) for check in CHECKS)
        return 0 if right and ne.rand(3).shape == (3,) else 2
    except BaseException:  # noqa: BLE001  the parent is told by the status
        return 3


def faults_of(method: str) -> list[str]:
    """Return what goes wrong where tensors and compiled texts travel to processes started in this way."""
    tensor, compiled = ne.tensor(X, names="r k"), ne.compile("r k, k c -> r c")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            results = pool.starmap(_remote, [(compiled, tensor * number, Y) for number in range(20)])
    return [
        f"{method}, call {number}: names {result.names}"
        for number, result in enumerate(results)
        if result.names != ("r", "c") or not np.array_equal(result.numpy(), X @ Y * number)
    ]


def _remote(compiled: Any, tensor: Any, array: Any) -> Any:
    return compiled(tensor, array)
