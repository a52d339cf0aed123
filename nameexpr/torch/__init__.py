"""Layers of PyTorch that compute texts: `nameexpr.torch.Expression` and `nameexpr.torch.Formula`.

They are loaded when they are first used, so that everything that looks through the package, such as `help`,
works where PyTorch is not installed.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nameexpr.errors import Diagnostic, error

if TYPE_CHECKING:
    from nameexpr.torch.layers import ExpressionLayer as Expression
    from nameexpr.torch.layers import FormulaLayer as Formula

__all__ = ["Expression", "Formula"]


def __getattr__(name: str) -> Any:
    """Load a layer (NE686 if PyTorch is not installed)."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    if find_spec("torch") is None:
        message = "layers need torch, which is not installed"
        raise error(Diagnostic("NE686", message, hint="pip install nameexpr[torch]"))
    from nameexpr.torch import layers

    layer = globals()[name] = getattr(layers, f"{name}Layer")
    return layer
