"""The derivative of each function, in the language of formulas.

A rule returns the gradient of an argument: `g` is the gradient of the result, `y` the result, `a`, `b`, `c`
are the arguments, `R` are the dims of a reduction or of a function along dims, and `n` is how many elements
they have. Rules are linear in `g`, so that the gradient of a function of complex numbers is
`conj(rule(conj(g)))`; those in `AS_IT_IS`, and those of reductions other than products, are written for
complex numbers themselves.

At a kink the answers are those of PyTorch, with two exceptions: hypot(0, 0) has the gradient 0, as norm does,
and the median of an even number of elements is half of each of the middle two.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nameexpr.syntax import ast
from nameexpr.syntax.parser.formula import parse_formula

_LN2, _LN10 = "0.6931471805599453", "2.302585092994046"
_BOTH_ZERO = "(a == 0) & (b == 0)"
_POWER = (
    f"where({_BOTH_ZERO}, 0, g * b * a ** where({_BOTH_ZERO}, 1, b - 1.0))",
    "where((a == 0) & (b >= 0), 0, g * y * log(where((a == 0) & (b >= 0), 1, a)))",
)
_POWER_OF_COMPLEX = (_POWER[0], _POWER[1].replace("1, a)))", "1, a) + 0 * b))"))
_REMAINDER = ("g", "-g * floor(a / b)")

NONE: tuple[str, ...] = ()
"""The rules of a function that is constant between jumps: no gradient goes through it."""

POINTWISE: Mapping[str, tuple[str, ...]] = {
    "+.": ("g", "g"),
    "-.": ("g", "-g"),
    "*.": ("g * b", "g * a"),
    "/.": ("g / b", "-g * y / b"),
    ".-": ("-g",),
    ".+": ("g",),
    "%.": _REMAINDER,
    "remainder": _REMAINDER,
    "fmod": ("g", "-g * trunc(a / b)"),
    "**.": _POWER,
    "pow": _POWER,
    "abs": ("g * sign(a)",),
    "acos": ("-g / sqrt(1 - a * a)",),
    "asin": ("g / sqrt(1 - a * a)",),
    "atan": ("g / (1 + a * a)",),
    "acosh": ("g / (sqrt(a - 1) * sqrt(a + 1))",),
    "asinh": ("g / sqrt(a * a + 1)",),
    "atanh": ("g / (1 - a * a)",),
    "cos": ("-g * sin(a)",),
    "sin": ("g * cos(a)",),
    "tan": ("g * (1 + y * y)",),
    "cosh": ("g * sinh(a)",),
    "sinh": ("g * cosh(a)",),
    "tanh": ("g * (1 - y * y)",),
    "exp": ("g * y",),
    "exp2": (f"g * y * {_LN2}",),
    "expm1": ("g * (y + 1)",),
    "log": ("g / a",),
    "log2": (f"g / (a * {_LN2})",),
    "log10": (f"g / (a * {_LN10})",),
    "log1p": ("g / (a + 1)",),
    "sqrt": ("g / (2 * y)",),
    "square": ("g * 2 * a",),
    "reciprocal": ("-g * y * y",),
    "relu": ("where(a > 0, g, 0)",),
    "sigmoid": ("g * y * (1 - y)",),
    "silu": ("g * (sigmoid(a) + y * (1 - sigmoid(a)))",),
    "gelu": ("g * (erfc(a * -0.7071067811865476) / 2 + a * exp(a * a / -2) * 0.3989422804014327)",),
    "softplus": ("g * sigmoid(a)",),
    "erf": ("g * exp(-a * a) * 1.1283791670955126",),
    "erfc": ("g * exp(-a * a) * -1.1283791670955126",),
    "maximum": (
        "where(a == b, g / 2, where(a > b, g, 0))",
        "where(a == b, g / 2, where(b > a, g, 0))",
    ),
    "minimum": (
        "where(a == b, g / 2, where(a < b, g, 0))",
        "where(a == b, g / 2, where(b < a, g, 0))",
    ),
    "atan2": (
        f"g * b / where({_BOTH_ZERO}, 1, a * a + b * b)",
        f"-g * a / where({_BOTH_ZERO}, 1, a * a + b * b)",
    ),
    "hypot": ("g * a / where(y == 0, 1, y)", "g * b / where(y == 0, 1, y)"),
    "copysign": ("g * sign(a) * copysign(1, b)", ""),
    "logaddexp": ("g * sigmoid(a - b)", "g * sigmoid(b - a)"),
    "nextafter": ("where(a != b, g, 0)", ""),
    "clip": (
        "where((a >= b) & (a <= c), g, 0)",
        "where((b < c) & (a < b), g, 0)",
        "where((a > c) | (b > c), g, 0)",
    ),
    "conj": ("conj(g)",),
    "real": ("g",),
    **dict.fromkeys(["ceil", "floor", "trunc", "round", "int", "sign", "floor_divide", "//."], NONE),
    **dict.fromkeys(["==.", "!=.", "<.", "<=.", ">.", ">=.", "&.", "|.", ".~"], NONE),
    **dict.fromkeys(["isfinite", "isinf", "isnan", "signbit", "integer."], NONE),
    **dict.fromkeys(["logical_not", "logical_and", "logical_or", "logical_xor"], NONE),
}
"""By function, the gradient of each argument; "" for one that no gradient reaches. `where` and `imag` are in
`nameexpr.compiler.gradient.pointwise`.
"""
COMPLEX: Mapping[str, tuple[str, ...]] = {
    "sign": ("where(a == 0, 0, (g - y * real(conj(y) * g)) / where(a == 0, 1, abs(a)))",),
    "**.": _POWER_OF_COMPLEX,
    "pow": _POWER_OF_COMPLEX,
}
"""Rules where an argument is complex: of functions that are constant for real numbers only, and of powers,
whose logarithm is then that of a complex number, even if the base is real.
"""
AS_IT_IS = frozenset({"abs", "conj", "real", "sign"})
"""Functions whose rules are those for complex numbers."""

DIVISORS: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys(["/.", "%.", "remainder", "fmod"], ("b", 1.0)),
    **dict.fromkeys(["**.", "pow", "log", "log2", "log10", "log1p"], ("a", 1.0)),
    **dict.fromkeys(["acos", "asin", "atanh"], ("a", 0.0)),
    "acosh": ("a", 2.0),
    "sqrt": ("y", 1.0),
}
"""What rules divide by, and a number for which they do so without a warning of NumPy: it takes the place of
elements whose gradient a mask leaves out.
"""

# running products: up to the first zero, at it, and 0 after it
_ZEROS = "cumsum[R](where(a == 0, 1.0, 0.0))"
_IS_FIRST = f"(a == 0) & ({_ZEROS} == 1)"
_BEFORE = "flip[R](cumsum[R](flip[R](g * y))) / where(a == 0, 1, a)"
_AT_FIRST = f"flip[R](cumsum[R](flip[R](g * cumprod[R](where({_IS_FIRST}, 1, a)))))"

_LOW, _HIGH = "max[R](where(a <= y, a, -inf))", "min[R](where(a >= y, a, inf))"
REDUCTIONS: Mapping[str, str] = {
    "max": "g / sum[R](a == y) * (a == y)",
    "min": "g / sum[R](a == y) * (a == y)",
    "median": f"g / 2 * ((a == {_LOW}) / sum[R](a == {_LOW}) + (a == {_HIGH}) / sum[R](a == {_HIGH}))",
    "var": "g * 2 * (a - mean[R](a)) / n",
    "std": "g * (a - mean[R](a)) / (n * where(y == 0, 1, y))",
    "norm": "g * a / where(y == 0, 1, y)",
    "logsumexp": "g * exp(a - y)",
    # with one zero the product of the others, with several 0
    "prod": "g * where(a == 0, where(sum[R](a == 0) == 1, prod[R](where(a == 0, 1, a)), 0),"
    " y / where(a == 0, 1, a))",
    **dict.fromkeys(["any", "all", "argmax", "argmin", "count_nonzero"], ""),
}
"""The gradient of what is reduced, for reductions other than `sum` and `mean`."""
ALONG: Mapping[str, str] = {
    "softmax": "y * (g - sum[R](g * y))",
    "log_softmax": "g - exp(y) * sum[R](g)",
    "cumsum": "flip[R](cumsum[R](flip[R](g)))",
    "cumprod": f"where({_ZEROS} == 0, {_BEFORE}, where({_IS_FIRST}, {_AT_FIRST}, 0))",
    "flip": "flip[R](g)",
    "argsort": "",
}
"""The gradient of what a function along dims is applied to."""
ALONG_FORWARD: Mapping[str, str] = {
    "log_softmax": "g - sum[R](exp(y) * g)",
    "cumsum": "cumsum[R](g)",
    "cumprod": f"where({_ZEROS} == 0, y * cumsum[R](g / where(a == 0, 1, a)),"
    f" cumsum[R](where({_IS_FIRST}, g, 0)) * cumprod[R](where({_IS_FIRST}, 1, a)))",
}
"""The derivative of the result of a function along dims, where `g` is that of its argument; of the others it
is as in `ALONG`.
"""
SORTED = frozenset({"sort", "cummax", "cummin"})
"""Functions along dims whose results are elements of the value (`nameexpr.compiler.gradient.positions`)."""
COMPLEX_MEDIAN = "where(y == y, g / 2 * ((a == l) / sum[R](a == l) + (a == h) / sum[R](a == h)), y)"
"""The gradient of what the median of complex numbers is taken of; `l` and `h` are the middle two."""
EXACT_ONCE = frozenset({"prod", "cumprod"})
"""Functions whose rules have no derivative themselves, as they choose among formulas where elements are 0:
what is differentiated again is written by `nameexpr.compiler.gradient.factors`.
"""


@cache
def parsed(rule: str) -> ast.Node:
    """Return the syntax tree of a rule."""
    return parse_formula(rule).statements[0].value
