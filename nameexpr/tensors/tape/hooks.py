"""Functions that are called with gradients, and gradients of intermediate results that are kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import wrong_kind
from nameexpr.tensors.tape.node import Leaf, TapeNode

_keys = count()


class Handle:
    """A registered hook: `remove()` removes it."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks, self._key = hooks, next(_keys)
        hooks[self._key] = hook

    def remove(self) -> None:
        """Remove the hook; nothing happens if that was done before."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Handle:
        """Return the handle: the hook is removed at the end of the context."""
        return self

    def __exit__(self, *raised: object) -> None:
        self.remove()


def hooked(node: TapeNode | Leaf, gradient: Any, is_own: bool) -> tuple[Any, bool]:
    """Return what the hooks of a node make of its gradient, and keep it if that is wanted."""
    extras: Any = node.extras
    for hook, like in list(extras.hooks.values()):
        given = like._like(np.asarray(gradient))
        returned = hook(given)
        is_own = False
        if returned is not None:
            gradient = checked_gradient(returned, like, "the result of the hook")
    if extras.keeps is not None:
        data = np.array(gradient)
        if extras.kept is None:
            extras.kept = extras.keeps._like(data)
        else:
            extras.kept._data += data
    return gradient, is_own


def after_accumulating(leaf: Leaf, tensor: Any) -> None:
    """Call the hooks of a leaf after its gradient has been added."""
    for hook in list(leaf.after.values()):
        hook(tensor)


def checked_gradient(value: Any, like: Any, what: str) -> np.ndarray[Any, Any]:
    """Return the array of a gradient, which must have the names and the shape of its tensor (NE696).

    `what` is where it was given, such as "gradient=".
    """
    if not isinstance(value, Core | np.ndarray | int | float | complex | np.generic):
        raise unfit(f"{what}: {shown(value)} is neither a NamedTensor nor an array")
    data = value._data if isinstance(value, Core) else np.asarray(value)
    if data.shape != like._data.shape or (isinstance(value, Core) and value._names != like._names):
        names = f"names {value._names}, " if isinstance(value, Core) else ""
        own = f"names {like._names}, shape {like._data.shape}"
        raise unfit(f"{what}: {names}shape {data.shape} for a tensor of {own}")
    if data.dtype.kind == "c" and like._data.dtype.kind != "c":
        raise unfit(f"{what}: complex numbers for a tensor of {like._data.dtype}")
    return data.astype(like._data.dtype, copy=False)


def unfit(message: str) -> Exception:
    """Return the error for a gradient that is not one of its tensor (NE696)."""
    hint = "a gradient of x has the names, the sizes and the kind of numbers of x"
    return error(Diagnostic("NE696", message, hint=hint))


def callable_hook(hook: Any, verb: str) -> Callable[[Any], Any]:
    """Return a hook if it can be called (NE677)."""
    if not callable(hook):
        raise wrong_kind(verb, "the hook", "a function of a gradient", hook)
    return hook  # type: ignore[no-any-return]
