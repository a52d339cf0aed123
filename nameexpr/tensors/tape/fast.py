"""Short cuts for the most frequent calls: tensors of float32 and float64 with equal names, and numbers.

They do what the general wrappers do in fewer steps, and leave everything else, and all errors, to these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy import reductions
from nameexpr.backends.numpy.pointwise import BINARY, UNARY
from nameexpr.rules.remembered import matmul_names
from nameexpr.tensors.operators import REFUSED, remove_names, unify_names
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import TapeNode
from nameexpr.tensors.tape.pointwise import LINEAR, factories, slope_of_power
from nameexpr.tensors.tape.products import matmul
from nameexpr.tensors.tape.recording import called
from nameexpr.tensors.tape.texts import Vjp

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
        a, b, own, names = self._data, other, type(other), self._names
        if own is kind[0] or own is plain:
            b = other._data
            is_usual = b.dtype.char in "fd"
            if other._names != names:
                left, right = (other._names, names) if is_reflected else (names, other._names)
                names = unify_names(left, right)
                is_usual = is_usual and type(names) is tuple
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
        new._names = names
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


def fast_matmul(slow: Callable[..., Any], kind: list[Any], plain: Any, *, is_reflected: bool) -> Any:
    """Return the method of `@`, for matrices and vectors of the same dtype."""

    def call(self: Any, other: Any) -> Any:
        own, a = type(other), self._data
        if (own is not kind[0] and own is not plain) or not MODE.is_on or a.dtype.char not in "fd":
            return slow(self, other)
        b = other._data
        if b.dtype is not a.dtype or not a.ndim or not b.ndim:
            return slow(self, other)
        left, right = (other, self) if is_reflected else (self, other)
        names = matmul_names(left._names, left._data.shape, right._names, right._data.shape, "@", None)
        p, q = left._data, right._data
        data = np.matmul(p, q)
        if type(data) is not np.ndarray:
            data = np.asarray(data)
        new = _new(kind[0])
        new._data = data
        new._names = names
        first, second = matmul(p, q)
        if own is kind[0]:
            new._node = TapeNode("matmul", (left._node, right._node), (first, second), data)
        else:
            new._node = TapeNode("matmul", (self._node,), (second if is_reflected else first,), data)
        return new

    return called(call, slow.__name__, slow)


def fast_reduction(verb: str, slow: Callable[..., Any], kind: list[Any]) -> Any:
    """Return `sum` or `mean` over all dims, or over one that is given by name."""
    kernel, is_mean = getattr(reductions, verb), verb == "mean"

    def call(self: Any, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
        a, names = self._data, self._names
        is_usual = dim is None or (type(dim) is str and dim in names)
        if not is_usual or args or kwargs or not MODE.is_on or a.dtype.char not in "fd" or not a.size:
            return slow(self, *(() if dim is None and not args else (dim,)), *args, **kwargs)
        gone = tuple(range(a.ndim)) if dim is None else (names.index(dim),)
        data = np.asarray(kernel(a, axis=gone))
        shape = a.shape
        kept = tuple([1 if at in gone else size for at, size in enumerate(shape)])
        n = a.size // data.size if is_mean else 1
        new = _new(kind[0])
        new._data = data
        new._names = () if dim is None else remove_names(names, gone)
        new._node = TapeNode(verb, (self._node,), (_spread(shape, kept, n),), data)
        return new

    return called(call, verb, slow)


def _spread(shape: tuple[int, ...], kept: tuple[int, ...], n: int) -> Vjp:
    """Return the function that repeats a gradient along the dims that were reduced."""
    if n == 1:
        return lambda g: np.broadcast_to(g.reshape(kept), shape)
    return lambda g: np.broadcast_to((g / n).reshape(kept), shape)
