"""The errors of `nameexpr.compat.einops`: of the types that einops raises, and of this package."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from nameexpr.errors import NameExprError

Base: Any = RuntimeError if find_spec("einops") is None else import_module("einops").EinopsError


class EinopsError(NameExprError, Base):  # type: ignore[misc]  # mypy does not know the class
    """A pattern that is wrong, or does not fit: a RuntimeError and a ValueError.

    If einops is installed, it is also its `EinopsError`, so that `except` clauses that exist catch it.
    """

    has_code = False


class UnsupportedError(NameExprError, NotImplementedError):
    """What einops does not do: a NotImplementedError."""

    has_code = False
