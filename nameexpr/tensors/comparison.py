"""Comparisons, logic and bits on two operands: dims pair from the right, names unify.

`==` compares element by element, as NumPy's does; `equal` tells whether two tensors are the same in names,
sizes and values.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2], [3, 4]], names="N C")
>>> x > ne.tensor([2, 2], names="C")
tensor([[False, False],
        [ True,  True]], names=('N', 'C'), shape=(2, 2))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import within_memory
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.rules import Rules


class Comparison(Rules):
    """eq, ne, lt, le, gt, ge, equal."""

    __slots__ = ()

    @op("unifies")
    def eq(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is equal to the other one.

        >>> ne.tensor([1, 2]).eq(2)
        tensor([False,  True], shape=(2,))
        """
        return self._unify("eq", self, other, out)

    @op("unifies")
    def ne(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is different from the other one.

        >>> ne.tensor([1, 2]).ne(2)
        tensor([ True, False], shape=(2,))
        """
        return self._unify("ne", self, other, out)

    @op("unifies")
    def lt(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is less than the other one.

        >>> ne.tensor([1, 2]).lt(2)
        tensor([ True, False], shape=(2,))
        """
        return self._ranked("lt", other, out)

    @op("unifies")
    def le(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is at most the other one.

        >>> ne.tensor([1, 2]).le(2)
        tensor([ True,  True], shape=(2,))
        """
        return self._ranked("le", other, out)

    @op("unifies")
    def gt(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is greater than the other one.

        >>> ne.tensor([1, 2]).gt(2)
        tensor([False, False], shape=(2,))
        """
        return self._ranked("gt", other, out)

    @op("unifies")
    def ge(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether each element is at least the other one.

        >>> ne.tensor([1, 2]).ge(2)
        tensor([False,  True], shape=(2,))
        """
        return self._ranked("ge", other, out)

    @op("answers", extra=True)
    @within_memory
    def equal(self, other: Core) -> bool:
        """Return whether both tensors have the same names, sizes and values; nan equals nothing.

        >>> ne.tensor([1, 2], names="N").equal(ne.tensor([1, 2], names="C"))
        False
        """
        is_same = isinstance(other, Core) and self._names == other._names
        return is_same and np.array_equal(self._data, other._data)

    def __eq__(self, other: object) -> Any:
        return self._operate("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._operate("ne", self, other)

    def __lt__(self, other: object) -> Any:
        return self._compare("lt", other)

    def __le__(self, other: object) -> Any:
        return self._compare("le", other)

    def __gt__(self, other: object) -> Any:
        return self._compare("gt", other)

    def __ge__(self, other: object) -> Any:
        return self._compare("ge", other)

    __hash__ = object.__hash__


class Logic(Rules):
    """logical_and, bitwise_and and their kin, and the operators & | ^ << >>."""

    __slots__ = ()

    @op("unifies", extra=True)
    def logical_and(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether both elements are true, that is not 0.

        >>> ne.tensor([0, 2]).logical_and(ne.tensor([1.0, 3.0]))
        tensor([False,  True], shape=(2,))
        """
        return self._unify("logical_and", self, other, out)

    logical_and_ = in_place(logical_and, extra=True)

    @op("unifies", extra=True)
    def logical_or(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether either element is true, that is not 0.

        >>> ne.tensor([0, 2]).logical_or(ne.tensor([1.0, 3.0]))
        tensor([ True,  True], shape=(2,))
        """
        return self._unify("logical_or", self, other, out)

    logical_or_ = in_place(logical_or, extra=True)

    @op("unifies", extra=True)
    def logical_xor(self, other: Any, *, out: Core | None = None) -> Self:
        """Return whether exactly one element is true, that is not 0.

        >>> ne.tensor([0, 2]).logical_xor(ne.tensor([1.0, 3.0]))
        tensor([ True, False], shape=(2,))
        """
        return self._unify("logical_xor", self, other, out)

    logical_xor_ = in_place(logical_xor, extra=True)

    @op("unifies", extra=True)
    def bitwise_and(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the bits that are set in both; of bools, the bools.

        >>> ne.tensor([3, 10]).bitwise_and(ne.tensor([5, 15]))
        tensor([ 1, 10], shape=(2,))
        """
        return self._unify("bitwise_and", self, other, out)

    bitwise_and_ = in_place(bitwise_and, extra=True)

    @op("unifies", extra=True)
    def bitwise_or(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the bits that are set in either; of bools, the bools.

        >>> ne.tensor([3, 10]).bitwise_or(ne.tensor([5, 15]))
        tensor([ 7, 15], shape=(2,))
        """
        return self._unify("bitwise_or", self, other, out)

    bitwise_or_ = in_place(bitwise_or, extra=True)

    @op("unifies", extra=True)
    def bitwise_xor(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the bits that are set in exactly one; of bools, the bools.

        >>> ne.tensor([3, 10]).bitwise_xor(ne.tensor([5, 15]))
        tensor([6, 5], shape=(2,))
        """
        return self._unify("bitwise_xor", self, other, out)

    bitwise_xor_ = in_place(bitwise_xor, extra=True)

    def __and__(self, other: Any) -> Self:
        return self._operate("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Self:
        return self._operate("bitwise_and", other, self)

    def __iand__(self, other: Any) -> Self:
        return self._operate("bitwise_and", self, other, self)

    def __or__(self, other: Any) -> Self:
        return self._operate("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Self:
        return self._operate("bitwise_or", other, self)

    def __ior__(self, other: Any) -> Self:
        return self._operate("bitwise_or", self, other, self)

    def __xor__(self, other: Any) -> Self:
        return self._operate("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Self:
        return self._operate("bitwise_xor", other, self)

    def __ixor__(self, other: Any) -> Self:
        return self._operate("bitwise_xor", self, other, self)

    def __lshift__(self, other: Any) -> Self:
        return self._operate("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Any) -> Self:
        return self._operate("bitwise_left_shift", other, self)

    def __ilshift__(self, other: Any) -> Self:
        return self._operate("bitwise_left_shift", self, other, self)

    def __rshift__(self, other: Any) -> Self:
        return self._operate("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Any) -> Self:
        return self._operate("bitwise_right_shift", other, self)

    def __irshift__(self, other: Any) -> Self:
        return self._operate("bitwise_right_shift", self, other, self)
