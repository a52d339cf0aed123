"""How much a task may hold: from `memory_limit=`, from the workers of the current client, or by default."""

from __future__ import annotations

import sys
from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.records import record

DEFAULT = 128 << 20
"""The bytes of a task's blocks without a cluster and a limit: those of Dask's own chunks."""
SHARE = 8
"""The part of a worker's memory that the blocks of a task may take: Dask spills from 60 % on, and a worker
keeps results of other tasks, too.
"""
HELD = 2
"""The part of it that no task may exceed, as the rest is needed by results that wait, and by Python."""


@record
class TaskLimits:
    """The bytes that a task's blocks may take, and those that no task may need, None if unknown; `source`
    names what sets them.
    """

    budget: int
    most: int | None
    source: str


def limits_of(memory_limit: int | None, text: str) -> TaskLimits:
    """Return the limits of the tasks of a text (NE512 if the current cluster cannot run any)."""
    client = current_client()
    worker = None if client is None else smallest_worker(client, text)
    if memory_limit is not None:
        return TaskLimits(memory_limit, memory_limit, "memory_limit")
    if worker is not None:
        memory, threads = worker
        budget, most = max(1, memory // max(SHARE, 2 * threads)), memory // (HELD * threads)
        return TaskLimits(budget, most, "half the memory of a worker for each of its threads")
    return TaskLimits(DEFAULT, None, "")


def current_client() -> Any:
    """Return the client of `dask.distributed` that computations go to; None if there is none.

    The module is not imported: without it there is no client.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def smallest_worker(client: Any, text: str) -> tuple[int, int] | None:
    """Return the memory of the smallest worker and its threads; None if workers have no limit."""
    if client.status != "running":
        message = f"the current Dask client is not connected: its status is {client.status!r}"
        hint = "start a cluster and connect to it: client = Client(); or close this one with client.close()"
        raise error(Diagnostic("NE512", message, text, hint=hint))
    if client.asynchronous:
        return None
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except TypeError:  # before 2024.12 it listed all of them
        workers = client.scheduler_info()["workers"].values()
    known = [(one["memory_limit"], one["nthreads"]) for one in workers if one["memory_limit"]]
    return min(known, default=None)
