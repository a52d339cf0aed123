"""The dtypes of formulas and products on an array-API library.

Arrays are promoted by the library itself. The standard does not say what bools with numbers give, or integers
with floats: where a library refuses them, the result is of the dtype of the floats, as in PyTorch and JAX.
Numbers take the dtype of the array that they are combined with. Where a function needs floats, and where a
number with a fraction meets integers, the library's default is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nameexpr.backends.numpy.promotion import ARITHMETIC
from nameexpr.compiler.ir.dtypes import (
    FLOATING_RESULT,
    KIND_OF,
    KINDS,
    REAL_OF,
    WEAK,
    WIDE,
    choose_dtypes,
    needs_narrowing,
)
from nameexpr.errors import Diagnostic, error
from nameexpr.ops import ALONG, FUNCTIONS, REDUCTIONS, Function

COMPLEX_OF = {"float16": "complex64", "float32": "complex64", "float64": "complex128"}
ROWS: dict[str, Function] = {row.kernel: row for row in (*FUNCTIONS.values(), *ALONG.values())}
"""Functions by their kernels."""
OF_BOOLS = frozenset({
    "absolute", "add", "bitwise_and", "bitwise_or", "ceil", "clip", "flip", "floor", "invert", "maximum",
    "minimum", "multiply", "real", "trunc", "where",
})  # fmt: skip
"""Functions of bools that return bools."""
ORDERED = frozenset({
    "maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "clip",
    "sort", "argsort", "cummax", "cummin", "max", "min", "argmax", "argmin", "median",
})  # fmt: skip
"""Functions for which numbers have an order, which complex ones do not have."""
_ORDER = list(KINDS)


class Promotion:
    """The promotion of one library, given its namespace; the answers are those of `Arithmetic`."""

    def __init__(self, namespace: Any) -> None:
        self.namespace = namespace
        self.names = {
            getattr(namespace, name): name for name in (*KIND_OF, "bfloat16") if hasattr(namespace, name)
        }
        default = namespace.__array_namespace_info__().default_dtypes()
        self.default_float = self.names[default["real floating"]]
        self.default_int = self.names[default["integral"]]

    def dtype_of(self, kernel: str, dtypes: tuple[str, ...]) -> str:
        """Return the dtype of a pointwise function, or of one along axes; TypeError if there is none."""
        weak = {str(dtype) for dtype in WEAK.values()}
        if weak.issuperset(dtypes):
            return ARITHMETIC.dtype_of(kernel, dtypes)
        row = ROWS[kernel]
        common = self.promoted(dtypes[1:] if kernel == "where" else dtypes)
        kind = KIND_OF.get(common, "float")
        self._check(row, kernel, common, kind)
        if row.dtype == "bool":
            return "bool"
        if row.dtype == "index":
            return "int64"
        if row.dtype == "sum":
            return WIDE.get(common, common)
        if row.dtype == "real":
            return REAL_OF.get(common, common)
        return self.floating(common) if row.dtype == "float" else common

    def _check(self, row: Function, kernel: str, common: str, kind: str) -> None:
        is_defined = kind[0].replace("u", "i").replace("b", "i") in row.takes
        if not is_defined or (kind == "complex" and kernel in ORDERED):
            raise TypeError(f"not defined for {common}")
        if kind == "bool" and row.dtype == "promoted" and kernel not in OF_BOOLS | ORDERED:
            raise TypeError("not defined for bool")

    def promoted(self, dtypes: Sequence[str]) -> str:
        """Return the dtype of a product of arrays and numbers of these dtypes; TypeError if there is none."""
        numbers = [dtype for dtype in dtypes if dtype in WEAK.values()]
        arrays = [dtype for dtype in dtypes if dtype not in WEAK.values()]
        if not arrays:
            return self._held_as([number.strong for number in WEAK.values() if number in numbers][-1])
        found = self._together(list(dict.fromkeys(arrays)))
        for number in numbers:
            found = self._with_number(found, next(weak.kind for weak in WEAK.values() if weak == number))
        return found

    def _together(self, names: list[str]) -> str:
        """Return the dtype of arrays combined."""
        missing = [name for name in names if not hasattr(self.namespace, name)]
        if missing:
            message = f"{self.namespace.__name__} has no {missing[0]}"
            raise error(Diagnostic("NE529", message, hint="choose another dtype"))
        dtypes = [getattr(self.namespace, name) for name in names]
        try:
            return self.names[self.namespace.result_type(*dtypes)]
        except TypeError:
            kinds = [KIND_OF.get(name, "float").removeprefix("u") for name in names]
            highest = max(kinds, key=_ORDER.index)
            wide = [name for name, kind in zip(names, kinds, strict=True) if kind == highest]
            if len(wide) == len(names):
                raise
        return self._together(wide)

    def _with_number(self, dtype: str, kind: str) -> str:
        """Return the dtype of an array with a number of a type."""
        own = KIND_OF.get(dtype, "float").removeprefix("u")
        if _ORDER.index(own) >= _ORDER.index(kind):
            return dtype
        if kind == "complex":
            return COMPLEX_OF[self.floating(dtype)]
        return self.default_float if kind == "float" else self.default_int

    def floating(self, dtype: str) -> str:
        """Return the dtype of a function that returns floats."""
        return self.default_float if KIND_OF.get(dtype) in {"bool", "uint", "int"} else dtype

    def held(self, number: int | float | complex) -> str:
        """Return the dtype of an array of a number."""
        return self._held_as(WEAK[type(number)].strong)

    def _held_as(self, dtype: str) -> str:
        """Return the dtype of an array of numbers, in the bits that the library uses."""
        if dtype == "complex128":
            return COMPLEX_OF[self.default_float]
        return {"float64": self.default_float, "int64": self.default_int}.get(dtype, dtype)

    def reduced(self, reducer: str, dtypes: tuple[str, ...]) -> str:
        """Return the dtype of a product after a reduction; TypeError if there is none."""
        product = self.promoted(dtypes)
        row, kind = REDUCTIONS[reducer], KIND_OF.get(product, "float")
        if kind == "complex" and ("c" not in row.takes or reducer in ORDERED):
            raise TypeError(f"not defined for {product}")
        chosen = choose_dtypes(dtypes, product, reducer)
        if reducer in {"sum", "mean"} or needs_narrowing(reducer, chosen):
            return chosen.result
        if row.dtype == "bool":
            return "bool"
        if row.dtype == "index":
            return "int64"
        wide = self.floating(chosen.compute) if reducer in FLOATING_RESULT else chosen.compute
        return REAL_OF.get(wide, wide) if row.dtype == "real float" else wide
