"""Errors of NamedTensors of other libraries than NumPy: what a library does not support or rejects."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, NoReturn

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.pairing import Pairing, check_sizes
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import OPS


class LibraryRefusals(Operators):
    """The errors that all operators share."""

    __slots__ = ()

    _data: Any
    _kernels: ClassVar[Any]

    def _check_writes(self, verb: str) -> None:
        """Raise NE688 if the library's arrays are never written to."""
        if self._kernels.CAN_WRITE:
            return
        message = f"{verb}: arrays of {self._kernels.NAME} are never written to"
        hint = "ne.where(mask, value, x) makes a new tensor"
        if verb in OPS and OPS[verb].twin_of:
            hint = f"x = x.{OPS[verb].twin_of}(...) makes a new tensor"
        raise error(Diagnostic("NE688", message, hint=hint))

    def _needed(self, table: str, verb: str) -> Any:
        """Return the function of an operator in a table (NE689 if the library lacks it)."""
        found = getattr(self._kernels, table, {}).get(verb)
        if found is None:
            message = f"{verb} is not supported for arrays of {self._kernels.NAME}"
            raise error(Diagnostic("NE689", message, hint=f"{self._kernels.NAME} itself may have it: x.data"))
        return found

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
        if verb[-1:] == "_" and len(operands) > 1:
            category = max(_CATEGORIES.get(type(each), 0) for each in operands)
            dtypes = [each._data.dtype for each in cores]
            if max([category, *map(kernels.category, dtypes)]) > kernels.category(dtypes[0]):
                message = f"{verb}: the result cannot be written into a tensor of {dtypes[0]}"
                hint = f"x = x.{verb[:-1]}(...) makes a new tensor"
                return error(Diagnostic("NE570", message, hint=hint))
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


_CATEGORIES = {bool: 0, int: 1, float: 2, complex: 3}
_OF_FLOATS = frozenset(["mean", "std", "var", "nanmean", "nanstd", "nanvar", "norm"])
_HINTS = {"numpy": "x.numpy(force=True) detaches the tensor, and copies it from another device"}
