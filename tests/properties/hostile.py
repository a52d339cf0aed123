"""Calls that may go wrong in our own way only, and not for long."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import nameexpr as ne

SECONDS = 5.0  # of the processor: how busy the machine is does not count


@contextmanager
def time_limit() -> Iterator[None]:
    """Fail after some seconds of work, instead of waiting for what would take minutes."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fault_of(run: Callable[[], Any]) -> ne.NameExprError | None:
    """Return the error of ours that a call raises, and show it once; any other goes through."""
    with time_limit(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run()
        except ne.NameExprError as raised:
            fault = raised
        else:
            return None
        assert str(fault).startswith(type(fault).__name__)
        return fault
