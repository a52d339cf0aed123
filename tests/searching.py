"""What an ordinary run leaves out, and a wide search tries: `pytest --hypothesis-profile=search`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")


def is_wide() -> bool:
    """Whether this run is a wide search."""
    return settings().max_examples > settings.get_profile("fixed").max_examples


def one_in(count: int, cases: Sequence[Case], first: int = 0) -> list[Case]:
    """Return one in `count` cases, or the first if there are fewer; all of them in a wide search."""
    return list(cases if is_wide() else cases[first % count :: count] or cases[:1])
