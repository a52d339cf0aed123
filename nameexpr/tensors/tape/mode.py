"""Whether operators on recorded tensors are recorded: `no_grad` and `enable_grad`, for each thread."""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from typing import Any

from nameexpr.tensors.faults import wrong_kind
from nameexpr.tensors.ops import checked


class _Mode(threading.local):
    is_on: bool = True


MODE = _Mode()


class _Switch(ContextDecorator):
    """A context, or a decorator, in which recording is on or off."""

    _is_on: bool

    def __new__(cls, function: Any = None) -> Any:
        """Return the context; or a function in which it applies, for `@ne.no_grad` without ()."""
        context = super().__new__(cls)
        if function is None:
            return context
        if not callable(function):
            raise wrong_kind(cls.__name__, "the argument", "a function, or left out", function)
        context.__init__()  # type: ignore[misc]
        return context(function)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(MODE.is_on)
        MODE.is_on = self._is_on

    def __exit__(self, *raised: Any) -> None:
        MODE.is_on = self._before.pop()


class no_grad(_Switch):  # noqa: N801  PyTorch's name
    """A context, or a decorator, in which nothing is recorded: results do not require gradients.

    >>> w = ne.tensor([1.0, 2.0], names="C").requires_grad_()
    >>> with ne.no_grad():
    ...     w -= 0.5
    >>> w
    tensor([0.5, 1.5], names=('C',), shape=(2,), requires_grad=True)
    """

    _is_on = False


class enable_grad(_Switch):  # noqa: N801
    """A context, or a decorator, in which operators are recorded again, inside `no_grad`.

    >>> w = ne.tensor([1.0, 2.0], names="C").requires_grad_()
    >>> with ne.no_grad(), ne.enable_grad():
    ...     (2 * w).requires_grad
    True
    """

    _is_on = True


@checked
def is_grad_enabled() -> bool:
    """Return whether operators are recorded here: False inside `no_grad`.

    >>> ne.is_grad_enabled()
    True
    """
    return MODE.is_on
