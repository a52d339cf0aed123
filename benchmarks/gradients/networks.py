"""Tensor networks of thirty cores, differentiated by all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gradients.base import Arrays, Functions, GradientWorkload
from benchmarks.networks import Network, graph, lattice, regular, ring

RUNGS = 15


def circular_ladder(rungs: int, bond: int) -> Network:
    """Return two rings joined by rungs."""
    edges = [(side * rungs + i, side * rungs + (i + 1) % rungs) for side in (0, 1) for i in range(rungs)]
    return graph(
        "circular ladder", 2 * rungs, [*edges, *((i, rungs + i) for i in range(rungs))], bond, bond, 0
    )


NETWORKS = (
    ("ring 30, bond 40", ring(30, 40, 40)),
    ("ladder 2x15, bond 16", circular_ladder(RUNGS, 16)),
    ("lattice 5x6, bond 6", lattice(5, 6, 6, 6)),
    ("regular 30, bond 6", regular(30, 6, 6)),
)


def _text(network: Network) -> str:
    labels = ", ".join(network.size).replace(",", "")
    terms = " * ".join(
        f"{name}[{' '.join(term)}]" for name, term in zip(_names(network), network.terms, strict=True)
    )
    return f"y = sum[{labels}]({terms})"


def _names(network: Network) -> list[str]:
    return [f"t{number}" for number in range(len(network.terms))]


def _drawn(network: Network) -> Callable[[np.random.Generator], Arrays]:
    def draw(rng: np.random.Generator) -> Arrays:
        scaled = (2 * rng.random(shape) / math.sqrt(math.prod(shape)) for shape in network.shapes)
        return dict(zip(_names(network), scaled, strict=True))

    return draw


def planned_path(network: Network) -> Any:
    """Return the path of nameexpr, which the peers contract along too."""
    from nameexpr.compiler.planning.path import find_path

    return find_path([frozenset(term) for term in network.terms], frozenset(network.out), network.size, None)


def _contracted(network: Network) -> Callable[[Functions, Arrays], Any]:
    path: list[Any] = []

    def value(f: Functions, o: Arrays) -> Any:
        if not path:
            path.extend(planned_path(network))
        return f.contract(network.symbols, [o[name] for name in _names(network)], path)

    return value


WORKLOADS = tuple(
    GradientWorkload("networks", name, _text(one), " ".join(_names(one)), _drawn(one), _contracted(one))
    for name, one in NETWORKS
)
