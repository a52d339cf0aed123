"""Numbers of a formula: what is made of them alone, and that the dtypes they meet hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.faults import build as faults
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, MAGNITUDE
from nameexpr.compiler.ir.graph import WEAK, Map, Scalar, number_of
from nameexpr.errors import NotHeldError, Span, error
from nameexpr.ops import FUNCTIONS, INTEGER

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.build import Builder


POWERS = frozenset({"**.", "pow"})
DIVIDING = frozenset({"//.", "%.", "floor_divide", "remainder", "fmod"})


def folded(build: Builder, function: str, values: Sequence[int], span: Span) -> int | float | complex:
    """Return what a pointwise function gives for numbers of the text (NE526 if that is too large)."""
    nodes = [build.graph.nodes[value] for value in values]
    numbers = [number_of(node) for node in nodes if isinstance(node, Scalar)]
    kernel = FUNCTIONS[function].kernel
    try:
        return build.told(lambda: build.arithmetic.fold(kernel, numbers), function, values, span)
    except NotHeldError as fault:
        raise error(faults.not_computed(build.text, fault, span)) from fault


def held(build: Builder, value: int, dtype: str, span: Span) -> int:
    """Return an integer as a value of a dtype that must hold it: `np.where` would wrap it in silence."""
    if build.graph.dtypes[value] != "weak:int" or dtype not in MAGNITUDE:
        return value
    node = build.graph.nodes[value]
    if not isinstance(node, Scalar):
        return build.cast(value, dtype)
    least = 0 if dtype.startswith("u") else -MAGNITUDE[dtype]
    number = number_of(node)
    if not least <= number.real < least + 2 ** (8 * ITEM_BYTES[dtype]):
        raise error(faults.not_computed(build.text, faults.not_held(number, dtype), span))
    return value


def integers(build: Builder, kernel: str, values: Sequence[int], dtype: str) -> list[int]:
    """Return the arguments of a function: numbers whose kind decides its dtype must be integers."""
    dtypes = [build.graph.dtypes[value] for value in values]
    return [
        integer(build, value)
        if value in build.unsure and not _takes_floats(build, kernel, dtypes, place, dtype)
        else value
        for place, value in enumerate(values)
    ]


def _takes_floats(build: Builder, kernel: str, dtypes: Sequence[str], place: int, dtype: str) -> bool:
    """Whether a function's dtype is what it is for a float at a place, too; that of numbers is their own."""
    try:
        found = build.arithmetic.dtype_of(kernel, [*dtypes[:place], "weak:float", *dtypes[place + 1 :]])
    except TypeError:
        return False
    return dtype.startswith(WEAK) or found == dtype


def integer(build: Builder, value: int) -> int:
    """Return a number that is refused if it turns out to be no integer."""
    if value not in build.unsure:
        return value
    made = build.graph.add(Map(INTEGER, (value,)), (), "weak:int")
    build.graph.spans.setdefault(made, build.graph.spans[value])
    return made


def may_be_fraction(build: Builder, function: str, values: Sequence[int]) -> bool:
    """Whether a function of integers that only a call knows may give a float: 2 ** -1, 7 // 0."""
    last = build.graph.nodes[values[-1]]
    known = number_of(last).real if isinstance(last, Scalar) else None
    if any(value in build.unsure for value in values) or function == "reciprocal":
        return True
    if function in POWERS:
        return known is None or known < 0
    return function in DIVIDING and not known


def check_is_array(build: Builder, value: int, span: Span) -> None:
    """Refuse an integer that is to be an array, and that no dtype holds (NE526)."""
    node = build.graph.nodes[value]
    if isinstance(node, Scalar) and node.kind == "int":
        number = number_of(node)
        try:
            float(number.real)
        except OverflowError as fault:
            reason = faults.not_held(number, "float64")
            raise error(faults.not_computed(build.text, reason, span)) from fault
