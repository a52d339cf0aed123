"""Gradients of indexing, of writing to elements and of joins against PyTorch's, on random indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nameexpr as ne
from libraries.torch.tape_draws import LETTERS, Rng
from libraries.torch.test_tape_rows import check_gradient, go_back

Pair = tuple[Any, Any]


def tensors(array: Any, names: Any = None) -> Pair:
    """Return a leaf of ours and one of PyTorch."""
    return ne.tensor(array, names=names).requires_grad_(), torch.tensor(array, requires_grad=True)


def indices(rng: Rng, shape: tuple[int, ...], *, may_repeat: bool) -> Pair:
    """Draw an index with at most one array, for both."""
    if shape and rng.random() < 0.1:
        mask = rng.random(shape) < 0.5
        return ne.tensor(mask), torch.tensor(mask)
    own: list[Any] = []
    has_array = False
    for size in shape[: rng.integers(0, len(shape) + 1)]:
        start, stop = sorted(int(at) for at in rng.integers(0, size + 1, 2))
        ways: list[Any] = [slice(None), slice(start, stop, int(rng.integers(1, 3)))]
        if not has_array:  # an integer between arrays is an array, too, for which the libraries differ
            ways += [rng.random(size) < 0.5]
        if size and not has_array:
            ways += [int(rng.integers(-size, size)), repeated(rng, size, may_repeat=may_repeat)]
        item = ways[int(rng.integers(len(ways)))]
        has_array |= not isinstance(item, slice)
        own.append(item)
        if rng.random() < 0.15 and not has_array:
            own.append(None)
    if rng.random() < 0.3:
        own.append(...)
    theirs = [torch.tensor(each) if isinstance(each, np.ndarray) else each for each in own]
    return tuple(own), tuple(theirs)


def repeated(rng: Rng, size: int, *, may_repeat: bool) -> list[int]:
    if may_repeat:
        return [int(at) for at in rng.integers(-size, size, rng.integers(1, 5))]
    return [int(at) for at in rng.permutation(size)[:3]]


def drawn(seed: int, *, may_repeat: bool) -> tuple[Rng, Any, Pair, Pair]:
    """Draw elements, a leaf for both libraries, and an index for both."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.choice([0, 1, 2, 3, 4], rng.integers(0, 4)))
    array = rng.normal(size=shape)
    pair = tensors(array, LETTERS[: len(shape)] or None)
    return rng, array, pair, indices(rng, shape, may_repeat=may_repeat)


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_elements_at_an_index(first: int) -> None:
    for seed in range(first, first + (1000 if first else 150)):
        rng, _, (x, t), (key, other) = drawn(seed, may_repeat=True)
        go_back(rng, [x[key] * x[key]], [t[other] * t[other]])
        check_gradient(x, t, 1e-12, f"{seed}: {key}")


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_values_written_to_an_index(first: int) -> None:
    """Where several values are written to one element, the last one has its gradient (not so in PyTorch)."""
    for seed in range(first, first + (1000 if first else 150)):
        rng, array, (x, t), (key, other) = drawn(seed, may_repeat=False)
        shape = tuple(size if rng.random() < 0.8 else 1 for size in t[other].shape)
        value, like = tensors(rng.normal(size=shape))
        if seed % 3 == 0:  # into a constant
            y, u = ne.tensor(array), torch.tensor(array)
        else:
            y, u = x.clone(), t.clone()
        y[key], u[other] = value, like
        go_back(rng, [y * y], [u * u])
        check_gradient(value, like, 1e-12, f"{seed}: {key}")
        check_gradient(x, t, 1e-12, f"{seed}: {key}")


def test_repeated_elements_have_the_gradient_of_the_last_value() -> None:
    x, value = ne.zeros(3, names="C"), ne.tensor([1.0, 2.0, 3.0]).requires_grad_()
    x[[2, 0, 2]] = value
    (x * ne.tensor([5.0, 6.0, 7.0])).sum().backward()
    assert value.grad.tolist() == [0, 5, 7]


def test_joins() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        shape = [int(size) for size in rng.choice([0, 1, 2, 3], rng.integers(1, 4))]
        dim = int(rng.integers(len(shape)))
        names = LETTERS[: len(shape)]
        pairs = []
        for _ in range(rng.integers(1, 4)):
            shape[dim] = int(rng.integers(0, 4)) if seed % 2 else shape[dim]
            pairs.append(tensors(rng.normal(size=shape), names))
        own, like = (list(each) for each in zip(*[*pairs, pairs[0]], strict=True))
        if seed % 2:
            found, expected = ne.cat(own, names[dim]), torch.cat(like, dim)
        else:
            at = dim - len(shape) - 1 if seed % 4 else dim
            found, expected = ne.stack(own, at, name="Z"), torch.stack(like, at)
        go_back(rng, [found * found], [expected * expected])
        for x, t in pairs:
            check_gradient(x, t, 1e-12, str(seed))
