"""Determine the dtype that an expression is computed in (docs/language.md, section 3, rule 8). The caller
asks NumPy for its promotion.

In a sum, bools and integers are widened to 64 bits before they are multiplied, and float16 is computed in
float32. bfloat16, which NumPy's products and reductions do not support, is always computed in float32. The
compiler knows dtypes by name only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from nameexpr.compiler.ir.axes import CUSTOM
from nameexpr.ops import SUMMING
from nameexpr.records import record

NARROW = frozenset({"float16", "bfloat16"})
SAME_DTYPE = frozenset({"max", "min", "prod", "median", "mean", "logsumexp"})
"""Reducers whose result has the dtype of the computation."""
NARROWED = SAME_DTYPE - {"mean"} | {"var", "std", "norm"}
"""Reducers whose result is cast to a narrower dtype than it was computed in; indices and truth values are
not, and sums and means are always cast.
"""
FLOATING_RESULT = frozenset({"mean", "var", "std", "median", "norm", "logsumexp"})
WIDE = {"bool": "int64", **{f"int{bits}": "int64" for bits in (8, 16, 32, 64)}} | {
    f"uint{bits}": "uint64" for bits in (8, 16, 32, 64)
}
BLAS = frozenset({"float32", "float64", "complex64", "complex128"})
"""Dtypes that BLAS supports."""
REAL_OF = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of complex numbers."""
MAGNITUDE = {"bool": 1} | {f"int{bits}": 1 << (bits - 1) for bits in (8, 16, 32, 64)} | {
    f"uint{bits}": (1 << bits) - 1 for bits in (8, 16, 32, 64)
}  # fmt: skip
"""The largest magnitude of a value of each integer dtype."""


KINDS = ("bool", "uint", "int", "float", "complex")
"""Kinds of dtypes, each of which can be converted to itself and to those after it."""
KIND_OF = {
    **{f"{kind}{bits}": kind for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": "float" for bits in (16, 32, 64)},
    **{f"complex{bits}": "complex" for bits in (64, 128)},
    "bool": "bool",
}
"""The kind of each dtype that has one size wherever it is used."""


class WeakDtype(str):
    """The dtype of a Python scalar: `kind` is the name of its type, `strong` the dtype of an array of it."""

    kind: str
    strong: str


def _weak(kind: str, strong: str) -> WeakDtype:
    dtype = WeakDtype(f"weak:{kind}")
    dtype.kind, dtype.strong = kind, strong
    return dtype


WEAK: dict[type, WeakDtype] = {
    type_: _weak(type_.__name__, strong)
    for type_, strong in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128"))
}
"""The dtype of the Python scalars of each type."""


class ScalarDtype(str):
    """The dtype of an array without dims, for libraries where it is weaker than that of others: `strong` is
    the dtype of its element.
    """

    strong: str


@cache
def scalar(dtype: str) -> ScalarDtype:
    """Return the dtype of an array without dims."""
    found = ScalarDtype(f"{dtype} without dims")
    found.strong = dtype
    return found


def strong(dtype: str) -> str:
    """Return the dtype of an array of values of this dtype."""
    return dtype.strong if isinstance(dtype, WeakDtype | ScalarDtype) else dtype


def is_castable(dtype: str, wanted: str) -> bool:
    """Return whether a dtype can be converted to another one, maybe with fewer bits, but of no narrower kind.

    >>> is_castable("float64", "float32"), is_castable("int8", "uint8"), is_castable("bool", "bfloat16")
    (True, False, True)
    """
    rank, least = [KINDS.index(KIND_OF.get(name) or _kind_of_other(name)) for name in (wanted, dtype)]
    return rank >= least


def _kind_of_other(dtype: str) -> str:
    """Return the kind of a dtype that not all libraries have, such as float8_e5m2 or complex32."""
    return next(
        (kind for kind in ("uint", "int") if dtype.startswith(kind)),
        "complex" if dtype[:1] == "c" else "float",
    )


def is_widened(dtype: str, wide: str) -> bool:
    """Return whether a dtype is the same as another one, or a narrower one of its kind.

    >>> is_widened("bfloat16", "float32"), is_widened("int8", "float32"), is_widened("int64", "int32")
    (True, False, False)
    """
    kinds = [KIND_OF.get(name, "float" if name == "bfloat16" else name) for name in (dtype, wide)]
    is_narrower = ITEM_BYTES.get(dtype, 0) < ITEM_BYTES.get(wide, 0)
    return dtype == wide or (kinds[0] == kinds[1] and is_narrower)


def swapped(name: str) -> str:
    """Return the name of a foreign-endian dtype when it is to be cast, even to the native dtype of the same
    kind.
    """
    return f"swapped {name}" if name else ""


ITEM_BYTES = {
    "bool": 1,
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": bits // 8 for bits in (16, 32, 64)},
    "bfloat16": 2,
    **{f"complex{bits}": bits // 8 for bits in (64, 128)},
    "longdouble": 16,
    "clongdouble": 32,
}
ITEM_BYTES |= {swapped(name): size for name, size in ITEM_BYTES.items()}
"""Bytes of one element; dtypes that are not listed (objects, indices) count as 8."""


@record
class Dtypes:
    """Dtype names: of each operand, of products and sums, and of the result before `reduce=` and the like
    change it.

    `compute` and `result` are "" if values are only moved, or are of a kind that is never cast (text, dates,
    records).
    """

    operands: tuple[str, ...]
    compute: str
    result: str


def choose_dtypes(
    operands: tuple[str, ...],
    product: str,
    reducer: str | None,
    *,
    drops: bool = False,
    is_asked: bool = False,
) -> Dtypes:
    """Return the dtypes of an expression.

    `product` is the dtype that NumPy's promotion gives to all operands, or the one requested with `dtype=`,
    which is then also the dtype of sums (`is_asked`); "" if it is not numeric. `drops` indicates whether
    labels are dropped, over which products are summed if there is no reducer.
    """
    compute = product
    if drops if reducer is None else reducer in SUMMING:
        compute = WIDE.get(product, product)
        if product in NARROW:
            compute = "float32"
        if product in WIDE and reducer in FLOATING_RESULT:
            compute = "float64"
    elif product == "bfloat16" and (len(operands) > 1 or reducer not in {None, CUSTOM}):
        compute = "float32"
    result = product if is_asked or product in NARROW else compute
    return Dtypes(operands, compute, result)


def exact_reciprocal(count: object, dtype: str) -> float | None:
    """Return the number by which multiplying gives the bits of dividing by `count`, if there is one.

    It takes a third of the time. Products of complex numbers are different where a part is infinite.

    >>> exact_reciprocal(4, "float32"), exact_reciprocal(3, "float32")
    (0.25, None)
    """
    if type(count) is not int or count < 1 or count & (count - 1) or dtype not in {"float32", "float64"}:
        return None
    return 1 / count


def needs_narrowing(reducer: str, dtypes: Dtypes) -> bool:
    """Return whether a result is cast to a narrower dtype than it was computed in."""
    return dtypes.result != dtypes.compute and reducer in NARROWED


COUNTED = {"float32": 2**100, "float64": 2**1000}
"""The number of products up to which their count is far below the largest number of a dtype."""


def counting_dtype(dtypes: Sequence[str], products: int) -> str | None:
    """Return the dtype in which products of bools are counted to determine whether any is true; None if they
    are not all bools, or too many. A count may be rounded, but never to 0, and it uses BLAS (R22).
    """
    if len(dtypes) < 2 or set(dtypes) != {"bool"}:  # noqa: PLR2004
        return None
    return next((dtype for dtype, most in COUNTED.items() if products <= most), None)
