"""Gradients of recurrences: those that JAX finds of a scan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

jax = pytest.importorskip("jax")
TEXT = "h[(1 + T) H] = s[H], tanh(sum[G](w[G H] * h[_@T G]) + x[T H]); loss = sum[H](h[_@(size[T]) H] ** 2)"


def test_gradients_are_those_of_a_scan() -> None:
    generator = np.random.default_rng(1)
    shapes = {"s": (3,), "w": (3, 3), "x": (5, 3)}
    given = {name: jax.numpy.array(generator.normal(size=shape)) for name, shape in shapes.items()}

    def by_hand(operands: dict[str, Any]) -> Any:
        def step(h: Any, x: Any) -> tuple[Any, None]:
            return jax.numpy.tanh(h @ operands["w"] + x), None

        return (jax.lax.scan(step, operands["s"], operands["x"])[0] ** 2).sum()

    wanted = jax.grad(by_hand)(given)
    found = ne.grad(TEXT, "s w x")(**given)
    for name in shapes:
        np.testing.assert_allclose(found[name], wanted[name], rtol=2e-5, atol=1e-6)
