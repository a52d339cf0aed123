"""What `:set` sets: how texts are computed, and how values are shown.

>>> changed(Settings(), "precision", "8").precision
8
>>> changed(Settings(), "memory_limit", "2GB").memory_limit
2000000000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from nameexpr.errors import did_you_mean
from nameexpr.pictures.words import bytes_text
from nameexpr.session.faults import LineError
from nameexpr.session.running import Options
from nameexpr.whole_files import memory_of_machine


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a session.

    Attributes
    ----------
    dtype : str or None
        The dtype that expressions are computed in; None for the usual one.
    optimize : str or None
        The order of contractions, as for `nameexpr.einsum`.
    memory_limit : int or None
        Bytes that a line may allocate; None for the memory of the machine.
    precision : int
        Digits after the point that are shown.
    """

    dtype: str | None = None
    optimize: str | None = None
    memory_limit: int | None = None
    precision: int = 4


ABOUT: Mapping[str, str] = {
    "dtype": "the dtype that expressions are computed in, such as float32",
    "optimize": "the order of contractions, such as greedy or optimal",
    "memory_limit": "bytes that a line may allocate, such as 512MB",
    "precision": "digits after the point that are shown",
    "seed": "where random numbers start",
}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "dtype": ("auto", "float32", "float64", "complex128", "int64"),
    "optimize": ("auto", "greedy", "optimal", "false"),
    "memory_limit": ("auto", "512MB", "2GB"),
    "precision": ("2", "4", "8", "16"),
    "seed": ("0",),
}


def options_of(settings: Settings) -> Options:
    """Return the settings that matter to how a text is computed; a limit of memory always does."""
    optimize: str | bool | None = False if settings.optimize == "false" else settings.optimize
    return Options(settings.dtype, optimize, settings.memory_limit or memory_of_machine())


def changed(settings: Settings, name: str, value: str) -> Settings:
    """Return the settings with one changed; "auto" is the value that it has at first.

    Raises
    ------
    LineError
        If there is no such setting, or no such value.
    """
    if name not in _READ:
        hint = did_you_mean(name, ABOUT) or f"there are {', '.join(ABOUT)}"
        raise LineError(f"there is no setting '{name}'", hint=hint)
    if value == "auto":
        default = next(one.default for one in fields(Settings) if one.name == name)
        return _with(settings, name, default)
    return _with(settings, name, _READ[name](value))


def _with(settings: Settings, name: str, value: Any) -> Settings:
    return replace(settings, **{name: value})


def listed(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of each setting."""
    shown = {name: getattr(settings, name) for name in _READ}
    if settings.memory_limit is not None:
        shown["memory_limit"] = bytes_text(settings.memory_limit)
    return [(name, "auto" if value is None else str(value), ABOUT[name]) for name, value in shown.items()]


def _dtype(value: str) -> str:
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError, SyntaxError):
        raise LineError(f"'{value}' is no dtype", hint="such as float32") from None
    if dtype.kind not in "biufc":
        raise LineError(f"'{value}' is no dtype to compute in", hint="such as float32")
    return dtype.name


def _optimize(value: str) -> str:
    from nameexpr.runtime.options import check_optimize

    if value.casefold() != "false":
        check_optimize(value)
    return value.casefold()


def read_bytes(value: str) -> int:
    """Return how many bytes a text says.

    >>> read_bytes("1.5kB"), read_bytes("1KiB"), read_bytes("64")
    (1500, 1024, 64)
    """
    from argparse import ArgumentTypeError

    from nameexpr.terminal.arguments import as_bytes

    try:
        return as_bytes(value)
    except ArgumentTypeError:
        raise LineError(f"'{value}' is no number of bytes", hint="such as 512MB") from None


def _precision(value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value[:3]) > 30:  # noqa: PLR2004  more than any float has
        raise LineError(f"'{value}' is no number of digits", hint="from 0 to 30")
    return int(value)


_READ: Mapping[str, Callable[[str], Any]] = {
    "dtype": _dtype,
    "optimize": _optimize,
    "memory_limit": read_bytes,
    "precision": _precision,
}
