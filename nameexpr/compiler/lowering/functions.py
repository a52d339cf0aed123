"""What a formula can call: pointwise functions and operators, reductions, functions along dims, constants.

A pointwise function is named here once; the text that calls it in NumPy is all that the compiler needs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nameexpr.compiler.ir.typed import REDUCERS


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A pointwise function: how many values it takes, and its call in NumPy.

    A ufunc can write its result over an array (`out=`).
    """

    arity: int
    call: str
    is_ufunc: bool = True


def _ufuncs(arity: int, names: str) -> dict[str, Pointwise]:
    """Return ufuncs from words such as "sin" or "abs=absolute"."""
    pairs = (word.partition("=") for word in names.split())
    return {name: Pointwise(arity, f"np.{other or name}") for name, _, other in pairs}


def _kernels(names: str) -> dict[str, Pointwise]:
    return {name: Pointwise(1, f"formulas.{name}", is_ufunc=False) for name in names.split()}


POINTWISE: Mapping[str, Pointwise] = {
    **_ufuncs(
        1, "abs=absolute acos=arccos acosh=arccosh asin=arcsin asinh=arcsinh atan=arctan atanh=arctanh"
    ),
    **_ufuncs(
        1, "ceil conj=conjugate cos cosh exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2"
    ),
    **_ufuncs(1, "logical_not reciprocal sign signbit sin sinh sqrt square tan tanh trunc"),
    **_kernels("round real imag relu sigmoid silu gelu softplus erf erfc"),
    **_ufuncs(2, "maximum minimum atan2=arctan2 hypot copysign logaddexp nextafter fmod pow=power"),
    **_ufuncs(2, "floor_divide remainder logical_and logical_or logical_xor"),
    "where": Pointwise(3, "np.where", is_ufunc=False),
    "clip": Pointwise(3, "formulas.clip", is_ufunc=False),
}
"""Functions by the name they have in a formula."""

OPERATORS: Mapping[str, Pointwise] = {
    "+": Pointwise(2, "np.add"),
    "-": Pointwise(2, "np.subtract"),
    "*": Pointwise(2, "np.multiply"),
    "/": Pointwise(2, "np.true_divide"),
    "//": Pointwise(2, "np.floor_divide"),
    "%": Pointwise(2, "np.remainder"),
    "**": Pointwise(2, "np.power"),
    "==": Pointwise(2, "np.equal"),
    "!=": Pointwise(2, "np.not_equal"),
    "<": Pointwise(2, "np.less"),
    "<=": Pointwise(2, "np.less_equal"),
    ">": Pointwise(2, "np.greater"),
    ">=": Pointwise(2, "np.greater_equal"),
    "&": Pointwise(2, "np.bitwise_and"),
    "|": Pointwise(2, "np.bitwise_or"),
}
SIGNS: Mapping[str, Pointwise] = {
    "-": Pointwise(1, "np.negative"),
    "+": Pointwise(1, "np.positive"),
    "~": Pointwise(1, "np.invert"),
}

INTEGER = "integer."
"""What refuses a number that is no integer; nobody can write it."""

FUNCTIONS: Mapping[str, Pointwise] = {
    **POINTWISE,
    **{f"{sign}.": function for sign, function in OPERATORS.items()},
    **{f".{sign}": function for sign, function in SIGNS.items()},
    INTEGER: Pointwise(1, "formulas.integer", is_ufunc=False),
}
"""Everything pointwise by the name it has in a graph: `+.` is the sum, `.-` the negation."""

ALONG_ONE = ("cumsum", "cumprod", "sort", "flip")
ALONG_MANY = ("softmax", "log_softmax")
ALONG = (*ALONG_MANY, *ALONG_ONE)
REDUCTIONS = REDUCERS

CONSTANTS: Mapping[str, float] = {"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}
SIZE, INDEX = "size", "index"
RESERVED = frozenset({*CONSTANTS, SIZE, INDEX})
"""Names that no operand and no statement can have."""
