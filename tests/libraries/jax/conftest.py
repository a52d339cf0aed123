"""Settings for the tests of JAX: one device, and 64 bits where a test asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

jax = pytest.importorskip("jax")


@pytest.fixture
def in_64_bits() -> Iterator[None]:
    """Let JAX compute in 64 bits."""
    with jax.enable_x64(True):
        yield
