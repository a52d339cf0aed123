"""Which library the arrays among some operands are of, found by their classes without importing any library.

Python numbers and NumPy scalars can be combined with the arrays of every library. NumPy arrays can also be
combined with those of JAX and Dask, which accept them everywhere. Other mixtures are refused: nothing is
moved from one library or device to another silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS
from nameexpr.errors import Diagnostic, NameExprError, error

NUMPY = "numpy"
SUPPORTED = frozenset({"array_api", "dask", "jax", "torch"})
"""Libraries, other than NumPy, whose arrays texts run on."""
JOINED_BY_NUMPY = frozenset({"jax", "dask"})
"""Libraries whose functions take NumPy arrays as well."""
NEVER_WRITTEN = frozenset({"jax", "dask"})
"""Libraries that write to no array once it is made."""
_CLASSES = {
    ("numpy", "ndarray"): NUMPY,
    ("torch", "Tensor"): "torch",
    ("jax", "Tracer"): "jax",
    ("jax", "Array"): "jax",
    ("jax", "PRNGKeyArray"): "jax",
    ("jaxlib", "ArrayImpl"): "jax",
    ("jaxlib", "Array"): "jax",
    ("dask", "Array"): "dask",
}
_NEUTRAL = (bool, int, float, complex, np.generic)
_TRACED = {("torch", "SymBool"): bool, ("torch", "SymInt"): int, ("torch", "SymFloat"): float}
"""Numbers in functions that a library traces, with the classes of those that they represent."""
_WAYS = {
    ("numpy", "torch"): "torch.as_tensor(x)",
    ("torch", "numpy"): "x.numpy(force=True)",
    ("jax", "torch"): "torch.from_dlpack(x)",
    ("torch", "jax"): "jax.numpy.from_dlpack(x)",
    ("dask", "torch"): "torch.as_tensor(x.compute())",
    ("torch", "dask"): "dask.array.from_array(x.numpy(force=True))",
    ("dask", "jax"): "jax.numpy.asarray(x.compute())",
    ("jax", "dask"): "dask.array.from_array(np.asarray(x))",
}
"""How an array of one library becomes one of another, for those of which two cannot be combined."""
_STANDARD = "array_api:"
"""What the names of libraries that are only known by the standard begin with here."""
_FROM_STANDARD = {
    NUMPY: "np.from_dlpack(x)",
    "torch": "torch.from_dlpack(x)",
    "jax": "jax.numpy.from_dlpack(x)",
    "dask": "dask.array.from_array(np.from_dlpack(x))",
}


@lru_cache(maxsize=512)
def library_name(kind: Any) -> str | None:
    """Return the name of the library that a class of arrays belongs to: "numpy", "torch", "jax", "dask" or
    "array_api"; None for any other class.

    >>> library_name(np.ndarray), library_name(float)
    ('numpy', None)
    """
    for base in kind.__mro__:
        found = _CLASSES.get((base.__module__.partition(".")[0], base.__name__))
        if found is not None:
            return found
    is_standard = hasattr(kind, "__array_namespace__") and not issubclass(kind, np.generic)
    return "array_api" if is_standard else None


def number_type(value: Any) -> Any:
    """Return the class of a Python number, also of one that a library knows as a symbol; None for others.

    >>> number_type(2.5), number_type(np.ones(2))
    (<class 'float'>, None)
    """
    kind: Any = type(value)
    return kind if kind in NUMBERS else _traced_type(kind)


@lru_cache(maxsize=512)
def _traced_type(kind: Any) -> Any:
    return _TRACED.get((kind.__module__.partition(".")[0], kind.__name__))


def library_of(arrays: Sequence[Any], text: str = "", titles: Sequence[str] = ()) -> str:
    """Return the name of the library that computes with these arrays (NE507 if they are of several).

    `titles` say what each array is in an error: "operand 0", "'x'".
    """
    names = [_name(array) for array in arrays]
    found = {name for name in names if name is not None}
    if len(found) == 1:
        return found.pop().partition(":")[0]
    others = found - {NUMPY}
    if not found or (len(others) == 1 and others <= JOINED_BY_NUMPY):
        return next(iter(others), NUMPY)
    more = range(len(titles), len(arrays))  # operands that the text does not have
    raise mixture(arrays, text, [*titles, *[f"operand {number}" for number in more]])


def _name(array: Any) -> str | None:
    if isinstance(array, _NEUTRAL) or number_type(array) is not None:
        return None
    kind: Any = type(array)
    name = library_name(kind) or NUMPY
    return _STANDARD + array.__array_namespace__().__name__ if name == "array_api" else name


def not_numbers(value: Any, way: str) -> NameExprError:
    """Return the error for an operand that is not of numbers that a library has; `way` is how it converts."""
    message = f"an operand of type {type(value).__name__} is not an array of numbers that the library has"
    return error(Diagnostic("NE503", message, hint=f"convert it first: {way}"))


def mixture(
    arrays: Sequence[Any], text: str = "", titles: Sequence[str] = (), verb: str = ""
) -> NameExprError:
    """Return the error for arrays of several libraries: it names one of each."""
    names = [_name(array) for array in arrays]
    places = {name: place for place, name in reversed([*enumerate(names)]) if name is not None}
    first, second = sorted(places.values())[:2]
    one, other = (_described(arrays[place]) for place in (first, second))
    message = (
        f"{verb}{titles[first]} is {one}, and {titles[second]} is {other}: which library should compute?"
    )
    ways = [
        f"{titles[place]} with {way}"
        for place, way in (
            (second, _way(names[second], names[first])),
            (first, _way(names[first], names[second])),
        )
        if way
    ]
    return error(Diagnostic("NE507", message, text, hint=f"convert {', or '.join(ways) or 'one of them'}"))


def _way(source: str | None, target: str | None) -> str:
    """Return how an array x of one library becomes one of another."""
    if target is not None and target.startswith(_STANDARD):
        x = {"dask": "x.compute()", NUMPY: "x"}.get(source or "")
        name = target.removeprefix(_STANDARD)
        return f"{name}.from_dlpack(x)" if x is None else f"{name}.asarray({x})"
    if source is not None and source.startswith(_STANDARD):
        return _FROM_STANDARD[target or NUMPY]
    return _WAYS.get((source or "", target or ""), "")


def _described(array: Any) -> str:
    kind = type(array)
    module = kind.__module__.partition(".")[0].replace("jaxlib", "jax").replace("builtins", "")
    device = getattr(array, "device", None) if module == "torch" else None
    name = f"{module}.{kind.__name__}" if module else f"a {kind.__name__}"
    name = name.replace("jax.ArrayImpl", "jax.Array")
    article = "" if name.startswith("a ") else "an " if name[0] in "aeiou" else "a "
    return f"{article}{name}{f' on {device}' if device is not None else ''}"


def array_within(operand: Any) -> Any:
    """Return the array that a NamedTensor, or a `DataArray` in chunks, holds; any other object unchanged."""
    if type(operand).__name__ == "DataArray" and operand.chunks is not None:
        return operand.data
    return getattr(operand, "_data", operand)


def is_chunked(operands: Iterable[Any]) -> bool:
    """Return whether there is a Dask array among some operands."""
    kinds: list[Any] = [type(array_within(operand)) for operand in operands]
    return "dask" in map(library_name, kinds)


def has_foreign(operands: Iterable[Any]) -> bool:
    """Return whether there is an array of a library other than NumPy among some operands."""
    return is_foreign([type(array_within(operand)) for operand in operands])


def is_foreign(kinds: Iterable[Any]) -> bool:
    """Return whether a class among these is of a library other than NumPy."""
    return any(library_name(kind) in SUPPORTED for kind in kinds)
