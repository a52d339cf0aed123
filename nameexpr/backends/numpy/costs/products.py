"""What products take, in nanoseconds: by the model of `costs`, from arrays rather than from labels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.backends.numpy.costs import estimate as costs
from nameexpr.backends.numpy.costs.cells import Array, pass_nanos
from nameexpr.backends.numpy.costs.functions import call_nanos, cell_nanos
from nameexpr.backends.numpy.costs.moves import main_nanos
from nameexpr.compiler.ir.program import Instruction

BOUNDS = 5500.0 - costs.CALL["matmul"]
"""Asking integers for their largest magnitudes, and the like."""
BOUND = 0.2
"""Asking one of them."""
WRITTEN = 0.15
"""Writing one cell of 8 bytes of a product of matrices, which tells where their inner axis is short."""


def product_nanos(one: Instruction, sources: Sequence[Array], result: Array) -> float:
    """Return the time of a product of arrays."""
    if one.primitive != "einsum" and not all(one.cells for one in (*sources, result)):
        return costs.CALL["matmul"]
    match one.primitive:
        case "multiply":
            cell = cell_nanos("multiply", [source.dtype for source in sources], result.dtype)
            return call_nanos("multiply") + pass_nanos(result.shape, result, sources, cell)
        case "einsum":
            *letters, made = one.letters
            return _loop(letters, made, sources, result.dtype)
        case "vecdot":
            inner = sources[0].shape[-1]
            seconds = costs.vecdot_seconds(prod(result.shape), inner, _known(result.dtype))
            return seconds / costs.NANO + _read(sources)
        case "integer_matmul":
            cast = [Array(source.shape, source.strides, "float64") for source in sources]
            cells = sum(source.cells for source in sources)
            casting = costs.cast_seconds(cells + prod(result.shape), "float64") / costs.NANO
            floats = Array(result.shape, result.strides, "float64")
            return BOUNDS + BOUND * cells + casting + matmul_nanos(cast[0], cast[1], floats)
        case _:
            return matmul_nanos(sources[0], sources[1], result)


def matmul_nanos(left: Array, right: Array, result: Array) -> float:
    """Return the time of products of matrices or vectors, over the last two axes."""
    rows, columns = (1 if len(one.shape) < 2 else one.shape[at] for one, at in ((left, -2), (right, -1)))  # noqa: PLR2004
    inner, dtype = left.shape[-1], _known(result.dtype)
    count = prod(result.shape) // (rows * columns)
    matrix = right if rows == 1 else left
    axis = -2 if matrix is right and len(right.shape) > 1 else -1
    is_by_dots = abs(matrix.strides[axis]) == 1
    seconds = costs.products_seconds(count, rows, inner, columns, dtype, is_by_dots=is_by_dots)
    for one in (left, right):
        ends = [abs(step) for size, step in zip(one.shape[-2:], one.strides[-2:], strict=True) if size != 1]
        passes = count // max(1, prod(one.shape[:-2]))
        seconds += passes * costs.reading_seconds(prod(one.shape), ends, dtype)
    written = WRITTEN * costs.width(dtype) * result.cells if rows > 1 and columns > 1 else 0.0
    return seconds / costs.NANO + written + _read([left, right, result])


def _loop(
    letters: Sequence[Sequence[int]], made: Sequence[int], sources: Sequence[Array], dtype: str
) -> float:
    """Return the time of NumPy's C loop."""
    sizes: dict[str, int] = {}
    steps: list[dict[str, int]] = []
    for own, source in zip(letters, sources, strict=True):
        steps.append({})
        for letter, size, step in zip(own, source.shape, source.strides, strict=True):
            sizes[str(letter)] = size
            steps[-1][str(letter)] = steps[-1].get(str(letter), 0) + abs(step)
    seconds = costs.loop_seconds(sizes, steps, [str(letter) for letter in made], _known(dtype))
    return seconds / costs.NANO + _read(sources)


def _read(arrays: Sequence[Array]) -> float:
    """Return what main memory adds, where arrays are larger than the caches."""
    return main_nanos(sum(one.cells * one.item for one in arrays))


def _known(dtype: str) -> str:
    """Return a dtype to reckon with: what is not known is taken to be float64."""
    return dtype or "float64"
