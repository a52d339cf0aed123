"""Settings for the tests of JAX: 64 bits where a test asks for them, and little memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

jax = pytest.importorskip("jax")

EACH = 30
"""The number of tests after which what JAX has compiled is dropped."""
TESTS = count(1)


@pytest.fixture
def in_64_bits() -> Iterator[None]:
    """Let JAX compute in 64 bits."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(autouse=True)
def dropping_executables() -> Iterator[None]:
    """Drop compiled functions now and then: JAX keeps them all, which took gigabytes."""
    yield
    if next(TESTS) % EACH == 0:
        jax.clear_caches()
