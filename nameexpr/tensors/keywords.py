"""Keywords of the functions that make tensors, beside those that each has: PyTorch's, and misspelt ones."""

from __future__ import annotations

from typing import Any

from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.devices import checked_device

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
"""The keywords that each function has; those that are not here have `dtype`."""


def check_keywords(verb: str, torch: dict[str, Any]) -> None:
    """Accept PyTorch's other keywords where they ask for nothing, and refuse them otherwise (NE681)."""
    for name, value in torch.items():
        if name == "device":
            checked_device(value)
        elif name not in _HARMLESS or value not in (_HARMLESS[name] or (value,)):
            message = f"{verb} has no use for {name}={shown(value)}"
            raise error(Diagnostic("NE681", message, hint=_hint(verb, name, value)))


def _hint(verb: str, name: str, value: object) -> str:
    if name == "requires_grad":
        return "tensors record no gradients"
    own = _OWN.get(verb, ("dtype",))
    if name == "size" and "names" in own:
        return f"sizes come first: {verb}({shown(value)}{', 1' if verb == 'full' else ''})"
    return did_you_mean(name, own) or f"it takes {' and '.join(f'{one}=' for one in own)}"
