"""The networks whose plans are scored: far larger than what runs, from 10 to 200 tensors."""

from __future__ import annotations

from benchmarks.networks import (
    Network,
    chain,
    lattice,
    lattice_state_norm,
    regular,
    ring,
    state_product,
    tree,
)

NETWORKS: tuple[Network, ...] = (
    *(chain(count, 4, 512) for count in (10, 20, 50, 100, 200)),
    *(ring(count, 4, 64) for count in (10, 50, 200)),
    *(tree(count, 2, 16) for count in (20, 100, 200)),
    *(lattice(side, side, 2, 4) for side in (4, 6, 8, 10, 14)),
    state_product(50, 16),
    lattice_state_norm(4, 4, 3),
    lattice_state_norm(6, 6, 2),
    *(regular(count, 2, 4) for count in (10, 20, 30, 40, 60, 80)),
    *(regular(count, 2, 2) for count in (100, 150, 200)),
    *(regular(count, 2, 3, seed) for count in (30, 60, 100) for seed in (1, 2)),
)
