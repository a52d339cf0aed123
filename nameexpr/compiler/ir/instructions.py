"""The instructions of a program that move, reduce and multiply arrays (`nameexpr.compiler.ir.program`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cast:
    """The array in another dtype."""

    source: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Reshape:
    """The same cells, row-major, in another shape: a view where NumPy can give one."""

    source: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transpose:
    """A view with the axes in another order."""

    source: int
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagonal:
    """A view of the cells where axes of the same letter have the same index; letters in order of first
    appearance.
    """

    source: int
    letters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AsReal:
    """A view of complex numbers with a last axis of their two parts."""

    source: int


@dataclass(frozen=True, slots=True)
class AsComplex:
    """A view of pairs, which the last axis holds one after the other, as complex numbers."""

    source: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A fresh array: the source broadcast to a shape."""

    source: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Embed:
    """A fresh array of zeros with the source, broadcast, where axes of the same letter have the same
    index.
    """

    source: int
    shape: tuple[int, ...]
    letters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """A fresh copy in row-major order.

    `is_large` says that it is worth keeping to the cache, `is_lax` that an array which is row-major will do.
    """

    source: int
    is_large: bool = False
    is_lax: bool = False


@dataclass(frozen=True, slots=True)
class Full:
    """A fresh array with one value everywhere."""

    shape: tuple[int, ...]
    value: float
    dtype: str


@dataclass(frozen=True, slots=True)
class Ones:
    """An array of ones, which is made once and never written to."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Slices:
    """A sum, or what another reducer makes, over axes: slice after slice."""

    source: int
    reducer: str
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum over axes; `dtype` if it is summed in another one than the array's."""

    source: int
    axes: tuple[int, ...]
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Reduce:
    """One of the language's reducers over the last `count` axes, which act as one; `dtype` if it is another
    than NumPy would give.
    """

    source: int
    reducer: str
    count: int
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Apply:
    """The caller's `reduce=` over the last axis."""

    source: int


@dataclass(frozen=True, slots=True)
class Divide:
    """The array divided by a number of cells."""

    source: int
    count: int


@dataclass(frozen=True, slots=True)
class Multiply:
    """The product of two arrays, broadcast from the right; `dtype` if it is another than theirs gives."""

    left: int
    right: int
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Dot:
    """`left.dot(right)` for arrays of one or two axes."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Matmul:
    """Matrix products over the last two axes, broadcast over the others."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class IntegerMatmul:
    """A Matmul of integers in 64 bits, through float64 where the values at hand make that exact."""

    left: int
    right: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Vecdot:
    """Inner products of real vectors along the last axis, broadcast over the others."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Einsum:
    """One pass of NumPy's C loop over one or two arrays; letters name the axes."""

    sources: tuple[int, ...]
    letters: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
