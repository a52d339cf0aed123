"""`nameexpr.compat` on arrays of JAX."""

from __future__ import annotations

import jax.numpy as jnp

from libraries.compat import check_contractions, check_patterns


def test_contractions_have_the_type_of_their_operands() -> None:
    check_contractions(jnp)


def test_patterns_have_the_type_of_their_operands() -> None:
    check_patterns(jnp)
