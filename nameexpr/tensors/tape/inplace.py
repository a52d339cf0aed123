"""Writing over recorded tensors, and recorded results into plain ones: the tensor gets a new node.

The elements are written where they are, as always. An operator in place is recorded as the operator that
makes a new tensor, applied to a copy: its derivative may need what was there before. A tensor that shares
its elements with other tensors is refused, since they would have to get new nodes, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Leaf, TapeNode, extras_of
from nameexpr.tensors.tape.pointwise import same, zero
from nameexpr.tensors.tape.recording import Tracked, bare, called, is_recorded, node_of, promoted
from nameexpr.tensors.tape.selecting import is_mask
from nameexpr.tensors.tape.texts import Vjp
from nameexpr.tensors.writing import write


def twin(name: str, of: str, method: Callable[..., Any]) -> Any:
    """Return an operator in place, which writes the result of the operator `of`."""
    verb = name if not name.startswith("__") else _spelt(name)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not MODE.is_on:
            return written(self, method, args, kwargs)
        check_may_write(self, verb)
        result = getattr(snapshot(self), of)(*args, **kwargs)
        return result if result is NotImplemented else rewritten(self, result, verb)

    return called(call, name, method)


def _spelt(name: str) -> str:
    words = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}
    word = name.strip("_").removeprefix("i")
    return f"{words.get(word, word)}_"


def written(self: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a method that writes over its tensor without recording it, and return the tensor."""
    x = bare(self)
    y = method(x, *map(bare, args), **{word: bare(each) for word, each in kwargs.items()})
    if y is not x and y is not None:
        return y
    self._data, self._names = x._data, x._names
    return self


def snapshot(x: Any) -> Any:
    """Return a tensor with a copy of the elements and the same node."""
    new = x._like(x._data.copy()) if is_recorded(x) else x._wrap(x._data.copy(), x._names)
    return promoted(new, x._node) if is_recorded(x) else new


def rewritten(x: Any, result: Any, verb: str) -> Any:
    """Write a result over a tensor, which gets its node."""
    target = bare(x)
    write(target, result._data, result._names, verb, is_out=False)
    x._data, x._names = target._data, target._names
    if is_recorded(result):
        node = result._node
        if node.dtype != x._data.dtype:
            node = TapeNode("to", (node,), (same,), x._data)
        return moved_to(x, node)
    return x


def moved_to(x: Any, node: TapeNode) -> Any:
    """Give a tensor that has been written over its node; a gradient that is to be kept is that of the new
    values.
    """
    if not is_recorded(x):
        return promoted(x, node)
    if x._node.extras is not None and x._node.extras.keeps is not None:
        extras_of(node).keeps, x._node.extras.keeps = x._node.extras.keeps, None
    x._node = node
    return x


def check_may_write(x: Any, verb: str) -> None:
    """Raise NE694 for a leaf, and for a tensor that shares its elements with another one."""
    if not is_recorded(x):
        check_alone(x, verb)
        return
    node = x._node
    if type(node) is Leaf:
        message = (
            f"{verb}: the tensor requires a gradient and was not computed, so that it cannot be written over"
        )
        hint = "x = x.clone() first; or with ne.no_grad(): to change the values themselves"
        raise error(Diagnostic("NE694", message, hint=hint))
    if node.is_view:
        raise shared(verb, "the tensor is a view of a recorded one")
    if any(each() is not None for each in tuple(node.views or ())):
        raise shared(verb, "there are views of the tensor")


def check_out(verb: str) -> None:
    """Raise NE694 for a recorded tensor that is given as `out=`, unless nothing is recorded here."""
    if MODE.is_on:
        message = f"{verb}: out= is a recorded tensor, and what is written into it would not be recorded"
        hint = "leave out= out; or with ne.no_grad(): to change the values themselves"
        raise error(Diagnostic("NE694", message, hint=hint))


def shared(verb: str, what: str) -> NameExprError:
    """Return the error for a tensor whose elements are also those of another (NE694)."""
    message = f"{verb}: {what}, and both would change"
    hint = "give one of them elements of its own: x = x.clone()"
    return error(Diagnostic("NE694", message, hint=hint))


def check_alone(x: Any, verb: str) -> None:
    """Raise NE694 for a plain tensor which something else may share its elements with: a recorded result that
    is written into it would be missing there.
    """
    if x._data.base is not None or sys.getrefcount(x._data) > _ALONE:
        raise shared(verb, "the elements that a recorded value is written into are not the tensor's alone")


def forget_frames() -> None:
    """Let go of the frames in which a call met a recorded operand: they refer to the arrays of tensors."""
    raised = sys.exc_info()[1]
    if raised is not None:
        raised.__traceback__ = None


class _Probe:
    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = np.zeros(1)


def _count(x: Any) -> int:
    return sys.getrefcount(x._data)


_ALONE = _count(_Probe())
"""The number of references to an array that only its tensor has."""


def assign(x: Any, key: Any, value: Any) -> None:
    """Write a value into some elements: `x[key] = value`."""
    forget_frames()
    verb, key = "x[...] = value", bare(key)
    if not MODE.is_on:
        bare(x)[key] = bare(value)
        return
    check_may_write(x, verb)
    target = bare(x)
    places = tuple(np.array(each) if isinstance(each, np.ndarray) else each for each in target._key(key)[0])
    target[key] = bare(value)
    clear, take = (lambda g: cleared(g, places)), taken(places, x._data.shape)
    overwritten(x, verb, [(node_of(x), clear), (node_of(value), take)])


def overwritten(x: Any, verb: str, pairs: list[tuple[Any, Vjp]]) -> Any:
    """Return a tensor that was written over, with a node for those of what it was and of what was written."""
    inputs, vjps = zip(*[pair for pair in pairs if pair[0] is not None], strict=True)
    return moved_to(x, TapeNode(verb, inputs, vjps, x._data))


def cleared(g: Any, places: Any) -> Any:
    """Return a gradient with 0 at the places that were written to."""
    g = np.array(g)
    g[places] = 0
    return g


def taken(places: Any, shape: tuple[int, ...]) -> Vjp:
    """Return the function for a value that is written to places: of those that repeat, the last is there."""
    is_unique = not any(isinstance(each, np.ndarray) and not is_mask(each) for each in places)
    if is_unique:
        return lambda g: g[places]

    def vjp(g: Any) -> Any:
        part = g[places]
        numbers = np.arange(part.size).reshape(part.shape)
        last = np.full(shape, -1)
        last[places] = numbers
        return np.where(last[places] == numbers, part, 0)

    return vjp


def filled(x: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Write one value, or another tensor, over all elements."""
    verb = method.__name__
    if MODE.is_on:
        check_may_write(x, verb)
    written(x, method, args, kwargs)
    if not MODE.is_on:
        return x
    pairs: list[tuple[Any, Vjp]] = [(node_of(x), zero)]
    return overwritten(x, verb, pairs + [(node_of(each), same) for each in (*args, *kwargs.values())])


def _filling(name: str) -> Any:
    return lambda self, *args, **kwargs: filled(self, getattr(self._unrecorded, name), args, kwargs)


class Writes(Tracked):
    """The methods of recorded tensors that write over them, other than the twins of operators."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a value into some elements."""
        assign(self, key, value)

    def rename_(self, /, *names: Any, **rename_map: Any) -> Any:
        """Change the names, which the tape does not know."""
        return written(self, self._unrecorded.rename_, names, rename_map)

    def resize_(self, *sizes: Any) -> Any:
        """Raise NE694 unless the sizes remain."""
        return self._resized_as("resize_", sizes)

    def resize_as_(self, other: Any) -> Any:
        """Raise NE694 unless the sizes remain."""
        return self._resized_as("resize_as_", (other,))

    def _resized_as(self, verb: str, args: tuple[Any, ...]) -> Any:
        shape = self._data.shape
        copy = self._bare().clone()
        if getattr(copy, verb)(*map(bare, args)).shape != shape:
            message = f"{verb}: a recorded tensor keeps its sizes"
            hint = "flatten and unflatten make a recorded one; x.detach() can be resized"
            raise error(Diagnostic("NE694", message, hint=hint))
        self._names = copy._names
        return self


for _name in (
    *("fill_", "zero_", "copy_", "bernoulli_", "normal_", "log_normal_", "uniform_", "exponential_"),
    *("cauchy_", "random_"),
):
    setattr(Writes, _name, _filling(_name))
