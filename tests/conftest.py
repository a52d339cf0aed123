"""Settings for every test: hypothesis draws the same cases in each run, the cache starts empty, and plans are
the same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", parent=settings.get_profile("fixed"), derandomize=False, max_examples=2000
)
settings.load_profile("fixed")
os.environ["NAMEEXPR_TARGET"] = "generic"


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """Start and leave each test with no expression compiled and the limits as they were."""
    import nameexpr as ne

    limits = ne.limits()
    ne.cache_clear()
    yield
    ne.set_limits(text=limits.text, nesting=limits.nesting, operands=limits.operands, dims=limits.dims)
