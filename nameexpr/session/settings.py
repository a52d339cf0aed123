"""The settings of `:set`: how texts are computed, and how values are shown.

>>> changed(DEFAULTS, "precision", "8")["precision"]
8
>>> changed(DEFAULTS, "memory_limit", "2GB")["memory_limit"]
2000000000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from nameexpr.errors import did_you_mean
from nameexpr.pictures.words import bytes_text
from nameexpr.session.values import as_dtype
from nameexpr.terminal.faults import LineError
from nameexpr.whole_files import memory_of_machine

Settings: TypeAlias = Mapping[str, Any]


class Setting(NamedTuple):
    """A setting: description, values to complete, the parser of a value, and the default."""

    about: str
    choices: tuple[str, ...]
    read: Callable[[str], Any]
    default: Any = None


def options_of(settings: Settings) -> dict[str, Any]:
    """Return the options for compiling; there is always a memory limit."""
    limit = settings["memory_limit"] or memory_of_machine()
    return {"dtype": settings["dtype"], "optimize": settings["optimize"], "memory_limit": limit}


def changed(settings: Settings, name: str, value: str) -> Settings:
    """Return the settings with one changed; "auto" is its default.

    Raises
    ------
    LineError
        If there is no such setting, or no such value.
    """
    if name not in DEFAULTS:
        hint = did_you_mean(name, SETTINGS) or f"there are {', '.join(SETTINGS)}"
        raise LineError(f"there is no setting '{name}'", hint=hint, code="setting")
    return {**settings, name: DEFAULTS[name] if value == "auto" else SETTINGS[name].read(value)}


def listed(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value and description of each setting."""
    texts = {name: "auto" if value is None else str(value).casefold() for name, value in settings.items()}
    if settings["memory_limit"] is not None:
        texts["memory_limit"] = bytes_text(settings["memory_limit"])
    return [(name, text, SETTINGS[name].about) for name, text in texts.items()]


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
        raise LineError(f"'{value}' is not a number of bytes", hint="such as 512MB", code="setting") from None


def _whole_number(value: str, what: str, most: int, hint: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > len(str(most)) or int(value) > most:
        raise LineError(f"'{value}' is not a {what}", hint=hint, code="setting")
    return int(value)


def _read_dtype(value: str) -> str:
    dtype = as_dtype(value)
    if dtype is None or dtype.kind not in "biufc":
        what = "no dtype" if dtype is None else "no dtype to compute in"
        raise LineError(f"'{value}' is {what}", hint="such as float32", code="setting")
    return dtype.name


def _read_optimize(value: str) -> Any:
    from nameexpr.runtime.options import check_optimize
    from nameexpr.terminal.arguments import as_optimize

    return check_optimize(as_optimize(value.casefold()))


SETTINGS: Mapping[str, Setting] = {
    "dtype": Setting(
        "the dtype that texts are computed in, such as float32",
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
    "precision": Setting(
        "digits after the point that are shown",
        ("2", "4", "8", "16"),
        partial(_whole_number, what="number of digits", most=30, hint="from 0 to 30"),
        4,
    ),
    "seed": Setting(
        "where random numbers start",
        ("0",),
        partial(_whole_number, what="seed", most=10**18 - 1, hint="such as :set seed 0"),
    ),
}
DEFAULTS: Settings = {name: row.default for name, row in SETTINGS.items() if name != "seed"}
"""The settings of a new session; the seed is not among them, because it is applied immediately."""
