"""Collect everything that `nameexpr doctor` reports into one record, which `issues` checks.

A package that cannot be loaded, such as NumPy itself, is a fact like any other.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nameexpr.cli.doctor.machine import Blas, Machine, describe_blas, describe_machine
from nameexpr.cli.doctor.prediction import Prediction, predict
from nameexpr.syntax.limits import Limits, limits
from nameexpr.terminal.faults import reason
from nameexpr.version import __version__

NEEDED = {"numpy": ("2.2.2", ""), "lark": ("1.2", "2"), "opt_einsum": ("3.4", "4")}
"""The required packages: the oldest supported release, and the first unsupported one."""

EXTRAS = {"bfloat16": ("ml_dtypes", "0.5"), "doctor": ("threadpoolctl", "3.5"), "special": ("scipy", "1.13")}
"""The packages of the extras that affect computations, and their oldest supported releases."""

PYTHON = "3.11"
MISSING = "it is not installed"
UNTRIED = "it was not tried"
_PREFIXES = ("NAMEEXPR_", "OPENBLAS_", "GOTO_", "OMP_", "MKL_", "BLIS_", "VECLIB_", "NPY_")

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
"""Texts, their equivalents for `np.einsum`, a dtype and shapes; the operand with a group is passed merged."""

WRONG = (("a (b -> a", "NE122"), ("y[N] = sum[C](x[N C]", "NE143"))
"""Texts that only the grammars reject, and the codes of their errors."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its version, or why it cannot be imported, and the supported releases."""

    name: str
    version: str | None
    oldest: str
    first_wrong: str = ""
    fault: str | None = None
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """The trial of one text; `fault` describes what went wrong, None if nothing did."""

    text: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything known about an installation."""

    nameexpr: str
    python: Package
    implementation: str
    packages: tuple[Package, ...]
    machine: Machine
    blas: Blas
    limits: Limits
    variables: Mapping[str, str]
    trials: tuple[Trial, ...]
    profile: Prediction | None = None

    def package(self, name: str) -> Package | None:
        """Return a package by name; None if it was not examined."""
        return next((package for package in self.packages if package.name == name), None)

    @property
    def has_numpy(self) -> bool:
        """Whether NumPy can be imported."""
        numpy = self.package("numpy")
        return numpy is not None and numpy.version is not None


def inspect(environment: Mapping[str, str]) -> Installation:
    """Inspect this process: import the packages and try a few texts."""
    machine = describe_machine()  # first, before this process adds to the load
    needed = tuple(_package(name, *bounds) for name, bounds in NEEDED.items())
    versions = {package.name: package.version for package in needed}
    has_numpy = versions["numpy"] is not None
    # Without NumPy they are not tried: some print tracebacks.
    extras = tuple(
        _package(name, oldest, extra=extra) if has_numpy else Package(name, None, oldest, "", UNTRIED, extra)
        for extra, (name, oldest) in EXTRAS.items()
    )
    profile = predict() if has_numpy else None  # first: what there is to say about it is said in the report
    return Installation(
        nameexpr=__version__,
        python=Package("Python", platform.python_version(), PYTHON),
        implementation=platform.python_implementation(),
        packages=(*needed, *extras),
        machine=machine,
        blas=describe_blas(environment) if has_numpy else Blas(),
        limits=limits(),
        variables={name: environment[name] for name in sorted(environment) if name.startswith(_PREFIXES)},
        trials=try_expressions() if has_numpy else (),
        profile=profile,
    )


def _package(name: str, oldest: str, first_wrong: str = "", extra: str | None = None) -> Package:
    """Import a package to describe it: an installed one may still fail to load."""
    version = fault = None
    try:
        version = str(import_module(name).__version__)
    except Exception as why:  # noqa: BLE001  a damaged package may raise anything
        is_missing = isinstance(why, ModuleNotFoundError) and why.name == name
        fault = MISSING if is_missing else reason(why)
    return Package(name, version, oldest, first_wrong, fault, extra)


def try_expressions() -> tuple[Trial, ...]:
    """Compare a few texts with `np.einsum`, and check that wrong ones are rejected. All values are integers,
    so that every order of additions gives the same result.
    """
    return (*(_tried(*row) for row in TEXTS), *(_refused(*row) for row in WRONG))


def _tried(text: str, subscripts: str, dtype: str, shapes: Sequence[tuple[int, ...]]) -> Trial:
    import numpy as np

    arrays = [(np.arange(math.prod(shape)) % 7 - 3).reshape(shape).astype(dtype) for shape in shapes]
    expected = np.einsum(subscripts, *arrays)
    fault = None
    try:
        result = np.asarray(_computed(text, *arrays))
        if result.dtype != expected.dtype:
            fault = f"the result is {result.dtype}, not {expected.dtype}"
        elif not np.array_equal(result, expected):
            fault = "the result differs from that of np.einsum"
    except Exception as raised:  # noqa: BLE001 any exception is reported
        fault = f"{type(raised).__name__}: {reason(raised)}"
    return Trial(text, fault)


def _refused(text: str, code: str) -> Trial:
    from nameexpr.errors import NameExprError
    from nameexpr.runtime.compile import compile  # noqa: A004  the package's name for it

    fault: str | None = f"it should be rejected with {code}"
    try:
        compile(text)
    except NameExprError as raised:
        fault = None if raised.code == code else f"the mistake is {raised.code}, not {code}"
    except Exception as raised:  # noqa: BLE001  as above
        fault = f"{type(raised).__name__}: {reason(raised)}"
    return Trial(text, fault)


def _computed(text: str, *arrays: Any) -> Any:
    from nameexpr.runtime.einsum import einsum
    from nameexpr.runtime.evaluate import evaluate

    if "=" in text:
        return evaluate(text, operands=dict(zip("Ax", arrays, strict=True)))
    if "(" in text:
        first, *others = arrays
        return einsum(text, first.reshape(len(first), -1), *others)
    return einsum(text, *arrays)
