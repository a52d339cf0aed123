"""Pointwise operators on recorded tensors: methods, signs and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nameexpr.tensors.core import Core
from nameexpr.tensors.tape.by_name import aligned
from nameexpr.tensors.tape.inplace import check_may_write, rewritten, snapshot, written
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import TapeNode
from nameexpr.tensors.tape.pointwise import LINEAR, factories, slope_of_power, zero
from nameexpr.tensors.tape.recording import array_of, bare, called, has_gradient, promoted, refuse_out
from nameexpr.tensors.tape.reductions import wide
from nameexpr.tensors.tape.texts import Vjp

NUMBERS = frozenset({int, float, bool, complex})


def one(verb: str, method: Callable[..., Any]) -> Any:
    """Return a pointwise method of one operand."""
    real, complex_ = (factories(verb, is_complex=kind)[0] for kind in (False, True))

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not MODE.is_on:
            return method(self._bare(), *args, **kwargs)
        if "out" in kwargs:
            refuse_out(verb, kwargs)
        x = self._bare()
        y = method(x, *args, **kwargs)
        if not has_gradient(y):
            return y
        a = x._data
        vjp = (complex_ if a.dtype.kind == "c" else real)(wide(a), wide(y._data))
        return promoted(y, TapeNode(verb, (self._node,), (vjp,), y._data))

    return called(call, verb, method)


def sign(verb: str, method: Callable[..., Any], *, is_reflected: bool = False) -> Any:
    """Return the method of a sign of arithmetic."""

    def call(self: Any, other: Any) -> Any:
        left, right = (other, self) if is_reflected else (self, other)
        return pair(verb, left, right, None, method, is_reflected)

    return called(call, method.__name__, method)


def pair_method(verb: str, method: Callable[..., Any]) -> Any:
    """Return a pointwise method of two operands."""

    def call(self: Any, other: Any = ..., *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs and MODE.is_on:
            refuse_out(verb, kwargs)
        if args or kwargs or other is ... or not MODE.is_on:
            return scaled(verb, method, self, other, args, kwargs)
        return pair(verb, self, other, None, method)

    return called(call, verb, method)


def scaled(verb: str, method: Any, self: Any, other: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the result of an operator with options: `alpha`, `rounding_mode`."""
    given = () if other is ... else (bare(other),)
    if not MODE.is_on:
        return method(self._bare(), *given, *args, **kwargs)
    alpha = kwargs.pop("alpha", 1)
    if kwargs.get("rounding_mode") is not None or args:
        y = method(self._bare(), *given, *args, **kwargs)
        return promoted(y, TapeNode(verb, (self._node,), (zero,), y._data)) if has_gradient(y) else y
    if "other" in kwargs:
        other = kwargs.pop("other")
    if "exponent" in kwargs:
        other = kwargs.pop("exponent")
    if other is ... or kwargs.keys() - {"rounding_mode"}:
        return method(self._bare(), *given, **kwargs)
    if not (isinstance(alpha, int) and alpha == 1):
        method(self._bare(), bare(other), alpha=alpha)  # checks the operands and alpha
        other = other * alpha if isinstance(other, Core) else array_of(other) * alpha
    return pair(verb, self, other, None, method)


def pair(
    verb: str, left: Any, right: Any, out: Any = None, method: Any = None, is_reflected: bool = False
) -> Any:
    """Return the result of an operator on two operands, at least one of which is recorded."""
    if out is not None:
        return written_pair(verb, left, right, out)
    a, b = bare(left), bare(right)
    if MODE.is_on and (_is_by_name(a) or _is_by_name(b)):
        return pair(verb, *aligned([left, right], verb)).by_name
    if method is None:
        own: Any = a if isinstance(a, Core) else b
        y = own._unify(verb, a, b)
    elif is_reflected:
        y = method(b, a)
    else:
        y = method(a, b)
    if y is NotImplemented or not MODE.is_on or not has_gradient(y):
        return y
    return promoted(y, _node(verb, left, right, a, b, y))


def written_pair(verb: str, left: Any, right: Any, out: Any) -> Any:
    """Return a tensor over which the result of an operator was written: that on the left, or an `out=`."""
    if not MODE.is_on:
        own: Any = bare(left) if isinstance(left, Core) else bare(right)
        return written(
            out, lambda x: own._unify(verb, x if out is left else bare(left), bare(right), x), (), {}
        )
    if out is not left:
        refuse_out(verb, {"out": out})
    check_may_write(out, f"{verb}_")
    return rewritten(out, pair(verb, snapshot(left), right), f"{verb}_")


def _is_by_name(operand: Any) -> bool:
    return isinstance(operand, Core) and operand._is_by_name


def _node(verb: str, left: Any, right: Any, a: Any, b: Any, y: Any) -> TapeNode:
    """Return the node of an operator on two operands, with a function for each that is recorded."""
    has_left, has_right = a is not left, b is not right
    data = y._data
    first, second = factories(verb, is_complex=data.dtype.kind == "c")
    if verb in LINEAR:
        x1, x2 = (first(None, None, None) if has_left else None), (second(0, 0, 0) if has_right else None)
    else:
        p, q, r = wide(array_of(a)), wide(array_of(b)), wide(data)
        x1 = _first(verb, first, p, q, r) if has_left else None
        x2 = second(p, q, r) if has_right else None
    if x1 is None:
        return TapeNode(verb, (right._node,), (x2,), data)  # type: ignore[arg-type]
    if x2 is None:
        return TapeNode(verb, (left._node,), (x1,), data)
    return TapeNode(verb, (left._node, right._node), (x1, x2), data)


def _first(verb: str, factory: Any, a: Any, b: Any, y: Any) -> Vjp:
    if verb == "pow" and type(b) in NUMBERS:
        return slope_of_power(a, b)
    return factory(a, b, y)  # type: ignore[no-any-return]


def comparison(name: str, method: Callable[..., Any]) -> Any:
    """Return a comparison, whose result is not recorded."""

    def call(self: Any, other: Any) -> Any:
        return method(self._bare(), bare(other))

    return called(call, name, method)
