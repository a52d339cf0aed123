"""The public functions. `einsum` and `compile` find or create a function, unwrap the operands, call it, and
wrap the result. Those that are not called often are `public`, which sees to the errors that leave them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])
Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def public(function: Documented) -> Documented:
    """Return a function whose errors leave it without this package's frames, and tell of wrong arguments."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as raised:
            from nameexpr.rules.arguments import leaving

            fault = leaving(raised, function, args, kwargs)
            if fault is raised:
                raise
            raise fault from None

    return call  # type: ignore[return-value]  # the same signature


def traced_as(trace: Callable[..., Any]) -> Callable[[Function], Function]:
    """Return a decorator: `torch.compile` traces `trace`, which has no closure, instead of the function.

    PyTorch finds it by an attribute, so that calls that are not traced cost nothing more.
    """

    def decorate(function: Function) -> Function:
        function._torchdynamo_inline = trace  # type: ignore[attr-defined]
        return function

    return decorate


class Elsewhere:
    """An attribute that such objects have in other libraries: reading it raises an error with what to write.

    A `__getattr__` would do the same, and make every attribute slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, made: object, kind: type) -> Any:
        """Raise the AttributeError."""
        from nameexpr.runtime.missing import no_attribute

        raise no_attribute(self.name, made, kind)


def answers(names: str) -> Callable[[Class], Class]:
    """Return a decorator of classes: attributes with these names are answered, and not listed by `dir`."""

    def listed(made: object) -> list[str]:
        owners = type(made).__mro__
        found = {
            name: next((vars(one)[name] for one in owners if name in vars(one)), None)
            for name in object.__dir__(made)
        }
        return [name for name, value in found.items() if not isinstance(value, Elsewhere)]

    def decorate(kind: Class) -> Class:
        for name in names.split():
            setattr(kind, name, Elsewhere(name))
        setattr(kind, "__dir__", listed)  # noqa: B010  a method, which mypy takes for an attribute
        return kind

    return decorate


if "NAMEEXPR_THREADS" in os.environ:
    import_module("nameexpr.runtime.threads")  # reads it
