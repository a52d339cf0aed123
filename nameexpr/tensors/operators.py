"""The application of the rules to real tensors: one short path for each family, which its operators share.

The fast cases come first: equal names, a Python number, a dim given by its name. Errors are analysed only
after they occurred.

Kernels are looked up here, by the operator's name: `_keep` finds those of one operand, `_unify` those of two
(with `_operate` and `_compare`, its short cuts for signs), `_reduce` reductions. Their results go through
`_named`, or through `_put` if they may be written into `out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from typing import Any, Self, TypeVar

import numpy as np

from nameexpr.backends.numpy import reductions
from nameexpr.backends.numpy.arrays import beside_float
from nameexpr.backends.numpy.pointwise import BINARY, UNARY
from nameexpr.dims import Clash, Names, unify_from_right
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import axes, is_only, removed, shown
from nameexpr.rules.pairing import Pairing, clashing
from nameexpr.tensors.arguments import as_array, as_dtype, unnamed
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import explained, has_complex, mixed, unordered, wrong_kind
from nameexpr.tensors.ops import RECORDED, MeetsRecorded
from nameexpr.tensors.writing import apply_into, spelt, write

F = TypeVar("F", bound=Callable[..., Any])
_NOT_OURS: Any = NotImplemented
NEEDED: Any = ...
"""The default of a required dim argument, which may be passed as `axis=` (NE416)."""

KNOWN = (Core, int, float, complex, np.ndarray, np.generic, list, tuple)
NUMBERS = frozenset({int, float, bool, complex})
_REAL = NUMBERS - {complex}
REFUSED = (TypeError, ValueError, OverflowError, MemoryError, AttributeError)
"""The exceptions of NumPy when it cannot apply a function; ours are also ValueErrors, and are passed on."""

_OWN = np.empty(0)
unify_names = lru_cache(maxsize=4096)(unify_from_right)
remove_names = lru_cache(maxsize=4096)(removed)


class Operators(Core):
    """The code that the operators of all families share."""

    __slots__ = ()

    def _keep(self, verb: str, out: Core | None = None) -> Self:
        """Return the result of a pointwise operator, which has the names of this tensor."""
        try:
            if out is None:
                data = UNARY[verb](self._data)
                new = object.__new__(type(self))
                new._data = data if type(data) is np.ndarray else np.asarray(data)
                new._names = self._names
                return new
            return apply_into(out, UNARY[verb], (self._data,), self._names, verb, is_out=out is not self)  # type: ignore[no-any-return]
        except REFUSED as fault:
            raise _ours(fault, spelt(verb, is_out=out is not self), (self,)) from fault

    def _unify(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        """Return the result of a pointwise operator on two operands, one of which is this tensor."""
        try:
            a, names = data_and_names(left, verb)
            b, other_names = data_and_names(right, verb)
        except MeetsRecorded:
            a = None
            return RECORDED.pair(verb, left, right, out)  # type: ignore[no-any-return]
        if (other_names if left is self else names) and type(left) is not type(right):
            known = carrier(self, (right if left is self else left,))
            if known is not None:
                pair = (left, known) if left is self else (known, right)
                return known._unify(verb, *pair, out)  # type: ignore[no-any-return]
        if not names:
            names = other_names
        elif names != other_names and other_names:
            if right is not self and isinstance(right, Operators) and right._is_by_name:
                return right._unify(verb, left, right, out)  # type: ignore[return-value]
            unified = unify_names(names, other_names)
            if isinstance(unified, Clash):
                tensors = [as_core(operand, verb) for operand in (left, right)]
                said = spelt(verb, is_out=out is not left)
                pairing = Pairing(said, moves="right" if out is left else "both")
                raise clashing(unified, tensors[0]._dims, tensors[1]._dims, pairing)
            names = unified
        if type(a) is float or type(b) is float:
            a, b = beside_float(a, b)
        try:
            if out is None:
                return self._named(BINARY[verb](a, b), names)
            return apply_into(out, BINARY[verb], (a, b), names, verb, is_out=out is not left)  # type: ignore[no-any-return]
        except REFUSED as fault:
            raise _ours(fault, spelt(verb, is_out=out is not left), (left, right)) from fault

    def _operate(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        """Return the result of a sign: NotImplemented for objects that may have their own operator."""
        other = right if left is self else left
        if type(other) is type(self) and other._names == self._names:
            arrays = left._data, right._data
        elif type(other) is float and self._kernels is None and self._data.dtype.kind == "f":
            arrays = (self._data, other) if left is self else (other, self._data)
        elif isinstance(other, KNOWN) or is_operand(other):
            return self._unify(verb, left, right, out)
        else:
            return _NOT_OURS  # type: ignore[no-any-return]
        try:
            if out is None:
                return self._named(BINARY[verb](*arrays), self._names)
            return apply_into(out, BINARY[verb], arrays, self._names, verb, is_out=False)  # type: ignore[no-any-return]
        except REFUSED as fault:
            raise _ours(fault, spelt(verb, is_out=out is None), (left, right)) from fault

    def _compare(self, verb: str, other: Any) -> Self:
        """Return the result of an ordering comparison, like `_operate` and `_ranked`."""
        if type(other) is type(self) and other._names == self._names:
            a, b = self._data, other._data
            if a.dtype.kind not in "cV" and b.dtype.kind not in "cV":
                try:
                    return self._named(BINARY[verb](a, b), self._names)
                except REFUSED as fault:
                    raise _ours(fault, verb, (self, other)) from fault
        return self._ranked(verb, other) if is_operand(other) else _NOT_OURS

    def _ranked(self, verb: str, other: Any, out: Core | None = None) -> Self:
        """Return which number is larger, or the larger one: complex numbers are not ordered (NE571)."""
        kind = self._data.dtype.kind
        if type(other) in _REAL and kind not in "cV":
            return self._unify(verb, self, other, out)
        if has_complex(self, other):
            raise unordered(verb)
        if kind == "V":
            with np.errstate(invalid="ignore"):  # bfloat16's nan would warn
                return self._unify(verb, self, other, out)
        if out is None and type(other) is type(self) and other._names == self._names:
            return self._operate(verb, self, other)
        return self._unify(verb, self, other, out)

    def _named(self, data: Any, names: Names) -> Self:
        """Return a tensor around the result of a kernel: NumPy returns a scalar for a 0-d array."""
        new = object.__new__(type(self))
        new._data = data if type(data) is np.ndarray else np.asarray(data)
        new._names = names
        return new

    def _put(self, data: Any, names: Names, verb: str, out: Core | None) -> Self:
        """Return a tensor around the result of a kernel, or write it into `out`."""
        if out is None:
            return self._named(data, names)
        if out is self:
            return write(out, np.asarray(data), names, verb + "_", is_out=False)  # type: ignore[no-any-return]
        return write(out, np.asarray(data), names, verb, is_out=True)  # type: ignore[no-any-return]

    def _as_core(self, operand: Any, verb: str) -> Any:
        """Return an operand as a tensor of the same library (NE507, NE575)."""
        return as_core(operand, verb)

    def _check_ordered(self, verb: str) -> None:
        """Raise NE571 for complex numbers, which have no order."""
        if self._data.dtype.kind == "c":
            raise unordered(verb)

    def _as_dtype(self, dtype: Any) -> Any:
        """Return a dtype in any spelling as one of the array's library, None for None (NE655)."""
        return as_dtype(dtype)

    def _along(self, dim: Any, verb: str) -> tuple[Array, int]:
        """Return the array and the axis of a dim; 0 and -1 mean the only element of a 0-d tensor."""
        if not self._data.ndim and is_only(dim):
            return self._data.reshape(1), 0
        return self._data, self._position(dim, verb)

    def _axes(self, dim: object, verb: str) -> tuple[int, ...]:
        """Return the positions for a `dim` argument: all of them for None and an empty list."""
        if type(dim) is int and 0 <= dim < self._data.ndim:
            return (dim,)
        if dim is None or (isinstance(dim, list | tuple) and not dim):
            return tuple(range(self._data.ndim))
        return axes(self._dims, dim, verb)

    def _reduce(self, verb: str, dim: object, keepdim: bool, out: Core | None = None, **options: Any) -> Self:
        """Return a reduction over dims, whose names are removed."""
        names = self._names
        gone = (names.index(dim),) if type(dim) is str and dim in names else self._axes(dim, verb)
        names = names if keepdim else remove_names(names, gone)
        kernel = getattr(reductions, verb)
        try:
            if options:  # a call with ** is slow
                data = kernel(self._data, axis=gone, keepdims=keepdim, **options)
            else:
                data = kernel(self._data, axis=gone, keepdims=keepdim)
        except REFUSED as fault:
            if not isinstance(keepdim, int | np.bool_):
                raise wrong_kind(verb, "keepdim", "True or False", keepdim) from None
            raise _ours(fault, verb, (self,)) from fault
        return self._named(data, names) if out is None else self._put(data, names, verb, out)


def _ours(fault: Exception, verb: str, operands: tuple[Any, ...]) -> NameExprError:
    return fault if isinstance(fault, NameExprError) else explained(verb, operands, fault)


def data_and_names(operand: Any, verb: str) -> tuple[Any, Names]:
    """Return an operand's array, or number, and the names of its dims."""
    if isinstance(operand, Core):
        if operand._kernels is not None:
            raise mixed(verb, _OWN, operand)
        return operand._data, operand._names
    if type(operand) in NUMBERS or isinstance(operand, np.generic):
        return operand, ()
    core = as_core(operand, verb)
    return core._data, core._names


def as_operand(operand: object, verb: str) -> Array:
    """Return an operand that is not a NamedTensor as an array, all of whose dims are unnamed (NE575)."""
    if operand is None or operand is ... or isinstance(operand, str | bytes | dict | set):
        hint = "operands are NamedTensors, arrays, nested lists and numbers"
        raise error(Diagnostic("NE575", f"{verb} cannot take {shown(operand)} as an operand", hint=hint))
    return as_array(operand, None, copy=False)


def as_core(operand: object, verb: str) -> Core:
    """Return an operand as a tensor, with the names of an array of xarray or pandas (NE575)."""
    if isinstance(operand, Core):
        if operand._kernels is not None:
            raise mixed(verb, _OWN, operand)
        return operand
    if type(operand) is not np.ndarray and is_foreign(operand):
        from nameexpr.tensors.labelled import understood

        if isinstance(known := understood(operand), Core):
            return known
        raise mixed(verb, _OWN, operand)
    return unnamed(as_operand(operand, verb))


def is_operand(other: object) -> bool:
    """Return whether an operator accepts this with a tensor; other objects may have their own operators."""
    return isinstance(other, KNOWN) or is_foreign(other)


def is_foreign(operand: object) -> bool:
    """Return whether an operand is an array of another library."""
    from nameexpr.tensors import foreign  # imported here: few operands are

    return foreign.is_foreign(operand)


def carrying(function: F) -> F:
    """Return a method whose result has the coordinates of its other operands, if its tensor has none."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            own = type(args[0])
            for other in args if not kwargs else (*args, *kwargs.values()):
                if (
                    type(other) is not own
                    and type(other) not in _BARE
                    and carrier(args[0], (other,)) is not None
                ):
                    from nameexpr.tensors.labelled import with_coordinates

                    return with_coordinates(function.__name__, function, args, kwargs)
            return function(*args, **kwargs)
        except MeetsRecorded:
            if kwargs.get("out") is not None:
                raise  # to the operator in place
            return RECORDED.again(function, args, kwargs)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return call  # type: ignore[return-value]


def carrier(tensor: Any, operands: Iterable[Any]) -> Any:
    """Return the first other operand with coordinates, as a tensor; None if the tensor has some itself.

    Tensors with coordinates have methods of their own, which keep them (`nameexpr.tensors.labelled`).
    """
    if tensor._coordinates:
        return None
    for other in operands:
        if type(other) not in _BARE and type(other) is not type(tensor):
            from nameexpr.tensors.labelled import understood  # late: few operands have any

            known = understood(other)
            if getattr(known, "_coordinates", ()):
                return known
    return None


_BARE: set[type] = {*NUMBERS, type(None), str, list, tuple, np.ndarray, np.float64}
"""Classes of operands that have no coordinates, and of NumPy's scalars the most frequent one."""
