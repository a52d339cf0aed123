"""The operators that all families share, for the arrays of any library: see `nameexpr.tensors.operators`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from nameexpr.dims import Clash, Names, unify_from_right
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import removed, shown
from nameexpr.rules.pairing import Pairing, check_sizes, clashing
from nameexpr.rules.remembered import TRACERS
from nameexpr.rules.writing import check_written
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import mixed, undefined, unordered, wrong_kind
from nameexpr.tensors.operators import NUMBERS, Operators, is_operand, remove_names, unify_names
from nameexpr.tensors.writing import check_castable, checked_out, resizing, spelt


class LibraryOperators(Operators):
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
            return self._wrap(operand, (None,) * operand.ndim)
        if type(operand) in NUMBERS:
            return operand
        if isinstance(operand, np.generic):
            return operand.item()
        if isinstance(operand, list | tuple):
            try:
                array = self._kernels.as_array(operand, self._data)
            except self._kernels.REFUSED as fault:
                message = f"{verb} cannot take {shown(operand)} as an operand"
                raise error(
                    Diagnostic("NE575", message, hint="lists hold numbers, all of one length")
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

    def _read(self, how: str, verb: str = "") -> Any:
        """Return elements as Python numbers (NE509 if they are not known)."""
        try:
            return getattr(self._kernels, how)(self._data)
        except Exception as fault:
            if not self._kernels.is_known(self._data):
                message = f"{verb or how}: the elements of the tensor are not known here"
                hint = "they are not while a library traces or vectorises code, nor on the device meta"
                raise error(Diagnostic("NE509", message, hint=hint)) from fault
            raise self._refusal(fault, verb or how, (self,)) from fault

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

    def _refuse(self, fault: Exception, verb: str, *operands: Any) -> NoReturn:
        raise self._refusal(fault, verb, operands) from fault

    def _refusal(
        self, fault: Exception, verb: str, operands: tuple[Any, ...], out: Core | None = None
    ) -> Exception:
        """Return our error for an exception of the library when an operator was applied to these operands.

        NE370 for sizes, NE508 for devices, NE570 and NE571 for dtypes, NE574 for negative powers; else NE581
        with the library's own words.
        """
        if isinstance(fault, NameExprError) or not isinstance(fault, self._kernels.REFUSED):
            return fault
        cores = [each for each in operands if isinstance(each, Core)]
        pairing = Pairing(verb, moves="right" if verb.endswith("_") else "both")
        for left, right in pairwise(cores):
            try:
                check_sizes(left._dims, right._dims, pairing)
            except NameExprError as sizes:
                return sizes
        return self._refusal_of_kinds(fault, verb, operands, cores, out)

    def _refusal_of_kinds(
        self, fault: Exception, verb: str, operands: Any, cores: list[Any], out: Core | None
    ) -> NameExprError:
        kernels = self._kernels
        devices = list(dict.fromkeys(kernels.device_of(each._data) for each in cores))
        if len(devices) > 1:
            message = f"{verb}: operands on two devices, {devices[0]} and {devices[1]}"
            return error(Diagnostic("NE508", message, hint=f"right.to({devices[0]!r}) moves one of them"))
        kinds = {kernels.kind_of(each._data.dtype) for each in cores}
        if verb.rstrip("_") == "pow" and kinds <= set("iu"):
            hint = "convert it to floats first: x.float(), or give the exponent as a float, -1.0"
            message = f"{verb}: an integer to a negative power is not an integer"
            return error(Diagnostic("NE574", message, hint=hint))
        is_of_floats = verb in _OF_FLOATS and kinds <= set("iub")
        if isinstance(fault, TypeError | NotImplementedError) or is_of_floats:
            return undefined(verb, tuple(operands))
        said = str(fault).partition("\n")[0]
        hint = _HINTS.get(verb, "the exception that caused this one is the library's own")
        return error(Diagnostic("NE581", f"{verb}: {kernels.NAME} raised an error: {said}", hint=hint))


def kept_names(names: Names, gone: tuple[int, ...]) -> Names:
    """Return the names of the dims that are not removed."""
    return removed(names, gone) if TRACERS and TRACERS[0]() else remove_names(names, gone)


_OF_FLOATS = frozenset(["mean", "std", "var", "nanmean", "nanstd", "nanvar", "norm"])
_HINTS = {"numpy": "x.numpy(force=True) detaches the tensor, and copies it from another device"}
