"""Functions of NumPy, PyTorch and others that formulas have not by that name, and what is written instead."""

from __future__ import annotations

from collections.abc import Mapping

_SAME = {
    "absolute": "abs(x)",
    "arccos": "acos(x)",
    "arccosh": "acosh(x)",
    "arcsin": "asin(x)",
    "arcsinh": "asinh(x)",
    "arctan": "atan(x)",
    "arctan2": "atan2(y, x)",
    "arctanh": "atanh(x)",
    "clamp": "clip(x, low, high)",
    "conjugate": "conj(x)",
    "fabs": "abs(x)",
    "fix": "trunc(x)",
    "greater": "x > y",
    "less": "x < y",
    "equal": "x == y",
    "if": "where(c, x, y)",
    "if_else": "where(c, x, y)",
    "ifelse": "where(c, x, y)",
    "lerp": "x + t * (y - x)",
    "ln": "log(x)",
    "mod": "x % y",
    "neg": "-x",
    "negative": "-x",
    "power": "pow(x, y)",
    "rsqrt": "1 / sqrt(x)",
    "swish": "silu(x)",
    "bitwise_and": "x & y",
    "bitwise_or": "x | y",
    "invert": "~x",
    "add": "x + y",
    "subtract": "x - y",
    "multiply": "x * y",
    "divide": "x / y",
    "true_divide": "x / y",
    "float_power": "x ** y",
    "norm2": "norm[C](x)",
    "average": "mean[C](x)",
    "amax": "max[C](x)",
    "amin": "min[C](x)",
    "log_sum_exp": "logsumexp[C](x)",
    "standard_deviation": "std[C](x)",
    "variance": "var[C](x)",
    "len": "size[C]",
    "arange": "index[C]",
    "range": "index[C]",
    "iota": "index[C]",
}
_CONTRACTION = "a sum over a product: sum[k](a[i k] * b[k j])"
_REPEAT = "a dim that stands on the left alone repeats: y[i k=3] = x[i]"
_JOIN = "operands are joined beforehand: nameexpr.cat, nameexpr.stack"
_ORDER = "the order of dims is that of the left side: y[j i] = x[i j]"
_LEFT = "dims are made on the left: y[(i j)] = x[i j], y[i 1 j] = x[i j]"

INSTEAD: Mapping[str, str] = {
    **{name: f"write {written}" for name, written in _SAME.items()},
    **dict.fromkeys(("dot", "matmul", "einsum", "inner", "tensordot", "mm", "bmm", "vdot"), _CONTRACTION),
    **dict.fromkeys(("outer", "multiply_outer"), "a product of values with different dims: a[i] * b[j]"),
    **dict.fromkeys(("transpose", "permute", "swapaxes", "moveaxis"), _ORDER),
    **dict.fromkeys(("reshape", "flatten", "ravel", "unsqueeze", "squeeze", "expand_dims", "view"), _LEFT),
    **dict.fromkeys(("broadcast_to", "repeat", "tile", "expand"), _REPEAT),
    **dict.fromkeys(("normalize", "normalise"), "write x / norm[C](x)"),
    **dict.fromkeys(("cat", "concatenate", "stack", "concat"), _JOIN),
    **dict.fromkeys(("diag", "diagonal"), "one label at two dims is the diagonal: x[i i]"),
    **dict.fromkeys(("trace",), "write sum[i](x[i i])"),
}
"""Hints by the name that was called."""
