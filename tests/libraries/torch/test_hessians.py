"""Hessians of random formulas: symmetric, and those of `torch.func.hessian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")
Written = tuple[str, Callable[..., Any]]
"""A formula of x[C] and w[C D], whose value has the dim C or none, and the same on PyTorch."""
NAMES = ("sin", "cos", "tanh", "sigmoid", "atan", "erf", "asinh")
POINTWISE: list[Written] = [
    *((f"{name}({{}})", getattr(torch, name)) for name in NAMES),
    ("exp(-square({}))", lambda a: torch.exp(-(a**2))),
    ("log1p(square({}))", lambda a: torch.log1p(a**2)),
    ("sqrt(1 + square({}))", lambda a: torch.sqrt(1 + a**2)),
    ("softplus({})", torch.nn.functional.softplus),
    ("({} ** 3 / 9)", lambda a: a**3 / 9),
]
PAIRS: list[Written] = [
    ("({} + {})", lambda a, b: a + b),
    ("({} * {})", lambda a, b: a * b),
    ("({} - 2 * {})", lambda a, b: a - 2 * b),
    ("({} / (1 + square({})))", lambda a, b: a / (1 + b**2)),
    ("logaddexp({}, {})", torch.logaddexp),
    ("hypot({} + 3, {})", lambda a, b: torch.hypot(a + 3, b)),
]
ALONG: list[Written] = [
    ("softmax[C]({})", lambda a: torch.softmax(a, 0)),
    ("log_softmax[C]({})", lambda a: torch.log_softmax(a, 0)),
    ("cumsum[C]({})", lambda a: torch.cumsum(a, 0)),
    ("cumprod[C]({} + 1)", lambda a: torch.cumprod(a + 1, 0)),
    ("sort[C]({})", lambda a: torch.sort(a)[0]),
    ("flip[C]({})", lambda a: torch.flip(a, (0,))),
]
REDUCED: list[Written] = [
    ("sum[C]({})", torch.sum),
    ("mean[C]({})", torch.mean),
    ("prod[C]({} + 1)", lambda a: torch.stack(list(a + 1)).prod()),
    ("logsumexp[C]({})", lambda a: torch.logsumexp(a, 0)),
    ("norm[C]({} + 2)", lambda a: torch.linalg.vector_norm(a + 2)),
    ("var[C]({})", lambda a: torch.var(a, correction=0)),
    ("std[C]({} + index[C])", lambda a: torch.std(a + torch.arange(len(a)), correction=0)),
    ("max[C]({})", torch.max),
]


def vector(generator: np.random.Generator, depth: int) -> Written:
    """Return a value with the dim C."""
    kind = generator.integers(6) if depth else 0
    if kind == 0:
        return "x[C]", lambda x, w: x
    if kind == 1:
        (name, function), (text, inner) = pick(generator, ALONG), vector(generator, depth - 1)
        return name.format(text), lambda x, w: function(inner(x, w))
    if kind == 2:
        (first, one), (second, other) = vector(generator, depth - 1), scalar(generator, depth - 1)
        return f"({first} * {second})", lambda x, w: one(x, w) * other(x, w)
    if kind == 3:
        (name, function), (first, one) = pick(generator, PAIRS), vector(generator, depth - 1)
        second, other = vector(generator, depth - 1)
        return name.format(first, second), lambda x, w: function(one(x, w), other(x, w))
    (name, function), (text, inner) = pick(generator, POINTWISE), vector(generator, depth - 1)
    if kind == 4:
        return f"(w[C C] * {text})", lambda x, w: torch.diagonal(w) * inner(x, w)
    return name.format(text), lambda x, w: function(inner(x, w))


def scalar(generator: np.random.Generator, depth: int) -> Written:
    """Return a value without dims."""
    text, inner = vector(generator, depth)
    if generator.integers(4) == 0:
        return f"sum[C D]({text} * w[C D] * x[D])", lambda x, w: inner(x, w) @ w @ x
    name, function = pick(generator, REDUCED)
    return name.format(text), lambda x, w: function(inner(x, w))


def pick(generator: np.random.Generator, written: list[Written]) -> Written:
    return written[generator.integers(len(written))]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.func
@pytest.mark.parametrize("first", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_hessians_of_random_formulas(first: int) -> None:
    assert sum(compare(seed) for seed in range(first, first + 20)) >= 15


def compare(seed: int) -> bool:
    """Compare the Hessian of a random formula; return whether it is not 0."""
    generator = np.random.default_rng(seed)
    text, by_hand = scalar(generator, 3)
    x, w = generator.uniform(-1, 1, 4), generator.uniform(-1, 1, (4, 4))
    given = {"x": x} | ({"w": w} if "w[" in text else {})
    try:
        found = ne.evaluate(f"y = {text}; grad(grad(y, x[A]), x[B])", **given)
    except ne.NameExprError as fault:
        if fault.code != "NE532":  # which a constant gradient is
            raise
        return False
    wanted = torch.func.hessian(lambda x: by_hand(x, torch.tensor(w)))(torch.tensor(x)).numpy()
    largest = 1 + np.abs(wanted).max()
    np.testing.assert_allclose(found, found.T, rtol=0, atol=1e-12 * largest, err_msg=text)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * largest, err_msg=f"{seed}: {text}")
    return bool(found.any())
