"""The options of a call, checked and in a form that can be a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from nameexpr.backends.numpy.arrays import native
from nameexpr.compiler.analysis.faults.misuse import OPTIONS, kind_of, no_reducer, no_size
from nameexpr.compiler.planning.path import Optimize, check_strategy
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, error
from nameexpr.ops import REDUCTIONS
from nameexpr.runtime.entry import CallOptions, Reduce
from nameexpr.syntax.limits import SIZE_DIGITS

if TYPE_CHECKING:
    import numpy.typing as npt


def read_options(
    sizes: Mapping[str, SupportsIndex] | None = None,
    keywords: Mapping[str, SupportsIndex] = MappingProxyType({}),
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    reduce: str | Reduce | None = None,
    *,
    order: str | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    outputs: Sequence[str] | None = None,
    formula: str = "",
) -> CallOptions:
    """Return the options of a call; errors in those of a formula show its text."""
    return CallOptions(
        checked_sizes(sizes, keywords, formula),
        _dtype(dtype),
        check_optimize(optimize),
        _reduce(reduce),
        _order(order),
        _limit(memory_limit, formula),
        _tune(tune),
        _outputs(outputs, formula),
    )


def expression_options(given: Mapping[str, Any]) -> CallOptions | None:
    """Return the options of a call of `einsum`; all other keywords are sizes. None without any."""
    sizes = {name: size for name, size in given.items() if name not in OPTIONS}
    options = {name: value for name, value in given.items() if name in OPTIONS}
    return read_options(keywords=sizes, **options).or_none


def checked_sizes(
    sizes: Mapping[str, SupportsIndex] | None,
    keywords: Mapping[str, SupportsIndex] = MappingProxyType({}),
    formula: str = "",
) -> tuple[tuple[str, int], ...]:
    """Return the sizes of labels, given in two ways, as sorted pairs (NE603, NE607, NE608, NE704)."""
    whole = "sizes are whole numbers: sizes={'h': 8}" if formula else ""
    if sizes is not None and not isinstance(sizes, Mapping):
        message = f"sizes= must be a mapping from labels to sizes, not {kind_of(sizes)}"  # type: ignore[unreachable]
        hint = whole or "such as sizes={'h': 8}, or as keywords: h=8"
        raise error(Diagnostic("NE607", message, formula, hint=hint))
    merged: dict[str, int] = {}
    for source in (sizes or {}, keywords):
        for name, value in source.items():
            key = normalised(str(name))
            size = _size(key, value, formula, whole)
            if merged.setdefault(key, size) != size:
                message = f"the size of '{key}' is given twice: {merged[key]} and {size}"
                raise error(Diagnostic("NE608", message, formula, hint=whole or "give it once"))
    return tuple(sorted(merged.items()))


def _size(name: str, value: Any, formula: str, whole: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        size = index(value)
    except (TypeError, RuntimeError):  # of PyTorch, for a tensor without a value
        if not formula:
            raise error(no_size(name, value)) from None
        message = f"sizes: {name} is {kind_of(value)}, not a size"
        raise error(Diagnostic("NE603", message, formula, hint=whole)) from None
    if abs(size) >= 10**SIZE_DIGITS:
        message = f"a size has at most {SIZE_DIGITS} digits, and {name}= has more"
        raise error(Diagnostic("NE704", message, formula, hint=whole))
    if formula and size < 0:
        message = f"sizes: {name} is {size}, and sizes are 0 or more"
        raise error(Diagnostic("NE603", message, formula, hint="leave it out where an operand determines it"))
    return size


_OF_BFLOAT16 = "convert the operands instead: x.bfloat16(), or x.astype('bfloat16')"


def _dtype(dtype: npt.DTypeLike | None) -> str | None:
    if dtype is None:
        return None
    if type(dtype).__module__ == "torch":
        dtype = str(dtype).removeprefix("torch.")
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        hint = "dtypes are NumPy's or PyTorch's: 'float32', numpy.int64, torch.float64, bool"
        if dtype == "bfloat16":
            hint = _OF_BFLOAT16
        raise error(Diagnostic("NE609", f"dtype={dtype!r} is not a NumPy dtype", hint=hint)) from None
    if found.kind not in "biufc":
        hint = "expressions compute in bools, integers, floats and complex numbers"
        hint = _OF_BFLOAT16 if found.name == "bfloat16" else hint
        raise error(Diagnostic("NE609", f"dtype={found} is not supported as a dtype", hint=hint))
    return native(found).str  # like those of NumPy's functions, results have this machine's byte order


def check_optimize(optimize: Any) -> Any:
    """Return the option in a form that can be a key; `compiler.planning.path` interprets it."""
    if isinstance(optimize, list | tuple):
        return tuple(tuple(step) if isinstance(step, list | tuple) else step for step in optimize)
    if isinstance(optimize, str):
        check_strategy(optimize)
    if optimize is None or isinstance(optimize, bool | str) or callable(optimize):
        return optimize
    hint = "True, False, the name of a strategy of opt_einsum, or a path"
    raise error(
        Diagnostic(
            "NE604",
            f"optimize= is {kind_of(optimize)}, which does not specify an order of contractions",
            hint=hint,
        )
    )


def _reduce(reduce: Any) -> str | Reduce | None:
    if reduce is None or callable(reduce) or (isinstance(reduce, str) and reduce in REDUCTIONS):
        found: str | Reduce | None = reduce
        return found
    if isinstance(reduce, str):
        raise error(no_reducer(reduce))
    hint = "a callable is called as f(array, axis); a name is such as 'max'"
    raise error(
        Diagnostic(
            "NE606", f"reduce= must be a callable or the name of a reducer, not {kind_of(reduce)}", hint=hint
        )
    )


def _order(order: Any) -> str | None:
    if order is None or (isinstance(order, str) and order == "C"):
        return order
    hint = "order='C' makes a new array in row-major order; by default the cheapest order is used"
    message = f"order= must be 'C' or None, not {kind_of(order)}"
    if isinstance(order, str):
        message = f"order={order!r:.60} is not a supported memory order"
    raise error(Diagnostic("NE614", message, hint=hint))


def _tune(tune: Any) -> bool:
    if isinstance(tune, bool | np.bool_):
        return bool(tune)
    hint = "tune=True times the best strategies once for each shape; by default the cost model chooses"
    raise error(Diagnostic("NE615", f"tune= must be True or False, not {kind_of(tune)}", hint=hint))


def _limit(memory_limit: Any, text: str) -> int | None:
    """Return a number of bytes, or None (NE621)."""
    if memory_limit is None:
        return None
    with suppress(TypeError):
        if not isinstance(memory_limit, bool) and index(memory_limit) >= 0:
            return index(memory_limit)
    message = f"memory_limit={memory_limit!r:.60} is not a number of bytes"
    raise error(Diagnostic("NE621", message, text, hint="give an int, such as 2**30 for one gibibyte"))


def _outputs(outputs: Any, text: str) -> tuple[str, ...] | None:
    """Return the names of outputs=, or None (NE620 for anything but a tuple or list of names)."""
    if outputs is None:
        return None
    if not isinstance(outputs, tuple | list) or not outputs or not all(type(o) is str for o in outputs):
        names = outputs.split() if isinstance(outputs, str) else ()
        hint = f"give the names of statements: outputs={tuple(names or ('p', 'o'))}"
        raise error(Diagnostic("NE620", "outputs= must be a list of names of statements", text, hint=hint))
    return tuple(map(normalised, outputs))
