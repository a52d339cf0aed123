"""A target for every array library: one way for each contraction, and no choice that depends on strides.

Programs for it have no blocks, no slices, no reuse of memory and none of the calls that only NumPy has. Costs
are not compared, since the choices that remain depend on labels alone.
"""

from __future__ import annotations

from typing import Any

from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.ir.target import Target
from nameexpr.records import replace

NEVER = 1 << 62
"""More elements, bytes or multiplications than anything has."""


class NoCosts:
    """Costs of a library whose strategies are not compared."""

    @staticmethod
    def scatter_cost(method: str, *_: Any) -> float:
        """Return the cost of combining rows by label: one element after the other costs least."""
        return 0.0 if method == "sum" else 1.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: 0.0


PORTABLE: Target = replace(
    TARGET,
    costs=NoCosts(),
    native=frozenset(),
    any_layout_cells=NEVER,
    loop_axes=0,
    mirrored_products=0,
    near_bytes=NEVER,
    pairwise_cells=0,
    least_cells=1,
    sliced_cells=0,
    fused_cells=NEVER,
    huge_cells=NEVER,
    tiled_bytes=NEVER,
)
"""The target of programs that any array library can run."""
