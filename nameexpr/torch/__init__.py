"""Layers of PyTorch that compute texts: `nameexpr.torch.Expression` and `nameexpr.torch.Formula`."""

from importlib.util import find_spec

from nameexpr.errors import Diagnostic, error

if find_spec("torch") is None:
    raise error(
        Diagnostic("NE686", "layers need torch, which is not installed", hint="pip install nameexpr[torch]")
    )

from nameexpr.torch.layers import ExpressionLayer as Expression
from nameexpr.torch.layers import FormulaLayer as Formula

__all__ = ["Expression", "Formula"]
