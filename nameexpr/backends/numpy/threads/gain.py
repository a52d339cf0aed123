"""What threads are expected to gain, and the figures of the machine on which that depends."""

from __future__ import annotations

from math import ceil

from nameexpr.backends.numpy.costs import Profile
from nameexpr.backends.numpy.costs.program import NANO
from nameexpr.records import record

SLOWED = 1.1
"""The ratio of the time of a block while another thread computes to that of the same block alone."""
WORTH = 0.85
"""The ratio of the expected time over threads to that on one, from which they share an instruction: expected
times are not accurate enough for less.
"""
TURNS = 2
"""How often work is handed over: to another thread, and back when it is done."""
PART = 2
"""The least expected time of a part of a call, relative to handing it over."""
LEAST, LEAST_CHAIN = 5, 8
"""The time from which single calls are divided, in parts, and the same of several that follow each other:
shorter ones lose where cores are busy, or what they read is in the cache of one.
"""
OF_CHAIN = 2.5
"""How many times longer a part of a chain takes: between its calls, threads wait for the interpreter."""
MOST = 8
"""The most parts of a single call for each thread."""
PARTIALS = 8
"""The size of the last cache, relative to the most bytes that contributions to a result may take until they
are added.
"""


@record
class Division:
    """The part of a call that a thread computes at a time: `step` indices along an axis of the result.

    `cuts` are the axes of the sources that are cut, None for those that are read as a whole. The result has
    this `dtype`, and its axes are in memory in the order `layout`. It `takes_out` if it writes its result
    into that of the whole call.
    """

    axis: int
    step: int
    cuts: tuple[int | None, ...]
    dtype: str
    layout: tuple[int, ...]
    takes_out: bool


@record
class Spread:
    """How threads share an instruction.

    `threads` includes the calling one; `seconds` is the expected time. `keeps_partials` means that what the
    blocks along reduced axes contribute is kept, and added at the end. `bytes` are those that are allocated
    in addition to those of one thread. `part` is how a single call is divided, and `last` the number of the
    last call whose parts are computed together with its own.
    """

    threads: int
    seconds: float
    keeps_partials: bool = False
    bytes: int = 0
    part: Division | None = None
    last: int = 0


@record
class Sharing:
    """A number of threads, with the calling one, and what it takes to share work between them.

    `handed` are the seconds until another thread computes, and until the calling one knows that it has
    finished; `part` are the least of a part of a call. `partial_bytes` are the most that contributions to a
    result may take until they are added.
    """

    threads: int
    handed: float
    part: float
    partial_bytes: int

    def is_short(self, seconds: float, *, is_chain: bool = False) -> bool:
        """Return whether calls that take `seconds` are not divided.

        >>> two = Sharing(2, 40e-6, 100e-6, 1 << 20)
        >>> two.is_short(600e-6), two.is_short(600e-6, is_chain=True)
        (False, True)
        """
        return seconds < (LEAST_CHAIN if is_chain else LEAST) * self.part

    def parts(self, seconds: float, *, is_chain: bool = False) -> int:
        """Return into how many parts calls that take `seconds` are divided: the same number for each thread.

        >>> two = Sharing(2, 40e-6, 100e-6, 1 << 20)
        >>> two.parts(790e-6), two.parts(790e-6, is_chain=True), two.parts(1.0)
        (6, 2, 16)
        """
        each = seconds / self.threads / self.part
        each = each / OF_CHAIN if is_chain else min(each, MOST)
        return max(1, int(each)) * self.threads

    def worth(self, seconds: float, count: int) -> Spread | None:
        """Return how threads share `count` blocks of equal size that take `seconds` on one; None if that does
        not save time.

        >>> two = Sharing(2, 40e-6, 100e-6, 1 << 20)
        >>> two.worth(1e-3, 8).threads, two.worth(10e-6, 8), two.worth(1e-3, 1)
        (2, None, None)
        """
        used = min(self.threads, count)
        if used < 2:  # noqa: PLR2004
            return None
        after = self.handed * (used - 1) + SLOWED * seconds * ceil(count / used) / count
        return Spread(used, after) if after <= WORTH * seconds else None


def sharing_on(profile: Profile, threads: int) -> Sharing:
    """Return what sharing work takes on a machine."""
    once = profile.handed_over * NANO
    return Sharing(threads, TURNS * once, PART * once, profile.last_cache // PARTIALS)
