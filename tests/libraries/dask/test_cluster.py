"""Texts on a cluster of two workers with one thread each, whose memory is far smaller than the operands."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

LIMIT = 260_000_000
"""The memory of a worker, about half of which Python and its modules take."""
LONG = 2_080_000


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"dashboard_address": None, "host": "127.0.0.1", "memory_limit": LIMIT}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows(index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 1.0 + index % 7


def columns(index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 2.0 + index % 5


def table(short: int, *, is_wide: bool) -> Any:
    """Return a Dask array of 8 * short * LONG bytes that is made block by block, and is an outer product."""

    def block(block_info: Any) -> np.ndarray[Any, Any]:
        start, stop = block_info[None]["array-location"][int(is_wide)]
        index = np.arange(start, stop)
        own = np.cos(np.arange(short))
        return np.multiply.outer(own, rows(index)) if is_wide else np.multiply.outer(columns(index), own)

    shape, chunks = ((short, LONG), (short, 8000)) if is_wide else ((LONG, short), (8000, short))
    blocks = da.core.normalize_chunks(chunks, shape)
    return da.map_blocks(block, chunks=blocks, dtype=float, meta=np.empty((0, 0)))


def product(short: int) -> np.ndarray[Any, Any]:
    """Return the product of two tables."""
    index = np.arange(LONG)
    own = np.cos(np.arange(short))
    return np.multiply.outer(own, own) * (rows(index) @ columns(index))


def used_bytes(client: Any) -> list[int]:
    """Return the largest memory that each worker has had."""

    def used() -> int:
        try:  # not ru_maxrss where it can be helped: a child starts with the peak of its parent there
            with open("/proc/self/status", encoding="ascii") as lines:
                return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        except FileNotFoundError:
            return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    return list(client.run(used).values())


@pytest.mark.distributed
@pytest.mark.slow
def test_operands_of_eight_times_the_memory_of_all_workers(client: Any) -> None:
    x, y = table(128, is_wide=True), table(128, is_wide=False)
    assert x.nbytes + y.nbytes > 8 * 2 * LIMIT
    before = {*client.run(os.getpid).values()}
    result = ne.einsum("i k, k j -> i j", x, y)
    assert result.chunks == ((128,), (128,))
    np.testing.assert_allclose(result.compute(), product(128))
    assert {*client.run(os.getpid).values()} == before, "no worker was restarted"
    assert max(used_bytes(client)) < LIMIT


@pytest.mark.distributed
@pytest.mark.slow
def test_a_killed_worker_changes_nothing(client: Any) -> None:
    short = 32
    x, y = table(short, is_wide=True), table(short, is_wide=False)

    def slowly(block: Any) -> Any:
        time.sleep(0.01)
        return block

    future = client.compute(
        ne.einsum("i k, k j -> i j", x.map_blocks(slowly, dtype=float, meta=np.empty((0, 0))), y)
    )
    time.sleep(1)
    assert not future.done()
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    np.testing.assert_allclose(future.result(timeout=60), product(short))


@pytest.mark.distributed
@pytest.mark.slow
def test_a_softmax_over_chunks_of_an_array_larger_than_the_workers(client: Any) -> None:
    x = table(50, is_wide=True)
    weights = ne.evaluate("y[i k] = softmax[k](x[i k])", x=x)
    assert weights.nbytes > 1.5 * 2 * LIMIT
    totals = ne.einsum("i k -> i : sum", weights)
    np.testing.assert_allclose(totals.compute(), np.ones(50))
    assert max(used_bytes(client)) < LIMIT


@pytest.mark.distributed
@pytest.mark.slow
def test_blocks_follow_from_the_memory_of_workers(client: Any) -> None:
    x = da.ones((20_000, 20_000), chunks=5000)
    assert ne.compile("i k, k j -> i j").plan(x, x).task_bytes < LIMIT / 4
    with pytest.raises(ne.LimitError, match=r"NE709.*half the memory of a worker"):
        ne.evaluate("y[n] = sort[n](x[n])", x=da.ones(100_000_000, chunks=1_000_000))


def test_a_client_without_its_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "default_client", lambda: SimpleNamespace(status="connecting"))
    with pytest.raises(ne.OperandError, match=r"NE512.*'connecting'"):
        ne.einsum("a b -> b a", da.ones((4, 3), chunks=2))
