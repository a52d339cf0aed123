"""Layers of PyTorch that compute texts: `nameexpr.torch.Expression` and `nameexpr.torch.Formula`."""

from nameexpr.torch.layers import ExpressionLayer as Expression
from nameexpr.torch.layers import FormulaLayer as Formula

__all__ = ["Expression", "Formula"]
