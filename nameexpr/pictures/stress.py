"""Place the vertices of a graph in the plane so that their distances approximate those along its edges.

The sum of squared differences between the two, each weighted by the inverse square of its distance, is the
*stress* of a drawing. It is reduced pair by pair, in shuffled order and with decreasing steps: stochastic
gradient descent (Zheng, Pawar, Goodman: Graph Drawing by Stochastic Gradient Descent, IEEE TVCG 2019). For
large graphs only the distances to some pivots count, and those along edges. The random numbers are seeded, so
that equal graphs have equal drawings.

>>> [(round(x), round(y)) for x, y in leveled(stress_layout(3, [(0, 1, 1.0), (1, 2, 1.0)]), [(0, 1), (1, 2)])]
[(0, 0), (1, 0), (2, 0)]
"""

from __future__ import annotations

from cmath import phase, rect
from collections.abc import Sequence
from heapq import heappop, heappush
from math import exp, hypot, log
from random import Random
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]
Edge: TypeAlias = tuple[int, int, float]
"""Two vertices, and the desired length of the line between them."""
ROUNDS = 30
PRECISION = 0.05
"""The step of the last round, in units of the shortest distance."""
MOST_PAIRS = 25_000
"""The number of pairs whose distances are used in each round."""


def stress_layout(count: int, edges: Sequence[Edge]) -> list[Point]:
    """Place the vertices of a connected graph; `edges` join numbers below `count`."""
    rng = Random(0)
    places = [complex(rng.random(), rng.random()) * max(1, count) ** 0.5 for _ in range(count)]
    pairs = _pairs(count, edges, rng)
    if not pairs:
        return [(0.0, 0.0)] * count
    longest, shortest = max(pair[2] for pair in pairs), min(pair[2] for pair in pairs)
    first, last = longest**2, PRECISION * shortest**2
    for turn in range(ROUNDS):
        step = first * exp(-log(first / last) * turn / (ROUNDS - 1))
        rng.shuffle(pairs)
        for one, other, distance in pairs:
            apart = places[one] - places[other]
            length = abs(apart) or 1e-9
            move = min(1.0, step / distance**2) * (length - distance) / (2 * length) * apart
            places[one] -= move
            places[other] += move
    return [(place.real, place.imag) for place in places]


def _pairs(count: int, edges: Sequence[Edge], rng: Random) -> list[Edge]:
    """Return pairs with their distances: all of them, or those of some pivots and along the edges."""
    joined: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for one, other, length in edges:
        joined[one].append((other, length))
        joined[other].append((one, length))
    if count * count <= 2 * MOST_PAIRS:
        found = (_distances(joined, one) for one in range(count))
        return [(one, other, distances[other]) for one, distances in enumerate(found) for other in range(one)]
    pairs = list(edges)
    for pivot in rng.sample(range(count), max(2, MOST_PAIRS // count)):
        distances = _distances(joined, pivot)
        pairs += [(pivot, other, distances[other]) for other in range(count) if other != pivot]
    return pairs


def _distances(joined: Sequence[Sequence[tuple[int, float]]], start: int) -> list[float]:
    """Return the lengths of the shortest paths from a vertex (Dijkstra, 1959)."""
    found = [0.0] * len(joined)
    seen = [False] * len(joined)
    waiting = [(0.0, start)]
    while waiting:
        distance, here = heappop(waiting)
        if seen[here]:
            continue
        seen[here], found[here] = True, distance
        for other, length in joined[here]:
            if not seen[other]:
                heappush(waiting, (distance + length, other))
    return found


def leveled(places: Sequence[Point], edges: Sequence[tuple[int, int]]) -> list[Point]:
    """Rotate a drawing so that most of its edges are level or upright, and it is wider than it is high; the
    first vertex is on the left and at the top. The least x and y are 0.
    """
    points = [complex(*place) for place in places]
    # Four times an angle is the same for all four directions of a lattice.
    apart = [points[one] - points[other] for one, other in edges]
    mean = sum((abs(way) * rect(1, 4 * phase(way)) for way in apart if way), 0j)
    points = [point * rect(1, -phase(mean) / 4) for point in points]
    wide, high = (max(part) - min(part) for part in zip(*((p.real, p.imag) for p in points), strict=True))
    points = [point * 1j for point in points] if high > wide * 1.01 else points
    middle = sum(points) / len(points)
    across = -1 if points[0].real > middle.real + 1e-6 else 1
    down = -1 if points[0].imag > middle.imag + 1e-6 else 1
    turned = [(across * point.real, down * point.imag) for point in points]
    left, top = (min(part) for part in zip(*turned, strict=True))
    return [(x - left, y - top) for x, y in turned]


def uprightness(places: Sequence[Point], edges: Sequence[tuple[int, int]], slope: float) -> float:
    """Return the share of edges that are level or upright up to a slope."""
    ways = [
        (abs(places[one][0] - places[other][0]), abs(places[one][1] - places[other][1]))
        for one, other in edges
    ]
    return sum(min(way) <= slope * hypot(*way) for way in ways) / max(1, len(ways))
