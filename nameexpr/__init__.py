"""nameexpr: einsum-style expressions with real names, and tensors whose dims have names.

>>> import numpy as np, nameexpr as ne
>>> ne.einsum("batch chan, chan out -> batch out", np.ones((2, 3)), np.ones((3, 4))).shape
(2, 4)

Public names are loaded when they are first used (PEP 562), so that importing the package, and the command
line, cost next to nothing.
"""

from typing import TYPE_CHECKING, Any

from nameexpr.version import __version__

if TYPE_CHECKING:
    from nameexpr.api.check import Sizes, check
    from nameexpr.api.compiled import Compiled, Signature, compile  # noqa: A004  re.compile's name, too
    from nameexpr.api.einsum import CacheInfo, cache_clear, cache_info, einsum
    from nameexpr.api.explain import explain
    from nameexpr.api.plan import Plan, PlanStep
    from nameexpr.errors import (
        DimNameError,
        DimRangeError,
        LimitError,
        NameExprError,
        OperandError,
        OptionError,
        ParseError,
        RuleError,
        SizeError,
    )
    from nameexpr.syntax.limits import Limits, limits, set_limits
    from nameexpr.tensors import NamedTensor, as_tensor, from_numpy, tensor

__all__ = [
    "CacheInfo",
    "Compiled",
    "DimNameError",
    "DimRangeError",
    "LimitError",
    "Limits",
    "NameExprError",
    "NamedTensor",
    "OperandError",
    "OptionError",
    "ParseError",
    "Plan",
    "PlanStep",
    "RuleError",
    "Signature",
    "SizeError",
    "Sizes",
    "__version__",
    "as_tensor",
    "cache_clear",
    "cache_info",
    "check",
    "compile",
    "einsum",
    "explain",
    "from_numpy",
    "limits",
    "set_limits",
    "tensor",
]

_HOMES = {
    "nameexpr.api.check": ("Sizes", "check"),
    "nameexpr.api.compiled": ("Compiled", "Signature", "compile"),
    "nameexpr.api.einsum": ("CacheInfo", "cache_clear", "cache_info", "einsum"),
    "nameexpr.api.explain": ("explain",),
    "nameexpr.api.plan": ("Plan", "PlanStep"),
    "nameexpr.errors": (
        "DimNameError",
        "DimRangeError",
        "LimitError",
        "NameExprError",
        "OperandError",
        "OptionError",
        "ParseError",
        "RuleError",
        "SizeError",
    ),
    "nameexpr.syntax.limits": ("Limits", "limits", "set_limits"),
    "nameexpr.tensors": ("NamedTensor", "as_tensor", "from_numpy", "tensor"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in, and keep it."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'nameexpr' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
