"""Functions of numbers for the playground, by the names that formulas have for them, and their dtypes.

The dtypes are bool, int64, float64 and complex128. As in NumPy there are no errors: 1 / 0 is inf, log(-1) is
nan.
"""

import cmath
import math
import operator
from cmath import isnan
from collections.abc import Callable, Sequence
from typing import Any

from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype, choose_dtypes
from nameexpr.ops import ALONG, FUNCTIONS, POINTWISE, REDUCTIONS

Number = bool | int | float | complex
TYPES: dict[str, type] = {"bool": bool, "int64": int, "float64": float, "complex128": complex}
KINDS = list(TYPES)
NAN, INF = math.nan, math.inf
BY_KERNEL = {row.kernel: row for row in [*FUNCTIONS.values(), *POINTWISE.values(), *ALONG.values()]}
NOT_OF_BOOLS = frozenset({"negative", "subtract", "sign", "positive"})


def rank(dtype: str) -> int:
    """Return the place of a dtype among those that it can be converted to."""
    return KINDS.index(dtype.strong if isinstance(dtype, WeakDtype) else dtype)


def promoted(dtypes: Sequence[str]) -> str:
    """Return the dtype that holds numbers of all dtypes."""
    return KINDS[max(map(rank, dtypes))]


def dtype_of(kernel: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a function of values of these dtypes; TypeError if there is none."""
    row, widest = BY_KERNEL[kernel], promoted(dtypes[1:] if kernel == "where" else dtypes)
    taken = {"i": {"bool", "int64"}, "f": {"float64"}, "c": {"complex128"}}
    if not any(widest in taken[kind] for kind in row.takes) or (widest == "bool" and kernel in NOT_OF_BOOLS):
        raise TypeError(f"{row.name} of {widest}")
    real = "float64" if widest == "complex128" and "real" in row.dtype else widest
    chosen = {
        "bool": "bool",
        "index": "int64",
        "sum": "int64" if widest == "bool" else widest,
    }.get(row.dtype, real)
    if "float" in row.dtype:
        chosen = promoted([chosen, "float64"])
    if kernel in {"floor_divide", "remainder", "power", "fmod"} and chosen == "bool":
        chosen = "int64"
    if all(isinstance(dtype, WeakDtype) for dtype in dtypes):
        return WEAK[TYPES[chosen]]
    return chosen


def fold(kernel: str, numbers: Sequence[Number]) -> Any:
    """Return a function of numbers."""
    dtype = dtype_of(kernel, tuple([WEAK[type(number)] for number in numbers]))
    if kernel == "power" and dtype == WEAK[int] and numbers[1].real < 0:
        dtype = WEAK[float]  # of numbers alone, 2 ** -1 is 0.5
    return called(kernel, numbers, dtype)


def reduced(reducer: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a reduction of a product of values of these dtypes."""
    product = promoted(dtypes)
    if reducer in {"sum", "mean"}:
        return choose_dtypes(dtypes, product, reducer).result
    row = REDUCTIONS[reducer]
    if row.dtype in {"bool", "index"}:
        return "bool" if row.dtype == "bool" else "int64"
    real = "float64" if product == "complex128" and "real" in row.dtype else product
    found = promoted([real, "float64"]) if "float" in row.dtype else real
    return "int64" if row.sums and found == "bool" else found


ARITHMETIC = Arithmetic(dtype_of, fold, reduced, promoted)
"""What the compiler asks about numbers."""


def called(kernel: str, numbers: Sequence[Number], dtype: str) -> Any:
    """Return a function of numbers in a dtype."""
    wide = "complex128" if any(isinstance(number, complex) for number in numbers) else ""
    function = KERNELS.get(kernel) or of_math(kernel)
    strong = dtype.strong if isinstance(dtype, WeakDtype) else dtype
    is_float = strong in {"float64", "complex128"} and kernel != "where"
    given = [TYPES[wide or strong](number) if is_float else number for number in numbers]
    try:
        found = function(*given)
    except ZeroDivisionError:
        found = NAN
    except (ValueError, OverflowError) as fault:
        found = INF if isinstance(fault, OverflowError) else NAN
    return cast(found, strong)


def cast(number: Any, dtype: str) -> Any:
    """Return a number in a dtype."""
    if isinstance(number, complex) and dtype != "complex128":
        number = number.real
    if dtype == "int64":
        if isinstance(number, float) and not math.isfinite(number):
            return -(2**63)
        return (int(number) + 2**63) % 2**64 - 2**63
    return TYPES[dtype](number)


def of_math(kernel: str) -> Callable[..., Any]:
    """Return the function of this name that Python has."""
    plain = {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan"}
    name = {**plain, "arctanh": "atanh"}.get(kernel, kernel)

    def either(x: Any) -> Any:
        return getattr(cmath if isinstance(x, complex) else math, name)(x)

    return either


def divided(x: Any, y: Any) -> Any:
    """Return a quotient, with the infinities of IEEE 754."""
    if y != 0:
        return x / y
    if isinstance(x, complex) or isinstance(y, complex):
        return complex(NAN, NAN) if x == 0 or isnan(x) else x * INF
    return NAN if x == 0 or isnan(x) else math.copysign(INF, x) * math.copysign(1, y)


def power(x: Any, y: Any) -> Any:
    """Return a power; that of a negative number is nan unless the exponent is whole."""
    if isinstance(x, float) and isinstance(y, float):
        try:
            return math.pow(x, y)
        except ValueError:
            return INF if x == 0 else NAN
        except OverflowError:
            return -INF if x < 0 and y % 2 == 1 else INF
    return x**y


def logarithm(name: str) -> Callable[[Any], Any]:
    """Return a logarithm, which is -inf of 0."""

    def of(x: Any) -> Any:
        if isinstance(x, complex):
            return (
                complex(-INF, 0)
                if x == 0
                else cmath.log(x) / {"log2": math.log(2)}.get(name, 1)
                if name != "log10"
                else cmath.log10(x)
            )
        edge = -1.0 if name == "log1p" else 0.0
        return -INF if x == edge else getattr(math, name)(x)

    return of


def rounded(x: Any) -> Any:
    """Return the nearest whole number, that of halves even."""
    return x if isinstance(x, int) or not math.isfinite(x) else float(round(x))


def whole(function: Callable[[Any], int]) -> Callable[[Any], Any]:
    """Return a function to whole numbers that leaves infinities and integers as they are."""
    return lambda x: x if isinstance(x, int) or not math.isfinite(x) else math.copysign(float(function(x)), x)


def larger(x: Any, y: Any, is_more: Callable[[Any, Any], bool]) -> Any:
    """Return one of two numbers, or nan if there is one."""
    if isnan(x) or isnan(y):
        return x if isnan(x) else y
    pair = [(one.real, one.imag) if isinstance(one, complex) else one for one in (x, y)]
    return x if is_more(*pair) or x == y else y


def sign(x: Any) -> Any:
    """Return the direction of a number."""
    if isinstance(x, complex):
        return x / abs(x) if x != 0 else x
    return x if isnan(x) else (x > 0) - (x < 0)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def logaddexp(x: Any, y: Any) -> Any:
    """Return log(exp(x) + exp(y)) without overflow."""
    high = max(x, y)
    return high if x == y == high and math.isinf(high) else high + math.log1p(math.exp(-abs(x - y)))


def clipped(x: Any, low: Any, high: Any) -> Any:
    """Return a number between bounds."""
    return larger(larger(x, low, operator.gt), high, operator.lt)


def over(function: Callable[[Any, Any], Any], *, is_remainder: bool = False) -> Callable[[Any, Any], Any]:
    """Return a division of reals or integers, which gives 0 for integers divided by 0."""

    def of(x: Any, y: Any) -> Any:
        if y == 0:
            if isinstance(x, int) and isinstance(y, int):
                return 0
            return NAN if is_remainder else divided(x, y)
        return function(x, y)

    return of


KERNELS: dict[str, Callable[..., Any]] = {
    "absolute": abs, "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "true_divide": divided, "negative": operator.neg, "positive": operator.pos, "power": power,
    "floor_divide": over(operator.floordiv), "remainder": over(operator.mod, is_remainder=True),
    "fmod": over(math.fmod, is_remainder=True),
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "invert": lambda x: not x if isinstance(x, bool) else ~x,
    "logical_not": operator.not_, "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y), "logical_xor": lambda x, y: bool(x) != bool(y),
    "where": lambda condition, x, y: x if condition else y, "clip": clipped,
    "maximum": lambda x, y: larger(x, y, operator.gt), "minimum": lambda x, y: larger(x, y, operator.lt),
    "conjugate": lambda x: x.conjugate(), "real": lambda x: x.real, "imag": lambda x: x.imag,
    "square": lambda x: x * x, "reciprocal": lambda x: divided(1, x), "sign": sign, "rint": rounded,
    "round": rounded, "trunc": whole(math.trunc), "floor": whole(math.floor), "ceil": whole(math.ceil),
    "to_int": lambda x: x, "integer": lambda x: x, "isnan": isnan,
    "isfinite": cmath.isfinite, "isinf": cmath.isinf, "signbit": lambda x: math.copysign(1, x) < 0,
    "arctan2": math.atan2, "hypot": math.hypot, "copysign": math.copysign, "nextafter": math.nextafter,
    "logaddexp": logaddexp, "relu": lambda x: x if x > 0 or isnan(x) else type(x)(0), "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x), "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "softplus": softplus, "exp2": lambda x: 2**x, "log": logarithm("log"), "log2": logarithm("log2"),
    "log10": logarithm("log10"), "log1p": logarithm("log1p"),
    "arctanh": lambda x: (cmath if isinstance(x, complex) else math).atanh(x) if abs(x) != 1 else x * INF,
}  # fmt: skip
