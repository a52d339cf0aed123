"""Which rule each method has, and which methods need none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nameexpr.tensors.tape import products, selecting

SEVERAL: dict[str, Callable[..., Any]] = {
    "addmm": products.add_product,
    "addmv": products.add_product,
    "tensordot": products.tensordot,
    "masked_fill": selecting.masked_fill,
    "index_fill": selecting.index_fill,
    "clamp": selecting.clamp,
    "clip": selecting.clamp,
}
SELECTIONS: dict[str, Callable[..., Any]] = {
    "index_select": selecting.index_select,
    "gather": selecting.gather,
    "masked_select": selecting.masked_select,
    "bernoulli": selecting.drawn,
}
SIGNS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
}
