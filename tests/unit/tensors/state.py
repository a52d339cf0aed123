"""Tensors for tests of what is written, and a call that fails and must change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError


def ones(*shape: int, names: object = None, dtype: object = float) -> ne.NamedTensor:
    return ne.tensor(np.ones(shape), names=names, dtype=dtype)


def mask(*shape: int, names: object = None) -> ne.NamedTensor:
    return ne.tensor(np.ones(shape, bool), names=names)


def matrix(dtype: object = float) -> ne.NamedTensor:
    return ones(2, 3, names="N C", dtype=dtype)


def tensors_in(*values: Any) -> Iterator[ne.NamedTensor]:
    for value in values:
        if isinstance(value, ne.NamedTensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(*value)


def state(tensors: list[ne.NamedTensor]) -> list[tuple[Any, ...]]:
    """Return everything that writing could change, the arrays themselves among it."""
    return [(x.names, x.shape, x.dtype, x.numpy().tobytes(), id(x.numpy())) for x in tensors]


def fails(call: Callable[..., object], *arguments: Any, code: str = "", **options: Any) -> NameExprError:
    """Return the error of a call after which its tensors are what they were before."""
    tensors = list(tensors_in(*arguments, *options.values()))
    before = state(tensors)
    with pytest.raises(NameExprError) as caught:
        call(*arguments, **options)
    assert state(tensors) == before
    assert not code or caught.value.code == code
    return caught.value


def frozen(x: ne.NamedTensor) -> ne.NamedTensor:
    """Return a tensor whose array is read-only."""
    array = x.numpy().copy()
    array.flags.writeable = False
    return ne.from_numpy(array, x.names)
