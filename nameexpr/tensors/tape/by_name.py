"""Recorded operators by name: operands get the same dims by `align_to`, which is recorded, first."""

from __future__ import annotations

from typing import Any

from nameexpr.rules.by_name import names_by_name, shared_names
from nameexpr.tensors.core import Core
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.products import as_own
from nameexpr.tensors.tape.recording import bare


def aligned(operands: list[Any], verb: str) -> list[Any]:
    """Return operands with their dims in the same order, which pair by position."""
    operands = [_by_position(each) for each in operands]
    tensors = [each for each in operands if isinstance(each, Core) and any(each._names)]
    if len({each._names for each in tensors}) <= 1:
        return operands
    names = names_by_name([each._dims for each in tensors], verb)
    return [
        each.align_to(*names) if isinstance(each, Core) and any(each._names) else each  # type: ignore[attr-defined]
        for each in operands
    ]


def _by_position(operand: Any) -> Any:
    return operand.by_position if getattr(operand, "_is_by_name", False) else operand


def contracted(self: Any, left: Any, right: Any) -> Any:
    """Return the sum of products over all dims that both operands have."""
    x = self._bare()
    a, b = (as_own(x, each, "@") for each in (left, right))
    if not MODE.is_on:
        return x._contracted(bare(a), bare(b))
    shared = shared_names(a._dims, b._dims, "@")
    return _by_position(a).tensordot(_by_position(b), (shared, shared)).by_name


def matmul(self: Any, other: Any) -> Any:
    """Return `x.by_name @ other`."""
    return contracted(self, self, other)


def reflected(self: Any, other: Any) -> Any:
    """Return `other @ x.by_name`."""
    return contracted(self, other, self)


def where(self: Any, condition: Any, other: Any) -> Any:
    """Return the elements where a condition is true, and those of another tensor elsewhere, by name."""
    if not MODE.is_on:
        return self._bare().where(bare(condition), bare(other))
    x, mask, y = aligned([self, condition, other], "where")
    return x.where(mask, y).by_name


METHODS = {"__matmul__": matmul, "__rmatmul__": reflected, "where": where}
"""What recorded tensors that pair by name override."""
