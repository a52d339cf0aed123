"""The most memory that one call holds at once, operands left out.

NumPy reports its arrays to tracemalloc. What a library takes by its own means (BLAS's panels) is not seen.
"""

from __future__ import annotations

import gc
import tracemalloc

from benchmarks.adapters import STRING
from benchmarks.harness import HAND, Lane


def peaks(lanes: dict[str, Lane]) -> dict[str, int]:
    """Return the peak in bytes of one call of nameexpr's and of hand's, by name."""
    return {name: _peak(lane) for name, lane in lanes.items() if name in (STRING, HAND) and lane.call}


def _peak(lane: Lane) -> int:
    """The result counts, the operands, which are there before, do not; every call has been made before."""
    assert lane.call is not None
    gc.collect()
    tracemalloc.start()
    try:
        lane.call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
