"""Networks that the tests of pictures draw: lattices, paths, and random ones."""

from __future__ import annotations

from random import Random

from nameexpr.pictures.data import Leg, Tensor, TensorNetwork


def path(count: int) -> list[tuple[int, int]]:
    """Return the edges of a path."""
    return [(number, number + 1) for number in range(count - 1)]


def lattice(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return the edges of a lattice, whose vertices are numbered row by row."""
    level = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    return level + [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]


def network(count: int, edges: list[tuple[int, int]], *more: Leg, size: int = 4) -> TensorNetwork:
    """Return a network with a label for each edge."""
    tensors = tuple(Tensor(f"operand {number}", "4×4", str(number)) for number in range(count))
    legs = [Leg(f"e{number}", size, edge, is_open=False) for number, edge in enumerate(edges)]
    return TensorNetwork("", tensors, (*legs, *more), "", "sum")


def random_network(count: int, seed: int) -> TensorNetwork:
    """Return a network with legs of all kinds."""
    rng = Random(seed)
    names = ["a", "batch", "π", "字幕", "channel_of_the_left_image", "x" * 300]
    legs = []
    for number in range(int(1.6 * count)):
        ends = tuple(sorted(rng.choices(range(count), k=rng.choice([1, 2, 2, 2, 2, 3, 5]))))
        name = rng.choice([f"e{number}", f"e{number}", rng.choice(names)])
        legs.append(Leg(name, rng.choice([2, 4, 4, 4, 30, 10**9]), ends, rng.random() < 0.25))
    return network(count, [], *legs)
