"""Pointwise operators on recorded tensors.

The methods are those of plain tensors: they check their arguments and call `_keep`, for one operand, or
`_unify`, for two, which are overridden here. Tensors of float32 and float64, and numbers, take the short way
of `quick`, which leaves everything else, and all errors, to `pair`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.pointwise import BINARY, UNARY
from nameexpr.tensors.core import Core
from nameexpr.tensors.operators import REFUSED, unify_names
from nameexpr.tensors.tape.by_name import aligned
from nameexpr.tensors.tape.inplace import check_may_write, forget_frames, rewritten, snapshot, written
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import TapeNode
from nameexpr.tensors.tape.pointwise import COMPLEX, ONE, REAL, TWO, slope_of_power
from nameexpr.tensors.tape.recording import (
    Tracked,
    array_of,
    bare,
    called,
    has_gradient,
    node_of,
    promoted,
    refuse_out,
    unknown_gradient,
)
from nameexpr.tensors.tape.texts import wide

SIGNS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
}
"""The operators of signs, by the middle of the names of their methods."""
NUMBERS = frozenset({int, float, bool, complex})
_new = object.__new__


class Pointwise(Tracked):
    """What the pointwise methods of plain tensors call."""

    __slots__ = ()

    def _keep(self, verb: str, out: Any = None) -> Any:
        """Return the result of an operator of one operand."""
        a = self._data
        if out is not None or not MODE.is_on or verb not in ONE or a.dtype.char not in "fd":
            return self._kept_otherwise(verb, out)
        data = UNARY[verb](a)
        if type(data) is not np.ndarray:
            data = np.asarray(data)
        new = _new(type(self))
        new._data, new._names = data, self._names
        new._node = TapeNode(verb, (self._node,), (REAL[verb][0](a, data),), data)
        return new

    def _kept_otherwise(self, verb: str, out: Any) -> Any:
        refuse_out(verb, out)
        x: Any = self._bare()
        y = x._keep(verb, out)
        if not MODE.is_on or not has_gradient(y):
            return y
        if verb not in ONE:
            raise unknown_gradient(verb)
        factories = COMPLEX if x._data.dtype.kind == "c" else REAL
        vjp = factories[verb][0](wide(x._data), wide(y._data))
        return promoted(y, TapeNode(verb, (self._node,), (vjp,), y._data))

    def _operate(self, verb: str, left: Any, right: Any, out: Any = None) -> Any:
        if verb in TWO:
            return self._unify(verb, left, right, out)
        return super()._operate(verb, left, right, out)

    def _unify(self, verb: str, left: Any, right: Any, out: Any = None) -> Any:
        """Return the result of an operator on two operands, one of which is this tensor."""
        y = None
        if out is None and verb in TWO:
            other = right if left is self else left
            y = quick(verb, self, other, is_reflected=left is not self)
        return pair(verb, left, right, out) if y is None else y


def quick(verb: str, self: Any, other: Any, *, is_reflected: bool) -> Any:
    """Return the result for usual operands; None for others."""
    usual, kind = self._usual, type(other)
    a, b, names = self._data, other, self._names
    if kind in usual:
        b = other._data
        is_usual = b.dtype.char in "fd"
        if other._names != names:
            names = unify_names(other._names, names) if is_reflected else unify_names(names, other._names)
            is_usual = is_usual and type(names) is tuple
    else:
        is_usual = usual and (kind is float or kind is int)
    if not is_usual or not MODE.is_on or a.dtype.char not in "fd":
        return None
    left, right, p, q = (other, self, b, a) if is_reflected else (self, other, a, b)
    try:
        data = BINARY[verb](p, q)
    except REFUSED:
        return None
    if type(data) is not np.ndarray:
        data = np.asarray(data)
    new = _new(type(self))
    new._data, new._names = data, names
    own = type(self)
    sources = left._node if type(left) is own else None, right._node if type(right) is own else None
    new._node = pair_node(verb, sources, REAL[verb], p, q, data)
    return new


def pair_node(verb: str, sources: Any, factories: Any, a: Any, b: Any, y: Any) -> TapeNode:
    """Return the node of an operator on two operands, with a function for each that has a node."""
    first, second = sources
    if first is None:
        return TapeNode(verb, (second,), (factories[1](a, b, y),), y)
    if verb == "pow" and type(b) in NUMBERS:
        return TapeNode(verb, (first,), (slope_of_power(a, b),), y)
    if second is None:
        return TapeNode(verb, (first,), (factories[0](a, b, y),), y)
    return TapeNode(verb, sources, (factories[0](a, b, y), factories[1](a, b, y)), y)


def pair(verb: str, left: Any, right: Any, out: Any = None, sign: Callable[..., Any] | None = None) -> Any:
    """Return the result of an operator on two operands, at least one of which is recorded.

    `sign` is the method of plain tensors for a sign of arithmetic, which takes the operands in their order.
    """
    if out is not None:
        return written_pair(verb, left, right, out)
    a, b = bare(left), bare(right)
    if MODE.is_on and (_is_by_name(a) or _is_by_name(b)):
        return pair(verb, *aligned([left, right], verb)).by_name
    own: Any = a if isinstance(a, Core) else b
    y = own._unify(verb, a, b) if sign is None else sign(a, b)
    if y is NotImplemented or not MODE.is_on or not has_gradient(y):
        return y
    if verb not in TWO:
        raise unknown_gradient(verb)
    factories = (COMPLEX if y._data.dtype.kind == "c" else REAL)[verb]
    sources = node_of(left), node_of(right)
    node = pair_node(verb, sources, factories, *[wide(array_of(each)) for each in (a, b, y)])
    node.dtype = y._data.dtype
    return promoted(y, node)


def written_pair(verb: str, left: Any, right: Any, out: Any) -> Any:
    """Return a tensor over which the result of an operator was written: that on the left, or an `out=`."""
    forget_frames()
    if not MODE.is_on:
        own: Any = bare(left) if isinstance(left, Core) else bare(right)
        return written(
            out, lambda x: own._unify(verb, x if out is left else bare(left), bare(right), x), (), {}
        )
    if out is not left:
        refuse_out(verb, out)
    check_may_write(out, f"{verb}_")
    return rewritten(out, pair(verb, snapshot(left), right), f"{verb}_")


def _is_by_name(operand: Any) -> bool:
    return isinstance(operand, Core) and operand._is_by_name


def signs(verb: str, word: str, base: Any) -> dict[str, Any]:
    """Return the methods of a sign, by name: with the tensor on the left, and on the right."""
    names = f"__{word}__", f"__r{word}__"
    left, right = (getattr(base, name) for name in names)

    def on_the_left(self: Any, other: Any) -> Any:
        y = quick(verb, self, other, is_reflected=False)
        return pair(verb, self, other, None, left) if y is None else y

    def on_the_right(self: Any, other: Any) -> Any:
        y = quick(verb, self, other, is_reflected=True)
        return pair(verb, other, self, None, lambda a, b: right(b, a)) if y is None else y

    return {names[0]: called(on_the_left, names[0], left), names[1]: called(on_the_right, names[1], right)}
