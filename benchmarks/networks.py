"""Tensor networks by kind and seed: chains, rings, trees, lattices, states, random regular graphs.

Group d runs the small ones; the planner's scores also cover large ones, which are impossible to run. The
sizes come from the seed, so that a network is the same in every run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

Edges = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Network:
    """Operands as tuples of labels, the labels of the result, and the size of each label."""

    name: str
    terms: tuple[tuple[str, ...], ...]
    out: tuple[str, ...]
    size: Mapping[str, int]

    @property
    def text(self) -> str:
        """The expression, with words for labels."""
        return f"{', '.join(map(' '.join, self.terms))} -> {' '.join(self.out)}".strip()

    @property
    def symbols(self) -> str:
        """The expression with one character for each label, beyond the letters where they run out."""
        symbol = dict(zip(self.size, map(_symbol, range(len(self.size))), strict=True))
        sides = [*self.terms, self.out]
        *inputs, out = ["".join(symbol[x] for x in term) for term in sides]
        return f"{','.join(inputs)}->{out}"

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each operand."""
        return [tuple(self.size[x] for x in term) for term in self.terms]

    def renamed(self, prefix: str) -> Network:
        """Return the same network with this before every label: a text that has not been seen."""
        terms = tuple(tuple(prefix + x for x in term) for term in self.terms)
        size = {prefix + x: value for x, value in self.size.items()}
        return Network(self.name, terms, tuple(prefix + x for x in self.out), size)


def _symbol(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return letters[number] if number < len(letters) else chr(140 + number)


def chain(count: int, low: int, high: int, seed: int = 0) -> Network:
    """Return a product of matrices whose sizes are drawn between low and high, evenly in their logarithm."""
    sizes = np.exp(_rng(seed).uniform(math.log(low), math.log(high), count + 1)).astype(int)
    size = {f"a{i}": int(value) for i, value in enumerate(sizes)}
    names = list(size)
    terms = tuple(itertools.pairwise(names))
    return Network(f"chain {count}", terms, (names[0], names[-1]), size)


def ring(count: int, low: int, high: int, seed: int = 0) -> Network:
    """Return the trace of a product of matrices."""
    return graph(f"ring {count}", count, ((i, (i + 1) % count) for i in range(count)), low, high, seed)


def tree(count: int, low: int, high: int, seed: int = 0) -> Network:
    """Return a random tree in which no tensor has more than four neighbours."""
    rng, degree, edges = _rng(seed), [0] * count, []
    for i in range(1, count):
        free = [k for k in range(i) if degree[k] < 4]
        k = free[int(rng.integers(len(free)))]
        edges.append((k, i))
        degree[k] += 1
        degree[i] += 1
    return graph(f"tree {count}", count, edges, low, high, seed)


def lattice(rows: int, columns: int, low: int, high: int, seed: int = 0) -> Network:
    """Return a rectangular lattice with open borders."""
    edges = _lattice_edges(rows, columns)
    return graph(f"lattice {rows}x{columns}", rows * columns, edges, low, high, seed)


def regular(count: int, low: int, high: int, seed: int = 0) -> Network:
    """Return a random connected graph in which each tensor has three neighbours."""
    rng = _rng(1000 * count + seed)
    while True:
        ends = rng.permutation(np.repeat(np.arange(count), 3)).reshape(-1, 2)
        edges = sorted({(int(min(pair)), int(max(pair))) for pair in ends})
        if len(edges) == len(ends) and all(a != b for a, b in edges) and _is_connected(count, edges):
            return graph(f"regular {count}", count, edges, low, high, seed)


def state_product(sites: int, bond: int, physical: int = 2) -> Network:
    """Return the inner product of two matrix product states."""
    terms, size = [], {}
    for layer in "kb":
        for i in range(sites):
            bonds = [f"{layer}{j}" for j in (i, i + 1) if 0 < j < sites]
            size |= dict.fromkeys(bonds, bond) | {f"p{i}": physical}
            terms.append((*bonds[: 1 if i else 0], f"p{i}", *bonds[1 if i else 0 :]))
    return Network(f"state product {sites}", tuple(terms), (), size)


def lattice_state_norm(rows: int, columns: int, bond: int, physical: int = 2) -> Network:
    """Return the inner product of two states on a lattice: two layers joined at every site."""
    sites, terms, size = rows * columns, [], {}
    edges = list(_lattice_edges(rows, columns))
    for layer in "kb":
        for i in range(sites):
            bonds = [f"{layer}{n}" for n, edge in enumerate(edges) if i in edge]
            size |= dict.fromkeys(bonds, bond) | {f"p{i}": physical}
            terms.append((*bonds, f"p{i}"))
    return Network(f"lattice state {rows}x{columns}", tuple(terms), (), size)


def tucker(size: int, rank: int) -> Network:
    """Return an array of four dims from its core and a matrix for each dim."""
    terms = (("a", "b", "c", "d"), *((inner, outer) for inner, outer in zip("abcd", "ijkl", strict=True)))
    sizes = dict.fromkeys("abcd", rank) | dict.fromkeys("ijkl", size)
    return Network("tucker 5", terms, tuple("ijkl"), sizes)


def canonical(size: int, rank: int) -> Network:
    """Return an array of five dims as a sum of products of vectors: one label is in every operand."""
    sizes = {"r": rank} | dict.fromkeys("ijklm", size)
    return Network("CP 5", tuple((x, "r") for x in "ijklm"), tuple("ijklm"), sizes)


def graph(kind: str, count: int, edges: Edges, low: int, high: int, seed: int) -> Network:
    """Return the network with a tensor at each node, a label on each edge and a scalar result."""
    name = f"{kind} #{seed}" if seed else kind
    listed = list(edges)
    drawn = _rng(seed + 7).integers(low, high + 1, len(listed))
    size = {f"e{n}": int(value) for n, value in enumerate(drawn)}
    terms = tuple(tuple(f"e{n}" for n, edge in enumerate(listed) if i in edge) for i in range(count))
    return Network(name, terms, (), size)


def _lattice_edges(rows: int, columns: int) -> Edges:
    for i in range(rows * columns):
        if (i + 1) % columns:
            yield i, i + 1
        if i + columns < rows * columns:
            yield i, i + columns


def _is_connected(count: int, edges: list[tuple[int, int]]) -> bool:
    seen, rest = {0}, edges
    while True:
        more = {node for edge in rest if seen & set(edge) for node in edge} - seen
        if not more:
            return len(seen) == count
        seen |= more


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(2000 + seed)
