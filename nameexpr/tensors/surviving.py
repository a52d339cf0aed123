"""Determine the coordinates of its operands that the result of a method keeps, if it has their dims.

By default those of all operands. If dims pair by position, as in contractions, only the remaining dims keep
theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.foreign import Coordinate
from nameexpr.dims import Names
from nameexpr.tensors.coordinates import Coordinates, agreed, in_a_row, is_label, without
from nameexpr.tensors.core import Core

_REARRANGED = {"sort": 0, "argsort": 0, "topk": 1, "gather": 0}
"""Methods that rearrange elements one by one along a dim, and the position of the dim in a call."""

_CONTRACTING = {
    **dict.fromkeys(("matmul", "mm", "mv", "bmm", "dot", "tensordot"), 0),
    **dict.fromkeys(("__matmul__", "__rmatmul__", "__imatmul__"), 0),
    **dict.fromkeys(("addmm", "addmm_", "addmv", "addmv_"), 1),
}
"""Methods that contract two operands, whose dims pair by position, and the number of operands before them."""

_OF_ITSELF = frozenset(
    {
        "align_as",
        "bernoulli",
        "bernoulli_",
        "index_fill",
        "index_fill_",
        "index_select",
        "resize_as_",
        "type_as",
    }
)
"""Methods whose other operands have other dims, or names that are ignored."""


def of_all(operands: Iterable[Any], verb: str) -> list[Coordinate]:
    """Return the coordinates of all operands that are tensors, as `agreed` does."""
    return agreed([operand._coordinates for operand in operands if isinstance(operand, Core)], verb)


def joined(parts: list[Any], dim: str | None, verb: str) -> list[Coordinate]:
    """Return the coordinates of tensors joined along a dim: those along it one after the other."""
    every = [own(part) for part in parts]
    others = agreed([without(each, [dim]) for each in every], verb)
    return others if dim is None else others + in_a_row(every, dim)


def of_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Coordinate]:
    """Return the coordinates that the result of a method has, if it has the dims."""
    if name in _OF_ITSELF:
        return list(args[0]._coordinates)
    if name in _CONTRACTING and not args[0]._is_by_name:
        return of_product(name, args, kwargs)
    coordinates = of_all([*args, *[kwargs[word] for word in kwargs if word != "out"]], name)
    return without(coordinates, [_dim(name, *args, **kwargs)]) if name in _REARRANGED else coordinates


def of_product(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Coordinate]:
    """Return the coordinates of a contraction, whose dims pair by position."""
    operands = [*args, *[kwargs[word] for word in ("other", "mat", "mat1", "mat2", "vec") if word in kwargs]]
    before = _CONTRACTING[name]
    if len(operands) < before + 2:
        return []  # an argument is missing, which the method reports
    left, right = operands[before : before + 2]
    if name == "__rmatmul__":
        left, right = right, left
    if name == "tensordot":
        met = left._met(right, args[2] if len(args) > 2 else kwargs.get("dims", 2))  # noqa: PLR2004
    else:
        met = list(zip(names_of(left)[-1:], names_of(right)[-2:], strict=False))
    return agreed([*map(own, operands[:before]), of_factors(left, right, met, name)], name)


def of_factors(left: Any, right: Any, met: list[tuple[Any, Any]], verb: str) -> list[Coordinate]:
    """Return the coordinates of a product of two operands, except for the dims that are contracted
    in pairs.
    """
    agreed([_labels(each, {a for a, b in met if a == b}) for each in (left, right)], verb)
    gone = [{a for a, _ in met}, {b for _, b in met}]
    factors = [without(own(each), dims) for each, dims in zip((left, right), gone, strict=True)]
    return agreed(factors, verb)


def names_of(operand: Any) -> Names:
    """Return the names of an operand, all None for an array."""
    return operand._names if isinstance(operand, Core) else (None,) * np.ndim(operand)


def own(operand: Any) -> Coordinates:
    """Return the coordinates of an operand, () for arrays and numbers."""
    return operand._coordinates if isinstance(operand, Core) else ()


def _labels(operand: Any, dims: set[str | None]) -> list[Coordinate]:
    return [each for each in own(operand) if is_label(each) and each.name in dims]


def _dim(name: str, tensor: Core, *args: Any, **kwargs: Any) -> Any:
    place = _REARRANGED[name]
    dim = args[place] if len(args) > place else kwargs.get("dim", kwargs.get("axis", -1))
    return dim if isinstance(dim, str) or not tensor._names else tensor._names[dim]
