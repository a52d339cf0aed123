"""Array libraries that programs run on, a package for each: NumPy, PyTorch, JAX, Dask, and any library of the
array API standard. `dispatch` finds the library of operands, `library` is what each provides, and `portable`
is what those other than NumPy share.

`nameexpr.backends()` lists the libraries: this module can be called, for the package has a function of its
name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.backends.listing import Backends


class _Listing(ModuleType):
    """A module that returns the list of libraries when it is called."""

    def __call__(self) -> Backends:
        from nameexpr.backends.listing import backends

        return backends()


backends = sys.modules[__name__]
backends.__class__ = _Listing
