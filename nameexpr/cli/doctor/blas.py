"""The BLAS that NumPy uses, as NumPy's build and the loaded library describe it.

OpenBLAS is asked through the symbols it exports, found from NumPy's own extension module: what that is linked
to is what computes, whatever else is installed. Of other libraries only the name is known.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nameexpr.cli.doctor.machine import read_text

FAMILIES = {
    "openblas": "openblas",
    "mkl": "mkl",
    "accelerate": "accelerate",
    "veclib": "accelerate",
    "blis": "blis",
    "nvpl": "nvpl",
    "armpl": "armpl",
    "atlas": "atlas",
}
"""What stands in the name of a library or of its file, and the family that it tells."""

THREADS = {
    # OpenBLAS takes the first that holds a positive number, in this order.
    "openblas": (
        "OPENBLAS_NUM_THREADS",
        "OPENBLAS_DEFAULT_NUM_THREADS",
        "GOTO_NUM_THREADS",
        "OMP_NUM_THREADS",
    ),
    "mkl": ("MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    "accelerate": ("VECLIB_MAXIMUM_THREADS",),
    "blis": ("BLIS_NUM_THREADS", "OMP_NUM_THREADS"),
}
"""The environment variables that set a family's number of threads, the strongest first."""

_ANY_THREADS = ("OMP_NUM_THREADS",)
_SYMBOLS = [prefix + "openblas_get_{}" + suffix for prefix in ("scipy_", "") for suffix in ("64_", "", "_64")]
_THREADINGS = {0: "none", 1: "pthreads", 2: "OpenMP"}
_MAPS = Path("/proc/self/maps")
_PATH_FIELD = 5


@dataclass(frozen=True, slots=True)
class Blas:
    """A BLAS; None is what is not known. `threads_from` is the variable that sets the number of threads.

    `name` and `version` are what NumPy was built with, `library` the file that is loaded, `core` the
    processor whose kernels run, and `config` how OpenBLAS was built.
    """

    family: str = "unknown"
    name: str | None = None
    version: str | None = None
    library: str | None = None
    core: str | None = None
    config: str | None = None
    threading: str | None = None
    threads: int | None = None
    threads_from: str | None = None


def describe_blas(environment: Mapping[str, str]) -> Blas:
    """Return what is known of the BLAS; NumPy is imported for it."""
    built = _built_with()
    core, config = _text(_ask("corename", ctypes.c_char_p)), _text(_ask("config", ctypes.c_char_p))
    library = next((os.path.basename(path) for path in _library_files()), None)
    family = "openblas" if core or config else family_of(built, library)
    variable = thread_variable(family, environment)
    threads = _ask("num_threads", ctypes.c_int)
    if threads is None and variable is not None:
        threads = _leading_number(environment[variable])
    return Blas(
        family=family,
        name=built.get("name") if built else None,
        version=built.get("version") if built else None,
        library=library,
        core=core,
        config=config,
        threading=_THREADINGS.get(_ask("parallel", ctypes.c_int)),
        threads=threads,
        threads_from=variable,
    )


def family_of(built: Mapping[str, Any] | None, library: str | None) -> str:
    """Return the family that the names tell, "none" if NumPy was built without a BLAS, or "unknown".

    >>> family_of({"name": "scipy-openblas", "found": True}, None)
    'openblas'
    >>> family_of({"name": "blas", "found": True}, "libmkl_rt.so.2")
    'mkl'
    """
    words = f"{(built or {}).get('name', '')} {library or ''}".casefold()
    told = next((family for word, family in FAMILIES.items() if word in words), None)
    if told is not None:
        return told
    # NumPy leaves out of its record what is false.
    return "none" if built is not None and not built.get("found") else "unknown"


def thread_variables(family: str) -> tuple[str, ...]:
    """Return the environment variables that set the number of threads, the strongest first."""
    return THREADS.get(family, _ANY_THREADS)


def thread_variable(family: str, environment: Mapping[str, str]) -> str | None:
    """Return the environment variable that counts; None if the library chooses for itself.

    >>> thread_variable("openblas", {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "0"})
    'OMP_NUM_THREADS'
    """
    return next(
        (one for one in thread_variables(family) if _leading_number(environment.get(one, "")) is not None),
        None,
    )


def _leading_number(value: str) -> int | None:
    """Return the positive number that a text begins with, as C's `atoi` reads it."""
    found = re.match(r"\s*\+?0*([1-9][0-9]{0,8})", value, re.ASCII)
    return int(found[1]) if found else None


def _built_with() -> Mapping[str, Any] | None:
    """Return NumPy's record of its BLAS; None if it has none that can be read."""
    import numpy as np

    try:
        config: Any = np.show_config(mode="dicts")
        return dict(config["Build Dependencies"]["blas"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _ask(what: str, restype: Any) -> Any:
    """Return what the loaded OpenBLAS says of itself; None where it cannot be asked."""
    for path in (*_extension_files(), *_library_files()):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for symbol in _SYMBOLS:
            ask = getattr(library, symbol.format(what), None)
            if ask is not None:
                ask.argtypes, ask.restype = [], restype
                return ask()
    return None


def _text(said: bytes | None) -> str | None:
    return None if said is None else " ".join(said.decode("ascii", "replace").split())


def _extension_files() -> Iterator[str]:
    """Yield NumPy's extension module; but for Windows, a lookup in it covers what it is linked to."""
    try:
        yield str(import_module("numpy._core._multiarray_umath").__file__)
    except ImportError:
        return


def _library_files() -> list[str]:
    """Return the files of BLAS libraries that are loaded, or where that is not told, that NumPy ships."""
    import numpy as np

    maps = read_text(_MAPS)
    if maps:
        fields = (line.split(maxsplit=_PATH_FIELD) for line in maps.splitlines())
        paths = {line[_PATH_FIELD] for line in fields if len(line) > _PATH_FIELD}
    else:
        home = Path(np.__file__).parent
        folders = (home / ".dylibs", home.parent / "numpy.libs")
        paths = {str(path) for folder in folders for path in folder.glob("*")}
    return sorted(path for path in paths if any(word in os.path.basename(path) for word in FAMILIES))
