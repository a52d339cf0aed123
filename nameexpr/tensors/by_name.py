"""Arithmetic by name: `x.by_name` is x with operators that pair dims by their names, in any order.

`z = x.by_name` shares the array of x. A result has the union of the names, in the order in which they first
appear, left operand first, as in xarray. A dim of size 1 is repeated, other sizes must be equal. An array
without names pairs from the right, as everywhere; a tensor that has names and unnamed dims is rejected,
because the latter cannot be identified.

The choice belongs to a tensor and not to a switch, so that no setting elsewhere changes what a function
computes. Results keep it, so that a formula of several operations is by name throughout, and one such operand
suffices. `z.by_position` reverts it.

>>> x = ne.tensor([[1.0, 2.0], [3.0, 5.0]], names="station time")
>>> z = x.by_name
>>> z - x.mean("time")
tensor([[-0.5,  0.5],
        [-1. ,  1. ]], names=('station', 'time'), shape=(2, 2)).by_name
>>> (z.mean("time") * z.mean("station")).names
('station', 'time')
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Self

import numpy as np

from nameexpr.dims import Names
from nameexpr.rules.by_name import names_by_name, shared_names
from nameexpr.rules.writing import check_written
from nameexpr.tensors.arithmetic import ArithmeticMethods
from nameexpr.tensors.contraction import MatrixProducts
from nameexpr.tensors.core import Core
from nameexpr.tensors.display import Display
from nameexpr.tensors.fills import Fills
from nameexpr.tensors.operators import NUMBERS, Operators, carrier, carrying, is_operand
from nameexpr.tensors.ops import RECORDED, MeetsRecorded
from nameexpr.tensors.protocols import Protocols
from nameexpr.tensors.writing import spelt


class PairedByName(ArithmeticMethods, MatrixProducts, Fills, Display, Protocols):
    """Methods that `x.by_name` overrides: operators, comparisons, ufuncs, `where` and `@`."""

    __slots__ = ()
    _is_by_name = True

    def __repr__(self) -> str:
        return f"{super().__repr__()}.by_name"

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("by_name"), (self.by_position,)  # type: ignore[attr-defined]

    def _unify(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        other = carrier(self, (left, right))
        if other is not None:
            pair = (left, other) if left is self else (other, right)
            return other.by_name._unify(verb, *pair, out)  # type: ignore[no-any-return]
        try:
            a, b = paired(self, (left, right), verb)
        except MeetsRecorded:
            return RECORDED.pair(verb, left, right, out)  # type: ignore[no-any-return]
        if out is not None and out is left and a is not left:
            said = spelt(verb, is_out=False)
            check_written(left._dims, a._names, np.broadcast_shapes(a.shape, b.shape), said)
        return super()._unify(verb, a, b, out)

    @carrying
    def where(self, condition: Any, other: Any) -> Self:
        """Return the elements where the condition is true, and those of `other` elsewhere, all by name."""
        x, mask, y = paired(self, (self, condition, other), "where")
        chosen = super(PairedByName, x).where(mask, y)
        return self._named(chosen._data, chosen._names)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a NumPy ufunc for operands that are paired by name."""
        other = carrier(self, inputs)
        if other is not None:
            return other.by_name.__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if method == "__call__" and ufunc.signature is None:
            operands = (*inputs, kwargs["where"]) if "where" in kwargs else inputs
            try:
                aligned = paired(self, operands, f"np.{ufunc.__name__}")
            except MeetsRecorded:
                return NotImplemented  # NumPy then asks the recorded operand
            inputs = tuple(aligned[: len(inputs)])
            if "where" in kwargs:
                kwargs["where"] = aligned[-1]
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    @carrying
    def __matmul__(self, other: Any) -> Self:
        return self._contracted(self, other) if is_operand(other) else NotImplemented

    @carrying
    def __rmatmul__(self, other: Any) -> Self:
        return self._contracted(other, self) if is_operand(other) else NotImplemented

    def _contracted(self, left: Any, right: Any) -> Self:
        """Return the sum of products over all dims that both have, as xarray's `@` does."""
        a, b = self._as_core(left, "@"), self._as_core(right, "@")
        shared = shared_names(a._dims, b._dims, "@")
        return self._named(*self._contraction(a, b, (shared, shared)))


@cache
def kind_by_name(base: type[Core]) -> type[Core]:
    """Return the class of `x.by_name`: the class of x, in which these methods replace the others."""
    doc = "A NamedTensor whose operators pair dims by name: `x.by_name`."
    own = {"__slots__": (), "__doc__": doc, "_by_position": base}
    return type("ByName", (PairedByName, base), own)


def _reflected(verb: str) -> Any:
    """Return a separate reflected operator: Python tries it before the left operand's, if that is a
    tensor.
    """
    inherited = getattr(ArithmeticMethods, verb)

    def reflected(self: PairedByName, other: Any) -> Any:
        return inherited(self, other)

    reflected.__name__ = verb
    return reflected


for _verb in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(PairedByName, f"__r{_verb}__", _reflected(f"__r{_verb}__"))


def paired(own: Operators, operands: Sequence[Any], verb: str) -> list[Any]:
    """Return operands with their dims in the same order, where a dim that one lacks has size 1.

    Numbers, and arrays without names, are unchanged. NE370 for sizes that differ, NE471 for a tensor that has
    names and unnamed dims.
    """
    cores = [each if type(each) in NUMBERS or each is True else own._as_core(each, verb) for each in operands]
    tensors = [each for each in cores if isinstance(each, Core) and any(each._names)]
    if len({each._names for each in tensors}) < 2:  # noqa: PLR2004  there is one order
        return cores
    names = names_by_name([each._dims for each in tensors], verb)
    return [_aligned(each, names) if isinstance(each, Core) and any(each._names) else each for each in cores]


def _aligned(tensor: Core, names: Names) -> Core:
    """Return a view with these names, of which the tensor lacks some."""
    own = tensor._names
    if own == names:
        return tensor
    order = [own.index(name) for name in names if name in own]
    shape = [tensor._data.shape[own.index(name)] if name in own else 1 for name in names]
    moved: Any = tensor._ordered(order)  # type: ignore[attr-defined]
    return tensor._wrap(moved._data.reshape(shape), names)
