"""What a step costs, and how long a search may take for that.

Costs are counted in flops, in the time of one: a step goes through the cells of all its labels, twice if it
sums, and each cell that it writes costs `WRITING` more. How many steps there are is the same for all orders.
"""

from __future__ import annotations

WRITING = 4.0
"""What it costs that an intermediate is written, often copied into another order, and read again: 24 bytes or
more, at some 10 GB/s where it leaves the caches, and next to nothing where it does not. Run times of whole
networks hardly tell values from 0 to 16 apart, because orders with few flops have few cells too; among orders
that are equal in flops it decides for less memory.
"""
FLOPS = 5e9
"""Flops in a second, of one thread, in products of middling size."""
CALL = 1.5e-6
"""Seconds that a step takes however small it is."""
SHARE = 0.1
"""Part of the time of one run that a search for its order may take."""
LEAST = 6e-4
"""Seconds for each operand that it may take in any case: a quarter of what 128 greedy orders take."""
MOST = 1.3
"""Seconds that it may take at most."""


def allowance(cost: float, operands: int) -> float:
    """Return the seconds that a search may take to better an order of this cost.

    Searches do not look at a clock: they count what they do, in seconds that it took once, so that the same
    network gets the same order every time.

    Examples
    --------
    >>> allowance(5e10, 10)
    1.0060015
    """
    return min(SHARE * (cost / FLOPS + CALL * operands) + LEAST * operands, MOST)
