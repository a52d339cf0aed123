"""Operands that are the same array: noticing it, and writing it into the guard of a function.

Only one object given twice counts. Two views of one array may be equal, too, but telling so takes longer than
it saves, and two functions of one view are rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.tensors import NamedTensor


def repeats(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return for each array the number of the first that is the same object; nothing if all differ.

    Examples
    --------
    >>> one, other = [], []
    >>> repeats([one, other, one]), repeats([one, other])
    ((0, 1, 0), ())
    """
    numbers: dict[int, int] = {}
    same = tuple([numbers.setdefault(id(array), number) for number, array in enumerate(arrays)])
    return same if len(numbers) < len(same) else ()


def same_operands(operands: Sequence[Any]) -> tuple[int, ...]:
    """Return the same for operands as they are given: what is no array by itself is like no other.

    Examples
    --------
    >>> import numpy as np
    >>> one, shape = np.ones(2), (2,)
    >>> same_operands([one, shape, shape, one])
    (0, 1, 2, 0)
    """
    return repeats(
        [
            one if type(one) is np.ndarray else one._data if type(one) is NamedTensor else object()
            for one in operands
        ]
    )


def guards(same: Sequence[int], is_named: Sequence[bool]) -> list[str]:
    """Return the conditions that these operands are the same arrays.

    Parameters
    ----------
    same : sequence of int
        As `repeats` returns it.
    is_named : sequence of bool
        For each operand whether it is a NamedTensor, whose array counts.

    Examples
    --------
    >>> guards((0, 1, 0), (False, False, True))
    ['a2._data is a0']
    """
    data = [f"a{number}._data" if named else f"a{number}" for number, named in enumerate(is_named)]
    return [f"{data[number]} is {data[first]}" for number, first in enumerate(same) if number != first]
