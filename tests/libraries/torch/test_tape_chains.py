"""Random chains of operators on recorded tensors against PyTorch's autograd.

Values have dims with names, which PyTorch has by position: a chain mixes broadcasting by name, views, joins,
reductions and writes. A dim whose size changes gets another name, so that equal names have equal sizes, or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import nameexpr as ne

Rng = np.random.Generator
SIZES = {"A": 2, "B": 3, "C": 4}


class Value(NamedTuple):
    """A tensor of ours and the same one of PyTorch."""

    own: Any
    other: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dims."""
        return self.own.names  # type: ignore[no-any-return]


def one(rng: Rng, values: list[Value]) -> Value:
    return values[int(rng.integers(len(values)))]


def dim_of(rng: Rng, x: Value, least: int = 1) -> int | None:
    """Draw a dim of at least a size, None if there is none."""
    found = [at for at, size in enumerate(x.own.shape) if size >= least]
    return int(rng.choice(found)) if found else None


def spelt(rng: Rng, x: Value, at: int) -> Any:
    return x.names[at] if rng.random() < 0.6 else at


def aligned(x: Value, names: tuple[str, ...]) -> Any:
    """Return PyTorch's tensor with its dims in an order, and size 1 for those that it lacks."""
    moved = x.other.permute([x.names.index(name) for name in names if name in x.names])
    return moved.reshape([x.other.shape[x.names.index(name)] if name in x.names else 1 for name in names])


def renamed(own: Any, at: int, suffix: str) -> Any:
    name = own.names[at]
    return own.rename(**{name: f"{name}{suffix}"}) if f"{name}{suffix}" not in own.names else own.rename(None)


def pointwise(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    name = str(rng.choice(["sin", "tanh", "sigmoid", "square", "abs", "neg", "relu", "erf", "atan", "exp"]))
    own, other = (x.own.tanh(), x.other.tanh()) if name == "exp" else x
    return Value(getattr(own, name)(), getattr(other, name)())


def with_number(rng: Rng, values: list[Value]) -> Value:
    x, number = one(rng, values), float(rng.choice([-2, -0.5, 0.5, 3]))
    functions: list[Callable[[Any], Any]] = [
        *(lambda t: t + number, lambda t: number - t, lambda t: t * number, lambda t: t / number),
        *(lambda t: number / (t * t + 1), lambda t: t**2, lambda t: 2 ** t.tanh()),
        lambda t: t.clamp(min=number),
    ]
    function = functions[int(rng.integers(len(functions)))]
    return Value(function(x.own), function(x.other))


def pair(rng: Rng, values: list[Value]) -> Value:
    """Combine two values by name, with broadcasting, or a value and one of its rows from the right."""
    x, y = one(rng, values), one(rng, values)
    names = tuple(dict.fromkeys([*x.names, *y.names]))
    verb = str(rng.choice(["add", "sub", "mul", "maximum", "minimum", "atan2", "hypot"]))
    if len(names) > 4 or None in names:
        return x
    found = getattr(x.own.by_name, verb)(y.own) if verb not in ("add", "mul") else None
    if found is None:
        found = x.own.by_name + y.own if verb == "add" else x.own * y.own.by_name
    left, right = aligned(x, names), aligned(y, names)
    if verb in ("atan2", "hypot"):  # PyTorch has other derivatives at 0
        found, left = (x.own.by_name.abs() + 1).atan2(y.own), left.abs() + 1
        verb = "atan2"
    return Value(found.by_position, getattr(torch, verb)(left, right))


def reduction(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    at = dim_of(rng, x)
    if at is None:
        return Value(x.own.sum(), x.other.sum())
    name = str(rng.choice(["sum", "mean", "amax", "amin", "logsumexp", "norm", "prod", "std", "var"]))
    if name in ("std", "var") and x.own.shape[at] < 2:
        name = "mean"
    keepdim = bool(rng.random() < 0.5)
    own, other = (x.own.tanh(), x.other.tanh()) if name == "prod" else x
    kwargs = {"dim": spelt(rng, x, at), "keepdim": keepdim}
    return Value(getattr(own, name)(**kwargs), getattr(other, name)(**{**kwargs, "dim": at}))


def along(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    at = dim_of(rng, x)
    if at is None:
        return x
    name = str(rng.choice(["cumsum", "cumprod", "softmax", "log_softmax", "flip"]))
    own, other = (x.own.tanh(), x.other.tanh()) if name == "cumprod" else x
    return Value(getattr(own, name)(spelt(rng, x, at)), getattr(other, name)([at] if name == "flip" else at))


def moved(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    order = [int(at) for at in rng.permutation(len(x.names))]
    if None in x.names or rng.random() < 0.5:
        return Value(x.own.permute(*order), x.other.permute(order))
    return Value(x.own.align_to(*[x.names[at] for at in order]), x.other.permute(order))


def reshaped(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    if len(x.names) < 2:
        return Value(x.own.unsqueeze(0, "U"), x.other.unsqueeze(0)) if "U" not in x.names else x
    at = int(rng.integers(len(x.names) - 1))
    name = "".join(map(str, x.names[at : at + 2]))
    return Value(x.own.flatten(at, at + 1, name), x.other.flatten(at, at + 1)) if name not in x.names else x


def part(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    at = dim_of(rng, x, 2)
    if at is None or None in x.names:
        return x
    before = (slice(None),) * at
    ways: list[Callable[[], Value]] = [
        lambda: Value(x.own.select(spelt(rng, x, at), -1), x.other.select(at, -1)),
        lambda: Value(x.own[(*before, 0)], x.other[(*before, 0)]),
        lambda: Value(renamed(x.own.narrow(at, 1, 1), at, "n"), x.other.narrow(at, 1, 1)),
        lambda: Value(renamed(x.own[(*before, slice(1, None))], at, "s"), x.other[(*before, slice(1, None))]),
        lambda: Value(renamed(x.own[(*before, [1, 0, 1])], at, "i"), x.other[(*before, [1, 0, 1])]),
        lambda: Value(x.own.unbind(at)[1], x.other.unbind(at)[1]),
        lambda: Value(x.own.sort(at).values, x.other.sort(at).values),
        lambda: Value(x.own.max(at).values, x.other.max(at).values),
    ]
    return ways[int(rng.integers(len(ways)))]()


def joined(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    at = dim_of(rng, x)
    if at is None or None in x.names or rng.random() < 0.3:
        if "K" in x.names or len(x.names) > 3:
            return x
        return Value(ne.stack([x.own, x.own * 2], name="K"), torch.stack([x.other, x.other * 2]))
    own = ne.cat([x.own, x.own.sin(), ne.ones(x.own.shape)], spelt(rng, x, at))
    return Value(renamed(own, at, "j"), torch.cat([x.other, x.other.sin(), torch.ones(x.other.shape)], at))


def product(rng: Rng, values: list[Value]) -> Value:
    """Sum over all dims that two values share, as `@` by name does."""
    x, y = one(rng, values), one(rng, values)
    if None in (*x.names, *y.names) or len({*x.names, *y.names}) > 4:
        return x
    shared = [name for name in x.names if name in y.names]
    if not shared or any(x.own.size(name) != y.own.size(name) for name in shared):
        return x
    places = [x.names.index(name) for name in shared], [y.names.index(name) for name in shared]
    own = x.own.by_name @ y.own if rng.random() < 0.5 else x.own.tensordot(y.own, (shared, shared)).by_name
    return Value(own.by_position, torch.tensordot(x.other, y.other, places))


def chosen(rng: Rng, values: list[Value]) -> Value:
    x = one(rng, values)
    own, other = (
        (x.own.sin(), x.other.sin()) if rng.random() < 0.5 else (0.3, torch.tensor(0.3, dtype=x.other.dtype))
    )
    return Value(ne.where(x.own > 0.1, x.own, own), torch.where(x.other > 0.1, x.other, other))


def written(rng: Rng, values: list[Value]) -> Value:
    """Write over a fresh tensor: with an operator in place, into an item, or where a mask is true."""
    x = one(rng, values)
    own, other = x.own * 1, x.other * 1
    for _ in range(int(rng.integers(1, 4))):
        way = int(rng.integers(5))
        if way == 0:
            own.sin_(), other.sin_()
        elif way == 1:
            own *= x.own
            other *= x.other
        elif way == 2:
            own.masked_fill_(x.own > 0.2, 0.5), other.masked_fill_(x.other > 0.2, 0.5)
        elif way == 3 and own.ndim:
            own[0], other[0] = x.own[-1] * 3, x.other[-1] * 3
        else:
            own[...], other[...] = own + x.own, other + x.other
    return Value(own, other)


STEPS = (
    *(pointwise, with_number, pair, pair, reduction, along, moved, reshaped),
    *(part, joined, product, chosen, written),
)


def chain(seed: int) -> tuple[list[Value], list[Value]]:
    """Return leaves, and the values computed from them in a random order."""
    rng = np.random.default_rng(seed)
    leaves = []
    for _ in range(int(rng.integers(1, 4))):
        names = [str(name) for name in rng.permutation(list(SIZES))[: rng.integers(0, 4)]]
        array = rng.normal(size=[SIZES[name] if rng.random() < 0.85 else 1 for name in names])
        own = ne.tensor(array, names=names or None, requires_grad=True)
        leaves.append(Value(own, torch.tensor(array, requires_grad=True)))
    values = list(leaves)
    for _ in range(int(rng.integers(4, 16))):
        value = STEPS[int(rng.integers(len(STEPS)))](rng, values)
        if value.own.size(None) != () and np.prod(value.own.shape) > 2000:
            continue
        values.append(value)
    return leaves, values[len(leaves) :]


def compare(seed: int) -> int:
    """Compare values and gradients of one chain; return how many gradients are not 0."""
    leaves, values = chain(seed)
    rng = np.random.default_rng(seed + 10**6)
    for value in values:
        assert value.own.shape == tuple(value.other.shape)
        np.testing.assert_allclose(value.own.tolist(), value.other.tolist(), rtol=1e-9, atol=1e-9)
    own, other = ne.tensor(0.0), torch.tensor(0.0)
    for value in values[-3:]:
        weights = rng.normal(size=value.own.shape)
        own = own + (value.own * ne.tensor(weights, names=value.names or None)).sum()
        other = other + (value.other * torch.tensor(weights)).sum()
    own.backward()
    other.backward()
    found = 0
    for leaf, like in leaves:
        assert (leaf.grad is None) == (like.grad is None)
        if leaf.grad is not None:
            assert leaf.grad.names == leaf.names
            expected = like.grad.numpy()
            limit = 1e-9 * max(1, np.abs(expected).max(initial=0))
            np.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-8, atol=limit)
            found += bool(expected.any())
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_random_chain_has_the_gradients_of_pytorch(first: int) -> None:
    count = 300 if first else 60
    assert sum(map(compare, range(first, first + count))) > count
