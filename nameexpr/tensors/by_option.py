"""The options of factories: those of a library other than NumPy, which make a tensor of that library.

>>> import torch
>>> ne.zeros(2, names="N", dtype=torch.float32).dtype
torch.float32
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import RECORDED

KEPT = frozenset({"dask", "jax", "torch"})
"""Libraries whose arrays a NamedTensor keeps as they are."""


def library_of_option(option: object) -> str | None:
    """Return the library of a dtype or a device, if they are objects of one."""
    root = type(option).__module__.partition(".")[0]
    root = "jax" if root == "jaxlib" else root
    return root if root in KEPT else None


def made_by_library(
    verb: str, size: Any, names: object, options: dict[str, Any], out: Any, *values: Any
) -> Any:
    """Return a new tensor of the library of an option or the output; None if that is NumPy."""
    kernels = out._kernels if isinstance(out, Core) else None
    library = library_of_option(options.get("dtype")) or library_of_option(options.get("device"))
    library = library if kernels is None or kernels is RECORDED else kernels.LIBRARY
    return None if library is None else makers().filled(library, verb, size, names, values, options, out)


def made_like(verb: str, tensor: Core, options: dict[str, Any], *values: Any) -> Any:
    """Return a new tensor of a library with the sizes and names of another."""
    return makers().created(tensor._kernels.LIBRARY, verb, tensor._dims, (tensor, *values), options)


def made_range(bounds: tuple[Any, ...], names: object, options: dict[str, Any]) -> Any:
    """Return evenly spaced numbers of the library of an option."""
    library = library_of_option(options["dtype"]) or library_of_option(options["device"])
    made = makers().created(library, "arange", None, bounds, options)
    return made if names is None else made.rename(names)


def makers() -> Any:
    """Return `nameexpr.tensors.libraries.making`, which is loaded when an array of a library occurs."""
    return LOADED[0] if LOADED else import_module("nameexpr.tensors.libraries.making")


LOADED: list[Any] = []
"""The module, which adds itself: torch.compile does not trace imports."""
