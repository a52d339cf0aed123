"""Everything that `nameexpr doctor` looks at, gathered into one record, which `issues` judges.

What cannot be loaded, NumPy itself for one, is a fact like any other.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nameexpr.cli.doctor.machine import Blas, Machine, describe_blas, describe_machine
from nameexpr.syntax.grammar import stored_tables, table_state
from nameexpr.syntax.lexer.limits import Limits, limits
from nameexpr.terminal.faults import reason
from nameexpr.version import __version__

NEEDED = {"numpy": ("2.2.2", ""), "lark": ("1.2", "2"), "opt_einsum": ("3.4", "4")}
"""What must be installed: the oldest release that will do, and the first that will not."""

EXTRAS = {"bfloat16": ("ml_dtypes", "0.5"), "doctor": ("threadpoolctl", "3.5")}
"""What each extra that computes or tells of it installs, and its oldest release that will do."""

PYTHON = "3.11"
MISSING = "it is not installed"
UNTRIED = "it was not tried"
_PREFIXES = ("NAMEEXPR_", "OPENBLAS_", "GOTO_", "OMP_", "MKL_", "BLIS_", "VECLIB_", "NPY_")
_STARTS = ("expression", "formula")

TEXTS: tuple[tuple[str, str, str, tuple[tuple[int, ...], ...]], ...] = (
    ("batch chan, chan out -> batch out", "bc,co->bo", "float64", ((3, 4), (4, 5))),
    ("a b, b c, c d -> a d", "ab,bc,cd->ad", "float32", ((2, 3), (3, 4), (4, 5))),
    ("N H W C -> N C H W", "nhwc->nchw", "float32", ((2, 3, 4, 5),)),
    ("N C, N C -> N", "nc,nc->n", "int64", ((3, 4), (3, 4))),
    ("a, b -> a b", "a,b->ab", "complex128", ((3,), (4,))),
    ("i i -> i", "ii->i", "float64", ((4, 4),)),
    ("N (h d), d -> h N", "nhd,d->hn", "float64", ((2, 3, 4), (4,))),
    ("α β, β -> α", "ab,b->a", "float64", ((3, 4), (4,))),
    ("y[i] = sum[j](A[i j] * x[j])", "ij,j->i", "float64", ((3, 4), (4,))),
)
"""Texts, what they are for `np.einsum`, a dtype and shapes; the operand with a group is given merged."""


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
class Trial:
    """An expression that was computed; `fault` is what is wrong with the result, None if nothing is."""

    text: str
    dtype: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Installation:
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
    trials: tuple[Trial, ...]

    def package(self, name: str) -> Package | None:
        """Return what is known of a package."""
        return next((package for package in self.packages if package.name == name), None)

    @property
    def has_numpy(self) -> bool:
        """Whether NumPy can be imported."""
        numpy = self.package("numpy")
        return numpy is not None and numpy.version is not None


def inspect(environment: Mapping[str, str]) -> Installation:
    """Return the facts about this process; what computes is loaded, and a few expressions are tried."""
    machine = describe_machine()  # first, while the load is not of our own making
    needed = tuple(_package(name, *bounds) for name, bounds in NEEDED.items())
    versions = {package.name: package.version for package in needed}
    has_numpy = versions["numpy"] is not None
    # Without NumPy they are not even tried: some write tracebacks.
    extras = tuple(
        _package(name, oldest, extra=extra) if has_numpy else Package(name, None, oldest, "", UNTRIED, extra)
        for extra, (name, oldest) in EXTRAS.items()
    )
    return Installation(
        nameexpr=__version__,
        python=Package("Python", platform.python_version(), PYTHON),
        implementation=platform.python_implementation(),
        packages=(*needed, *extras),
        machine=machine,
        blas=describe_blas(environment) if has_numpy else Blas(),
        tables={start: table_state(start, versions["lark"]) for start in _STARTS},
        tables_lark=_tables_lark(),
        limits=limits(),
        variables={name: environment[name] for name in sorted(environment) if name.startswith(_PREFIXES)},
        trials=try_expressions() if has_numpy else (),
    )


def _package(name: str, oldest: str, first_wrong: str = "", extra: str | None = None) -> Package:
    """Return what importing a package shows: that it is installed does not mean that it can be loaded."""
    version = fault = None
    try:
        version = str(import_module(name).__version__)
    except Exception as why:  # noqa: BLE001  a damaged package may raise anything
        is_missing = isinstance(why, ModuleNotFoundError) and why.name == name
        fault = MISSING if is_missing else reason(why)
    return Package(name, version, oldest, first_wrong, fault, extra)


def _tables_lark() -> str | None:
    try:
        return str(stored_tables("expression")["lark"])
    except (OSError, ValueError, KeyError):
        return None


def try_expressions() -> tuple[Trial, ...]:
    """Return how a handful of texts compare with `np.einsum`; the numbers are whole, so that every order of
    additions gives the same.
    """
    return tuple(_tried(*row) for row in TEXTS)


def _tried(text: str, subscripts: str, dtype: str, shapes: Sequence[tuple[int, ...]]) -> Trial:
    import numpy as np

    arrays = [(np.arange(math.prod(shape)) % 7 - 3).reshape(shape).astype(dtype) for shape in shapes]
    expected = np.einsum(subscripts, *arrays)
    fault = None
    try:
        result = np.asarray(_computed(text, *arrays))
        if result.dtype != expected.dtype:
            fault = f"the result is {result.dtype}, and should be {expected.dtype}"
        elif not np.array_equal(result, expected):
            fault = "the result differs from that of np.einsum"
    except Exception as raised:  # noqa: BLE001  whatever is raised is what is to be reported
        fault = f"{type(raised).__name__}: {reason(raised)}"
    return Trial(text, dtype, fault)


def _computed(text: str, *arrays: Any) -> Any:
    from nameexpr.runtime.einsum import einsum
    from nameexpr.runtime.evaluate import evaluate

    if "=" in text:
        return evaluate(text, operands=dict(zip("Ax", arrays, strict=True)))
    if "(" in text:
        first, *others = arrays
        return einsum(text, first.reshape(len(first), -1), *others)
    return einsum(text, *arrays)
