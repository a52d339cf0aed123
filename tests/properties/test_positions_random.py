"""Random programs that read at positions, and that reduce by label, equal nested loops and dense arrays."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.analysis.build import placing

Array = np.ndarray[Any, np.dtype[Any]]
PLAIN = "BNMD"
WHOLE = ("i1", "u1", "i8", "u8", "i4", "u2")


class Maker:
    """Random sizes, operands in random layouts, and the labels of a program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sizes = {label: self.random.choice([0, 1, 1, 2, 3, 4]) for label in (*PLAIN, "K", "L")}
        self.operands: dict[str, Array] = {}

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: str) -> Array:
        rng = np.random.default_rng(self.random.randrange(10**6))
        return np.asarray(rng.integers(low, high, tuple(shape))).astype(dtype)

    def add(self, name: str, x: Array) -> None:
        layouts: list[Callable[[Array], Array]] = [
            lambda x: x,
            lambda x: np.asfortranarray(x) if x.ndim else x,
            lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
            lambda x: np.ascontiguousarray(x[::-1])[::-1] if x.ndim else x,
            lambda x: x.astype(x.dtype.newbyteorder(">")),
        ]
        self.operands[name] = self.random.choice(layouts)(x)

    def labels(self, pool: Sequence[str], least: int = 0) -> list[str]:
        return self.random.sample(list(pool), self.random.randint(least, min(3, len(pool))))

    def shape(self, labels: Sequence[str]) -> list[int]:
        return [self.sizes[label] for label in labels]


Dim = Callable[[Mapping[str, int]], int]


def gather(maker: Maker) -> tuple[str, Array]:
    """A text that reads at positions, with its value from loops."""
    items: list[str] = []
    dims: list[Dim] = []
    shape: list[int] = []
    used: list[str] = []
    for number in range(maker.random.randint(1, 4)):
        if maker.random.random() < 0.45:
            label = maker.random.choice(PLAIN)
            items.append(label)
            dims.append(lambda at, label=label: at[label])
            shape.append(maker.sizes[label])
            used.append(label)
            continue
        own, size = maker.labels(PLAIN), maker.random.choice([1, 2, 3, 5, 40])
        places = maker.integers(0, size, maker.shape(own), maker.random.choice(WHOLE))
        maker.add(f"p{number}", places)
        base, more = maker.random.choice([f"V{number}", "_"]), maker.random.choice([0, 1])
        items.append(f"{base}@(p{number}[{' '.join(own)}] + {more})")
        dims.append(lambda at, p=places, own=own, more=more: int(p[tuple([at[one] for one in own])]) + more)
        shape.append(size + more)
        used += own
    x = maker.integers(-9, 9, shape, maker.random.choice(["f8", "i2", "c8", "f4", "?"]))
    maker.add("x", x)
    result = list(dict.fromkeys(used))
    maker.random.shuffle(result)
    wanted = np.empty(maker.shape(result), x.dtype)
    for indices in itertools.product(*map(range, wanted.shape)):
        at = dict(zip(result, indices, strict=True))
        wanted[indices] = x[tuple([dim(at) for dim in dims])]
    left = f"y[{' '.join(result)}]" if result else "y"
    return f"{left} = x[{' '.join(items)}]", wanted


@pytest.mark.parametrize("seed", range(300))
def test_reading_at_positions_equals_loops(seed: int) -> None:
    maker = Maker(seed)
    text, wanted = gather(maker)
    found = ne.evaluate(text, operands=maker.operands)
    assert found.shape == wanted.shape
    assert found.dtype.newbyteorder("=") == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


REDUCERS: Mapping[str, tuple[Any, str, float]] = {
    "sum": (np.sum, "0", 0),
    "prod": (np.prod, "1", 1),
    "max": (np.max, "-inf", -np.inf),
    "min": (np.min, "inf", np.inf),
    "any": (np.any, "(1 == 0)", 0),
    "all": (np.all, "(1 == 1)", 1),
}
EVERY = (*PLAIN, "K", "L")


def spread(maker: Maker, x: Array, labels: Sequence[str]) -> Array:
    """An array with an axis for every label, in order."""
    order = [label for label in EVERY if label in labels]
    sizes = [maker.sizes[label] if label in labels else 1 for label in EVERY]
    return x.transpose([labels.index(label) for label in order]).reshape(sizes)


def selection(
    maker: Maker, reducer: str, groups: Sequence[str], *, is_read: bool
) -> tuple[str, Array, set[str]]:
    """A choice by label of a value, and the same as a dense array, with the labels that it has."""
    conditions: list[str] = []
    used, holds = set(groups), np.ones((1,) * len(EVERY), bool)
    for number, label in enumerate(groups):
        own = maker.labels("BNM", 1)
        places = maker.integers(
            -1 if number else 0, 6, maker.shape(own), maker.random.choice(["i1", "i8", "i4"])
        )
        maker.add(f"p{number}", places)
        sides = [f"p{number}[{' '.join(own)}]", f"index[{label}]"]
        maker.random.shuffle(sides)
        conditions.append(f"({sides[0]} == {sides[1]})")
        holds = holds & (spread(maker, places, own) == spread(maker, np.arange(maker.sizes[label]), [label]))
        used |= {*own}
    if maker.random.random() < 0.3:
        own = maker.labels(PLAIN, 1)
        maker.add("m", maker.integers(0, 2, maker.shape(own), "?"))
        conditions.append(f"m[{' '.join(own)}]")
        holds, used = holds & spread(maker, maker.operands["m"], own), used | {*own}
    maker.random.shuffle(conditions)
    own = maker.labels([*PLAIN, *(groups if is_read else ())], 1)
    dtypes = (
        ["?"]
        if reducer in {"any", "all"}
        else ["f4", "f8"]
        if "m" in reducer[:1]
        else ["f4", "f8", "c16", "i8", "u1"]
    )
    x = maker.integers(0, 4, maker.shape(own), maker.random.choice(dtypes))
    if x.dtype.kind in "fc" and x.size and maker.random.random() < 0.3:
        x.reshape(-1)[maker.random.randrange(x.size)] = maker.random.choice([np.nan, np.inf])
    maker.add("v", x)
    _, empty, number_ = REDUCERS[reducer]
    dense = np.where(holds, spread(maker, x, own), bool(number_) if x.dtype == bool else number_)
    return f"where({' & '.join(conditions)}, v[{' '.join(own)}], {empty})", dense, used | {*own}


@pytest.mark.parametrize("seed", range(400))
@pytest.mark.filterwarnings("ignore:invalid value")
def test_reducing_by_label_equals_dense_arrays(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "LEAST", 1)
    maker = Maker(seed)
    reducer, is_read = maker.random.choice([*REDUCERS]), seed % 3 == 0
    groups = maker.random.sample("KL", maker.random.choice([1, 1, 2]))
    body, dense, used = selection(maker, reducer, groups, is_read=is_read)
    gone = [label for label in EVERY if label in used & {*"BNM"} and maker.random.random() < 0.7]
    gone = [*groups, *gone] if is_read else gone or [next(label for label in EVERY if label in used)]
    if any(not maker.sizes[label] for label in gone):
        return
    kept = [label for label in EVERY if label in used and label not in gone]
    dense = np.broadcast_to(dense, [maker.sizes[label] if label in used else 1 for label in EVERY])
    axes = tuple([EVERY.index(label) for label in gone])
    wanted = np.asarray(REDUCERS[reducer][0](dense, axis=axes)).reshape(maker.shape(kept))
    text = (
        f"y[{' '.join(kept)}] = {reducer}[{' '.join(gone)}]({body})"
        if kept
        else f"{reducer}[{' '.join(gone)}]({body})"
    )
    found = np.asarray(
        ne.evaluate(text, operands=maker.operands, sizes={one: maker.sizes[one] for one in groups})
    )
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.astype(complex), wanted.astype(complex), rtol=1e-5)
