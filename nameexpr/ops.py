"""The functions and operators of formulas and expressions: one row for each, with all its properties.

A row describes a function, not its spelling in an array library: `kernel` is a name for which each backend
finds its own call (`nameexpr.backends.numpy.codegen`). To add a pointwise function, add its row here and, if
NumPy lacks it, its kernel in `nameexpr.backends.numpy.formulas`; completion, hints, cost model and the tables
of docs/formulas.md follow. `tests/unit/test_ops.py` compares the rows with NumPy.

>>> FUNCTIONS["abs"].kernel, FUNCTIONS["+."].usage, REDUCTIONS["max"].combine
('absolute', 'x + y', 'maximum')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from nameexpr.records import record, replace

Kind: TypeAlias = Literal["pointwise", "reduction", "along one", "along many", "gradient"]
"""How a function treats dims: keeps them, removes those in its brackets, works along one or several, or adds
those of an operand.
"""

Form: TypeAlias = Literal["ufunc", "call", "kernel", "kernel with out"]
"""A ufunc, with `out`; another call; a kernel of the backend, whose `out`, if any, may be its argument."""

DType: TypeAlias = Literal["promoted", "float", "real", "real float", "bool", "sum", "index"]
"""The dtype of a result: that of the arguments together; a float for integers; that of the real part; both;
bool; of 64 bits for integers; that of indices.
"""


@record
class Function:
    """One function: how a text calls it, its arguments and result, and its costs.

    `takes` are the kinds of numbers that it is defined for: integers, floats, complex ones. `cost` is the
    kernel whose figures apply to it (time of an element and of a call, memory while it runs), its own if
    empty. `combine` is the pointwise kernel that a reduction repeats. `also` are its names in other
    libraries.
    """

    name: str
    doc: str
    kernel: str = ""
    arity: int = 1
    dtype: DType = "promoted"
    takes: str = "ifc"
    form: Form = "ufunc"
    cost: str = ""
    usage: str = ""
    also: str = ""
    kind: Kind = "pointwise"
    combine: str = ""
    sums: bool = False
    needs_elements: bool = False

    @property
    def takes_out(self) -> bool:
        """Whether it accepts an output array."""
        return self.form in {"ufunc", "kernel with out"}


def _complete(*rows: Function) -> dict[str, Function]:
    """Return rows by name, with what follows from the others filled in."""
    arguments = {1: "x", 2: "x, y"}
    filled = {}
    for row in rows:
        kernel = row.kernel or row.name
        brackets = "" if row.kind == "pointwise" else "[C]"
        usage = row.usage or f"{row.name}{brackets}({arguments[row.arity]})"
        filled[row.name] = replace(row, kernel=kernel, cost=row.cost or kernel, usage=usage)
    return filled


def _f(name: str, doc: str, kernel: str = "", **columns: object) -> Function:
    """Return the row of a function of one number that returns floats."""
    return Function(name, doc, kernel, **{"dtype": "float", **columns})  # type: ignore[arg-type]


POINTWISE: Mapping[str, Function] = _complete(
    Function("abs", "the magnitude", "absolute", dtype="real", also="absolute fabs"),
    _f("acos", "the inverse cosine", "arccos", cost="tan", also="arccos"),
    _f("acosh", "the inverse hyperbolic cosine", "arccosh", also="arccosh"),
    _f("asin", "the inverse sine", "arcsin", cost="tan", also="arcsin"),
    _f("asinh", "the inverse hyperbolic sine", "arcsinh", cost="arccosh", also="arcsinh"),
    _f("atan", "the inverse tangent", "arctan", cost="tan", also="arctan"),
    _f("atanh", "the inverse hyperbolic tangent", "arctanh", cost="tan", also="arctanh"),
    Function("ceil", "the next whole number above", takes="if", cost="absolute"),
    Function("conj", "the complex conjugate", "conjugate", cost="add", also="conjugate"),
    _f("cos", "the cosine", cost="sin"),
    _f("cosh", "the hyperbolic cosine", cost="log1p"),
    _f("exp", "e to the power of x"),
    _f("exp2", "2 to the power of x", cost="exp"),
    _f("expm1", "exp(x) - 1, exact where x is small", cost="log1p"),
    Function("floor", "the next whole number below", takes="if", cost="absolute"),
    Function("isfinite", "whether x is neither nan nor infinite", dtype="bool"),
    Function("isinf", "whether x is infinite", dtype="bool", cost="isfinite"),
    Function("isnan", "whether x is nan", dtype="bool", cost="isfinite"),
    _f("log", "the natural logarithm", also="ln"),
    _f("log10", "the logarithm to base 10", cost="log"),
    _f("log1p", "log(1 + x), exact where x is small"),
    _f("log2", "the logarithm to base 2", cost="log"),
    Function("logical_not", "whether x is 0", dtype="bool", cost="sign"),
    Function("reciprocal", "one over x"),
    Function("sign", "-1, 0 or 1; of complex numbers the direction"),
    Function("signbit", "whether the sign is a minus", dtype="bool", takes="if", cost="isfinite"),
    _f("sin", "the sine"),
    _f("sinh", "the hyperbolic sine", cost="log1p"),
    _f("sqrt", "the square root"),
    Function("square", "x * x", cost="add"),
    _f("tan", "the tangent"),
    _f("tanh", "the hyperbolic tangent", cost="log1p"),
    Function("trunc", "x without its fraction", takes="if", cost="absolute", also="fix"),
    Function("round", "x rounded to the nearest whole number, halves to the even one", form="kernel"),
    Function(
        "int", "x without its fraction, as an integer", "to_int", dtype="index", takes="if", form="kernel"
    ),
    Function("real", "the real part, as an array of its own", dtype="real", form="kernel"),
    Function("imag", "the imaginary part, as an array of its own", dtype="real", form="kernel"),
    Function("relu", "x, or 0 where it is negative", takes="if", form="kernel with out"),
    _f("sigmoid", "1 / (1 + exp(-x)), without overflow", takes="if", form="kernel with out"),
    _f("silu", "x * sigmoid(x)", takes="if", form="kernel", also="swish"),
    _f("gelu", "x times the normal distribution's share below x, exact", takes="if", form="kernel"),
    _f("softplus", "log(1 + exp(x)), without overflow", takes="if", form="kernel"),
    _f("erf", "the error function", takes="if", form="kernel"),
    _f("erfc", "one minus the error function", takes="if", form="kernel"),
    Function("maximum", "the larger one, or nan", arity=2, cost="absolute"),
    Function("minimum", "the smaller one, or nan", arity=2, cost="absolute"),
    _f(
        "atan2",
        "the angle of the point with these coordinates",
        "arctan2",
        arity=2,
        takes="if",
        usage="atan2(y, x)",
        also="arctan2",
    ),
    _f("hypot", "the square root of the sum of both squares", arity=2, takes="if"),
    _f("copysign", "x with the sign of y", arity=2, takes="if", cost="sign"),
    _f("logaddexp", "log(exp(x) + exp(y)), without overflow", arity=2, takes="if"),
    _f("nextafter", "the next float after x towards y", arity=2, takes="if", cost="hypot"),
    Function("fmod", "the remainder of x / y, with the sign of x", arity=2, takes="if", cost="floor_divide"),
    Function("pow", "x to the power of y", "power", arity=2, also="power"),
    Function("floor_divide", "the quotient rounded down", arity=2, takes="if"),
    Function("remainder", "the remainder of x / y, signed like y", arity=2, takes="if", cost="floor_divide"),
    Function("logical_and", "whether both are true", arity=2, dtype="bool"),
    Function("logical_or", "whether either is true", arity=2, dtype="bool", cost="logical_and"),
    Function("logical_xor", "whether exactly one is true", arity=2, dtype="bool", cost="logical_and"),
    Function(
        "where",
        "x where the condition is true, y elsewhere",
        arity=3,
        form="call",
        usage="where(condition, x, y)",
        also="if if_else ifelse",
    ),
    Function(
        "clip",
        "x where it lies between the bounds, else the nearer one; `high` where low is above high",
        arity=3,
        form="kernel",
        usage="clip(x, low, high)",
        also="clamp",
    ),
)
"""Pointwise functions by their names in formulas."""

GRADIENTS: Mapping[str, Function] = _complete(
    Function("grad", "the derivative of y by x", "", 2, takes="fc", usage="grad(y, x[C])", kind="gradient"),
    Function("stop", "the value, through which no gradient goes"),
)
CALLS: Mapping[str, Function] = {**POINTWISE, **GRADIENTS}
"""Functions whose arguments are in round brackets; those of `GRADIENTS` disappear from the graph."""


def _sign(name: str, doc: str, kernel: str, **columns: object) -> Function:
    """Return the row of an operator of two values."""
    return Function(name, doc, kernel, 2, usage=f"x {name} y", **columns)  # type: ignore[arg-type]


OPERATORS: Mapping[str, Function] = _complete(
    _sign("+", "the sum", "add", also="add"),
    _sign("-", "the difference", "subtract", cost="add", also="subtract"),
    _sign("*", "the product", "multiply", cost="add", also="multiply"),
    _sign("/", "the quotient", "true_divide", dtype="float", also="divide true_divide"),
    _sign("//", "the quotient rounded down", "floor_divide", takes="if"),
    _sign("%", "the remainder, with the sign of y", "remainder", takes="if", cost="floor_divide", also="mod"),
    _sign("**", "the power", "power", also="float_power"),
    _sign("==", "whether both are equal", "equal", dtype="bool", also="equal"),
    _sign("!=", "whether they differ", "not_equal", dtype="bool", cost="equal"),
    _sign("<", "whether x is less", "less", dtype="bool", cost="equal", also="less"),
    _sign("<=", "whether x is at most y", "less_equal", dtype="bool", cost="equal"),
    _sign(">", "whether x is greater", "greater", dtype="bool", cost="equal", also="greater"),
    _sign(">=", "whether x is at least y", "greater_equal", dtype="bool", cost="equal"),
    _sign("&", "the bits that both have", "bitwise_and", takes="i", also="bitwise_and"),
    _sign("|", "the bits that either has", "bitwise_or", takes="i", cost="bitwise_and", also="bitwise_or"),
)
"""Operators between two values, by their signs."""

SIGNS: Mapping[str, Function] = _complete(
    Function("-", "the opposite", "negative", cost="absolute", usage="-x", also="neg negative"),
    Function("+", "the value", "positive", cost="add", usage="+x"),
    Function("~", "the bits inverted", "invert", takes="i", cost="bitwise_and", usage="~x", also="invert"),
)
"""Operators before one value, by their signs."""

INTEGER = "integer."
"""An internal function that rejects numbers other than integers; texts cannot contain it."""


def _reduction(name: str, doc: str, dtype: DType = "promoted", **columns: object) -> Function:
    return Function(name, doc, dtype=dtype, kind="reduction", form="kernel", **columns)  # type: ignore[arg-type]


REDUCTIONS: Mapping[str, Function] = _complete(
    _reduction("sum", "the sum; of a product, a contraction", "sum", combine="add", sums=True),
    _reduction("mean", "the mean", "float", sums=True, also="average"),
    _reduction("prod", "the product", "sum", combine="multiply", sums=True),
    _reduction(
        "max", "the largest, nan if there is one", combine="maximum", needs_elements=True, also="amax"
    ),
    _reduction(
        "min", "the smallest, nan if there is one", combine="minimum", needs_elements=True, also="amin"
    ),
    _reduction("any", "whether any is true", "bool", combine="logical_or"),
    _reduction("all", "whether all are true", "bool", combine="logical_and"),
    _reduction(
        "var",
        "the variance: the mean squared distance from the mean",
        "real float",
        sums=True,
        also="variance",
    ),
    _reduction("std", "the square root of the variance", "real float", sums=True, also="standard_deviation"),
    _reduction("median", "the middle one, of an even number the mean of two", "float", sums=True),
    _reduction(
        "logsumexp",
        "the logarithm of the sum of exponentials, without overflow",
        "float",
        takes="if",
        sums=True,
        also="log_sum_exp",
    ),
    _reduction(
        "norm", "the square root of the sum of squared magnitudes", "real float", sums=True, also="norm2"
    ),
    _reduction("argmax", "where the largest is, the first one", "index", needs_elements=True),
    _reduction("argmin", "where the smallest is, the first one", "index", needs_elements=True),
    _reduction("count_nonzero", "how many are not zero", "index"),
)
"""Reductions, which are the reducers of expressions as well."""

SUMMING = frozenset(name for name, row in REDUCTIONS.items() if row.sums)
"""Reductions that add or multiply, with narrow floats widened."""
NEED_ELEMENTS = frozenset(name for name, row in REDUCTIONS.items() if row.needs_elements)
"""Reductions that are undefined for no elements."""


def _along(name: str, doc: str, kind: Kind = "along one", **columns: object) -> Function:
    return Function(name, doc, kind=kind, form="kernel", **columns)  # type: ignore[arg-type]


ALONG: Mapping[str, Function] = _complete(
    _along("softmax", "exponentials over their sum along axes", "along many", dtype="float", takes="if"),
    _along(
        "log_softmax",
        "the logarithm of the softmax along axes, without overflow",
        "along many",
        dtype="float",
        takes="if",
    ),
    _along("cumsum", "running sums along an axis: of integers in 64 bits", dtype="sum"),
    _along("cumprod", "running products along an axis: of integers in 64 bits", dtype="sum"),
    _along("sort", "the elements in order along an axis, nan last"),
    _along("argsort", "the positions that sort an axis, stable, nan last", dtype="index"),
    _along("cummax", "the largest so far along an axis, nan from the first one on"),
    _along("cummin", "the smallest so far along an axis, nan from the first one on"),
    _along("flip", "the elements reversed along an axis, as an array of its own"),
)
"""Functions along dims, which are kept."""
ALONG_ONE = frozenset(name for name, row in ALONG.items() if row.kind == "along one")

FUNCTIONS: Mapping[str, Function] = {
    **POINTWISE,
    **{f"{sign}.": row for sign, row in OPERATORS.items()},
    **{f".{sign}": row for sign, row in SIGNS.items()},
    **_complete(Function(INTEGER, "an integer as it is", "integer", form="kernel", takes="i")),
}
"""All pointwise functions by their names in graphs: `+.` is the sum, `.-` the negation."""

CONSTANTS: Mapping[str, float] = {"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}
SIZE, INDEX = "size", "index"
RESERVED = frozenset({*CONSTANTS, SIZE, INDEX})
"""Names that no operand and no statement can have."""

COSTS: Mapping[str, str] = {row.kernel: row.cost for row in FUNCTIONS.values()}
"""For each pointwise kernel the one whose figures apply to it."""
KERNELS = frozenset(row.kernel for row in FUNCTIONS.values() if row.form.startswith("kernel"))
"""Pointwise functions that array libraries do not have as a single call: the backend provides them."""
