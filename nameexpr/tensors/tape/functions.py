"""Functions that meet a recorded operand: `cat`, `stack`, `where`, and methods of plain tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from nameexpr.tensors.core import Core
from nameexpr.tensors.operators import as_core
from nameexpr.tensors.ops import OPS, RECORDED
from nameexpr.tensors.tape import inplace, products, selecting
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.operators import pair
from nameexpr.tensors.tape.recording import (
    bare,
    has_gradient,
    is_recorded,
    promoted,
    shared,
    unknown_gradient,
)

_PRODUCTS = ("matmul", "mm", "mv", "bmm", "dot", "__matmul__", "__rmatmul__")
SEVERAL = frozenset([*selecting.FILLS, *products.PRODUCTS, *_PRODUCTS, "where"])
"""Methods with other operands that may have a gradient; those of other methods are constants."""


@cache
def recorded_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, or a method of tensors, for calls in which an operand is recorded."""
    name = function.__name__
    if name in ("cat", "stack"):
        return lambda tensors, *args, **options: function(
            [constant(each, name) for each in tensors], *args, **options
        )
    if "." not in function.__qualname__ and name == "where":
        return selecting.chosen
    if name == "__imatmul__":
        return inplace.twin(name, "__matmul__", function)  # type: ignore[no-any-return]
    if name in OPS and OPS[name].twin_of:
        return inplace.twin(name, OPS[name].twin_of, function)  # type: ignore[no-any-return]
    if name in ("fill_", "copy_"):
        return lambda x, *args, **options: inplace.filled(x, function, args, options)
    if name in ("add", "sub"):
        return _scaled(function)
    return _method(name, function)


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose tensor is plain, or whose other operands are constants for it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if MODE.is_on and name in SEVERAL and not is_recorded(args[0]):
            return getattr(constant(args[0], name), name)(*args[1:], **kwargs)
        y = function(*map(bare, args), **{word: bare(each) for word, each in kwargs.items()})
        if MODE.is_on and has_gradient(y):
            raise unknown_gradient(name)
        return y

    return call


def constant(operand: Any, verb: str) -> Any:
    """Return an operand as a recorded tensor without a node, unless it is recorded itself."""
    if is_recorded(operand):
        return operand
    core: Any = as_core(operand, verb)
    if type(core) is Core:
        return promoted(Core._tensor_class._wrap(core._data, core._names), None)
    return promoted(shared(core, type(core)), None)


def _scaled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return add and sub with `alpha`, by which an operand that is recorded is multiplied."""

    def call(x: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
        if not MODE.is_on:
            return function(bare(x), bare(other), alpha=alpha, **options)
        function(bare(x), bare(other), alpha=alpha)  # checks them
        return function(x, other * alpha, **options)

    return call


def again(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function or a method of a plain tensor again, which has met a recorded operand."""
    inplace.forget_frames()
    return recorded_function(function)(*args, **kwargs)


RECORDED.again, RECORDED.assign, RECORDED.pair = again, inplace.assign, pair
RECORDED.check_out, RECORDED.promoted = inplace.check_out, promoted
