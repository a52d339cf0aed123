"""Passes over elements, in nanoseconds: the costs of runs, strides and memory, and of an element of each
function.

Some functions depend on their values, which are not known beforehand: powers of negative numbers, and
`where`, which takes 0.4 to 3.7, depending on whether its conditions are predictable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.costs import UFUNC_CALL, Profile
from nameexpr.backends.numpy.costs.calls import LINE, PAGE
from nameexpr.backends.numpy.costs.strided import Strided, runs
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.liveness import is_or_zero
from nameexpr.compiler.ir.program import Shape
from nameexpr.ops import COSTS

NUMBER = 150.0
"""The extra cost of an argument that is a number."""
CONVERTED = 0.3
"""Casting one element before or after a function."""
CELLS: Mapping[str, tuple[float, float, float]] = {
    "add": (0.12, 0.065, 0.22),
    "absolute": (0.12, 0.065, 0.8),
    "equal": (0.085, 0.052, 0.75),
    "isfinite": (0.11, 0.065, 0.5),
    "bitwise_and": (0.14, 0.07, 0.14),
    "sign": (0.5, 0.45, 0.75),
    "logical_and": (0.75, 0.75, 1.3),
    "true_divide": (0.25, 0.085, 2.1),
    "reciprocal": (0.49, 0.16, 2.0),
    "sqrt": (0.95, 0.28, 17.0),
    "exp": (0.55, 0.33, 15.0),
    "log": (0.54, 0.22, 54.0),
    "log1p": (0.65, 0.25, 30.0),
    "tan": (0.75, 0.25, 50.0),
    "arccosh": (1.3, 0.4, 55.0),
    "sin": (7.3, 0.4, 32.0),
    "arctan2": (1.3, 0.35, 0.0),
    "power": (3.0, 1.6, 87.0),
    "floor_divide": (5.8, 5.8, 0.0),
    "hypot": (5.0, 2.5, 0.0),
    "logaddexp": (12.0, 12.0, 0.0),
    "where": (1.4, 1.4, 1.4),
    "cast": (0.1, 0.15, 0.2),
    "round": (0.12, 0.06, 0.95),
    "integer": (0.0, 0.0, 0.0),
    "to_int": (0.6, 0.6, 0.0),
    "real": (0.08, 0.04, 0.26),
    "imag": (0.14, 0.08, 0.26),
    "relu": (0.43, 0.29, 0.0),
    "sigmoid": (1.1, 0.65, 0.0),
    "silu": (1.2, 0.8, 0.0),
    "gelu": (10.0, 7.0, 0.0),
    "softplus": (13.0, 13.0, 0.0),
    "erf": (13.0, 9.0, 0.0),
    "erfc": (9.5, 6.5, 0.0),
    "clip": (0.86, 0.58, 3.0),
}
"""One element of float64, float32 and complex128, by the kernel that represents similar ones
(`nameexpr.ops.COSTS`); 0 if complex numbers are not supported.
"""
CALLS: Mapping[str, float] = {
    "where": 670.0, "round": 1030.0, "integer": 1000.0, "real": 330.0, "imag": 400.0, "relu": 820.0,
    "sigmoid": 1500.0, "silu": 1900.0, "gelu": 4300.0, "softplus": 1550.0, "erf": 2900.0, "erfc": 2950.0,
    "clip": 1900.0, "to_int": 3800.0,
}  # fmt: skip
"""Calls that cost more than a ufunc's."""
PASSES: Mapping[str, int] = {"sigmoid": 4, "silu": 5, "clip": 2}
"""The number of passes over memory of calls with several."""
SQUARED = 0.33, 0.33, 87.0
"""One element of a power of 2."""
BOOLS, HALF, HALVED = 0.03, 3.4, 1.2
"""One element of a function of bools; of arithmetic in float16, which NumPy computes in float32; of a cast
from or to float16.
"""
WHOLE = {"floor_divide": 1.7, "power": 1.0}
"""One element of functions that take a different time for integers."""
ITERATED, BUFFER, GATHERED = 450.0, 8192, 0.14
"""The extra cost of a call over arrays that are not one run; the length of runs up to which NumPy copies
their elements into a buffer, and copying one element of 8 bytes.
"""
CROWDED, CROWDED_FAR, APART, MANY = 0.9, 2.5, 512, 48
"""The extra costs of elements at a multiple of this distance in bytes, in runs of at least this length: of
arrays up to the second cache, and beyond it.
"""
TRANSLATED = 1 << 22
"""The bytes of pages that a processor finds at once."""
BOUNDED = frozenset({"maximum", "minimum"})
"""Functions whose elements take as long as those of relu if an argument is a number."""
LONG, ROOTED = 30, 2.0
"""The ratio of the time of extended floats to float64, and of complex128 to complex64."""
FLOATS = frozenset({"float32", "float64", "complex64", "complex128"})
KINDS = ("bool", "uint", "int", "float", "complex")


def pass_cost(
    profile: Profile,
    shape: Shape,
    result: Strided,
    sources: Sequence[Strided],
    cell: float,
    run: float | None = None,
) -> float:
    """Return the cost of a function of arrays, broadcast to a shape, into a result of that shape.

    Parameters
    ----------
    profile : Profile
        The machine.
    shape : tuple of int
        The shape of the iteration.
    result : Strided
        The array that is written.
    sources : sequence of Strided
        The arrays that are read.
    cell, run : float
        The costs of one cached element, and of starting a run; by default those of a pointwise function,
        whose calls take longer on arrays that are not one run.
    """
    cells = prod(shape)
    if not cells:
        return 0.0
    arrays = [array.over(shape) for array in (result, *sources)]
    length, inner = runs(shape, arrays)
    each = cell
    for array, step in zip(arrays, inner, strict=True):
        if abs(step) > 1:
            far = far_cost(profile, array, step) + _crowded_cost(profile, array, step, length)
            is_near = array.size <= profile.second_cache
            each += profile.pass_strided + far * (array.cells / cells if is_near else 1.0)
    moved = sum(array.size for array in arrays)
    cost = cells * each + memory_cost(profile, moved)
    if length < cells:
        cost += cells / length * (profile.pass_run if run is None else run)
        cost += _iteration_cost(profile, shape, arrays, length) if run is None else 0.0
    return cost


def _iteration_cost(profile: Profile, shape: Shape, arrays: Sequence[Strided], length: int) -> float:
    """Return the cost of a call that iterates over runs, and of copying short ones of adjacent or equal
    elements together.
    """
    cost = ITERATED * profile.per_call
    if length < BUFFER:
        for array in arrays:
            own, (step,) = runs(shape, [array])
            if own < prod(shape) and step <= 1:
                cost += prod(shape) * GATHERED * array.item / 8 * profile.per_cell
    return cost


def far_cost(profile: Profile, array: Strided, step: int) -> float:
    """Return the extra cost of an element that is alone in its cache line, or in its page."""
    apart, size = abs(step) * array.item, array.size
    far = profile.pass_far if apart >= LINE and size > profile.near_cache else 0.0
    return far + (profile.pass_paged if apart >= PAGE and size > TRANSLATED else 0.0)


def _crowded_cost(profile: Profile, array: Strided, step: int, length: int) -> float:
    """Return the extra cost of an element of a run that competes with the others for sets of the cache."""
    apart, size = abs(step) * array.item, array.size
    if length < MANY or apart % APART or size <= profile.near_cache:
        return 0.0
    return (CROWDED_FAR if size > profile.second_cache else CROWDED) * profile.per_cell


def pages_cost(profile: Profile, size: int) -> float:
    """Return the cost of allocating the memory of an array."""
    return size * profile.new_byte if size > profile.last_cache else 0.0


def memory_cost(profile: Profile, moved: int) -> float:
    """Return the extra cost of cache misses for a pass over `moved` bytes."""
    if moved <= profile.second_cache:
        return 0.0
    return moved * (profile.cached_byte if moved <= profile.last_cache else profile.main_byte)


def main_cost(profile: Profile, moved: int) -> float:
    """Return the extra cost of main memory for calls whose constants hold for the caches."""
    return moved * (profile.main_byte - profile.cached_byte) if moved > profile.last_cache else 0.0


def function_cost(
    profile: Profile, kernel: str, numbers: Sequence[object], sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of a call of a pointwise function, some of whose arguments are numbers."""
    dtypes = [source.dtype for source in sources]
    if is_or_zero(kernel, numbers, result.dtype):
        kernel = "multiply"
    is_square = kernel == "power" and list(numbers) == [2]
    own = "relu" if kernel in BOUNDED and numbers else kernel
    cell = cell_cost(profile, own, dtypes, result.dtype, is_square=is_square)
    passes = PASSES.get(COSTS.get(kernel, kernel), 1)
    moved = (passes - 1) * 2 * prod(result.shape) * result.item
    cells = pass_cost(profile, result.shape, result, sources, cell)
    call = ufunc_cost(profile, kernel) + NUMBER * profile.per_call * len(numbers)
    return call + (cells + memory_cost(profile, moved))


def ufunc_cost(profile: Profile, kernel: str) -> float:
    """Return the cost of a call of a pointwise function on no elements."""
    return CALLS.get(COSTS.get(kernel, kernel), UFUNC_CALL) * profile.per_call


def cell_cost(
    profile: Profile, kernel: str, dtypes: Sequence[str], result: str, *, is_square: bool = False
) -> float:
    """Return the cost of one element of a pointwise function.

    Parameters
    ----------
    profile : Profile
        The machine.
    kernel : str
        The name of the kernel.
    dtypes : sequence of str
        The dtypes of its arrays; "" if unknown.
    result : str
        The dtype of the result.
    is_square : bool, optional
        Whether it is a power of two.
    """
    return profile.per_cell * _measured_cell(COSTS.get(kernel, kernel), dtypes, result, is_square)


def _measured_cell(kernel: str, dtypes: Sequence[str], result: str, is_square: bool) -> float:
    """Return the cost of one element on the processor on which the tables were measured."""
    wide, narrow, complex_ = SQUARED if is_square else CELLS.get(kernel, CELLS["add"])
    computed = max((*dtypes, result), key=_rank)
    if kernel == "cast" and "float16" in (*dtypes, result):
        return HALVED
    if computed == "float16":
        return HALF + narrow
    if computed == "bool" and kernel not in CALLS:
        return BOOLS
    converted = CONVERTED * sum(_rank(dtype) < _rank(computed) and dtype != "bool" for dtype in dtypes)
    if computed.startswith("complex") and computed in FLOATS:
        return (complex_ or wide) / (ROOTED if computed == "complex64" else 1) + converted
    if computed in FLOATS or not computed:
        return (narrow if computed == "float32" else wide) + converted
    item = ITEM_BYTES.get(computed, 8)
    if item >= ITEM_BYTES["longdouble"]:
        return wide * LONG
    return WHOLE.get(kernel, wide * item / 8 + 0.02) + converted


def _rank(dtype: str) -> tuple[int, int]:
    """Return a key that is larger for the dtype in which two are computed together."""
    order = next((rank for rank, kind in enumerate(KINDS) if dtype.startswith(kind)), len(KINDS) - 2)
    return order, ITEM_BYTES.get(dtype, 8)
