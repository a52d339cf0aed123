"""The operators that all families share, for the arrays of any library: see `nameexpr.tensors.operators`."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from nameexpr.dims import Clash, Names, unify_from_right
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import removed, shown
from nameexpr.rules.pairing import Pairing, clashing
from nameexpr.rules.remembered import TRACERS
from nameexpr.rules.writing import check_written
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import mixed, unordered, wrong_kind
from nameexpr.tensors.libraries.refusals import LibraryRefusals
from nameexpr.tensors.operators import NUMBERS, is_operand, remove_names, unify_names
from nameexpr.tensors.writing import check_castable, checked_out, resizing, spelt


class LibraryOperators(LibraryRefusals):
    """A NamedTensor's operators, by the functions of a library."""

    __slots__ = ()

    _data: Any
    _kernels: ClassVar[Any]
    _unary: ClassVar[Any]
    _binary: ClassVar[Any]
    _reducers: ClassVar[Any]

    def _keep(self, verb: str, out: Core | None = None) -> Self:
        try:
            if out is None:
                new = object.__new__(type(self))
                new._data = self._unary[verb](self._data)
                new._names = self._names
                return new
            if out is not self:
                return self._write(out, self._unary[verb](self._data), self._names, verb)  # type: ignore[no-any-return]
            self._check_writes(f"{verb}_")
            self._kernels.IN_PLACE[verb](self._data)
        except Exception as fault:
            raise self._refusal(fault, spelt(verb, is_out=out is not self), (self,), out) from fault
        return self

    def _operate(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        other = right if left is self else left
        if out is None and type(other) is type(self) and other._names == self._names:
            try:
                new = object.__new__(type(self))
                new._data = self._binary[verb](left._data, right._data)
                new._names = self._names
                return new
            except Exception as fault:
                raise self._refusal(fault, verb, (left, right)) from fault
        if type(other) not in NUMBERS and not is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        return self._unify(verb, left, right, out)

    def _compare(self, verb: str, other: Any) -> Self:
        if type(other) not in NUMBERS and not is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        return self._ranked(verb, other)

    def _ranked(self, verb: str, other: Any, out: Core | None = None) -> Self:
        other = self._operand(other, verb)
        dtype = getattr(other, "dtype", None)
        is_complex = type(other) is complex if dtype is None else self._kernels.kind_of(dtype) == "c"
        if is_complex or self._kernels.kind_of(self._data.dtype) == "c":
            raise unordered(verb)
        return self._unify(verb, self, other, out)

    def _unify(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        other = right if left is self else left
        if type(other) is not type(self) and type(other) not in NUMBERS:
            other = self._operand(other, verb)
            left, right = (self, other) if left is self else (other, self)
        if type(other) in NUMBERS:
            names = self._names
            a, b = (self._data, other) if left is self else (other, self._data)
        else:
            if right is not self and right._is_by_name and not self._is_by_name:
                return right._unify(verb, left, right, out)  # type: ignore[no-any-return]
            a, b, names = left._data, right._data, left._names
            if names != right._names:
                names = self._unified(verb, left, right, out)
        try:
            if out is None:
                new = object.__new__(type(self))
                new._data = self._binary[verb](a, b)
                new._names = names
                return new
            if out is not left:
                return self._write(out, self._binary[verb](a, b), names, verb)  # type: ignore[no-any-return]
            return self._written_over(verb, a, b, names)
        except Exception as fault:
            said = spelt(verb, is_out=out is not left)
            raise self._refusal(fault, said, (left, right), out) from fault

    def _unified(self, verb: str, left: Core, right: Core, out: Core | None) -> Names:
        if not left._names or not right._names:
            return left._names or right._names
        unify = unify_from_right if TRACERS and TRACERS[0]() else unify_names
        unified = unify(left._names, right._names)
        if isinstance(unified, Clash):
            said = spelt(verb, is_out=out is not left)
            pairing = Pairing(said, moves="right" if out is left else "both")
            raise clashing(unified, left._dims, right._dims, pairing)
        return unified

    def _written_over(self, verb: str, a: Array, b: Any, names: Names) -> Self:
        """Write the result over this tensor, the first operand, by the library's in-place function."""
        if not self._kernels.CAN_WRITE:
            self._check_writes(f"{verb}_")
        if names == self._names and (type(b) in NUMBERS or b.shape == a.shape):
            self._kernels.IN_PLACE[verb](a, b)
            return self
        said = spelt(verb, is_out=False)
        shape = tuple(a.shape)
        if type(b) not in NUMBERS and b.shape != a.shape:
            shape = np.broadcast_shapes(shape, tuple(b.shape))
        if names != self._names or shape != tuple(a.shape):
            check_written(self._dims, names, shape, said)
        self._kernels.IN_PLACE[verb](a, b)
        self._names = names
        return self

    def _operand(self, operand: Any, verb: str) -> Any:
        """Return an operand as a number, or as a tensor of this library (NE507, NE575)."""
        if isinstance(operand, LibraryOperators) and operand._kernels is self._kernels:
            return operand
        if isinstance(operand, self._kernels.Array):
            array, names = self._kernels.strided(operand)
            return self._wrap(array, names or (None,) * array.ndim)
        if type(operand) in NUMBERS:
            return operand
        if isinstance(operand, np.generic) and type(operand.item()) in NUMBERS:
            return operand.item()
        is_joined = type(operand) is np.ndarray and self._kernels.JOINS_NUMPY
        if is_joined or isinstance(operand, list | tuple | np.generic):
            try:
                array = self._kernels.as_array(operand, self._data)
            except self._kernels.REFUSED as fault:
                message = f"{verb} cannot take {shown(operand)} as an operand"
                raise error(
                    Diagnostic("NE575", message, hint="operands hold numbers; lists are all of one length")
                ) from fault
            return self._wrap(array, (None,) * array.ndim)
        if isinstance(operand, Core | np.ndarray) or is_operand(operand):
            raise mixed(verb, self, operand)
        hint = "operands are NamedTensors, arrays of the same library, nested lists and numbers"
        raise error(Diagnostic("NE575", f"{verb} cannot take {shown(operand)} as an operand", hint=hint))

    def _as_core(self, operand: Any, verb: str) -> Any:
        """Return an operand as a tensor of this library: a number becomes one without dims."""
        operand = self._operand(operand, verb)
        if type(operand) in NUMBERS:
            return self._wrap(self._kernels.as_array(operand, self._data), ())
        return operand

    def _named(self, data: Any, names: Names) -> Self:
        new = object.__new__(type(self))
        new._data = data
        new._names = names
        return new

    def _put(self, data: Any, names: Names, verb: str, out: Core | None) -> Self:
        if out is None:
            return self._named(data, names)
        return self._write(out, data, names, verb if out is not self else f"{verb}_")  # type: ignore[no-any-return]

    def _write(self, out: Any, data: Array, names: Names, verb: str) -> Any:
        """Write a result into `out`, which takes its names if it has none, and return `out`."""
        target: Any = checked_out(out, verb)
        is_out = out is not self
        if getattr(target, "_kernels", None) is not self._kernels:
            raise mixed(f"{verb}: out=", self, target)
        self._check_writes(verb if verb[-1:] == "_" else f"{verb}: out=")
        shape = tuple(data.shape)
        if target._names != names or target.shape != shape:
            check_written(target._dims, names, shape, verb, is_out=is_out)
        check_castable(data.dtype, target._data.dtype, verb, is_out=is_out, category=self._kernels.category)  # type: ignore[union-attr]
        try:
            if target.shape != shape:
                resizing(target, shape, 0 not in target.shape)
                target._data = self._kernels.cast(data, target._data.dtype)  # type: ignore[union-attr]
            else:
                self._kernels.copy_into(target._data, data)  # type: ignore[union-attr]
        except self._kernels.REFUSED as fault:  # type: ignore[union-attr]
            raise self._refusal(fault, verb, (target,), target) from fault
        target._names = names
        return target

    def _check_ordered(self, verb: str) -> None:
        if self._kernels.kind_of(self._data.dtype) == "c":
            raise unordered(verb)

    def _as_dtype(self, dtype: Any) -> Any:
        wanted = None if dtype is None else self._kernels.dtype_of(dtype)
        if dtype is not None and wanted is None:
            message = f"{shown(dtype)} is not a dtype of {self._kernels.NAME}"
            raise error(
                Diagnostic("NE655", message, hint="'float32', 'int64' and 'bool' are names of dtypes")
            )
        return wanted

    def _reduce(self, verb: str, dim: object, keepdim: bool, out: Core | None = None, **options: Any) -> Self:
        names = self._names
        gone = (names.index(dim),) if type(dim) is str and dim in names else self._axes(dim, verb)
        names = names if keepdim else kept_names(names, gone)
        try:
            data = self._reducers[verb](self._data, axis=gone, keepdims=keepdim, **options)
        except Exception as fault:
            if not isinstance(keepdim, int | np.bool_):
                raise wrong_kind(verb, "keepdim", "True or False", keepdim) from None
            raise self._refusal(fault, verb, (self,)) from fault
        if out is not None:
            return self._write(out, data, names, verb)  # type: ignore[no-any-return]
        return self._named(data, names)


def kept_names(names: Names, gone: tuple[int, ...]) -> Names:
    """Return the names of the dims that are not removed."""
    return removed(names, gone) if TRACERS and TRACERS[0]() else remove_names(names, gone)
