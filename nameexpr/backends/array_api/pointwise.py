"""Pointwise functions as calls of the array API standard.

The standard combines arrays of one kind only, so that arguments are converted to the dtype that the result is
computed in. Numbers are written next to operators; functions take them as arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.backends.array_api.promotion import ORDERED, Promotion
from nameexpr.backends.array_api.words import Number, as_kind, cast, converted, full, literal, ours, xp
from nameexpr.backends.numpy.codegen.statements import Joined, Value, quoted
from nameexpr.backends.portable.values import ValueSpec
from nameexpr.compiler.ir.dtypes import KIND_OF, MAGNITUDE, WEAK, WeakDtype
from nameexpr.compiler.ir.program import Instruction
from nameexpr.ops import FUNCTIONS
from nameexpr.records import record

SIGNS: Mapping[str, str] = {
    row.kernel: sign.removesuffix(".") for sign, row in FUNCTIONS.items() if sign.endswith(".")
}
"""Operators by their kernels."""
COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
NAMES: Mapping[str, str] = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj",
    "invert": "bitwise_invert", "power": "pow", "true_divide": "divide",
}  # fmt: skip
"""Functions that the standard has by another name."""
OURS = frozenset({
    "clip", "erf", "erfc", "exp2", "fmod", "gelu", "imag", "reciprocal", "relu", "sigmoid", "silu",
    "softplus", "to_int",
})  # fmt: skip
"""Functions that the standard lacks, or has for fewer dtypes."""
OF_BOOLS: Mapping[str, str] = {
    "add": "logical_or", "maximum": "logical_or", "minimum": "logical_and", "multiply": "logical_and",
}  # fmt: skip
"""Functions of the standard that compute those of bools."""
WHOLE = frozenset({"ceil", "floor", "integer", "positive", "round", "trunc"})
"""Functions that return integers and bools as they are."""


NUMBERS = frozenset({*KIND_OF, "as_array", "asarray"})
"""Kernels that make an array of a number."""


@record
class FunctionArgument:
    """An argument: its code, its dtype, and its value if it is a number of the text."""

    code: str
    dtype: str
    number: Number | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a number, of the text or passed as an operand."""
        return isinstance(self.dtype, WeakDtype)

    def of_dtype(self, wanted: str) -> Value:
        """Return its code, converted to a dtype; a number stays one."""
        if self.number is not None:
            return literal(converted(self.number, wanted))
        if isinstance(self.dtype, WeakDtype):
            return as_kind(self.code, self.dtype, wanted)
        return cast(self.code, self.dtype, wanted)


def pointwise(
    instruction: Instruction,
    known: Sequence[ValueSpec],
    names: Sequence[str],
    promotion: Promotion,
    device: str | None,
) -> Value:
    """Return the code of a pointwise function."""
    given, kernel = _arguments(instruction, known, names), instruction.function
    if instruction.is_weak:
        return ours("fold")(quoted(kernel), *[_bare(one) for one in given])
    if kernel in NUMBERS:  # a number as an array
        dtype = kernel if kernel in KIND_OF else instruction.dtype
        return full(given[0].of_dtype(dtype), dtype, device)
    dtypes = [_wanted(kernel, position, given, promotion) for position in range(len(given))]
    values = [one.of_dtype(dtype) for one, dtype in zip(given, dtypes, strict=True)]
    if _is_identity(kernel, dtypes[0]):
        return xp("asarray")(values[0], copy="True")
    is_of_bools = dtypes[0] == "bool" and kernel in OF_BOOLS
    if kernel in SIGNS and not is_of_bools and any(one.is_number for one in given) and len(given) > 1:
        return Joined((_grouped(values[0]), f" {SIGNS[kernel]} ", values[1]))
    arrays = [
        full(value, dtype, device) if one.is_number else value
        for one, value, dtype in zip(given, values, dtypes, strict=True)
    ]
    if is_of_bools:
        return xp(OF_BOOLS[kernel])(*arrays)
    return ours(kernel)(*arrays) if kernel in OURS else xp(NAMES.get(kernel, kernel))(*arrays)


def _arguments(
    instruction: Instruction, known: Sequence[ValueSpec], names: Sequence[str]
) -> list[FunctionArgument]:
    arrays = iter([FunctionArgument(name, one.dtype) for name, one in zip(names, known, strict=True)])
    return [
        next(arrays) if number is None else FunctionArgument("", WEAK[type(number)], number)
        for number in instruction.constants
    ]


def _bare(one: FunctionArgument) -> Value:
    return one.code if one.number is None else literal(one.number)


def _grouped(value: Value) -> Value:
    """Return a value that can be written before an operator."""
    is_negative = isinstance(value, str) and value.startswith("-")
    return f"({value})" if is_negative else value


def _wanted(kernel: str, position: int, given: Sequence[FunctionArgument], promotion: Promotion) -> str:
    """Return the dtype that an argument is converted to."""
    dtypes = tuple([one.dtype for one in given])
    if kernel.startswith("logical_") or (kernel == "where" and position == 0):
        return "bool"
    if kernel in COMPARISONS:
        common = promotion.promoted(dtypes)
        common = "uint8" if common == "bool" and kernel in ORDERED else common
        return _wide_enough(common, [one.number for one in given])
    own = dtypes[position]
    if kernel in {"isfinite", "isinf", "isnan", "signbit"}:
        return promotion.floating(own)
    if kernel in {"absolute", "imag", "real", "to_int"}:
        return own
    return promotion.dtype_of(kernel, dtypes)


def _wide_enough(dtype: str, numbers: Sequence[Number | None]) -> str:
    """Return a dtype to compare in: that of the integers, or one that also holds the numbers of the text."""
    most = MAGNITUDE.get(dtype)
    if most is None or dtype == "bool":
        return dtype
    least = 0 if dtype.startswith("u") else -most
    top = most if dtype.startswith("u") else most - 1
    if all(number is None or least <= number.real <= top for number in numbers):
        return dtype
    bits = 1 << 63
    fits = all(number is None or -bits <= number.real < bits for number in numbers)
    return "int64" if fits and dtype != "uint64" else "float64"


def _is_identity(kernel: str, dtype: str) -> bool:
    """Return whether a function returns elements of a dtype as they are."""
    kind = KIND_OF.get(dtype, "float")
    if kind != "complex" and kernel in {"conjugate", "real"}:
        return True
    if kind == "bool" and kernel == "absolute":
        return True
    return (kernel in WHOLE and kind in {"bool", "int", "uint"}) or kernel == "integer"
