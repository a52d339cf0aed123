"""Seconds as people read them, to two digits: 0.15 us, 1.3 ms, 210 s."""

from __future__ import annotations

UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
LEAST = 0.1
"""The smallest number that is written before a unit."""


def duration(seconds: float) -> str:
    """Return a time with two digits and its unit.

    Examples
    --------
    >>> duration(1.26e-3), duration(1.5e-7), duration(0.0996e-3), duration(214.0)
    ('1.3 ms', '0.15 us', '0.10 ms', '210 s')
    """
    if seconds <= 0:
        return "0 us"
    rounded = float(f"{seconds:.1e}")
    unit, scale = next(
        (pair for pair in reversed(UNITS[1:]) if rounded >= LEAST * pair[1] * (1 - 1e-9)), UNITS[0]
    )
    number = float(f"{rounded / scale:.2g}")
    if number >= 10:  # noqa: PLR2004  both digits stand before the point
        return f"{number:,.0f} {unit}"
    return f"{number:.1f} {unit}" if number >= 1 else f"{number:.2f} {unit}"
