"""`backends()`: which array libraries texts run on, and which are installed. No library is imported."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import MappingProxyType

from nameexpr.carets import aligned_columns
from nameexpr.records import record

OLDEST: Mapping[str, str] = MappingProxyType(
    {"numpy": "2.2.2", "torch": "2.4", "jax": "0.4.35", "dask": "2024.8"}
)
"""The oldest supported release of each library."""
WITH_TENSORS = frozenset({"dask", "jax", "numpy", "torch"})
"""Libraries whose arrays a `NamedTensor` can hold."""
STANDARD = "array API"


@record
class Backend:
    """A library that texts run on.

    Attributes
    ----------
    name : str
        The name of its module; "array API" for all libraries of the standard.
    version : str or None
        The release that is installed; None if none is.
    is_imported : bool
        Whether this process has imported it.
    oldest : str
        The oldest supported release.
    takes : tuple of str
        What it computes: "expressions", "formulas", "NamedTensor".
    """

    name: str
    version: str | None
    is_imported: bool
    oldest: str
    takes: tuple[str, ...]

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return self.version is not None


class Backends(dict[str, Backend]):
    """Libraries by name. Printed, it is a table."""

    def __repr__(self) -> str:
        """Return the table."""
        rows = [[one.name, *_state(one), ", ".join(one.takes)] for one in self.values()]
        return "\n".join(aligned_columns([["library", "version", "", "for"], *rows]))


def backends() -> Backends:
    """Return the array libraries that texts run on, by name; none is imported for it.

    Operands determine which library computes; see docs/libraries.md.

    Examples
    --------
    >>> import nameexpr as ne
    >>> list(ne.backends())
    ['numpy', 'torch', 'jax', 'dask', 'array API']
    >>> ne.backends()["numpy"].is_installed
    True
    """
    found = Backends({name: _backend(name, oldest) for name, oldest in OLDEST.items()})
    found[STANDARD] = Backend(STANDARD, "any", is_imported=False, oldest="2023.12", takes=_takes(STANDARD))
    return found


def _backend(name: str, oldest: str) -> Backend:
    return Backend(name, _version(name), name in sys.modules, oldest, _takes(name))


def _takes(name: str) -> tuple[str, ...]:
    return ("expressions", "formulas", *(["NamedTensor"] if name in WITH_TENSORS else []))


def _version(name: str) -> str | None:
    """Return the release of a package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:  # it may be on the path without being installed
        return None if find_spec(name) is None else "unknown"


def _state(one: Backend) -> tuple[str, str]:
    if one.name == STANDARD:
        return "", "arrays with __array_namespace__"
    if one.version is None:
        return "-", f"pip install 'nameexpr[{one.name}]'"
    return one.version, "imported" if one.is_imported else "installed"
