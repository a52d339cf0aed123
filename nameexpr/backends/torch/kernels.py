"""How PyTorch spells the pointwise functions of the language: operators, functions of another name, and those
that are functions of this package.
"""

from __future__ import annotations

OPERATORS = {
    "add": "+",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "equal": "==",
    "floor_divide": "//",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "multiply": "*",
    "not_equal": "!=",
    "power": "**",
    "remainder": "%",
    "subtract": "-",
    "true_divide": "/",
}
SIGNS = {"invert": "~", "negative": "-"}
RENAMED = {"sign": "sgn"}
"""Functions that PyTorch calls by another name."""
OWN = frozenset(
    {
        "absolute",
        "arctan2",
        "clip",
        "conjugate",
        "copysign",
        "fmod",
        "gelu",
        "hypot",
        "imag",
        "logaddexp",
        "logical_and",
    }
    | {"logical_or", "logical_xor", "maximum", "minimum", "nextafter", "positive", "real", "silu"}
    | {"softplus", "to_int", "where"}
)
"""Functions that are not a single call."""
