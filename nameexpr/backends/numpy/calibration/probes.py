"""The calls that calibration times, each with what the cost model expects, so that figures can be fitted.

Probes are drawn at random; equal seeds draw equal probes on every machine. `FAMILIES` has one function for
each kind of call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from nameexpr.backends.numpy.calibration import movement, products
from nameexpr.backends.numpy.calibration.drawing import Probe

FAMILIES: Mapping[str, Callable[[Random], Probe]] = {
    "products of matrices": products.dot,
    "batches of products": products.matmul,
    "products with vectors": products.vector,
    "inner products": products.inner_products,
    "products that copy": products.unpacked,
    "the C loop": products.loop,
    "more of the C loop": products.loop,
    "copies": movement.copied,
    "sums": movement.summed,
    "sums of slices": movement.sliced,
    "casts": movement.cast,
    "functions": movement.added,
    "functions by rows": movement.added_by_rows,
    "functions of large arrays": movement.added_large,
    "products without BLAS": products.integers,
}


def draw(seed: int, count: int) -> list[Probe]:
    """Return `count` random probes of each family."""
    drawn = Random(seed)
    return [family(drawn)._replace(family=name) for _ in range(count) for name, family in FAMILIES.items()]
