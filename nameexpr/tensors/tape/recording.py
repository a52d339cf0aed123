"""Wrappers that record a call: they apply an operator to plain tensors, and give its result a node.

A *rule* of one operand takes the result, the plain tensor, and the other arguments of the call, and returns
the function from the gradient of the result to that of the operand. A rule of several operands returns pairs
of an operand, as it was passed to the rule, and its function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from nameexpr.backends.numpy.arrays import is_inexact
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.core import Core
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import RECORDED, corrected, keywords_of
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Leaf, TapeNode
from nameexpr.tensors.tape.texts import Vjp

Rule = Callable[..., Any]


class _Classes(dict[type, type]):
    """The classes of recorded tensors, by those of plain ones; `make` is `recorded.recorded_class`."""

    make: Callable[[type], type]

    def __missing__(self, kind: type) -> type:
        made = self[kind] = self.make(kind)
        return made


CLASSES = _Classes()


class Tracked(Operators):
    """A recorded tensor: what its families of methods have in common."""

    __slots__ = ()

    _node: Any
    _unrecorded: ClassVar[Any]
    """The class of the tensor without the tape."""
    _usual: ClassVar[frozenset[type]] = frozenset()
    """The usual class, recorded and plain, in that class; empty in those with coordinates, or by name."""

    def _bare(self) -> Any:
        """Return a plain tensor that shares the array."""
        return shared(self, self._unrecorded)

    def _like(self, data: Any) -> Any:
        """Return a plain tensor around another array, with the names and coordinates of this one."""
        new = self._bare()
        new._data = data
        return new


def shared(tensor: Any, kind: Any) -> Any:
    """Return a tensor of a class that shares the array, the names and the coordinates of another."""
    new = object.__new__(kind)
    new._data, new._names = tensor._data, tensor._names
    if tensor._coordinates:
        new._own = tensor._coordinates
    return new


def promoted(result: Any, node: TapeNode | Leaf | None) -> Any:
    """Return a plain tensor as a recorded one: the same object, whose class changes."""
    result.__class__ = CLASSES[type(result)]
    result._node = node
    return result


def is_recorded(value: Any) -> bool:
    """Return whether a value is a recorded tensor of NumPy."""
    return isinstance(value, Core) and value._kernels is RECORDED


def node_of(value: Any) -> Any:
    """Return the node of a recorded tensor, None for other values."""
    return value._node if is_recorded(value) else None


def bare(value: Any) -> Any:
    """Return a recorded tensor as a plain one, which shares its array; other values unchanged."""
    if is_recorded(value):
        return value._bare()
    if type(value) in (list, tuple) and any(map(is_recorded, value)):
        return type(value)(map(bare, value))
    return value


def has_gradient(result: Any) -> bool:
    """Return whether a result is a tensor of floats or complex numbers."""
    if not isinstance(result, Core):
        return False
    dtype = result._data.dtype
    return dtype.kind in "fc" or (dtype.kind == "V" and is_inexact(dtype))


def of_one(name: str, method: Callable[..., Any], rule: Rule, *, is_view: bool = False) -> Any:
    """Return a method of one operand that records its call."""
    known = keywords_of(method)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        x = self._bare()
        if kwargs and not known.issuperset(kwargs):
            (x, *args), kwargs = corrected(method, (x, *args), kwargs)
        refuse_out(name, kwargs.get("out"))
        y = method(x, *args, **kwargs)
        if y is x:
            return self
        if not MODE.is_on or not has_gradient(y):
            return y
        return attached(y, name, self._node, rule(y, x, *args, **kwargs), is_view=is_view)

    return called(call, name, method)


def attached(y: Any, name: str, source: Any, vjp: Vjp, *, is_view: bool) -> Any:
    """Return a result of one operand with its node; a view is also known to what it is a view of."""
    if not is_view:
        return promoted(y, TapeNode(name, (source,), (vjp,), y._data))
    node = TapeNode(name, (source,), (vjp,), y._data, is_view=True)
    views = source.views
    if views is None:
        views = source.views = set()
    node.views = views
    views.add(ref(promoted(y, node), views.discard))
    return y


def of_several(name: str, function: Callable[..., Any], rule: Rule) -> Any:
    """Return a function or method of several operands that records its call."""
    known = keywords_of(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not known.issuperset(kwargs):
            args, kwargs = corrected(function, args, kwargs)
        refuse_out(name, kwargs.get("out"))
        nodes: dict[int, Any] = {}
        args = tuple([_noted(each, nodes) for each in args])
        kwargs = {word: _noted(each, nodes) for word, each in kwargs.items()}
        y = function(*args, **kwargs)
        if not MODE.is_on or not has_gradient(y):
            return y
        return joint(name, y, [(nodes.get(id(operand)), vjp) for operand, vjp in rule(y, *args, **kwargs)])

    return called(call, name, function)


def joint(name: str, y: Any, pairs: Iterable[tuple[Any, Vjp]]) -> Any:
    """Return a result with a node whose inputs are those of the operands that have a node."""
    used = [pair for pair in pairs if pair[0] is not None]
    if not used:
        return y
    inputs, vjps = zip(*used, strict=True)
    return promoted(y, TapeNode(name, inputs, vjps, y._data))


def _noted(value: Any, nodes: dict[int, Any]) -> Any:
    """Return a value without its tape; the nodes of tensors are noted under their plain ones."""
    if is_recorded(value):
        plain = value._bare()
        nodes[id(plain)] = value._node
        return plain
    if type(value) in (list, tuple) and any(map(is_recorded, value)):
        return type(value)([_noted(each, nodes) for each in value])
    return value


def called(call: Callable[..., Any], name: str, method: Any) -> Any:
    """Return a wrapper under the name, the signature and the documentation of its method."""
    call.__name__, call.__qualname__ = name, getattr(method, "__qualname__", name)
    call.__doc__, call.__wrapped__ = method.__doc__, method  # type: ignore[attr-defined]
    return call


def refuse_out(verb: str, out: Any) -> None:
    """Raise NE694 if a result that is recorded would be written into an `out=`."""
    if out is not None and MODE.is_on:
        message = f"{verb}: a result that is recorded cannot be written into out="
        raise error(Diagnostic("NE694", message, hint="leave out= out, or compute in ne.no_grad()"))


def unknown_gradient(verb: str) -> NameExprError:
    """Return the error for an operator without a derivative (NE695)."""
    call = f"x.detach().{verb}(...)" if verb.isidentifier() else f"{verb}(x.detach(), ...)"
    hint = f"{call} treats x as a constant"
    return error(Diagnostic("NE695", f"no gradient of {verb} is known", hint=hint))


def array_of(operand: Any) -> Any:
    """Return the array of an operand; numbers unchanged.

    An array of NumPy is copied: unlike a tensor, it does not tell when it is written to.
    """
    if isinstance(operand, Core):
        return operand._data
    return operand if isinstance(operand, int | float | complex) else np.array(operand)
