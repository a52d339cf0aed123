"""Profiles as files: JSON with a header (what was measured, and how) and the figures.

Files are checked when they are read: the format and its version, the names, types and ranges of all
figures. One that cannot be used is refused with one warning, and the generic profile is used instead. The
files in this folder ship with the package, written by `python -m benchmarks.fit`; `nameexpr calibrate` writes
that of a user's machine.
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, NamedTuple, NoReturn

from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.tracebacks import outside
from nameexpr.whole_files import read_json, replace_file

FORMAT, VERSION = "nameexpr profile", 1
LEAST, MOST = 1e-6, 1e9
"""The range of figures in nanoseconds."""
LARGEST = 1 << 40
"""The largest number of bytes, elements or threads."""
LONGEST = 100_000
"""The characters of a file; profiles have about 2,000."""
NAMED = "write one with nameexpr calibrate --output, or unset NAMEEXPR_TARGET"
OWN = "nameexpr calibrate writes a new one, and NAMEEXPR_TARGET=generic ignores it"
"""What to do about a profile that is not used: one that the environment names, and this machine's own."""


class ProfileError(Exception):
    """Why a profile is not used."""


class Header(NamedTuple):
    """What a profile is for, and how it was measured.

    `machine` is the name that this machine's own profile has; `measured` is the command, its
    duration and the load of the machine.
    """

    machine: str
    processor: str
    blas: str
    core: str
    threads: int
    numpy: str
    date: str
    measured: str


def figures_of(profile: Profile) -> dict[str, float]:
    """Return the figures of a profile by name."""
    return {name: getattr(profile, name) for name in Profile.__match_args__}


def write_profile(path: str, header: Header, profile: Profile) -> None:
    """Write a profile, completely or not at all; folders that are missing are created."""
    figures = {name: _rounded(figure) for name, figure in figures_of(profile).items()}
    data = {"format": FORMAT, "version": VERSION, **header._asdict(), "figures": figures}
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    replace_file(path, lambda file: file.write((json.dumps(data, indent=1) + "\n").encode()))


def _rounded(figure: float) -> float:
    return figure if isinstance(figure, int) else float(f"{figure:.4g}")


def read_profile(path: str) -> tuple[Header, Profile]:
    """Return the header and the profile of a file; ProfileError if it cannot be used."""
    try:
        data = read_json(path, LONGEST)
    except OSError as fault:
        _refuse(path, f"it cannot be read ({fault.strerror})", fault)
    except ValueError as fault:
        _refuse(path, str(fault), fault)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(path, f"it is not a profile: its format is not {FORMAT!r}")
    if data.get("version") != VERSION:
        version = f"{data.get('version')!r:.60}"
        _refuse(path, f"its version is {version}, and this release reads version {VERSION}")
    for key in Header._fields:
        if type(data.get(key)) is not (int if key == "threads" else str):
            _refuse(path, f"its {key!r} is missing or wrong")
    figures = data.get("figures")
    if not isinstance(figures, dict):
        _refuse(path, "it has no figures")
    if others := figures.keys() ^ set(Profile.__match_args__):
        _refuse(path, f"its figures are not those that this release reads: {min(others)!r:.60}")
    for name, figure in figures.items():
        if not _is_possible(name, figure):
            _refuse(path, f"its figure {name!r} is {figure!r:.40}, not {_possible(name)}")
    return Header(*[data[key] for key in Header._fields]), Profile(**figures)


def _is_possible(name: str, figure: Any) -> bool:
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        return False
    if _is_whole(name):
        return isinstance(figure, int) and 1 <= figure <= LARGEST
    return LEAST <= figure <= MOST


def _possible(name: str) -> str:
    return f"an integer from 1 to {LARGEST:,}" if _is_whole(name) else f"a number from {LEAST} to {MOST:,.0f}"


def _is_whole(name: str) -> bool:
    return isinstance(getattr(GENERIC, name), int)


def _refuse(path: str, reason: str, cause: Exception | None = None) -> NoReturn:
    raise ProfileError(f"the profile {path} is not used: {reason}") from cause


def profile_for(path: str, machine: str = "") -> Profile:
    """Return the profile of a file; ProfileError if it cannot be used. `machine` is what its header must
    name, unless it is "".
    """
    header, profile = read_profile(path)
    if machine and header.machine != machine:
        _refuse(path, f"it is for another machine, {header.machine:.100}")
    return profile


def read_or_warn(path: str, machine: str = "") -> Profile | None:
    """Return the profile of a file, or None after a warning; `machine` is "" for a file that the environment
    names.
    """
    try:
        return profile_for(path, machine)
    except ProfileError as fault:
        remedy = OWN if machine else NAMED
        warnings.warn(f"{fault}; the generic one is used instead: {remedy}", stacklevel=outside())
        return None
