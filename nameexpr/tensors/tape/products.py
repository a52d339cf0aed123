"""The derivatives of matrix products: each gradient is a product with the other operand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nameexpr.rules.remembered import matmul_names
from nameexpr.tensors.contraction import contracted_positions
from nameexpr.tensors.core import Core
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import TapeNode
from nameexpr.tensors.tape.recording import (
    Tracked,
    array_of,
    bare,
    has_gradient,
    joint,
    node_of,
    promoted,
    refuse_out,
)
from nameexpr.tensors.tape.texts import Vjp, wide

Array = np.ndarray[Any, Any]
VECTOR = 1


def matmul(a: Array, b: Array) -> tuple[Vjp, Vjp]:
    """Return the functions for `a @ b`: vectors, matrices, and batches of them."""
    if a.ndim == b.ndim == VECTOR:
        return lambda g: g * np.conjugate(b), lambda g: g * np.conjugate(a)
    if b.ndim == VECTOR:
        return lambda g: g[..., None] * np.conjugate(b), lambda g: _sum_rows(g, a)
    if a.ndim == VECTOR:
        return lambda g: _sum_columns(g, b), lambda g: np.conjugate(a)[:, None] * g[..., None, :]
    return lambda g: g @ _adjoint(b), lambda g: _adjoint(a) @ g


def _adjoint(a: Array) -> Array:
    turned = a.swapaxes(-1, -2)
    return turned.conj() if a.dtype.kind == "c" else turned


def _sum_rows(g: Any, a: Array) -> Any:
    """Return the gradient of the vector of a matrix-vector product, for batches added up."""
    rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    return np.conjugate(rows).T @ np.asarray(g).reshape(-1)


def _sum_columns(g: Any, b: Array) -> Any:
    """Return the gradient of the vector of a vector-matrix product, for batches added up."""
    return (np.conjugate(b) @ np.asarray(g)[..., None])[..., 0]


class Multiplied(Tracked):
    """What the matrix products of plain tensors call."""

    __slots__ = ()

    def _product(self, other: Any, verb: str, ranks: Any, out: Any, by: str = "") -> Any:
        refuse_out(verb, out)
        x: Any = self._bare()
        y = x._product(bare(other), verb, ranks, out, by)
        if not MODE.is_on or not has_gradient(y):
            return y
        return self._multiplied(verb, self, other, y)

    def _multiplied(self, verb: str, left: Any, right: Any, y: Any) -> Any:
        """Return a product with its node."""
        vjps = matmul(*[wide(array_of(each)) for each in (left, right)])
        return joint(verb, y, zip(map(node_of, (left, right)), vjps, strict=True))

    def __matmul__(self, other: Any) -> Any:
        y = self._quick_product(self, other)
        return super().__matmul__(other) if y is None else y  # type: ignore[misc]

    def __rmatmul__(self, other: Any) -> Any:
        y = self._quick_product(other, self)
        if y is not None:
            return y
        plain = self._bare().__rmatmul__(bare(other))
        if plain is NotImplemented or not MODE.is_on or not has_gradient(plain):
            return plain
        return self._multiplied("matmul", as_own(self._bare(), other, "matmul"), self, plain)

    def _quick_product(self, left: Any, right: Any) -> Any:
        """Return the product of usual tensors of the same dtype; None for others."""
        usual = self._usual
        if type(left) not in usual or type(right) not in usual or not MODE.is_on:
            return None
        a, b = left._data, right._data
        if a.dtype is not b.dtype or a.dtype.char not in "fd" or not a.ndim or not b.ndim:
            return None
        y = self._named(np.matmul(a, b), matmul_names(left._names, a.shape, right._names, b.shape, "@", None))
        sources, vjps = tuple(map(node_of, (left, right))), matmul(a, b)
        if None in sources:
            return joint("matmul", y, zip(sources, vjps, strict=True))
        return promoted(y, TapeNode("matmul", sources, vjps, y._data))


def as_own(x: Any, operand: Any, verb: str) -> Any:
    """Return an operand as a tensor, which owns its elements if it was an array."""
    if isinstance(operand, Core):
        return operand
    core = x._as_core(operand, verb)
    return x._wrap(core._data.copy(), core._names)


def add_product(
    y: Any, x: Any, mat: Any, other: Any, *, beta: Any = 1, alpha: Any = 1
) -> list[tuple[Any, Vjp]]:
    """Return the functions for addmm and addmv."""
    first, second = matmul(wide(array_of(mat)), wide(array_of(other)))
    scale, bias = np.conjugate(alpha).item(), np.conjugate(beta).item()
    return [(x, lambda g: g * bias), (mat, lambda g: first(g * scale)), (other, lambda g: second(g * scale))]


def tensordot(y: Any, x: Any, other: Any, dims: Any = 2) -> list[tuple[Any, Vjp]]:
    """Return the functions for a contraction: one over the dims that only the other operand keeps."""
    right = as_own(x, other, "tensordot")
    a, b = wide(x._data), wide(right._data)
    ours, theirs = contracted_positions(x._dims, right._dims, dims)
    kept = [at for at in range(a.ndim) if at not in ours]
    rest = [at for at in range(b.ndim) if at not in theirs]
    return [(x, _left(b, ours, theirs, kept, rest)), (other, _right(a, ours, theirs, kept, rest))]


def _left(b: Array, ours: Any, theirs: Any, kept: list[int], rest: list[int]) -> Vjp:
    order = np.argsort([*kept, *[ours[at] for at in np.argsort(theirs)]])
    last = len(kept)
    axes = list(range(last, last + len(rest)))
    return lambda g: np.tensordot(g, np.conjugate(b), (axes, rest)).transpose(order)


def _right(a: Array, ours: Any, theirs: Any, kept: list[int], rest: list[int]) -> Vjp:
    order = np.argsort([*[theirs[at] for at in np.argsort(ours)], *rest])
    axes = list(range(len(kept)))
    return lambda g: np.tensordot(np.conjugate(a), g, (kept, axes)).transpose(order)


PRODUCTS: dict[str, Any] = {"addmm": add_product, "addmv": add_product, "tensordot": tensordot}
"""The rules of other products."""
