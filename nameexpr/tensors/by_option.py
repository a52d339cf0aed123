"""The options of factories: those of a library other than NumPy, which make a tensor of that library.

>>> import torch
>>> ne.zeros(2, names="N", dtype=torch.float32).dtype
torch.float32
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.arguments import checked_device
from nameexpr.tensors.core import Core

KEPT = frozenset({"torch"})
"""Libraries whose arrays a NamedTensor keeps as they are."""


def library_of_option(option: object) -> str | None:
    """Return the library of a dtype or a device, if they are objects of one."""
    root = type(option).__module__.partition(".")[0]
    return root if root in KEPT else None


def made_by_library(
    verb: str, size: Any, names: object, options: dict[str, Any], out: Any, *values: Any
) -> Any:
    """Return a new tensor of the library of an option or the output; None if that is NumPy."""
    kernels = out._kernels if isinstance(out, Core) else None
    library = library_of_option(options.get("dtype")) or library_of_option(options.get("device"))
    library = library if kernels is None else kernels.LIBRARY
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
    return import_module("nameexpr.tensors.libraries.making")


_HARMLESS: dict[str, tuple[object, ...] | None] = {
    "requires_grad": (False, None),
    "pin_memory": (False, None),
    "layout": None,
    "memory_format": None,
}
_OWN = {
    **dict.fromkeys(("zeros", "ones", "empty"), ("names", "dtype", "out")),
    **dict.fromkeys(("rand", "randn"), ("names", "dtype", "generator", "out")),
    **dict.fromkeys(("rand_like", "randn_like"), ("dtype", "generator")),
    "full": ("names", "dtype"),
}
"""The keywords of each function; those that are not listed have `dtype`."""


def check_keywords(verb: str, torch: dict[str, Any]) -> None:
    """Accept PyTorch's other keywords if their values are the defaults, and reject them otherwise (NE681)."""
    for name, value in torch.items():
        if name == "device":
            checked_device(value)
        elif name not in _HARMLESS or value not in (_HARMLESS[name] or (value,)):
            own = _OWN.get(verb, ("dtype",))
            hint = did_you_mean(name, own) or f"it takes {' and '.join(f'{keyword}=' for keyword in own)}"
            if name == "requires_grad":
                hint = "tensors do not record gradients"
            elif name == "size" and "names" in own:
                hint = f"sizes come first: {verb}({shown(value)}{', 1' if verb == 'full' else ''})"
            raise error(Diagnostic("NE681", f"{verb} does not support {name}={shown(value)}", hint=hint))
