"""Places in the plane whose distances are those along the edges of a graph."""

from __future__ import annotations

from math import dist, pi, sin

import pytest

from nameexpr.pictures import stress
from nameexpr.pictures.stress import leveled, stress_layout, uprightness
from tools.pictures.graphs import lattice, path


def stress_of(places: list[tuple[float, float]], edges: list[tuple[int, int]]) -> float:
    """Return the mean stress of a pair, with distances from Floyd and Warshall's algorithm."""
    count = len(places)
    far = [[0.0 if a == b else 1e9 for a in range(count)] for b in range(count)]
    for a, b in edges:
        far[a][b] = far[b][a] = 1.0
    for k in range(count):
        far = [[min(far[a][b], far[a][k] + far[k][b]) for b in range(count)] for a in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(a)]
    return sum((dist(places[a], places[b]) / far[a][b] - 1) ** 2 for a, b in pairs) / len(pairs)


def laid(count: int, edges: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return the places of a graph whose edges are all equally long."""
    return leveled(stress_layout(count, [(a, b, 1.0) for a, b in edges]), edges)


def test_distances_of_a_path_and_of_a_triangle_are_exact() -> None:
    assert stress_of(laid(8, path(8)), path(8)) < 1e-4
    assert stress_of(laid(3, [(0, 1), (1, 2), (2, 0)]), [(0, 1), (1, 2), (2, 0)]) < 1e-4


def test_a_ring_is_round() -> None:
    edges = [(number, (number + 1) % 12) for number in range(12)]
    places = laid(12, edges)
    middle = (sum(x for x, _ in places) / 12, sum(y for _, y in places) / 12)
    radii = [dist(place, middle) for place in places]
    sides = [dist(places[a], places[b]) for a, b in edges]
    assert max(radii) / min(radii) < 1.02
    assert all(side == pytest.approx(2 * radii[0] * sin(pi / 12), rel=0.05) for side in sides)


@pytest.mark.parametrize(("rows", "columns"), [(2, 8), (3, 3), (4, 6), (10, 10)])
def test_a_lattice_is_level_and_upright(rows: int, columns: int) -> None:
    edges = lattice(rows, columns)
    places = laid(rows * columns, edges)
    assert uprightness(places, edges, 0.3) == 1
    wide, high = (max(part) for part in zip(*places, strict=True))
    assert wide >= 0.99 * high
    # A perfect drawing has the distances of Manhattan in the plane, which has this stress at best.
    square = [(float(n % columns), float(n // columns)) for n in range(rows * columns)]
    assert stress_of(places, edges) <= stress_of(square, edges)


def test_the_first_vertex_is_on_the_left_and_at_the_top() -> None:
    places = laid(24, lattice(4, 6))
    assert all(x >= places[0][0] - 0.6 and y >= places[0][1] - 0.6 for x, y in places)
    assert min(x for x, _ in places) == min(y for _, y in places) == 0


def test_large_graphs_are_unfolded_from_a_part_of_their_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stress, "MOST_PAIRS", 700)
    edges = lattice(6, 10)
    assert len(stress._pairs(60, [(a, b, 1.0) for a, b in edges], stress.Random(0))) < 60 * 59 / 2
    assert uprightness(laid(60, edges), edges, 0.4) > 0.95


def test_graphs_without_edges_have_a_place() -> None:
    assert stress_layout(1, []) == [(0.0, 0.0)]
    assert leveled([(0.0, 0.0)], []) == [(0.0, 0.0)]
