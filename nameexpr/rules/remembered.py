"""The rules for `NamedTensor`'s methods, with their results cached by names, sizes and arguments.

A program repeats the same few calls, and a look-up takes a tenth of the time of computing the result. Errors
are not cached, and arguments that are not hashable (lists, dicts) are passed to the rule itself. At most
4,096 results are kept for each rule.

>>> matmul_names(("A", "B"), (2, 3), ("C", "D"), (3, 4), "mm", (2, 2))
('A', 'D')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from nameexpr.dims import Dims, Names, dims_of, names_of, shape_of
from nameexpr.errors import NameExprError
from nameexpr.rules import combining, pairing, reshaping
from nameexpr.rules import names as naming

P = ParamSpec("P")
R = TypeVar("R")
Shape: TypeAlias = tuple[int, ...]
Shaped: TypeAlias = tuple[Names, Shape]
"""The names and the sizes of a result."""

ANSWERS = 4096
TRACERS: list[Callable[[], bool]] = []
"""Functions that return whether a library traces this code: caches are not asked then."""


def remembered(rule: Callable[P, R]) -> Callable[P, R]:
    """Return the rule with a cache; it is `typed`, as 1 equals True, and True is not a position."""
    known: Any = lru_cache(maxsize=ANSWERS, typed=True)(rule)

    @wraps(rule)
    def ask(*arguments: P.args, **keywords: P.kwargs) -> R:
        if TRACERS and TRACERS[0]():
            return rule(*arguments, **keywords)
        try:
            if not keywords:  # a call with ** is slow
                return known(*arguments)  # type: ignore[no-any-return]
            return known(*arguments, **keywords)  # type: ignore[no-any-return]
        except NameExprError:  # some are TypeErrors too
            raise
        except TypeError:
            pass  # a list is not hashable
        return rule(*arguments, **keywords)

    return ask


def _shaped(dims: Dims) -> Shaped:
    return names_of(dims), shape_of(dims)


def _of_dims(rule: Callable[..., R]) -> Callable[..., R]:
    """Return a rule for one tensor's dims with a cache by their names and sizes."""
    return remembered(lambda names, shape, *arguments: rule(dims_of(names, shape), *arguments))


refined = _of_dims(lambda dims, *names: naming.refined(dims, names))
aligned_to = _of_dims(lambda dims, *names: naming.aligned_to(dims, names))
flattened = _of_dims(lambda dims, name, *wanted: _shaped(reshaping.flattened(dims, wanted, name)))
flattened_range = _of_dims(lambda dims, *ends: _shaped(reshaping.flattened_range(dims, *ends)))
unflattened = _of_dims(lambda dims, dim, sizes: _shaped(reshaping.unflattened(dims, dim, sizes)))


@_of_dims
def renamed(dims: Dims, verb: str, mapping: Any, *names: Any) -> Names:
    """Return the names after `rename`; the mapping is passed as a tuple of its items."""
    return naming.renamed(dims, names, dict(mapping), verb)


@remembered
def broadcast(
    left: Names, left_shape: Shape, right: Names, right_shape: Shape, roles: pairing.Pairing
) -> Shaped:
    """Return names and sizes of two tensors broadcast together."""
    return _shaped(pairing.broadcast(dims_of(left, left_shape), dims_of(right, right_shape), roles))


@remembered
def matmul_names(
    left: Names, left_shape: Shape, right: Names, right_shape: Shape, verb: str, ranks: tuple[int, int] | None
) -> Names:
    """Return the names of a matrix product; `ranks` are the numbers of dims that it must have, if any."""
    return combining.product_names(dims_of(left, left_shape), dims_of(right, right_shape), ranks, verb)


@remembered
def joined(verb: str, at: int | None, *tensors: Shaped) -> Names:
    """Return the names of tensors joined along position `at`."""
    return combining.joined([dims_of(names, shape) for names, shape in tensors], at, verb)
