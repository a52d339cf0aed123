"""Short cuts for the most frequent calls: tensors of float32 and float64 with equal names, and numbers.

They do what the general wrappers do in fewer steps, and leave everything else, and all errors, to these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.pointwise import BINARY, UNARY
from nameexpr.tensors.operators import REFUSED
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import TapeNode
from nameexpr.tensors.tape.pointwise import LINEAR, factories, slope_of_power
from nameexpr.tensors.tape.recording import called

_new = object.__new__


def fast_one(verb: str, slow: Callable[..., Any], kind: list[Any]) -> Any:
    """Return a pointwise method of one operand; `kind` will hold the class."""
    kernel, make = UNARY[verb], factories(verb, is_complex=False)[0]

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        a = self._data
        if args or kwargs or not MODE.is_on or a.dtype.char not in "fd":
            return slow(self, *args, **kwargs)
        data = kernel(a)
        if type(data) is not np.ndarray:
            data = np.asarray(data)
        new = _new(kind[0])
        new._data = data
        new._names = self._names
        new._node = TapeNode(verb, (self._node,), (make(a, data),), data)
        return new

    return called(call, verb, slow)


def fast_sign(verb: str, slow: Callable[..., Any], kind: list[Any], plain: Any, *, is_reflected: bool) -> Any:
    """Return the method of a sign."""
    kernel, node_of = BINARY[verb], _nodes(verb, kind, is_reflected=is_reflected)

    def call(self: Any, other: Any) -> Any:
        a, b, own = self._data, other, type(other)
        if own is kind[0] or own is plain:
            b = other._data
            is_usual = other._names == self._names and b.dtype.char in "fd"
        else:
            is_usual = own is float or own is int
        if not is_usual or not MODE.is_on or a.dtype.char not in "fd":
            return slow(self, other)
        try:
            data = kernel(b, a) if is_reflected else kernel(a, b)
        except REFUSED:
            return slow(self, other)
        if type(data) is not np.ndarray:
            data = np.asarray(data)
        new = _new(kind[0])
        new._data = data
        new._names = self._names
        new._node = node_of(self, other, a, b, data)
        return new

    return called(call, slow.__name__, slow)


def _nodes(verb: str, kind: list[Any], *, is_reflected: bool) -> Callable[..., TapeNode]:
    """Return the function that makes the node of a sign."""
    first, second = factories(verb, is_complex=False)[:: -1 if is_reflected else 1]
    if verb in LINEAR:
        one, two = first(0, 0, 0), second(0, 0, 0)

        def linear(x: Any, other: Any, a: Any, b: Any, data: Any) -> TapeNode:
            if type(other) is kind[0]:
                return TapeNode(verb, (x._node, other._node), (one, two), data)
            return TapeNode(verb, (x._node,), (one,), data)

        return linear

    def general(x: Any, other: Any, a: Any, b: Any, data: Any) -> TapeNode:
        left, right = (b, a) if is_reflected else (a, b)
        if type(other) is kind[0]:
            vjps = first(left, right, data), second(left, right, data)
            return TapeNode(verb, (x._node, other._node), vjps, data)
        if verb == "pow" and not is_reflected and b is other:
            return TapeNode(verb, (x._node,), (slope_of_power(a, b),), data)
        return TapeNode(verb, (x._node,), (first(left, right, data),), data)

    return general
