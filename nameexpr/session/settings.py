"""What `:set` sets: how texts are computed, and how values are shown.

>>> changed(Settings(), "precision", "8").precision
8
>>> changed(Settings(), "memory_limit", "2GB").memory_limit
2000000000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from nameexpr.errors import did_you_mean
from nameexpr.pictures.words import bytes_text
from nameexpr.session.faults import LineError
from nameexpr.session.running import TextOptions
from nameexpr.whole_files import memory_of_machine

MOST_DIGITS = 30
"""More digits than any float has."""


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


def options_of(settings: Settings) -> TextOptions:
    """Return the options for compiling; there is always a memory limit."""
    optimize: str | bool | None = False if settings.optimize == "false" else settings.optimize
    return TextOptions(settings.dtype, optimize, settings.memory_limit or memory_of_machine())


def changed(settings: Settings, name: str, value: str) -> Settings:
    """Return the settings with one changed; "auto" is its default.

    Raises
    ------
    LineError
        If there is no such setting, or no such value.
    """
    if name not in SETTINGS or name == SEED:
        hint = did_you_mean(name, SETTINGS) or f"there are {', '.join(SETTINGS)}"
        raise LineError(f"there is no setting '{name}'", hint=hint)
    after: Any = getattr(Settings(), name) if value == "auto" else SETTINGS[name].read(value)
    return replace(settings, **{name: after})


def listed(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value and description of each setting."""
    values = {field.name: getattr(settings, field.name) for field in fields(Settings)}
    if settings.memory_limit is not None:
        values["memory_limit"] = bytes_text(settings.memory_limit)
    return [
        (name, "auto" if value is None else str(value), SETTINGS[name].about)
        for name, value in values.items()
    ]


def read_bytes(value: str) -> int:
    """Parse a number of bytes.

    >>> read_bytes("1.5kB"), read_bytes("1KiB"), read_bytes("64")
    (1500, 1024, 64)
    """
    from argparse import ArgumentTypeError

    from nameexpr.terminal.arguments import as_bytes

    try:
        return as_bytes(value)
    except ArgumentTypeError:
        raise LineError(f"'{value}' is no number of bytes", hint="such as 512MB") from None


def read_seed(value: str) -> int:
    """Parse a seed."""
    if not value.isascii() or not value.isdigit() or len(value) > 18:  # noqa: PLR2004  those of 64 bits
        raise LineError(f"'{value}' is no seed", hint="such as :set seed 0")
    return int(value)


def _read_dtype(value: str) -> str:
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError, SyntaxError):
        raise LineError(f"'{value}' is no dtype", hint="such as float32") from None
    if dtype.kind not in "biufc":
        raise LineError(f"'{value}' is no dtype to compute in", hint="such as float32")
    return dtype.name


def _read_optimize(value: str) -> str:
    from nameexpr.runtime.options import check_optimize

    if value.casefold() != "false":
        check_optimize(value)
    return value.casefold()


def _read_precision(value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value[:3]) > MOST_DIGITS:
        raise LineError(f"'{value}' is no number of digits", hint=f"from 0 to {MOST_DIGITS}")
    return int(value)


class Setting(NamedTuple):
    """A setting: description, values to complete, and the parser of a value."""

    about: str
    choices: tuple[str, ...]
    read: Callable[[str], Any]


SEED = "seed"
SETTINGS: Mapping[str, Setting] = {
    "dtype": Setting(
        "the dtype that expressions are computed in, such as float32",
        ("auto", "float32", "float64", "complex128", "int64"),
        _read_dtype,
    ),
    "optimize": Setting(
        "the order of contractions, such as greedy or optimal",
        ("auto", "greedy", "optimal", "false"),
        _read_optimize,
    ),
    "memory_limit": Setting(
        "bytes that a line may allocate, such as 512MB", ("auto", "512MB", "2GB"), read_bytes
    ),
    "precision": Setting("digits after the point that are shown", ("2", "4", "8", "16"), _read_precision),
    SEED: Setting("where random numbers start", ("0",), read_seed),
}
"""Every setting; the seed is no field of `Settings`, for it is handed on at once."""
