"""Whether labels go where elements go, judged by the elements alone: no rule for coordinates is needed.

A call is made twice, the second time with one dim of its tensors in another order, labels and all. Where both
results have its labels, the elements at the same labels must be equal, or a label is at another element.
Where the second result is the first one in that order, the dim has survived, and so must its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import nameexpr as ne
from nameexpr.backends.numpy.foreign import Coordinate
from nameexpr.tensors.labelled import attach

Tensor = ne.NamedTensor
Order = Sequence[int]


def wrong_labels(call: Callable[..., Any], operands: Sequence[Tensor]) -> Iterator[str]:
    """Yield what is wrong with the labels of the results of a call, for each dim of its operands."""
    for dim in sorted({name for x in operands for name in x.names if name is not None}):
        size = max(x.sizes.get(dim, 0) for x in operands)
        order = [1, 0, *range(2, size)]
        both = [
            results(call(*[with_labels(permuted(x, dim, places), dim, places) for x in operands]))
            for places in (range(size), order)
        ]
        for a, b in zip(*both, strict=True):
            if has_labels_of(a, dim) and not agree_at_labels(a, b):
                yield f"{dim}: a label is at another element, {labels(a)}"
            if moves_with(a, b, dim, order) and labels(a).get(dim) != [f"{dim}.{at}" for at in range(size)]:
                yield f"{dim}: the labels are lost"


def permuted(x: Tensor, dim: str, order: Order) -> Tensor:
    if x.sizes.get(dim) != len(order):
        return x
    return ne.tensor(np.take(x.numpy(), order, x.names.index(dim)), names=x.names)


def with_labels(x: Tensor, dim: str, order: Order) -> Tensor:
    """Return a tensor whose positions are labelled by dim and number: those of one dim in an order."""
    places = {
        name: order if (name, size) == (dim, len(order)) else range(size) for name, size in x.sizes.items()
    }
    named = [(name, at) for name, at in places.items() if isinstance(name, str)]
    made = [Coordinate(name, (name,), np.array([f"{name}.{i}" for i in at]), {}) for name, at in named]
    return attach(x, made)  # type: ignore[no-any-return]


def labels(x: Tensor) -> dict[str, list[str]]:
    return {each.name: list(map(str, each.values)) for each in x._coordinates}


def results(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [part for item in value for part in results(item)] if isinstance(value, tuple | list) else []


def is_close(a: Any, b: Any) -> bool:
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def agree_at_labels(x: Tensor, other: Tensor) -> bool:
    return is_close(at_common_labels(x, other), at_common_labels(other, x))


def at_common_labels(x: Tensor, other: Tensor) -> Any:
    """Return the elements at the labels that both have, in the order of the first."""
    array, theirs = x.numpy(), labels(other)
    for name, own in labels(x).items():
        array = np.take(
            array, [own.index(label) for label in sorted(set(own) & set(theirs[name]))], x.names.index(name)
        )
    return array


def has_labels_of(x: Tensor, dim: str) -> bool:
    return any(label.rpartition(".")[0] == dim for own in labels(x).values() for label in own)


def moves_with(a: Tensor, b: Tensor, dim: str, order: Order) -> bool:
    """Return whether a result is another one in an order along a dim, and not in any order."""
    if (
        dim not in a.names
        or a.names != b.names
        or a.size(dim) != len(order)
        or is_close(a.numpy(), b.numpy())
    ):
        return False
    return is_close(np.take(a.numpy(), order, a.names.index(dim)), b.numpy())
