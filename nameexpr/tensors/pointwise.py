"""The pointwise operators of one or two operands, a row each: method, in-place twin, docstring and example.

A function of one operand keeps its names. For two, the dims pair from the right and the names unify; the
other operand is a NamedTensor, an array (whose dims count as unnamed), or a number. If a function returns
real numbers, integers and bools become the default float dtype; outside its domain the value is nan or inf,
without a warning. A row is computed by the kernel of its name (`nameexpr.backends.numpy.pointwise`).

>>> ne.tensor([1.0, 0.0], names="N").log()
tensor([  0., -inf], names=('N',), shape=(2,))
>>> ne.tensor([[1, 2], [3, 4]], names="N C").maximum(ne.tensor([2, 2], names="C"))
tensor([[2, 2],
        [3, 4]], names=('N', 'C'), shape=(2, 2))
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, Protocol, TypeVar, overload

from nameexpr.errors import NameExprError
from nameexpr.tensors.core import Core, Other
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import Rule, called, in_place, op, refused

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Tensor = TypeVar("Tensor", bound=Operators)


class _OfTensor(Protocol[T_co]):
    def __call__(self, *, out: Core | None = None) -> T_co: ...


class _OfAny(Protocol):
    def __call__(self, tensor: T, /, *, out: Core | None = None) -> T: ...


class UnaryMethod(Protocol):
    """The type of a row of one operand for type checkers: `x.exp()`, and `NamedTensor.exp(x)`."""

    @overload
    def __get__(self, tensor: None, kind: Any) -> _OfAny: ...

    @overload
    def __get__(self, tensor: T, kind: Any) -> _OfTensor[T]: ...


class _OfTensorAndOther(Protocol[T_co]):
    def __call__(self, other: Other, *, out: Core | None = None) -> T_co: ...


class _OfAnyAndOther(Protocol):
    def __call__(self, tensor: T, other: Other, /, *, out: Core | None = None) -> T: ...


class BinaryMethod(Protocol):
    """The type of a row of two operands for type checkers."""

    @overload
    def __get__(self, tensor: None, kind: Any) -> _OfAnyAndOther: ...

    @overload
    def __get__(self, tensor: T, kind: Any) -> _OfTensorAndOther[T]: ...


_EXTRA = (
    "exp2 square positive isnan isinf isfinite floor_divide remainder hypot maximum minimum logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
)
EXTRA = frozenset(_EXTRA.split())
"""Operators that PyTorch's page of named tensors lacks."""
RANKED = frozenset(["maximum", "minimum", "lt", "le", "gt", "ge"])
"""Operators that need an order, which complex numbers do not have."""


_TENSOR, _OTHER = (Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", "other"))
_OUT = Parameter("out", Parameter.KEYWORD_ONLY, default=None)
_SIGNATURES = {"keeps": Signature([_TENSOR, _OUT]), "unifies": Signature([_TENSOR, _OTHER, _OUT])}
"""What methods of one and of two operands take: called often, they look for wrong arguments themselves."""


def _method(name: str, text: str, given: str, gives: str) -> Any:
    """Return a method of one operand: `text` describes the result, which is `gives` for the two numbers
    `given`.
    """

    def method(self: Tensor, *more: Any, out: Core | None = None, **others: Any) -> Tensor:
        try:
            if more or others:
                raise refused(method, (self, *more), others, out)
            return self._keep(name, out)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    text = text.format("each element")
    return _entered(method, "keeps", name, text, f"ne.tensor({given}).{name}()", gives)


def _pair(name: str, text: str, given: str, other: str, gives: str) -> Any:
    def unified(self: Tensor, other: Any = ..., *more: Any, out: Core | None = None, **others: Any) -> Tensor:
        try:
            if more or others:
                raise refused(unified, (self, other, *more), others, out)
            return self._unify(name, self, other, out)
        except NameExprError as wrong:
            if other is ...:
                raise refused(unified, (self,), others, out) from None
            wrong._forget_frames()
            raise

    def ranked(self: Tensor, other: Any = ..., *more: Any, out: Core | None = None, **others: Any) -> Tensor:
        try:
            if more or others:
                raise refused(ranked, (self, other, *more), others, out)
            return self._ranked(name, other, out)
        except NameExprError as wrong:
            if other is ...:
                raise refused(ranked, (self,), others, out) from None
            wrong._forget_frames()
            raise

    method, call = ranked if name in RANKED else unified, f"ne.tensor({given}).{name}({other})"
    return _entered(method, "unifies", name, text, call, gives)


def _compares(name: str, relation: str, gives: str) -> Any:
    return _pair(name, f"whether each element is {relation} the other one", "[1, 2]", "2", gives)


def _entered(
    method: Callable[..., Any], rule: Rule, name: str, text: str, call: str, gives: str
) -> Callable[..., Any]:
    """Return a method under its name with its docstring, added to the table."""
    method.__signature__ = _SIGNATURES[rule]  # type: ignore[attr-defined]
    method.__doc__ = f"Return {text}.\n\n>>> {call}\ntensor({gives}, shape=(2,))\n"
    return op(rule, extra=name in EXTRA, is_bare=True)(called(method, "PointwiseMethods", name))


def _each(*row: str) -> tuple[UnaryMethod, UnaryMethod]:
    method = _method(*row)
    return method, in_place(method, extra=row[0] in EXTRA)


def _pairs(*row: str) -> tuple[BinaryMethod, BinaryMethod]:
    method = _pair(*row)
    return method, in_place(method, extra=row[0] in EXTRA)


class PointwiseMethods(Operators):
    """Exponentials, roots, angles, signs, rounding; comparisons, logic and bits."""

    __slots__ = ()

    exp, exp_ = _each("exp", "e to the power of {}", "[0, 1]", "[1.        , 2.71828183]")
    exp2, exp2_ = _each("exp2", "2 to the power of {}", "[0, 3]", "[1., 8.]")
    expm1, expm1_ = _each(
        "expm1", "`exp(x) - 1` of {}, exact where x is small", "[0, 1e-20]", "[0.e+00, 1.e-20]"
    )
    log, log_ = _each("log", "the natural logarithm of {}", "[1.0, 0.0]", "[  0., -inf]")
    log10, log10_ = _each("log10", "the logarithm to base 10 of {}", "[1, 1000]", "[0., 3.]")
    log1p, log1p_ = _each(
        "log1p", "`log(1 + x)` of {}, exact where x is small", "[0, 1e-20]", "[0.e+00, 1.e-20]"
    )
    log2, log2_ = _each("log2", "the logarithm to base 2 of {}", "[1, 8]", "[0., 3.]")
    sqrt, sqrt_ = _each("sqrt", "the square root of {}; nan for a negative one", "[4, 9]", "[2., 3.]")
    rsqrt, rsqrt_ = _each("rsqrt", "one over the square root of {}", "[4, 0]", "[0.5, inf]")
    reciprocal, reciprocal_ = _each("reciprocal", "one over {}; inf for 0", "[4, 0]", "[0.25,  inf]")
    square, square_ = _each("square", "the square of {}; integers stay integers", "[2, -3]", "[4, 9]")
    sigmoid, sigmoid_ = _each("sigmoid", "`1 / (1 + exp(-x))` of {}", "[0, 800]", "[0.5, 1. ]")
    erf, erf_ = _each("erf", "the error function of {}", "[0, 1]", "[0.        , 0.84270079]")
    erfc, erfc_ = _each(
        "erfc", "one minus the error function of {}, exact where small", "[0, 1]", "[1.        , 0.15729921]"
    )
    erfinv, erfinv_ = _each(
        "erfinv", "the inverse error function of {}; inf for 1", "[0.5, 1.0]", "[0.47693628,        inf]"
    )
    digamma, digamma_ = _each(
        "digamma", "the derivative of log(gamma(x)) at {}", "[1, 2]", "[-0.57721566,  0.42278434]"
    )
    sin, sin_ = _each("sin", "the sine of {}", "[0, 1]", "[0.        , 0.84147098]")
    cos, cos_ = _each("cos", "the cosine of {}", "[0, 1]", "[1.        , 0.54030231]")
    tan, tan_ = _each("tan", "the tangent of {}", "[0, 1]", "[0.        , 1.55740772]")
    asin, asin_ = _each("asin", "the inverse sine of {}", "[0, 1]", "[0.        , 1.57079633]")
    acos, acos_ = _each("acos", "the inverse cosine of {}", "[0, 1]", "[1.57079633, 0.        ]")
    atan, atan_ = _each("atan", "the inverse tangent of {}", "[0, 1]", "[0.        , 0.78539816]")
    sinh, sinh_ = _each("sinh", "the hyperbolic sine of {}", "[0, 1]", "[0.        , 1.17520119]")
    cosh, cosh_ = _each("cosh", "the hyperbolic cosine of {}", "[0, 1]", "[1.        , 1.54308063]")
    tanh, tanh_ = _each("tanh", "the hyperbolic tangent of {}", "[0, 1]", "[0.        , 0.76159416]")
    asinh, asinh_ = _each("asinh", "the inverse hyperbolic sine of {}", "[0, 1]", "[0.        , 0.88137359]")
    acosh, acosh_ = _each("acosh", "the inverse hyperbolic cosine of {}", "[1, 2]", "[0.       , 1.3169579]")
    atanh, atanh_ = _each("atanh", "the inverse hyperbolic tangent of {}", "[0, 1]", "[ 0., inf]")
    deg2rad, deg2rad_ = _each("deg2rad", "{}, in degrees, as radians", "[0, 180]", "[0.        , 3.14159265]")
    rad2deg, rad2deg_ = _each("rad2deg", "{}, in radians, as degrees", "[0, 1]", "[ 0.        , 57.29577951]")
    abs, abs_ = _each("abs", "the absolute value of {}", "[-1, 2]", "[1, 2]")
    neg, neg_ = _each("neg", "{} with the other sign; bools have none", "[-1, 2]", "[ 1, -2]")
    positive: UnaryMethod = _method("positive", "a copy of {}", "[-1, 2]", "[-1,  2]")
    sign, sign_ = _each("sign", "-1, 0 or 1 for {}; nan for nan", "[-1.5, 0.0]", "[-1.,  0.]")
    sgn, sgn_ = _each(
        "sgn",
        "the sign of {}; of complex ones their direction, of size 1",
        "[3 + 4j, -2]",
        "[ 0.6+0.8j, -1. +0.j ]",
    )
    ceil, ceil_ = _each("ceil", "{} rounded up; integers as they are", "[-1.5, 1.2]", "[-1.,  2.]")
    floor, floor_ = _each("floor", "{} rounded down; integers as they are", "[-1.5, 1.2]", "[-2.,  1.]")
    trunc, trunc_ = _each(
        "trunc", "{} without its fraction; integers as they are", "[-1.5, 1.2]", "[-1.,  1.]"
    )
    frac, frac_ = _each("frac", "the fraction of each float, with its sign", "[-1.5, 1.25]", "[-0.5 ,  0.25]")
    bitwise_not, bitwise_not_ = _each(
        "bitwise_not", "the integers with all bits inverted, or the bools negated", "[0, 5]", "[-1, -6]"
    )
    logical_not, logical_not_ = _each("logical_not", "whether {} is 0 or False", "[0, 5]", "[ True, False]")
    isnan: UnaryMethod = _method("isnan", "whether {} is nan", "[np.nan, 1.0]", "[ True, False]")
    isinf: UnaryMethod = _method("isinf", "whether {} is infinite", "[np.inf, 1.0]", "[ True, False]")
    isfinite: UnaryMethod = _method(
        "isfinite", "whether {} is neither nan nor infinite", "[np.inf, 1.0]", "[False,  True]"
    )

    mul, mul_ = _pairs("mul", "`x * other`; of bools, whether both are true", "[1, 2]", "2.5", "[2.5, 5. ]")
    atan2, atan2_ = _pairs(
        "atan2",
        "the angle, in radians, of the point with y = x and x = other",
        "[1.0, 0.0]",
        "[0.0, -1.0]",
        "[1.57079633, 3.14159265]",
    )
    floor_divide, floor_divide_ = _pairs(
        "floor_divide", "`x // other`, rounded down", "[-3, 3]", "2", "[-2,  1]"
    )
    remainder, remainder_ = _pairs(
        "remainder", "`x % other`, with the sign of `other`", "[-3, 3]", "2", "[1, 1]"
    )
    hypot: BinaryMethod = _pair(
        "hypot", "the square root of the sum of both squares", "[3.0, 5.0]", "[4.0, 12.0]", "[ 5., 13.]"
    )
    maximum: BinaryMethod = _pair(
        "maximum", "the larger element of each pair; nan where either is", "[1, 5]", "3", "[3, 5]"
    )
    minimum: BinaryMethod = _pair(
        "minimum", "the smaller element of each pair; nan where either is", "[1, 5]", "3", "[1, 3]"
    )
    eq: BinaryMethod = _compares("eq", "equal to", "[False,  True]")
    ne: BinaryMethod = _compares("ne", "different from", "[ True, False]")
    lt: BinaryMethod = _compares("lt", "less than", "[ True, False]")
    le: BinaryMethod = _compares("le", "at most", "[ True,  True]")
    gt: BinaryMethod = _compares("gt", "greater than", "[False, False]")
    ge: BinaryMethod = _compares("ge", "at least", "[False,  True]")
    logical_and, logical_and_ = _pairs(
        "logical_and", "whether both elements are true, not 0", "[0, 2]", "[1, 3]", "[False,  True]"
    )
    logical_or, logical_or_ = _pairs(
        "logical_or", "whether either element is true, not 0", "[0, 2]", "[1, 3]", "[ True,  True]"
    )
    logical_xor, logical_xor_ = _pairs(
        "logical_xor", "whether exactly one element is true, not 0", "[0, 2]", "[1, 3]", "[ True, False]"
    )
    bitwise_and, bitwise_and_ = _pairs(
        "bitwise_and", "the bits that are set in both; of bools, the bools", "[3, 10]", "[5, 15]", "[ 1, 10]"
    )
    bitwise_or, bitwise_or_ = _pairs(
        "bitwise_or", "the bits that are set in either; of bools, the bools", "[3, 10]", "[5, 15]", "[ 7, 15]"
    )
    bitwise_xor, bitwise_xor_ = _pairs(
        "bitwise_xor",
        "the bits that are set in exactly one; of bools, the bools",
        "[3, 10]",
        "[5, 15]",
        "[6, 5]",
    )
