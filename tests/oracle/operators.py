"""What operators do to names and values, by slow rules: the truth that the operators are compared with.

The rules for names follow PyTorch's pages "Named Tensors" and "Named Tensors operator coverage", sentence by
sentence and one dim at a time; values are NumPy's on the bare arrays, or Python's. Nothing of the package's
rules or kernels is used. What a rule or NumPy rejects raises `Refused`.

>>> unify_names(("N", None), (None, "C"))
('N', 'C')
>>> contracted_names(("N", "A", "B"), ("C", "D"))
('N', 'A', 'D')
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

Names = tuple[str | None, ...]
Array = np.ndarray[Any, Any]


class Refused(Exception):
    """The rules have no result for this call."""


class Expected(NamedTuple):
    """The result of a call: its names and its array."""

    names: Names
    array: Array


def match(a: str | None, b: str | None) -> bool:
    """Whether two names are equal, or one of them is missing."""
    return a == b or a is None or b is None


def unify(a: str | None, b: str | None) -> str | None:
    """The more specific of two names."""
    if not match(a, b):
        raise Refused(f"{a} meets {b}")
    return a if a is not None else b


def unify_names(left: Names, right: Names, whole_left: Names = (), whole_right: Names = ()) -> Names:
    """Pair dims from the right; a name that meets an unnamed dim must not stand in that dim's tensor.

    `whole_left` and `whole_right` are all names of the tensors, where only some of their dims take part.
    """
    result: list[str | None] = []
    for place in range(1, max(len(left), len(right)) + 1):
        if place > len(left):
            result.insert(0, right[-place])
        elif place > len(right):
            result.insert(0, left[-place])
        else:
            a, b = left[-place], right[-place]
            result.insert(0, unify(a, b))
            if a is None and b is not None and b in (whole_left or left):
                raise Refused(f"{b} stands elsewhere in the left tensor")
            if b is None and a is not None and a in (whole_right or right):
                raise Refused(f"{a} stands elsewhere in the right tensor")
    return distinct(tuple(result))


def distinct(names: Names) -> Names:
    """No name stands twice."""
    named = [name for name in names if name is not None]
    if len(named) != len(set(named)):
        raise Refused(f"{names} has a name twice")
    return names


def written_names(target: Names, computed: Names) -> Names:
    """The names after writing over a tensor: one without names takes them, others have exactly them."""
    if any(name is not None for name in target) and target != computed:
        raise Refused(f"{computed} into {target}")
    return computed


def removed_names(names: Names, dims: Sequence[int], keepdim: bool) -> Names:
    """The names that stay when some dims, by position from 0, are combined."""
    return tuple(name for place, name in enumerate(names) if keepdim or place not in dims)


def contracted_names(left: Names, right: Names) -> Names:
    """The names of a matrix product: batch dims unify, the last dim of the left tensor disappears.

    Of the right one the second-to-last disappears, or its only dim. The others are kept.
    """
    if not left or not right:
        raise Refused("a 0-d tensor has nothing to contract")
    batch = unify_names(left[:-2], right[:-2], left, right)
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return distinct(batch + rows + columns)


def rank(dtype: np.dtype[Any]) -> int:
    """The order of kinds in which a dtype may be written into another: bools, integers, floats, complex."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}[dtype.kind]


def checked_written(target: Any, expected: Expected, *, is_out: bool) -> Expected:
    """What a tensor is after `expected` was written over it.

    Sizes must be equal, but for an `out=` without names; a result of a higher kind is rejected.
    """
    names = written_names(target.names, expected.names)
    may_resize = is_out and not any(name is not None for name in target.names)
    if target.shape != expected.array.shape and not may_resize:
        raise Refused("the sizes differ")
    if rank(expected.array.dtype) > rank(target.dtype):
        raise Refused("the kind of numbers is higher")
    return Expected(names, expected.array.astype(target.dtype))


def quiet(function: Callable[..., Any], *operands: Any) -> Array:
    """What NumPy answers, without its warnings."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*operands))
    except (TypeError, ValueError) as refused:
        raise Refused(str(refused)) from refused


def of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real numbers: integers and bools become float64 unless there is a float already."""

    def converted(*operands: Any) -> Any:
        if all(np.result_type(operand).kind in "iub" for operand in operands):
            operands = tuple(np.asarray(operand, np.float64) for operand in operands)
        return function(*operands)

    return converted


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of one Python number, applied to each element."""
    return of_floats(lambda x: np.array([function(float(v)) for v in x.flat], x.dtype).reshape(x.shape))


def whole(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """Rounding: integers and bools are as they are."""
    return lambda x: function(x) if x.dtype.kind == "f" else x


def digamma(x: float) -> float:
    """The recurrence up to where the asymptotic series is good to 12 digits; the poles are nan, at 0 -inf."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0 and x == math.floor(x):
        return math.nan
    total = 0.0
    while x < 20:
        total, x = total - 1 / x, x + 1
    tail = 1 / (12 * x**2) - 1 / (120 * x**4) + 1 / (252 * x**6)
    return total + math.log(x) - 1 / (2 * x) - tail


def erfinv(x: float) -> float:
    """By the quantiles of the normal distribution."""
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    return NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)


def frac(x: Array) -> Array:
    """The part after the point, which integers do not have."""
    if x.dtype.kind != "f":
        raise Refused("integers have no fractions")
    return np.array([math.fmod(v, 1) for v in x.flat], x.dtype).reshape(x.shape)


UNARY: dict[str, Callable[[Array], Any]] = {
    **{"abs": np.abs, "neg": np.negative, "positive": np.positive, "square": np.square, "frac": frac},
    **{name: lambda x: x if x.dtype == bool else np.sign(x) for name in ("sign", "sgn")},
    **{"ceil": whole(np.ceil), "floor": whole(np.floor), "trunc": whole(np.trunc), "round": whole(np.rint)},
    **{"bitwise_not": np.invert, "logical_not": np.logical_not, "relu": lambda x: x * (x > 0)},
    **{"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite},
    **{"acos": of_floats(np.arccos), "asin": of_floats(np.arcsin), "atan": of_floats(np.arctan)},
    **{"acosh": of_floats(np.arccosh), "asinh": of_floats(np.arcsinh), "atanh": of_floats(np.arctanh)},
    **{name: of_floats(getattr(np, name)) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: of_floats(getattr(np, name)) for name in ("exp", "exp2", "expm1", "sqrt", "log", "log10")},
    **{name: of_floats(getattr(np, name)) for name in ("log1p", "log2", "deg2rad", "rad2deg")},
    "reciprocal": of_floats(lambda x: 1 / x),
    "rsqrt": of_floats(lambda x: 1 / np.sqrt(x)),
    "sigmoid": each(lambda x: 1 / (1 + math.exp(-x))),
    **{"erf": each(math.erf), "erfc": each(math.erfc), "erfinv": each(erfinv), "digamma": each(digamma)},
}
"""Every operator on one tensor alone: its result has the names of the tensor."""


BINARY: dict[str, Callable[..., Any]] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": of_floats(np.true_divide)},
    **{"pow": np.power, "floor_divide": np.floor_divide, "remainder": np.remainder},
    **{"atan2": of_floats(np.arctan2), "hypot": of_floats(np.hypot)},
    **{"maximum": np.maximum, "minimum": np.minimum},
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal},
    **{name: getattr(np, name) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: getattr(np, name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
}
"""Every operator on two operands that pair from the right."""


DTYPES = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_), np.dtype(np.float32))
LETTERS = ("A", "B", "C", "D", "seq'")


def every_name(most: int, least: int = 0) -> list[Names]:
    """Every way to name so many dims with None, A, B and C."""
    ranks = (itertools.product((None, *LETTERS[:3]), repeat=rank) for rank in range(least, most + 1))
    listed = [names for rank in ranks for names in rank]
    return [names for names in listed if all(names.count(name) < 2 for name in LETTERS[:3])]


def values(seed: int, shape: Sequence[int], dtype: Any = np.float64) -> Array:
    """Small numbers, quarters among the floats, so that sums and products of them are exact."""
    wanted = np.dtype(dtype)
    numbers: Any = np.random.default_rng(seed).integers(-8, 9, tuple(shape))
    numbers = numbers / 4 if wanted.kind == "f" else numbers % 5 - 1
    return np.asarray(numbers, wanted)


@st.composite
def named_shapes(draw: st.DrawFn, most: int = 4) -> tuple[Names, tuple[int, ...]]:
    """Names, some of them missing, and sizes from 0 to 4, of up to 4 dims."""
    names = draw(st.lists(st.sampled_from(LETTERS), max_size=most, unique=True))
    kept = [draw(st.sampled_from((name, name, None))) for name in names]
    return tuple(kept), tuple(draw(st.sampled_from((0, 1, 2, 2, 3, 4))) for _ in names)


@st.composite
def partners(draw: st.DrawFn, names: Names, shape: tuple[int, ...]) -> tuple[Names, tuple[int, ...]]:
    """Names and sizes that mostly go with others: fewer or more dims, some of size 1, some unnamed."""
    start = draw(st.integers(0, len(names)))
    other: list[str | None] = []
    sizes: list[int] = []
    for name, size in zip(names[start:], shape[start:], strict=True):
        wanted = draw(st.sampled_from((name, name, name, None, *LETTERS[:2])))
        other.append(None if wanted in other else wanted)
        sizes.append(draw(st.sampled_from((size, size, size, 1, 3))))
    if start == 0 and len(names) < 4 and draw(st.booleans()):
        other.insert(0, draw(st.sampled_from([None, *(name for name in LETTERS if name not in other)])))
        sizes.insert(0, draw(st.integers(0, 3)))
    return tuple(other), tuple(sizes)
