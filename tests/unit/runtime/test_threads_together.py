"""Threads of a program, of the pool, of other processes, and interrupts: results are those of one thread."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy import target as machine
from nameexpr.backends.numpy.codegen import function
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.threads import gain, job, pool
from nameexpr.records import replace

RNG = np.random.default_rng(7)
X, W = RNG.standard_normal((300, 400)), RNG.standard_normal(400)
TEXTS = [
    "y[a b] = tanh(x[a b] * 2 + w[b]) / (1 + x[a b] ** 2)",
    "y[a b] = softmax[b](x[a b] + w[b])",
    "y[a] = logsumexp[b](x[a b] * w[b])",
    "y = sum[a b](exp(x[a b]) * w[b])",
    "m[a] = mean[b](x[a b]); v[a] = mean[b]((x - m) ** 2); y[a b] = (x - m) / sqrt(v + 1e-5) * w[b]",
    "l = sum[a b](tanh(x[a b] * w[b])); y[b] = grad(l, w[b])",
]


@pytest.fixture(autouse=True)
def shared_wherever_possible(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    profile = replace(GENERIC, handed_over=10.0)
    monkeypatch.setattr(machine, "_choice", machine.ChosenProfile(profile, machine.target_of(profile)))
    monkeypatch.setattr(machine, "blas_threads", lambda: 1)
    monkeypatch.setattr(gain, "WORTH", 10.0)
    ne.cache_clear()  # what is compiled is not shared in this way
    with ne.set_threads(1):
        yield
    ne.cache_clear()
    pool.stop()
    assert workers() == []


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("nameexpr-")]


def computed(text: str) -> bytes:
    return np.asarray(ne.evaluate(text, x=X, w=W)).tobytes()


def expected() -> list[bytes]:
    with ne.set_threads(1):
        found = list(map(computed, TEXTS))
    assert workers() == []
    return found


def all_at_once(calls: list[Callable[[], Any]]) -> None:
    """Call each function in a thread of its own, and raise the first error."""
    faults: list[BaseException] = []

    def run(call: Callable[[], Any]) -> None:
        try:
            call()
        except BaseException as fault:  # noqa: BLE001  raised in the thread of the test
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fault in faults:
        raise fault


def test_several_threads_that_call_at_once_get_the_bits_of_one() -> None:
    bits = expected()
    found: list[list[bytes]] = []
    with ne.set_threads(3):
        all_at_once([lambda: found.extend([list(map(computed, TEXTS)) for _ in range(5)])] * 3)
        assert workers()
    assert found == [bits] * 15


def test_calls_in_blocks_of_a_job_are_computed_by_the_thread_of_the_block() -> None:
    bits = expected()
    with ne.set_threads(3):
        found = job.blocks(3, lambda i: (computed(TEXTS[i]), threading.get_ident()), (len(TEXTS), 1))
    assert [result for result, _ in found] == bits


def test_another_number_may_be_set_while_others_compute() -> None:
    bits, found = expected(), list[list[bytes]]()

    def change() -> None:
        for count in (3, 1, 2, 5, 1, 4) * 3:
            ne.set_threads(count)
            found.append(list(map(computed, TEXTS)))

    with ne.set_threads(2):
        all_at_once([change, *[lambda: found.extend([list(map(computed, TEXTS)) for _ in range(10)])] * 2])
        assert ne.get_threads() == 4
    assert found == [bits] * 38


def test_a_number_set_within_a_job_holds_from_the_next_call_on() -> None:
    (bits, *_), found = expected(), list[bytes]()

    def task(_: int) -> None:
        ne.set_threads(1)  # which ends the workers, this one included
        found.append(computed(TEXTS[0]))

    with ne.set_threads(3):
        job.blocks(3, task, (6, 1))
        assert ne.get_threads() == 1
    assert found == [bits] * 6


@pytest.mark.parametrize("text", TEXTS)
def test_an_interrupt_leaves_no_thread_and_the_next_call_is_right(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits = computed(text)
    work, caller = job.Job.work, threading.get_ident()

    def interrupted(own: job.Job) -> None:
        if threading.get_ident() == caller:
            own.tasks[0](*own.left.popleft()[1])
            raise KeyboardInterrupt
        work(own)

    with ne.set_threads(3):
        with monkeypatch.context() as patch:
            patch.setattr(job.Job, "work", interrupted)
            with pytest.raises(KeyboardInterrupt):
                ne.evaluate(text, x=X, w=W)
        assert workers() == []
        assert computed(text) == bits


def test_what_happens_in_parts_follows_the_callers_errstate() -> None:
    text = "y[a b] = log(x[a b]) / (x[a b] - x[a b])"
    with ne.set_threads(3), warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="ignore"):
            assert np.isnan(ne.evaluate(text, x=X)).any()
        for kind in ("invalid", "divide"):
            with np.errstate(all="ignore", **{kind: "raise"}), pytest.raises(FloatingPointError, match=kind):
                ne.evaluate(text, x=X)
            with np.errstate(all="ignore", **{kind: "warn"}), pytest.raises(RuntimeWarning, match=kind):
                ne.evaluate(text, x=X)


def test_warnings_of_calls_that_are_computed_together_come_in_the_order_of_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks: list[int] = []
    run = job.Job.run

    def counted(own: job.Job, *given: Any, **options: Any) -> Any:
        tasks.append(len(own.tasks))
        return run(own, *given, **options)

    monkeypatch.setattr(job.Job, "run", counted)
    text = "z[a] = sum[b](x[a b]); u[a b] = x / (z - z); y[a b] = sqrt(u) + log(u * w[b])"

    def told(count: int) -> tuple[list[str], bytes]:
        with ne.set_threads(count), warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            made = ne.evaluate(text, x=X, w=W, outputs=["u", "y"])
        return [str(one.message) for one in found], made[1].tobytes()

    assert told(3) == told(1)
    assert len(told(1)[0]) > 1 and max(tasks) > 1


@pytest.mark.parametrize("text", TEXTS)
def test_memory_stays_within_the_limit(text: str) -> None:
    limit = ne.compile(text).plan(x=X, w=W).peak_bytes + 100_000
    formula = ne.compile(text, memory_limit=limit)
    with ne.set_threads(4):
        formula(x=X, w=W)
        tracemalloc.start()
        formula(x=X, w=W)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak <= limit + 20_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_processes_compute_the_same_after_the_pool_was_used() -> None:
    bits = expected()
    with ne.set_threads(3):
        assert list(map(computed, TEXTS)) == bits
        assert workers()
        with multiprocessing.get_context("fork").Pool(2) as processes:
            assert processes.map(computed, TEXTS * 2) == bits * 2
        child = os.fork()
        if not child:
            try:
                os._exit(list(map(computed, TEXTS)) != bits or not workers())
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert list(map(computed, TEXTS)) == bits


ENDING = """
import threading, time
import numpy as np, nameexpr as ne
x, begun = np.ones((2000, 500)), threading.Event()
formula = ne.compile("y[a b] = log_softmax[a](x[a b])")
ne.set_threads(2)
def call():
    while True:
        formula(x=x)
        begun.set()
threading.Thread(target=call, daemon=True).start()
assert begun.wait(60)
"""


def test_the_interpreter_ends_while_threads_compute() -> None:
    command = [sys.executable, "-c", ENDING]
    made = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (made.returncode, made.stderr) == (0, "")


ENDED = """
import atexit, threading
atexit.register(lambda: print([one.name for one in threading.enumerate() if one.name.startswith("nameexpr")]))
from nameexpr.backends.numpy.threads import job
job.blocks(2, lambda _, meet=threading.Barrier(2, timeout=20): meet.wait(), (2, 1))
"""


def test_workers_are_ended_before_the_interpreter_is() -> None:
    made = subprocess.run([sys.executable, "-c", ENDED], check=True, capture_output=True, text=True)
    assert made.stdout == "[]\n"


def test_a_warning_that_is_an_error_is_raised_once_and_leaves_the_next_call_right() -> None:
    text, x = "y[a b] = log(x[a b]) + w[b]", np.where(X > 3, X, 1.0)
    right = np.log(x) + W
    x[123, 45] = -1
    with ne.set_threads(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="invalid value encountered in log"):
                ne.evaluate(text, x=x, w=W)
        x[123, 45] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ne.evaluate(text, x=x, w=W).tobytes() == right.tobytes()


def test_an_error_in_a_part_is_that_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a NameExprError that shows the text, whichever thread the part was computed in."""

    def fails(*_: Any, **options: Any) -> Any:
        raise MemoryError("no room")

    def told(count: int) -> tuple[type[BaseException], str]:
        ne.cache_clear()
        function.resolve_function.cache_clear()
        with ne.set_threads(count), pytest.raises(Exception) as raised:  # noqa: PT011
            ne.evaluate("y[a b] = gelu(x[a b])", x=X)
        return raised.type, str(raised.value)

    monkeypatch.setattr(formulas, "gelu", fails)
    assert told(3) == told(1)
    function.resolve_function.cache_clear()
