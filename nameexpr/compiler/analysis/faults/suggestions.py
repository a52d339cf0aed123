"""Functions of NumPy, PyTorch and others that formulas have not by that name, and what is written instead."""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.ops import FUNCTIONS, REDUCTIONS

_SAME = {
    "lerp": "x + t * (y - x)",
    "rsqrt": "1 / sqrt(x)",
    "len": "size[C]",
    **dict.fromkeys(("arange", "range", "iota"), "index[C]"),
    **{name: row.usage for row in (*FUNCTIONS.values(), *REDUCTIONS.values()) for name in row.also.split()},
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
