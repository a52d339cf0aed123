"""One rule book, two clients: a method and the expression that says the same give the same result."""

from __future__ import annotations

import random

import numpy as np
import pytest

import nameexpr as ne

NAMES = ("N", "C", "H", "W", "batch", "seq", "k'")


def random_tensor(rng: random.Random, low: int = 1) -> ne.NamedTensor:
    names = rng.sample(NAMES, rng.randint(low, 4))
    shape = [rng.randint(1, 4) for _ in names]
    return ne.tensor(np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape), names=names)


def assert_same(one: ne.NamedTensor, other: ne.NamedTensor) -> None:
    assert one.names == other.names
    np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("seed", range(60))
def test_align_to(seed: int) -> None:
    rng = random.Random(seed)
    x = random_tensor(rng)
    order = rng.sample(x.names, len(x.names))
    assert_same(x.align_to(*order), ne.einsum(f"-> {' '.join(map(str, order))}", x))
    some = order[: rng.randint(0, len(order))]
    cut = rng.randint(0, len(some))
    target = [*some[:cut], "...", *some[cut:]]
    assert_same(x.align_to(*target), ne.einsum(f"-> {' '.join(map(str, target))}", x))
    with_new = [*order, "new"]
    assert_same(x.align_to(*with_new), ne.einsum(f"-> {' '.join(map(str, order))} new=1", x))


@pytest.mark.parametrize("seed", range(60))
def test_rename(seed: int) -> None:
    rng = random.Random(seed)
    x = random_tensor(rng)
    old = rng.choice(x.names)
    terms = " ".join(map(str, x.names))
    result = " ".join(f"new={name}" if name == old else str(name) for name in x.names)
    assert_same(
        x.rename(*["new" if name == old else name for name in x.names]), ne.einsum(f"{terms} -> {result}", x)
    )


@pytest.mark.parametrize("seed", range(60))
def test_flatten_and_unflatten(seed: int) -> None:
    rng = random.Random(seed)
    x = random_tensor(rng, low=2)
    start = rng.randint(0, len(x.names) - 2)
    stop = rng.randint(start + 2, len(x.names))
    inner = " ".join(map(str, x.names[start:stop]))
    result = [*map(str, x.names[:start]), f"flat=({inner})", *map(str, x.names[stop:])]
    terms = " ".join(map(str, x.names))
    flat = x.flatten(list(x.names[start:stop]), "flat")
    assert_same(flat, ne.einsum(f"{terms} -> {' '.join(result)}", x))
    sizes = dict(zip(x.names[start:stop], x.shape[start:stop], strict=True))
    back = flat.unflatten("flat", list(sizes.items()))
    known = dict(list(sizes.items())[1:])
    assert_same(back, ne.einsum(f"{' '.join(result)} -> {terms}", flat, sizes=known))


@pytest.mark.parametrize("seed", range(60))
def test_refine_names_accepts_what_a_term_matches(seed: int) -> None:
    rng = random.Random(seed)
    names = [rng.choice((None, name)) for name in rng.sample(NAMES, 3)]
    wanted = [
        name if name is not None and rng.random() < 0.8 else f"new{at}" for at, name in enumerate(names)
    ]
    x = ne.tensor(np.zeros((2, 3, 4)), names=names)
    text = f"{' '.join(wanted)} -> {' '.join(wanted)}"
    try:
        refined = x.refine_names(*wanted)
    except ne.DimNameError:
        with pytest.raises(ne.DimNameError):
            ne.einsum(text, x)
    else:
        assert_same(refined, ne.einsum(text, x))
