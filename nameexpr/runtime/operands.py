"""Operands as they are passed: arrays, NamedTensors and numbers, and the specifications that programs are
compiled for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS, as_operand, weak_numbers
from nameexpr.compiler.ir.layouts import Layout

if TYPE_CHECKING:
    from nameexpr.compiler.ir.axes import Names

BARE = frozenset({np.ndarray, bool, int, float, complex, list, tuple})
"""Classes of operands that have no coordinates."""
UNIFORM = frozenset("biuf")
"""Kinds of dtypes whose elements are aligned at multiples of their size, which the compiler knows.
"""


class OperandSpec(NamedTuple):
    """An operand without its elements: the input of a compilation.

    `names` is None for a plain array; `dtype` is the type of a Python scalar, which is weak; `layout`
    contains the strides in bytes, and is None if they are unknown.
    """

    shape: tuple[int, ...]
    names: Names | None = None
    dtype: Any = np.dtype(np.float64)
    layout: tuple[int, ...] | None = None


Kinds = tuple[Any, Any, tuple[int, ...]]
"""The keys of functions: dtypes and names of operands with their ranks, and with their shapes; and which of
them are the same array.
"""


def kinds_of(operands: Sequence[Any], *, is_bound: bool) -> Kinds:
    """Return the kinds of unwrapped operands, without their layouts. With bound operands, all count as
    distinct.
    """
    if [type(operand) for operand in operands] == [np.ndarray] * len(operands):
        arrays = operands
        kinds: Any = tuple([array.dtype for array in operands])
        ranks, shapes = tuple([array.ndim for array in operands]), tuple([array.shape for array in operands])
    else:
        arrays = [array_of(operand) for operand in operands]
        kinds = tuple([(getattr(one, "dtype", type(one)), names_of(one)) for one in operands])
        ranks, shapes = tuple([np.ndim(one) for one in arrays]), tuple([np.shape(one) for one in arrays])
    return (kinds, ranks), (kinds, shapes), () if is_bound else repeats(arrays)


def specs_of(operands: Sequence[Any]) -> tuple[OperandSpec, ...]:
    """Return the specifications of unwrapped operands."""
    return tuple([spec_of(operand) for operand in operands])


def spec_of(operand: Any) -> OperandSpec:
    """Return the specification of an unwrapped operand."""
    if type(operand) is np.ndarray:
        return OperandSpec(operand.shape, None, operand.dtype, layout_of(operand))
    if type(operand) in NUMBERS:
        return OperandSpec((), None, type(operand))
    array = array_of(operand)
    return OperandSpec(array.shape, names_of(operand), array.dtype, layout_of(array))


def layout_of(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the strides of an array in bytes; a `Layout` if strides are not enough to describe its elements.

    Examples
    --------
    >>> layout_of(np.zeros((2, 3)))
    (24, 8)
    >>> layout_of(np.zeros(2, ">f8")).is_swapped
    True
    """
    dtype, strides = array.dtype, array.strides
    is_aligned = array.flags.aligned
    if is_aligned and dtype.kind in UNIFORM and dtype.isnative:
        return strides
    item = dtype.itemsize
    if dtype.kind == "c" and is_aligned:  # BLAS requires both parts of a number, aligned at its size
        places = (array.__array_interface__["data"][0], *strides)
        is_aligned = not any(place % item for place in places)
    return Layout(strides, item, not dtype.isnative, not is_aligned)


def array_of(operand: Any) -> Any:
    """Return the array of an unwrapped operand; a Python scalar unchanged."""
    return operand if type(operand) is np.ndarray else getattr(operand, "_data", operand)


def read_only(operand: Any) -> Any:
    """Return an operand that this package owns, made read-only again: pickles do not keep the flag."""
    array = array_of(operand)
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return operand


def names_of(operand: Any) -> Names | None:
    """Return the names of an unwrapped operand; None unless it is a NamedTensor."""
    return None if type(operand) is np.ndarray else getattr(operand, "_names", None)


def unwrap(values: Sequence[Any], text: str, dtype: np.dtype[Any] | None = None) -> list[Any]:
    """Return the operands of an expression as arrays and NamedTensors (NE503 and NE504 for anything else);
    Python scalars become arrays last, because they are weak.
    """
    if [type(value) for value in values] == [np.ndarray] * len(values):
        return list(values)
    operands = [unwrapped(value, position, text) for position, value in enumerate(values)]
    numbers = [type(operand) in NUMBERS for operand in operands]
    if any(numbers):
        arrays = [None if number else array_of(one) for number, one in zip(numbers, operands, strict=True)]
        filled = weak_numbers(values, arrays, text, dtype)
        operands = [
            new if number else old for number, old, new in zip(numbers, operands, filled, strict=True)
        ]
    return operands


def unwrapped(value: Any, position: int, text: str) -> Any:
    """Return an array or a NamedTensor, not a subclass of them; a Python scalar is kept."""
    if type(value) is np.ndarray or type(value) in NUMBERS:
        return value
    tensor = as_tensor(value)
    return as_operand(value, position, text) if tensor is None else tensor


def as_tensor(value: Any) -> Any:
    """Return an object with names as a NamedTensor, not a subclass; None for anything else."""
    from nameexpr.tensors import NamedTensor, wrap

    if isinstance(value, NamedTensor):
        return value if type(value) is NamedTensor else wrap(value.data, value.names)
    from nameexpr.backends.numpy.foreign import Foreign, read  # imported here: most operands are arrays

    found = read(value)
    if not isinstance(found, Foreign):
        return None
    return wrap(found.array, found.names) if any(found.names) else found.array


def repeats(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return for each array the number of the first that is the same object; nothing if all differ.

    Only an object that is passed twice counts. Two views of one array may be equal, too, but to detect that
    takes longer than it saves, and two functions of one view are rare.

    Examples
    --------
    >>> left, right = np.ones(2), np.ones(2)
    >>> repeats([left, right, left]), repeats([left, right]), repeats([2, 2])
    ((0, 1, 0), (), ())
    """
    if len(set(map(id, arrays))) == len(arrays):
        return ()
    numbers: dict[Any, int] = {}
    keys = [id(one) if isinstance(one, np.ndarray) else (position,) for position, one in enumerate(arrays)]
    same = tuple([numbers.setdefault(key, position) for position, key in enumerate(keys)])
    return same if len(numbers) < len(same) else ()
