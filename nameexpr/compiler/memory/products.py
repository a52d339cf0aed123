"""What products of arrays need while they run, beside their results: copies that BLAS and matmul ask for, and
buffers of NumPy's C loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.memory.arrays import Array, item_bytes, reduce_buffers
from nameexpr.compiler.memory.buffers import Passed, buffer_bytes
from nameexpr.compiler.memory.scratch import WIDE

DIRECT = 3
"""Axes of a loop over one or two arrays for which NumPy's C loop has a function of its own."""
BLAS = frozenset({"float32", "float64", "complex64", "complex128"})
MATRIX = 2


def dot_bytes(sources: Sequence[Array]) -> int:
    """Return the bytes of the copies that `dot` makes of its operands.

    BLAS wants no negative or zero strides, and matrices in one piece, as far as products are made by its
    functions for matrices; other dtypes are copied only if their cells cannot be read.
    """
    is_matrix = [sum(size != 1 for size in one.shape) == MATRIX for one in sources]
    is_dots = not any(is_matrix) and (len(sources[1].shape) < MATRIX or sources[1].shape[1] == 1)
    is_scaling = any(one.cells == 1 for one in sources)
    size = 0
    for one, own in zip(sources, is_matrix, strict=True):
        is_whole = not is_scaling and not is_dots and (own or not any(is_matrix))
        is_copied = _has_bad_strides(one) or (is_whole and not one.is_one_piece)
        size += one.size if one.is_odd or (one.dtype in BLAS and is_copied) else 0
    return size


def _has_bad_strides(one: Array) -> bool:
    return any(
        step < 0 or (step == 0 and size > 1) for size, step in zip(one.shape, one.strides, strict=True)
    )


def odd_bytes(sources: Sequence[Array], dtype: str) -> int:
    """Return the bytes of the copies that matmul and vecdot make of what they have to cast first."""
    return sum(one.cells * item_bytes(dtype) for one in sources if one.is_odd or one.dtype != dtype)


def integer_bytes(sources: Sequence[Array], result: Shape) -> int:
    """Return what a product of integers needs that goes through float64."""
    looking = max(reduce_buffers(one, range(len(one.shape)), one.dtype) for one in sources)
    return max(looking, WIDE * max(sum(one.cells for one in sources), prod(result)))


def loop_bytes(
    letters: Sequence[Sequence[int]], kept: Sequence[int], sources: Sequence[Array], result: Array
) -> int:
    """Return the bytes of the buffers of a loop over arrays whose axes have letters."""
    sizes: dict[int, int] = {}
    steps: list[dict[int, int]] = []
    for own, source in zip(letters, sources, strict=True):
        found: dict[int, int] = {}
        for letter, size, step in zip(own, source.shape, source.along(source.shape), strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
            found[letter] = found.get(letter, 0) + step
        steps.append(found)
    order = [*kept, *(letter for letter in sizes if letter not in kept)]
    shape = tuple(sizes.get(letter, 1) for letter in order)
    item = result.item
    passed = [
        Passed(tuple(own.get(letter, 0) for letter in order), item, one.is_odd or one.dtype != result.dtype)
        for own, one in zip(steps, sources, strict=True)
    ]
    out = dict(zip(kept, result.along(result.shape), strict=True))
    made = Passed(tuple(out.get(letter, 0) for letter in order), item, is_reduced=True)
    return buffer_bytes(shape, [*passed, made], direct=DIRECT if len(passed) <= MATRIX else 1)
