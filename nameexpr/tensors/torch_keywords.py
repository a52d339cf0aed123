"""PyTorch's keywords of factories, which have no meaning for arrays of NumPy: `check_keywords`."""

from __future__ import annotations

from typing import Any

from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.arguments import checked_device

_HARMLESS: dict[str, tuple[object, ...] | None] = {
    "requires_grad": (False, True, None),
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


def recorded(tensor: Any, torch: dict[str, Any]) -> Any:
    """Return a new tensor, which requires a gradient if `requires_grad=True` is among the keywords."""
    return tensor.requires_grad_() if torch and torch.get("requires_grad") else tensor


def check_keywords(verb: str, torch: dict[str, Any]) -> None:
    """Accept PyTorch's other keywords if their values are the defaults, and reject them otherwise (NE681)."""
    for name, value in torch.items():
        if name == "device":
            checked_device(value)
        elif name not in _HARMLESS or value not in (_HARMLESS[name] or (value,)):
            own = _OWN.get(verb, ("dtype",))
            hint = did_you_mean(name, own) or f"it takes {' and '.join(f'{keyword}=' for keyword in own)}"
            if name == "size" and "names" in own:
                hint = f"sizes come first: {verb}({shown(value)}{', 1' if verb == 'full' else ''})"
            raise error(Diagnostic("NE681", f"{verb} does not support {name}={shown(value)}", hint=hint))
