"""`pack` and `unpack` of einops: arrays with some axes in common as one array, and back.

In a pattern such as "batch * channel", the axes at "*" are merged into one, along which arrays are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any

from nameexpr.backends.dispatch import library_name
from nameexpr.compat.patterns import fault, shape_of
from nameexpr.compat.stars import around_star, flattened, star
from nameexpr.errors import Span
from nameexpr.runtime import traced_as


def namespace(array: Any) -> Any:
    """Return the functions of the library of an array."""
    kind: Any = type(array)
    name = library_name(kind)
    if name == "array_api":
        return array.__array_namespace__()
    return import_module(
        {"torch": "torch", "jax": "jax.numpy", "dask": "dask.array"}.get(name or "", "numpy")
    )


def _trace(tensors: Sequence[Any], pattern: str) -> Any:
    from nameexpr.compat import traced

    return traced.traced_pack(tensors, pattern)


@traced_as(_trace)
def pack(tensors: Sequence[Any], pattern: str) -> tuple[Any, list[tuple[int, ...]]]:
    """Return arrays joined along the axes at "*", and the shape that each of them has there.

    Parameters
    ----------
    tensors : sequence of arrays
        At least one; all have the axes that the pattern names.
    pattern : str
        Names of axes, and one "*" for any number of them.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or an array with fewer dims than it names.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import pack
    >>> packed, shapes = pack([np.ones((2, 3)), np.ones((2, 4, 5, 3))], "b * c")
    >>> packed.shape, shapes
    ((2, 21, 3), [(), (4, 5)])
    """
    axis, flat, shapes = flattened(tensors, pattern)
    functions = namespace(tensors[0])
    join = getattr(functions, "concatenate", None) or functions.concat
    return join(flat, axis=axis), shapes


def unpack(tensor: Any, packed_shapes: Sequence[Sequence[int]], pattern: str) -> list[Any]:
    """Return the parts of an array along the axis at "*", each in a shape of its own: views if there can be.

    Parameters
    ----------
    tensor : array
        With one axis at "*".
    packed_shapes : sequence of shapes
        What is at "*" in each part; one number of all may be -1, for what is left.
    pattern : str
        As for `pack`.

    Raises
    ------
    EinopsError
        For a pattern that is wrong, or shapes that the axis does not consist of.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.einops import unpack
    >>> [part.shape for part in unpack(np.ones((2, 21, 3)), [(), (4, 5)], "b * c")]
    [(2, 3), (2, 4, 5, 3)]
    """
    before, after = around_star(pattern)
    shape = shape_of(tensor, pattern)
    if len(shape) != before + 1 + after:
        message = f"the array has {len(shape)} dims, and the pattern {before + 1 + after}"
        raise fault("NE310", message, pattern, [Span(0, len(pattern))], "the axis at * is one axis")
    lengths = _lengths(shape[before], packed_shapes, pattern)
    parts, start = [], 0
    for length, inside in zip(lengths, packed_shapes, strict=True):
        part = tensor[(slice(None),) * before + (slice(start, start + length),)]
        own = [length // max(1, -prod(inside)) if one == -1 else one for one in inside]
        parts.append(part.reshape((*shape[:before], *own, *shape[before + 1 :])))
        start += length
    return parts


def _lengths(length: int, shapes: Sequence[Sequence[int]], pattern: str) -> list[int]:
    """Return the length of each part of the axis at "*"."""
    unknown = [number for number, shape in enumerate(shapes) if -1 in shape]
    lengths = [prod(shape) for shape in shapes]
    if len(unknown) > 1 or any(list(shape).count(-1) > 1 for shape in shapes):
        hint = "give all lengths but one"
        raise fault("NE306", "more than one length is -1", pattern, [star(pattern)], hint)
    if unknown:
        known = -lengths[unknown[0]]
        left = length - sum(lengths[: unknown[0]] + lengths[unknown[0] + 1 :])
        lengths[unknown[0]] = left if left == 0 or (known and left % known == 0) else -1
    if sum(lengths) != length or any(one < 0 for one in lengths):
        message = f"the axis at '*' is {length} long, which cannot be split into {[*map(tuple, shapes)]}"
        raise fault("NE306", message, pattern, [star(pattern)], "the products of the shapes add up to it")
    return lengths
