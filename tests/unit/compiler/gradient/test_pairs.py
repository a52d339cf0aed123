"""Contractions of several factors: their gradients, and what both directions cost together."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(5)


@pytest.mark.parametrize("reducer", ["sum", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "float16"])
def test_three_factors(reducer: str, dtype: str) -> None:
    a, b, c = (GENERATOR.normal(size=shape).astype(dtype) for shape in ((2, 3), (3, 4), (4, 2)))
    text = f"y = real({reducer}[i j k](a[i j] * b[j k] * c[k i])); g[j k] = grad(y, b)"
    value, found = ne.evaluate(text, a=a, b=b, c=c, outputs=("y", "g"))
    count = 24 if reducer == "mean" else 1
    assert found.dtype == dtype
    tolerance = {"float16": 1e-2, "float32": 1e-5}.get(dtype, 1e-12)
    wide = [one.astype("complex128") for one in (a, b, c)]
    np.testing.assert_allclose(value, np.einsum("ij,jk,ki->", *wide).real / count, rtol=tolerance, atol=1e-3)
    wanted = np.conj(np.einsum("ij,ki->jk", wide[0], wide[2])) / count
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_all_gradients_of_a_network_cost_twice_as_much_as_its_value() -> None:
    """A ring of matrices: each gradient alone would contract all other cores."""
    count, bond = 12, 6
    cores = {f"c{n}": GENERATOR.normal(size=(bond, bond)) / 3 for n in range(count)}
    labels = [f"b{n}" for n in range(count)]
    product = " * ".join(f"c{n}[b{n} b{(n + 1) % count}]" for n in range(count))
    text = f"y = sum[{' '.join(labels)}]({product})"
    names = [f"g{n}" for n in range(count)]
    whole = text + "".join(f"; g{n} = grad(y, c{n}[p q])" for n in range(count))
    forward = ne.compile(text).plan(**cores)
    both = ne.compile(whole, outputs=("y", *names)).plan(**cores)
    assert both.flops <= 3.01 * forward.flops
    _, *found = ne.evaluate(whole, outputs=("y", *names), **cores)
    for n in (0, 5, 11):
        others = np.linalg.multi_dot([cores[f"c{(n + 1 + k) % count}"] for k in range(count - 1)])
        np.testing.assert_allclose(found[n], others.T, rtol=1e-10)
