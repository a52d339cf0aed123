"""What expressions mean, by plain nested loops: the truth that the compiler's results are compared with.

The output cell at OUT is the product of the input cells, combined over every label that is not in OUT.
`einsum` and `check` here follow the language's text and share no code with the package: no matrix products,
no transposes, one cell at a time. Texts or operands that the language rejects raise `Refused`.

>>> import numpy as np
>>> einsum("i j, j -> i", np.ones((2, 3)), np.arange(3.0))
array([3., 3.])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.reference.cells import cell_of
from oracle.reference.match import Bound, Named, bind, describe
from oracle.reference.numbers import (
    DEFINITIONS,
    SUMMING,
    convert,
    product_dtype,
    real_or_complex,
    result_dtype,
    widened,
)
from oracle.reference.rules import labels_of, live_labels, refuse_bad_text, refuse_drops
from oracle.reference.several import is_parted, several
from oracle.reference.text import REDUCERS, Item, Refused, Text, parse

__all__ = ["Named", "Refused", "Sizes", "check", "einsum"]


@dataclass(frozen=True)
class Sizes:
    """What an assertion tells: the size of each label and the sizes of each pack."""

    sizes: dict[str, int]
    packs: dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Work:
    """The loops of one expression: kept and dropped labels, the values of the operands, and the dtypes."""

    bound: Bound
    kept: list[str]
    dropped: list[str]
    values: list[Any]
    compute: np.dtype[Any]
    result: np.dtype[Any]


def einsum(
    text: str | Text,
    *operands: Any,
    sizes: Mapping[str, int] | None = None,
    reduce: str | Callable[..., Any] | None = None,
    dtype: Any = None,
    **size_keywords: int,
) -> Any:
    """Evaluate an expression.

    Parameters
    ----------
    text
        An expression with an arrow.
    *operands
        Anything `np.asarray` takes, Python numbers, or `Named`.
    sizes, **size_keywords
        Sizes of labels.
    reduce
        The name of a reducer or a callable ``f(array, axis)``.
    dtype
        What the operands are cast to first.

    Returns
    -------
    np.ndarray or Named or tuple of them
        `Named` if any operand is; a tuple for several results.

    Raises
    ------
    Refused
        If the language rejects the text or the operands.
    """
    parsed = text if isinstance(text, Text) else parse(text)
    if parsed.output is None:
        raise Refused("arrow", "this is an assertion")
    if is_parted(parsed):
        return several(parsed, operands, join_sizes(sizes, size_keywords), einsum)
    reducer = chosen_reducer(parsed, reduce)
    left_out = parsed.inputs == ((),) and any(isinstance(operand, Named) for operand in operands)
    refuse_bad_text(parsed, reducer is not None, left_out)
    bound = bind(parsed, [describe(op) for op in operands], left_out, join_sizes(sizes, size_keywords))
    if left_out:
        refuse_drops(Text(tuple(bound.inputs), bound.output, None), reducer is not None)
        parsed = Text(tuple(bound.inputs), bound.output, None)
    arrays = [op.array if isinstance(op, Named) else op for op in operands]
    result = evaluate(plan(parsed, bound, arrays, reducer, dtype), reducer, dtype)
    return name_result(bound, result) if any(isinstance(op, Named) for op in operands) else result


def check(text: str, *operands: Any, sizes: Mapping[str, int] | None = None, **size_keywords: int) -> Sizes:
    """Assert shapes by an expression without an arrow.

    Raises
    ------
    Refused
        If the shapes are not what the text says, or the text is not an assertion.
    """
    parsed = parse(text)
    if parsed.output is not None:
        raise Refused("arrow", "this is not an assertion")
    refuse_bad_text(parsed, parsed.reducer is not None, False)
    bound = bind(parsed, [describe(op) for op in operands], False, join_sizes(sizes, size_keywords))
    return Sizes({label: size for label, size in bound.sizes.items() if ":" not in label}, bound.packs)


def join_sizes(sizes: Mapping[str, int] | None, keywords: Mapping[str, int]) -> dict[str, int]:
    """Both ways to give sizes, which agree where they overlap."""
    given = dict(sizes or {})
    for label, size in keywords.items():
        if given.setdefault(label, size) != size:
            raise Refused("size", f"{label} is given twice")
    return given


def chosen_reducer(text: Text, reduce: str | Callable[..., Any] | None) -> str | Callable[..., Any] | None:
    """The reducer of the text or of `reduce=`, never of both."""
    if reduce is not None and text.reducer is not None:
        raise Refused("reducer", "two reducers")
    if isinstance(reduce, str) and reduce not in REDUCERS:
        raise Refused("reducer", f"{reduce!r} is not a reducer")
    return text.reducer or reduce


def plan(text: Text, bound: Bound, arrays: Sequence[Any], reducer: Any, dtype: Any) -> Work:
    """Decide the loops and the dtypes."""
    wanted, order = set(labels_of(bound.output or ())), list(dict.fromkeys(bound.order))
    contracted = {label for term in text.inputs for label in live_labels(term)} - wanted
    summing = reducer in SUMMING if reducer else bool(contracted)
    product = product_dtype(arrays, dtype)
    compute = product if callable(reducer) else widened(product, summing, dtype)
    result = result_dtype(product, summing, None if callable(reducer) else reducer, dtype)
    values = [listed(array, compute) for array in arrays]
    kept = [label for label in order if label in wanted]
    return Work(bound, kept, [label for label in order if label not in wanted], values, compute, result)


def listed(array: Any, dtype: np.dtype[Any]) -> Any:
    """Nested lists of Python numbers, converted to a dtype."""

    def convert_all(value: Any, depth: int) -> Any:
        return [convert_all(item, depth - 1) for item in value] if depth else convert(value, dtype)

    return convert_all(np.asarray(array).tolist(), np.ndim(array))


def evaluate(work: Work, reducer: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Loop over the kept labels, then over the dropped ones, then place the cells."""
    sizes = work.bound.sizes
    shape = [sizes[label] for label in work.kept]
    places = list(indices(shape))
    steps = list(indices([sizes[label] for label in work.dropped]))
    readers = [reader(term, value, work) for term, value in zip(work.bound.inputs, work.values, strict=True)]
    rows = [[product(readers, place + step, work.compute) for step in steps] for place in places]
    result = work.result
    if callable(reducer):
        reduced, result = called(reducer, rows, shape, len(steps), work.compute)
        result = np.dtype(dtype or result)
    else:
        if reducer in ("max", "min", "argmax", "argmin") and not steps:
            raise Refused("empty", f"{reducer} of no elements")
        definition = DEFINITIONS[reducer or "sum"]
        reduced = [
            real_or_complex(definition(row), work.result) if len(row) != 1 or reducer else row[0]
            for row in rows
        ]
    return placed(work, dict(zip(places, reduced, strict=True)), result)


def indices(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All index tuples of a shape, row-major."""
    return itertools.product(*(range(size) for size in shape))


def reader(term: Sequence[Item], value: Any, work: Work) -> Callable[[Sequence[int]], Any]:
    """The cell of an operand as a function of the indices of the loops."""
    loops, sizes = [*work.kept, *work.dropped], work.bound.sizes
    shape = shape_of(value, len(term))

    def read(index: Sequence[int]) -> Any:
        at = dict(zip(loops, index, strict=True))
        cell = value
        for item, whole in zip(term, shape, strict=True):
            cell = cell[cell_of(item, at, sizes, whole)]
        return cell

    return read


def shape_of(value: Any, ndim: int) -> list[int]:
    """The sizes of nested lists; those inside an empty one do not matter."""
    found: list[int] = []
    for _ in range(ndim):
        found.append(len(value))
        value = value[0] if value else []
    return found


def position(factors: Sequence[tuple[int, int]], index: Sequence[int]) -> int:
    """The row-major position in a dim at which its factors have these indices."""
    at = 0
    for loop, size in factors:
        at = at * size + index[loop]
    return at


def product(readers: Sequence[Any], index: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """The product of one cell of each operand."""
    cells = [read(index) for read in readers]
    if len(cells) == 1:
        return cells[0]
    return convert(math.prod(cells[1:], start=cells[0]), dtype)


def called(
    reducer: Callable[..., Any], rows: list[list[Any]], shape: list[int], length: int, dtype: np.dtype[Any]
) -> tuple[list[Any], np.dtype[Any]]:
    """What a callable makes of the merged axis, which stands last."""
    merged = np.empty((*shape, length), dtype)
    for place, row in zip(indices(shape), rows, strict=True):
        for at, value in enumerate(row):
            merged[(*place, at)] = value
    reduced = np.asarray(reducer(merged, len(shape)))
    if reduced.shape != tuple(shape):
        raise Refused("reducer", f"the callable made {reduced.shape} of {merged.shape}")
    return [reduced[place] for place in indices(shape)], reduced.dtype


def placed(work: Work, cells: dict[tuple[int, ...], Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The output array: each cell where its labels say, zeros off the diagonal of a repeated label."""
    sizes = work.bound.sizes
    dims = [labels_of((item,)) for item in work.bound.output or ()]
    free = list(dict.fromkeys(label for labels in dims for label in labels))
    where = [[(free.index(label), sizes[label]) for label in labels] for labels in dims]
    picks = [free.index(label) for label in work.kept]
    result = np.zeros([math.prod(sizes[label] for label in labels) for labels in dims], dtype)
    with np.errstate(all="ignore"):
        for index in indices([sizes[label] for label in free]):
            result[tuple(position(factors, index) for factors in where)] = cells[
                tuple(index[at] for at in picks)
            ]
    return result


def name_result(bound: Bound, result: np.ndarray[Any, Any]) -> Named:
    """The result with the output's names."""
    return Named(result, bound.names)
