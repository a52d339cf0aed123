"""Arrays in the memory model, and the buffers and copies that NumPy allocates for loops and products in
addition to results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.dtypes import BLAS, ITEM_BYTES, KIND_OF, KINDS, WEAK, WeakDtype
from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.ir.strides import (
    Strides,
    compact_strides,
    copied_order,
    is_dense,
    iteration_order,
    row_major_strides,
)
from nameexpr.compiler.memory.buffers import Passed, buffer_bytes
from nameexpr.records import record, replace

WIDE = 8
"""Bytes of a float64."""
DIRECT = 3
"""The number of axes of a loop over one or two arrays for which NumPy's C loop has a special function."""
MATRIX = 2
HELD_BY = {1: 2, 2: 4}
"""The bytes of the floats that can hold all integers of a number of bytes; 8 for wider integers."""


def item_bytes(dtype: str) -> int:
    """Return the bytes of an element; 8 for an unknown dtype."""
    return ITEM_BYTES.get(dtype, 8)


@record
class Array:
    """An array in memory. Strides are in elements; `item` is the size of an element in bytes.

    `is_swapped` means a foreign byte order, which copies keep; `is_uneven` that some elements are not
    aligned.
    """

    shape: Shape
    strides: Strides
    dtype: str
    item: int
    is_swapped: bool = False
    is_uneven: bool = False

    @property
    def cells(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The bytes of all elements."""
        return prod(self.shape) * self.item

    @property
    def is_odd(self) -> bool:
        """Whether NumPy copies elements before it computes with them."""
        return self.is_swapped or self.is_uneven

    @property
    def is_row_major(self) -> bool:
        """Whether the array is contiguous, in the order of its axes."""
        return not self.is_uneven and is_dense(self.shape, self.strides)

    @property
    def is_one_piece(self) -> bool:
        """Whether the array, or its transpose, is row-major."""
        return self.is_row_major or (not self.is_uneven and is_dense(self.shape[::-1], self.strides[::-1]))

    def cast(self, dtype: str) -> Array:
        """Return a copy in another dtype, its axes in the same order in memory."""
        strides = compact_strides(self.shape, copied_order(self.shape, self.strides))
        return Array(self.shape, strides, dtype, item_bytes(dtype))

    def part(self, shape: Shape) -> Array:
        """Return a part of the array, of another shape."""
        return replace(self, shape=shape)

    def along(self, shape: Shape) -> Strides:
        """Return the strides of the array, broadcast to a shape."""
        lead = (0,) * (len(shape) - len(self.shape))
        pairs = zip(self.shape, self.strides, strict=True)
        return lead + tuple(0 if size == 1 else step for size, step in pairs)


def fresh(shape: Shape, dtype: str, sources: Sequence[Array] = ()) -> Array:
    """Return an array that NumPy creates from others, in its layout; a row-major one if there are none."""
    strides = (
        compact_strides(shape, iteration_order([one.along(shape) for one in sources]))
        if sources
        else row_major_strides(shape)
    )
    return Array(shape, strides, dtype, item_bytes(dtype))


def promoted(dtypes: Sequence[str]) -> str:
    """Return the dtype in which NumPy computes with arrays of these dtypes; "" if one is unknown.

    Examples
    --------
    >>> promoted(["int64", "float32"]), promoted(["int8", "uint8"]), promoted(["float32", WEAK[float]])
    ('float64', 'int16', 'float32')
    """
    numbers = [dtype for dtype in dtypes if isinstance(dtype, WeakDtype)]
    kind, wide, whole = "bool", 0, {"uint": 0, "int": 0}
    for dtype in dtypes:
        if isinstance(dtype, WeakDtype):
            continue
        name = KIND_OF.get(dtype)
        if name is None:
            return ""
        kind = max(kind, name, key=KINDS.index)
        if name in whole:
            whole[name] = max(whole[name], ITEM_BYTES[dtype])
        elif name != "bool":
            wide = max(wide, ITEM_BYTES[dtype] // (2 if name == "complex" else 1))
    weak = max(numbers, default=WEAK[bool], key=lambda dtype: KINDS.index(dtype.kind))
    if weak.kind == "complex" and kind == "float":
        return f"complex{16 * max(wide, 4)}"
    if KINDS.index(weak.kind) > KINDS.index(kind) and not (weak.kind == "int" and kind == "uint"):
        return weak.strong
    integers = max(whole["int"], 2 * whole["uint"] if whole["int"] else whole["uint"])
    if kind in whole and integers <= 8:  # noqa: PLR2004  bytes of the widest integers
        return f"{kind}{8 * integers}"
    if kind in whole:
        return "float64"
    if kind == "bool":
        return kind
    wide = max(wide, HELD_BY.get(max(whole.values()), 8) if any(whole.values()) else 2)
    return f"complex{16 * max(wide, 4)}" if kind == "complex" else f"float{8 * wide}"


def ufunc_bytes(
    shape: Shape, sources: Sequence[Array], dtype: str, out: Array | None = None, *, made: str = ""
) -> int:
    """Return the bytes of the buffers of a ufunc that computes in a dtype.

    Parameters
    ----------
    shape : tuple of int
        The shape that the sources are broadcast to.
    sources : sequence of Array
        The arguments that are arrays.
    dtype : str
        The dtype of the computation; "" if unknown.
    out : Array, optional
        The output array.
    made : str
        The dtype of the result, if different.
    """
    every = [one for one in sources if one.shape]
    loops = item_bytes(dtype)
    passed = [
        Passed(
            one.along(shape), loops if dtype else one.item, one.is_odd or one.dtype != (dtype or one.dtype)
        )
        for one in every
    ]
    result = item_bytes(made) if made else loops
    if out is None:
        return buffer_bytes(shape, [*passed, Passed(None, result)])
    return buffer_bytes(shape, [*passed, Passed(out.along(shape), result, out.is_odd)])


def reduce_buffers(source: Array, axes: Sequence[int], dtype: str) -> int:
    """Return the bytes of the buffers of a reduction by a ufunc that computes in a dtype."""
    kept = [axis for axis in range(len(source.shape)) if axis not in axes]
    item = item_bytes(dtype)
    order = iteration_order([tuple(source.strides[axis] for axis in kept)])
    made = dict(zip(kept, compact_strides(tuple(source.shape[axis] for axis in kept), order), strict=True))
    strides = tuple(0 if size == 1 else made.get(axis, 0) for axis, size in enumerate(source.shape))
    is_cast = source.is_odd or source.dtype != dtype
    passed = Passed(source.along(source.shape), item, is_cast)
    return buffer_bytes(source.shape, [Passed(strides, item, is_reduced=True), passed])


def dot_bytes(sources: Sequence[Array]) -> int:
    """Return the bytes of the copies that `dot` makes of its operands.

    BLAS requires positive strides, and contiguous matrices if its matrix functions compute the product; other
    dtypes are copied only if their elements cannot be read directly.
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
    """Return the bytes of the copies that matmul and vecdot make of operands that must be cast."""
    return sum(one.cells * item_bytes(dtype) for one in sources if one.is_odd or one.dtype != dtype)


def integer_bytes(sources: Sequence[Array], result: Shape) -> int:
    """Return the bytes that a product of integers through float64 needs."""
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
