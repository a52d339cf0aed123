"""NumPy's functions on recorded tensors: those that tensors have as methods are recorded, others refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.core import Core
from nameexpr.tensors.tape.inplace import check_out
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.operators import pair
from nameexpr.tensors.tape.pointwise import ONE, TWO
from nameexpr.tensors.tape.recording import (
    Tracked,
    bare,
    has_gradient,
    is_recorded,
    refuse_out,
    unknown_gradient,
)

SPELT = {"power": "pow", "true_divide": "div", "divide": "div", "multiply": "mul", "subtract": "sub"} | {
    "negative": "neg",
    "absolute": "abs",
    "arctan2": "atan2",
    "rint": "round",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""Methods for NumPy's ufuncs of other names."""
_SAME = "sum mean prod amax amin cumsum cumprod squeeze swapaxes flip std var"
METHODS = {name: name for name in _SAME.split()} | {"max": "amax", "min": "amin"}
"""Methods for NumPy's functions of one tensor, which take `axis` and `keepdims`."""
CONSTANT = frozenset({np.zeros_like, np.ones_like, np.empty_like, np.full_like})
"""Functions whose results do not depend on the elements."""


class NumPy(Tracked):
    """The protocols by which NumPy finds tensors."""

    __slots__ = ()

    def numpy(self) -> Any:
        """Raise NE695: what is done with the array would not be recorded."""
        if MODE.is_on:
            raise _leaves("numpy")
        return self._data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Raise NE695, for the same reason."""
        if MODE.is_on:
            raise _leaves("np.asarray")
        return bare(self).__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        """Raise NE695, for the same reason."""
        if MODE.is_on:
            raise _leaves("DLPack")
        return self._data.__dlpack__(**options)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a ufunc that tensors have as a method; NE695 for another one."""
        name = ufunc.__name__
        verb = SPELT.get(name, name)
        if MODE.is_on and method == "__call__" and not kwargs:
            if ufunc.nin == 1 and verb in ONE:
                return getattr(inputs[0], verb)()
            if verb in TWO:
                return pair(verb, *inputs)
            if verb == "matmul":
                return inputs[0] @ inputs[1] if isinstance(inputs[0], Core) else self.__rmatmul__(inputs[0])  # type: ignore[attr-defined]
        outs = kwargs.get("out", ())
        if MODE.is_on and any(map(is_recorded, outs)):
            check_out(f"np.{name}")
        if MODE.is_on and any(map(has_gradient, outs)):
            refuse_out(f"np.{name}", outs)
        plain = {word: _all_bare(each) for word, each in kwargs.items()}
        y = getattr(ufunc, method)(*map(bare, inputs), **plain)
        return _unrecorded(y, f"np.{name}", outs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a function that tensors have as a method; NE695 for another one."""
        if func in CONSTANT:
            args, kwargs = _all_bare(args), {word: _all_bare(each) for word, each in kwargs.items()}
            return func(*args, **kwargs)
        if MODE.is_on:
            found = of_function(func, args, dict(kwargs))
            if found is not NotImplemented:
                return found
        plain = {word: _all_bare(each) for word, each in kwargs.items()}
        y = func(*map(_all_bare, args), **plain)
        return _unrecorded(y, f"np.{func.__name__}", ())


def of_function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the recorded result of a NumPy function; NotImplemented if tensors lack it."""
    name = METHODS.get(func.__name__) if getattr(np, func.__name__, None) is func else None
    if name is not None and args and is_recorded(args[0]):
        if name in ("std", "var"):
            kwargs = {"ddof": 0, **kwargs}
        if len(args) > 1 and name != "swapaxes":
            kwargs, args = {"axis": args[1], **kwargs}, args[:1]
        if name == "flip" and "axis" in kwargs:
            return args[0].flip(kwargs["axis"])
        return getattr(args[0], name)(*args[1:], **kwargs)
    from nameexpr.tensors import functions, joining

    table: dict[Any, Callable[..., Any]] = {
        np.concatenate: joining.cat,
        np.stack: joining.stack,
        np.where: functions.where,
        np.clip: functions.clamp,
        np.tensordot: functions.tensordot,
        np.transpose: _transposed,
    }
    own = table.get(func)
    if own is None:
        return NotImplemented
    if "axis" in kwargs:
        kwargs["dim"] = kwargs.pop("axis")
    return own(*args, **kwargs)


def _transposed(x: Any, axes: Any = None) -> Any:
    return x.T if axes is None else x.permute(*axes)


def _all_bare(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_all_bare, value))
    return bare(value)


def _unrecorded(y: Any, verb: str, outs: Any) -> Any:
    """Return a result that has no gradient; one into a tensor with a tape is that tensor (NE695)."""
    if MODE.is_on and any(map(has_gradient, y if isinstance(y, tuple | list) else (y,))):
        raise unknown_gradient(verb)
    return outs[0] if len(outs) == 1 else y


def _leaves(verb: str) -> Any:
    message = f"{verb}: what is done with the array of a recorded tensor would not be recorded"
    hint = "x.detach().numpy() is the array, as a constant"
    return error(Diagnostic("NE695", message, hint=hint))
