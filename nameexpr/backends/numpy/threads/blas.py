"""The number of threads of NumPy's BLAS: as the library returns it, or as environment variables set it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

GETTERS = (
    "scipy_openblas_get_num_threads64_",
    "scipy_openblas_get_num_threads",
    "openblas_get_num_threads64_",
    "openblas_get_num_threads",
    "MKL_Get_Max_Threads",
    "bli_thread_get_num_threads",
)
"""The functions of OpenBLAS as NumPy's wheels and distributions have it, of MKL and of BLIS."""
VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OMP_NUM_THREADS",
)


def has_one_thread() -> bool:
    """Return whether products of matrices run on one thread; False if that is unknown."""
    getter = _getter()
    if getter is not None:
        return getter() == 1
    return next((os.environ[name] for name in VARIABLES if name in os.environ), "") == "1"


@cache
def _getter() -> Callable[[], int] | None:
    """Return the function of the library that NumPy is linked with, which a search by name finds, too."""
    try:
        import ctypes

        library = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
    except (ImportError, OSError, TypeError):
        return None
    return next((getattr(library, name) for name in GETTERS if hasattr(library, name)), None)
