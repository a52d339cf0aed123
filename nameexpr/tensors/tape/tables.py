"""Which rule each method has, and which methods need none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nameexpr.tensors.tape import products, selecting

SEVERAL: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(["matmul", "mm", "mv", "bmm", "dot", "__matmul__"], products.product),
    "__rmatmul__": products.reflected,
    "addmm": products.add_product,
    "addmv": products.add_product,
    "tensordot": products.tensordot,
    "masked_fill": selecting.masked_fill,
    "index_fill": selecting.index_fill,
    "where": selecting.where_method,
    "clamp": selecting.clamp,
    "clip": selecting.clamp,
}
SELECTIONS: dict[str, Callable[..., Any]] = {
    "index_select": selecting.index_select,
    "gather": selecting.gather,
    "masked_select": selecting.masked_select,
    "bernoulli": selecting.drawn,
}
COMPARISONS = frozenset(["eq", "ne", "lt", "le", "gt", "ge"])
_CONSTANT = (
    "all any argmax argmin argsort count_nonzero isnan isinf isfinite bitwise_not logical_not logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge bool byte char short int "
    "long equal"
)
CONSTANT = frozenset(_CONSTANT.split())
"""Methods whose results are bools, integers or answers."""
SIGNS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
}
BITS = ("and", "or", "xor", "lshift", "rshift")
