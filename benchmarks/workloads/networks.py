"""Group d: whole networks with arrays to contract: hand is the best path known, made into straight NumPy.

The paths come from long searches and are stored (`known.json`, written by ``benchmarks.search``); which
of them, and which way to run it, is quickest, is found on the machine at hand like every hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks import (
    Network,
    canonical,
    chain,
    lattice,
    lattice_state_norm,
    regular,
    ring,
    state_product,
    tree,
    tucker,
)
from benchmarks.workloads.base import Operands, Workload
from benchmarks.workloads.by_path import hands

KNOWN = Path(__file__).resolve().parents[1] / "known.json"
SMALL, CHAIN = "small tensors", "chain"


@dataclass(frozen=True)
class NetworkWorkload(Workload):
    """A network; ``symbols`` is its text for opt_einsum, which goes on where the letters end."""

    symbols: str = ""
    steps: int = 0

    @property
    def np_text(self) -> str | None:
        """The text for opt_einsum, and for NumPy if it is in plain letters."""
        return self.symbols


def _positive(network: Network) -> Callable[[np.random.Generator], Operands]:
    """Return a maker of operands in which nothing cancels, and that keep long products near 1."""

    def make(rng: np.random.Generator) -> Operands:
        scaled = (rng.random(shape) / math.sqrt(math.prod(shape)) for shape in network.shapes)
        return tuple(2 * x for x in scaled)

    return make


def _case(name: str, network: Network, *tags: str) -> NetworkWorkload:
    paths = _paths().get(name, [_in_order(len(network.terms))])
    return NetworkWorkload(
        name,
        "d",
        network.text,
        _positive(network),
        tuple(hands(network, paths)),
        is_by_cell=False,
        tags=tags,
        symbols=network.symbols,
        steps=len(network.terms) - 1,
    )


def _paths() -> dict[str, list[list[list[int]]]]:
    return json.loads(KNOWN.read_text())["paths"] if KNOWN.exists() else {}


def _in_order(count: int) -> Sequence[tuple[int, int]]:
    """Return the path for a network that no search has seen: one operand after another."""
    return [(0, 1), *((0, count - i) for i in range(2, count))]


RUN: dict[str, tuple[Any, ...]] = {
    "small chain": (chain(8, 2, 4), SMALL),
    "small ring": (ring(6, 2, 4), SMALL),
    "small tree": (tree(8, 2, 4), SMALL),
    "small lattice": (lattice(3, 3, 2, 2), SMALL),
    "small regular": (regular(10, 2, 2), SMALL),
    "small states": (state_product(4, 3), SMALL),
    "chain 10": (chain(10, 4, 800), CHAIN),
    "chain 20": (chain(20, 4, 800), CHAIN),
    "chain 50": (chain(50, 4, 800), CHAIN),
    "chain 100": (chain(100, 4, 800), CHAIN),
    "ring 12": (ring(12, 20, 120),),
    "tree 20": (tree(20, 4, 12),),
    "lattice 4x4": (lattice(4, 4, 8, 8),),
    "lattice 5x6": (lattice(5, 6, 4, 5),),
    "states of 20 sites": (state_product(20, 32),),
    "lattice states 4x4": (lattice_state_norm(4, 4, 3),),
    "regular 10": (regular(10, 12, 12),),
    "regular 20": (regular(20, 5, 6),),
    "regular 30": (regular(30, 4, 4),),
    "tucker 5": (tucker(24, 8),),
    "CP 5": (canonical(12, 16),),
}
WORKLOADS = tuple(_case(name, *given) for name, given in RUN.items())


def _limit(name: str, network: Network) -> Workload:
    return Workload(name, "m", network.text, _positive(network), ())


LIMITS = (
    _limit("regular 30, size 6", regular(30, 6, 6)),
    _limit("lattice 5x5, size 6", lattice(5, 5, 6, 6)),
    _limit("lattice states 4x4, size 4", lattice_state_norm(4, 4, 4)),
    _limit("lattice states 4x5, size 3", lattice_state_norm(4, 5, 3)),
)
"""For a quarter of their peak cotengra's slicing does 1.2 to 1.8 times the work: here it can be asked for."""
