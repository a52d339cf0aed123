"""The profile of the machine that texts are compiled for, changed in a running process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nameexpr.backends.numpy import target
from nameexpr.backends.numpy.costs import Profile
from nameexpr.runtime.cache import cache_clear
from nameexpr.runtime.entry import Entry


def use_profile(profile: Profile | None, path: str = "") -> None:
    """Compile texts for this profile from now on, None for that of the machine; what was cached is dropped.

    Functions that `compile` returned before keep what they have compiled.
    """
    target.use(profile, path)
    Entry.target = target.current_target()
    cache_clear()


@contextmanager
def profile_in_use(profile: Profile) -> Iterator[None]:
    """Compile texts for this profile within the block."""
    before = target.current()
    use_profile(profile)
    try:
        yield
    finally:
        use_profile(before.profile, before.path)
