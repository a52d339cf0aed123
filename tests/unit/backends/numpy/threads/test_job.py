"""Blocks over threads give what one thread gives: results, errors, warnings. No thread is left."""

from __future__ import annotations

import contextvars
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy.threads import job, pool

COUNT = 3
MODE = contextvars.ContextVar("MODE", default="outside")


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    yield
    pool.stop()
    assert workers() == []
    assert not pool._inside and len(pool._pools) == 1, "the next thread may have the number of one that ended"


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("nameexpr-")]


def meeting(count: int) -> Callable[[], object]:
    """Return a function that waits until it was called so many times: by as many threads."""
    return threading.Barrier(count, timeout=20).wait


def test_results_are_in_the_order_of_nested_loops() -> None:
    made = job.blocks(COUNT, lambda i, j: (i, j), (5, 2), (3, 3))
    assert made == [(0, 0), (2, 0), (4, 0)]
    calls: list[tuple[str, int]] = []
    job.parts(COUNT, [lambda i: calls.append(("first", i)), lambda i: calls.append(("next", i))], 7, 3)
    assert sorted(calls) == [("first", 0), ("first", 3), ("first", 6), ("next", 0), ("next", 3), ("next", 6)]
    assert all(calls.index(("first", i)) < calls.index(("next", i)) for i in (0, 3, 6))


def test_several_threads_compute_at_once() -> None:
    meet = meeting(COUNT)

    def task(_: int) -> int:
        meet()
        return threading.get_ident()

    assert len(set(job.blocks(COUNT, task, (COUNT, 1)))) == COUNT
    assert len(workers()) == COUNT - 1


def test_a_single_block_needs_no_worker() -> None:
    assert job.blocks(COUNT, lambda i: i, (4, 4)) == [0]
    assert workers() == []


def test_the_error_of_the_first_block_arrives_as_it_is() -> None:
    """Of blocks that fail at the same time it is the lowest, and none begins after them."""
    meet, begun = meeting(COUNT), []
    faults = {1: KeyError("one"), 2: ValueError("two")}

    def task(i: int) -> None:
        begun.append(i)
        if i < COUNT:
            meet()
        if i in faults:
            raise faults[i]

    with pytest.raises(KeyError) as raised:
        job.blocks(COUNT, task, (1000, 1))
    assert raised.value is faults[1]
    assert len(begun) < 1000


def test_workers_have_the_context_of_the_caller_and_leave_it_alone() -> None:
    meet = meeting(COUNT)

    def task(i: int) -> str:
        meet()
        found = MODE.get()
        MODE.set(f"of block {i}")
        return found

    token = MODE.set("inside")
    try:
        assert job.blocks(COUNT, task, (COUNT, 1)) == ["inside"] * COUNT
    finally:
        MODE.reset(token)


def divided(i: int) -> None:
    np.divide([1.0, 0.0], [0.0, 0.0][: 1 + i % 2] * (2 - i % 2))
    np.log([-1.0 if i == 5 else 1.0])


def test_warnings_are_those_of_one_thread_in_their_order() -> None:
    def given(count: int) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            job.blocks(count, divided, (7, 1))
        assert all(one.category is RuntimeWarning for one in found)
        return [str(one.message) for one in found]

    assert given(COUNT) == given(1) != []


def test_parts_of_one_call_give_each_warning_once() -> None:
    x = np.array([-1.0, 0.0, -1.0, 0.0])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        job.parts(2, [lambda i: np.log(x[i : i + 1])], 4, 1)
    expected = ["divide by zero encountered in log", "invalid value encountered in log"]
    assert [str(one.message) for one in found] == expected


def test_a_warning_that_is_an_error_is_raised() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            job.blocks(2, divided, (7, 1))


@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
def test_errors_that_are_raised_or_printed_keep_to_one_thread(mode: Any) -> None:
    with np.errstate(all=mode):
        assert set(job.blocks(COUNT, lambda _: threading.get_ident(), (50, 1))) == {threading.get_ident()}
    assert workers() == []


def test_errstate_holds_in_workers() -> None:
    meet = meeting(2)

    def task(_: int) -> dict[str, str]:
        meet()
        with warnings.catch_warnings():  # nothing may be given
            np.log([0.0])
        return dict(np.geterr())

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for modes in job.blocks(2, task, (2, 1)):
            assert set(modes.values()) == {"ignore"}


def test_a_job_within_a_job_is_done_by_the_same_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    meet, asking, ask = meeting(COUNT), set[int](), pool.ask

    def asked(help_with: list[pool.Help]) -> None:
        asking.add(threading.get_ident())
        ask(help_with)

    monkeypatch.setattr(pool, "ask", asked)

    def task(_: int) -> int:
        meet()
        inner = job.blocks(COUNT, lambda _: threading.get_ident(), (20, 1))
        return len(set(inner)) if pool.is_worker() else 1

    for mode in ("warn", "ignore"):
        with np.errstate(all=mode):
            assert job.blocks(COUNT, task, (COUNT, 1)) == [1] * COUNT
    assert asking == {threading.get_ident()}


def test_workers_may_be_ended_by_one_of_them() -> None:
    meet = meeting(2)

    def task(_: int) -> bool:
        meet()
        if pool.is_worker():
            pool.stop()
        return pool.is_worker()

    assert sorted(job.blocks(2, task, (2, 1))) == [False, True]


def test_many_callers_at_once_get_their_own_results() -> None:
    found: dict[int, list[int]] = {}

    def call(number: int) -> None:
        found[number] = [sum(job.blocks(COUNT, lambda i: i * number, (50, 1))) for _ in range(20)]

    callers = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == {number: [1225 * number] * 20 for number in range(6)}


def test_an_interrupt_waits_for_the_blocks_that_are_computed_and_leaves_no_thread() -> None:
    caller, computing, done = threading.get_ident(), threading.Event(), []

    def task(i: int) -> None:
        if threading.get_ident() == caller:
            assert computing.wait(20)
            raise KeyboardInterrupt
        computing.set()
        done.append(i)

    with pytest.raises(KeyboardInterrupt):
        job.blocks(2, task, (10_000, 1))
    assert workers() == []
    assert done
    count = len(done)
    assert job.blocks(2, lambda i: i, (4, 1)) == [0, 1, 2, 3]
    assert len(done) == count, "a block began after the interrupt"


@pytest.mark.parametrize(("owner", "name"), [(job.Job, "finish"), (pool.Pool, "stop")])
def test_interrupts_of_the_cleaning_up_leave_no_thread(
    owner: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, interrupts = getattr(owner, name), [KeyboardInterrupt("second"), KeyboardInterrupt("third")]

    def interrupted(self: Any) -> None:
        if interrupts:
            raise interrupts.pop()
        real(self)

    def task(_: int) -> None:
        raise KeyboardInterrupt("first")

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt, match="first"):
        job.blocks(COUNT, task, (100, 1))
    assert workers() == [] and not interrupts
    assert job.blocks(COUNT, lambda i: i, (4, 1)) == [0, 1, 2, 3]


def test_a_worker_whose_start_was_interrupted_is_not_waited_for() -> None:
    class Starting(threading.Thread):
        ident = property(lambda _: 1)  # it has begun, which the thread that starts it does not know yet

    made = pool.Pool()
    made.workers.append(Starting())
    made.stop()


def test_an_error_that_is_none_of_python_s_exceptions_is_raised_from_a_worker() -> None:
    caller, raised = threading.get_ident(), threading.Event()

    def task(_: int) -> None:
        if threading.get_ident() == caller:
            assert raised.wait(20)
        else:
            raised.set()
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        job.blocks(2, task, (2, 1))


def test_a_worker_that_comes_late_keeps_nothing_alive() -> None:
    begun, over = threading.Event(), threading.Event()
    pool.ask([lambda: (begun.set(), over.wait(20))[0]])
    assert begun.wait(20)
    x, y = np.ones(10), np.ones(10)
    seen = [weakref.ref(x), weakref.ref(y)]
    assert [one.sum() for one in job.blocks(2, lambda i, x=x: x[i:], (10, 5))] == [10, 5]
    with pytest.raises(KeyError):
        job.blocks(2, lambda _, y=y: {}[y.sum()], (10, 5))
    del x, y
    assert [one() for one in seen] == [None, None]
    over.set()


def test_without_more_threads_the_caller_computes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert job.blocks(COUNT, lambda i: i, (4, 1)) == [0, 1, 2, 3]
    meet = meeting(COUNT)  # the next job tries again
    assert len(set(job.blocks(COUNT, lambda _: (meet(), threading.get_ident())[1], (COUNT, 1)))) == COUNT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_its_own_workers() -> None:
    meet = meeting(2)
    job.blocks(2, lambda _: meet(), (2, 1))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            again = meeting(2)
            idents = job.blocks(2, lambda _: (again(), threading.get_ident())[1], (2, 1))
            os.write(writing, bytes([len(set(idents))]))
        finally:
            os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"\2"
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    assert len(set(job.blocks(2, lambda _: (meet(), threading.get_ident())[1], (2, 1)))) == 2


def test_warnings_are_sorted_and_end_with_the_first_block_that_fails() -> None:
    made = job.Job([divided], [(0,)] * 4, np.geterr())
    made.heard = [((0, 3), "third"), ((0, 1), "first"), ((0, 2), "second")]
    for faults, expected in (([], ["first", "second", "third"]), ([2, 3], ["first", "second"])):
        made.faults = [((0, number), ValueError()) for number in faults]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            made.warn(is_one_call=False)
        assert [str(one.message) for one in found] == expected
