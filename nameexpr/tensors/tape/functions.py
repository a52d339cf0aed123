"""Functions that meet a recorded operand: `cat`, `stack`, `where`, and methods of plain tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from nameexpr.tensors.ops import OPS, RECORDED
from nameexpr.tensors.tape import inplace, selecting
from nameexpr.tensors.tape.arithmetic import pair
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.pointwise import TWO
from nameexpr.tensors.tape.recording import bare, constant, has_gradient, of_several, unknown_gradient
from nameexpr.tensors.tape.tables import CONSTANT, SEVERAL

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cat": selecting.joined,
    "stack": selecting.stacked,
    "where": selecting.where,
}
FILLS = frozenset({"fill_", "copy_"})


@cache
def recorded_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, or a method of plain tensors, for calls in which an operand is recorded."""
    name = function.__name__
    if "." not in function.__qualname__ and name in FUNCTIONS:
        return of_several(name, function, FUNCTIONS[name])  # type: ignore[no-any-return]
    if name in SEVERAL:
        return of_several(name, function, SEVERAL[name])  # type: ignore[no-any-return]
    if name in TWO:
        return _scaled(name, function)
    if name in OPS and OPS[name].twin_of:
        return _twin(name, OPS[name].twin_of, function)
    if name in FILLS:
        return lambda x, value, *more, **options: inplace.filled(x, function, value, name)
    if name in CONSTANT:
        return constant(name, function)  # type: ignore[no-any-return]
    return _otherwise(name, function)


def _scaled(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return add and sub with `alpha`, of which only the other operand is recorded."""

    def call(x: Any, other: Any, **options: Any) -> Any:
        alpha = options.pop("alpha", 1)
        if MODE.is_on and not (isinstance(alpha, int) and alpha == 1):
            function(x, bare(other), alpha=alpha)
            other = other * alpha
        return getattr(x, name)(other if MODE.is_on else bare(other), **options)

    return call


def _twin(name: str, of: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator in place whose tensor is plain: it becomes a recorded one."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not MODE.is_on:
            return inplace.written(x, function, args, kwargs)
        inplace.check_may_write(x, name)
        return inplace.rewritten(x, getattr(inplace.snapshot(x), of)(*args, **kwargs), name)

    return call


def _otherwise(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose other operands are constants, unless its result would have a gradient."""

    def call(*args: Any, **kwargs: Any) -> Any:
        y = function(*map(bare, args), **{word: bare(each) for word, each in kwargs.items()})
        if MODE.is_on and has_gradient(y):
            raise unknown_gradient(name)
        return y

    return call


def again(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function or a method of a plain tensor again, which has met a recorded operand."""
    return recorded_function(function)(*args, **kwargs)


RECORDED.again, RECORDED.assign, RECORDED.pair = again, inplace.assign, pair
RECORDED.check_out = inplace.check_out
