"""Everything that `nameexpr doctor` looks at, gathered into one record, which `doctor_findings` judges.

What cannot be loaded, NumPy itself for one, is a fact like any other.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from nameexpr.cli.doctor.blas import Blas, describe_blas
from nameexpr.cli.doctor.machine import Machine, describe_machine
from nameexpr.cli.doctor.trials import Check, Timings, check_results, measure
from nameexpr.syntax.grammar import stored_tables, table_state
from nameexpr.syntax.lexer.limits import Limits, limits
from nameexpr.terminal.faults import reason
from nameexpr.version import __version__

NEEDED = {"numpy": ("2.2.2", ""), "lark": ("1.2", "2"), "opt_einsum": ("3.4", "4")}
"""What must be installed: the oldest release that will do, and the first that will not."""

EXTRAS = {"bfloat16": ("ml_dtypes", "0.5")}
"""What each extra installs, and its oldest release that will do."""

PYTHON = "3.11"
MISSING = "it is not installed"
UNTRIED = "it was not tried"
_PREFIXES = ("NAMEEXPR_", "OPENBLAS_", "GOTO_", "OMP_", "MKL_", "BLIS_", "VECLIB_", "NPY_")
_STARTS = ("expression", "formula")


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its version, or why it cannot be imported, and the releases that will do."""

    name: str
    version: str | None
    oldest: str
    first_wrong: str = ""
    fault: str | None = None
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is so.

    `tables` says of each grammar whether the parser's tables are stored, built anew, unreadable or, without
    lark, unknown; `tables_lark` is the release of lark that they were made by.
    """

    nameexpr: str
    python: Package
    implementation: str
    packages: tuple[Package, ...]
    machine: Machine
    blas: Blas
    tables: Mapping[str, str]
    tables_lark: str | None
    limits: Limits
    variables: Mapping[str, str]
    checks: tuple[Check, ...]
    timings: Timings


def gather(environment: Mapping[str, str]) -> Facts:
    """Return the facts about this process; what computes is loaded, and a few things are timed."""
    machine = describe_machine()  # first, while the load is not of our own making
    needed = tuple(_package(name, *bounds) for name, bounds in NEEDED.items())
    versions = {package.name: package.version for package in needed}
    has_numpy = versions["numpy"] is not None
    return Facts(
        nameexpr=__version__,
        python=Package("Python", platform.python_version(), PYTHON),
        implementation=platform.python_implementation(),
        packages=(*needed, *_extras(can_load=has_numpy)),
        machine=machine,
        blas=describe_blas(environment) if has_numpy else Blas(),
        tables={start: table_state(start, versions["lark"]) for start in _STARTS},
        tables_lark=_tables_lark(),
        limits=limits(),
        variables={name: environment[name] for name in sorted(environment) if name.startswith(_PREFIXES)},
        checks=check_results() if has_numpy else (),
        timings=measure() if has_numpy else Timings(),
    )


def _extras(*, can_load: bool) -> tuple[Package, ...]:
    """Return what the extras install; not even tried without NumPy, over which they write tracebacks."""
    if can_load:
        return tuple(_package(name, oldest, extra=extra) for extra, (name, oldest) in EXTRAS.items())
    return tuple(Package(name, None, oldest, "", UNTRIED, extra) for extra, (name, oldest) in EXTRAS.items())


def _package(name: str, oldest: str, first_wrong: str = "", extra: str | None = None) -> Package:
    """Return what importing a package shows: that it is installed does not mean that it can be loaded."""
    try:
        version = str(import_module(name).__version__)
    except ModuleNotFoundError as fault:
        why = MISSING if fault.name == name else reason(fault)
        return Package(name, None, oldest, first_wrong, why, extra)
    except Exception as fault:  # noqa: BLE001  a damaged package may raise anything
        return Package(name, None, oldest, first_wrong, reason(fault), extra)
    return Package(name, version, oldest, first_wrong, None, extra)


def _tables_lark() -> str | None:
    try:
        return str(stored_tables("expression")["lark"])
    except (OSError, ValueError, KeyError):
        return None
