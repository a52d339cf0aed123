"""What one cell of a pointwise function takes, and a call of it, in nanoseconds.

Fitted on the machine of `costs`, with NumPy's AVX-512 loops; without them the dear functions take longer.
Some depend on their values, which nobody knows beforehand: powers of negative numbers, `where`, which takes
0.4 to 3.7 as its conditions can be foreseen or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.backends.numpy.costs.cells import CONVERTED, FLOATS, UFUNC, item_bytes
from nameexpr.ops import COSTS

Cells = tuple[float, float, float]
"""One cell of float64, float32 and complex128."""


FUNCTIONS: Mapping[str, Cells] = {
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
    "power": (6.0, 3.0, 87.0),
    "floor_divide": (5.8, 5.8, 0.0),
    "hypot": (5.0, 2.5, 0.0),
    "logaddexp": (12.0, 12.0, 0.0),
    "where": (1.4, 1.4, 1.4),
    "cast": (0.1, 0.15, 0.2),
    "round": (0.12, 0.06, 0.95),
    "integer": (0.0, 0.0, 0.0),
    "real": (0.08, 0.04, 0.26),
    "imag": (0.14, 0.08, 0.26),
    "relu": (0.3, 0.2, 0.0),
    "sigmoid": (1.5, 1.1, 0.0),
    "silu": (1.65, 1.2, 0.0),
    "gelu": (27.0, 28.0, 0.0),
    "softplus": (10.5, 10.3, 0.0),
    "erf": (28.0, 29.0, 0.0),
    "erfc": (31.0, 32.0, 0.0),
    "clip": (0.23, 0.14, 1.8),
}
"""By the kernel that others are like (`nameexpr.ops.COSTS`). 0 stands where complex numbers are refused."""
PLAIN = FUNCTIONS["add"]
CALLS: Mapping[str, float] = {
    "where": 670.0,
    "round": 1030.0,
    "integer": 1000.0,
    "real": 330.0,
    "imag": 400.0,
    "relu": 820.0,
    "sigmoid": 3900.0,
    "silu": 4950.0,
    "gelu": 4300.0,
    "softplus": 1550.0,
    "erf": 2900.0,
    "erfc": 2950.0,
    "clip": 950.0,
}
"""A call that is dearer than a ufunc's."""
PASSES: Mapping[str, int] = {"sigmoid": 6, "silu": 7, "clip": 2}
"""How many passes over memory a call makes that is several."""
NUMBER = 150.0
"""More for an argument that is a number."""
SQUARED = 0.33, 0.33, 87.0
"""A power of 2, one cell."""
BOOLS = 0.03
"""One cell of a function of bools."""
HALF = 3.4
"""One cell of arithmetic in float16, which NumPy does by way of float32."""
HALVED = 1.2
"""Casting one cell from or to float16."""
WHOLE = {"floor_divide": 1.7, "power": 1.0}
"""One cell of what integers take another time for."""
LONG = 30
"""How many times longer than float64 extended floats take."""
ROOTED = 2.0
"""How many times longer complex128 takes than complex64."""


def call_nanos(call: str, numbers: int = 0) -> float:
    """Return the time of a call on nothing, some of whose arguments are numbers."""
    return CALLS.get(COSTS.get(call, call), UFUNC) + NUMBER * numbers


def cell_nanos(call: str, dtypes: Sequence[str], result: str, *, is_square: bool = False) -> float:
    """Return the time of one cell of a pointwise function.

    Parameters
    ----------
    call : str
        The kernel of the function.
    dtypes : sequence of str
        Those of its arrays; "" if they are not known.
    result : str
        The dtype of what comes out.
    is_square : bool, optional
        Whether it is a power of two.
    """
    call = COSTS.get(call, call)
    cells = SQUARED if is_square else FUNCTIONS.get(call, PLAIN)
    computed = max((*dtypes, result), key=_rank)
    if call == "cast" and "float16" in (*dtypes, result):
        return HALVED
    if computed == "float16":
        return HALF + cells[1]
    if computed == "bool" and call not in CALLS:
        return BOOLS
    converted = CONVERTED * sum(_rank(dtype) < _rank(computed) and dtype != "bool" for dtype in dtypes)
    if computed in FLOATS or not computed:
        is_complex = computed.startswith("complex")
        both = cells[2] or cells[0]
        own = both if is_complex else cells[1] if computed == "float32" else cells[0]
        return (own / ROOTED if computed == "complex64" else own) + converted
    if item_bytes(computed) >= item_bytes("longdouble"):
        return cells[0] * LONG
    return WHOLE.get(call, cells[0] * item_bytes(computed) / 8 + 0.02) + converted


def _rank(dtype: str) -> tuple[int, int]:
    """Return what is larger for the dtype in which two are computed together."""
    kind = ("bool", "uint", "int", "float", "complex")
    order = next((place for place, name in enumerate(kind) if dtype.startswith(name)), len(kind) - 2)
    return order, item_bytes(dtype)
