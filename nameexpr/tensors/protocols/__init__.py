"""The protocols of Python and NumPy: conversions, copies, ufuncs and functions.

`np.asarray(x)` and DLPack are explicit wishes for the bare array. `np.add(x, y)` and `np.sum(x)` are not:
they give tensors (`ufuncs`, `functions`), and a function that does not support names raises an error with
advice. Truth, and conversion to a number, are for a single element.

>>> x = ne.tensor([[1.0, 2.0]], names="N C")
>>> np.multiply(2, x).names, np.mean(x, axis="C").names, float(x.sum())
(('N', 'C'), ('N',), 3.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import not_one
from nameexpr.tensors.missing import ANSWERED, answers_names
from nameexpr.tensors.operators import carrier
from nameexpr.tensors.ops import MeetsRecorded

if TYPE_CHECKING:
    import numpy.typing as npt

_NUMBERS = frozenset({int, float, complex, bool})


@answers_names
class Protocols(Core):
    """The special methods, except for operators and indexing."""

    __slots__ = ()

    __array_priority__ = 10000.0  # pandas, with 1000, leaves ufuncs to us, and operators by the other
    __pandas_priority__ = 10000

    if TYPE_CHECKING:  # so that `array * x` is resolved here, with names, and `np.sum(x)` is allowed

        def __buffer__(self, flags: int, /) -> memoryview: ...

    else:

        def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
            """Return the array without names, for `np.asarray(x)`.

            It is the tensor's own array, not a copy, if dtype and copy allow it.

            >>> np.asarray(ne.tensor([1, 2], names="N"))
            array([1, 2])
            """
            if copy is None:
                return np.asarray(self._data, dtype=dtype)
            return np.array(self._data, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a NumPy ufunc, with names."""
        if not kwargs and method == "__call__" and ufunc.nout == 1 and ufunc.signature is None:
            result = self._of_equals(ufunc, inputs)
            if result is not None:
                return result
        other = carrier(self, inputs)
        if other is not None:
            return other.__array_ufunc__(ufunc, method, *inputs, **kwargs)
        # Imported here: most calls do not reach this.
        from nameexpr.tensors.protocols.ufuncs import apply_ufunc

        try:
            return apply_ufunc(self, ufunc, method, inputs, kwargs)
        except MeetsRecorded:
            return NotImplemented  # NumPy then asks the recorded operand
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    def _of_equals(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Self | None:
        """Return the result for tensors of the same names and sizes, and numbers, as in most calls.

        None for all others, and if NumPy raises an error, which the slow path explains.
        """
        kind, names, shape = type(self), self._names, self._data.shape
        arrays = []
        for operand in inputs:
            if type(operand) is kind and operand._names == names and operand._data.shape == shape:
                arrays.append(operand._data)
            elif type(operand) in _NUMBERS:
                arrays.append(operand)
            else:
                return None
        try:
            return self._wrap(np.asarray(ufunc(*arrays)), names)
        except (TypeError, ValueError, ArithmeticError, MemoryError):
            return None

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Return the result of a NumPy function, with names if a rule for them is known."""
        other = carrier(self, args)
        if other is not None:
            return other.__array_function__(func, types, args, kwargs)
        # Imported here: most programs do not reach this, and the table is long.
        from nameexpr.tensors.protocols.functions import apply_function

        try:
            return apply_function(func, types, args, kwargs)
        except MeetsRecorded:
            return NotImplemented
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    def __dlpack__(self, **options: Any) -> Any:
        """Return the array, without names, for another library to share: `np.from_dlpack(x)`."""
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number for the CPU."""
        return self._data.__dlpack_device__()

    @property
    def _mask(self) -> Any:
        """Raise an error for numpy.ma, which looks here for a mask: its results would lose the
        names (NE654).
        """
        hint = "fill the masked array first, array.filled(value), and keep the mask apart"
        raise error(Diagnostic("NE654", "a masked array and a NamedTensor cannot meet", hint=hint))

    def __bool__(self) -> bool:
        """Return the truth of the only element.

        Raises
        ------
        OptionError
            NE659, unless there is exactly one element.
        """
        if self._data.size != 1:
            message = f"a tensor of {self._data.size} elements has no single truth value"
            raise error(Diagnostic("NE659", message, hint="use x.numpy().any(), .all() or .size"))
        return bool(self._data.item())

    def __float__(self) -> float:
        """Return the only element as a float (NE382, and NE571 for what is not a real number)."""
        return float(self._number(float, "biufO"))

    def __int__(self) -> int:
        """Return the only element as an integer, cut off towards zero (NE382, NE571; NE577 for nan)."""
        return int(self._number(int, "biufO"))

    def __complex__(self) -> complex:
        """Return the only element as a complex number (NE382, and NE571 for what is not a number)."""
        return complex(self._number(complex, "biufcO"))

    def __index__(self) -> int:
        """Return the only element as an index, which only integers are (NE382, NE571)."""
        return int(self._number(int, "iu", "an index"))

    def _number(self, kind: type, dtypes: str, what: str = "") -> Any:
        """Return the only element as a number of a kind, or raise our error."""
        if self._data.size != 1:
            raise not_one(self._data.size, what.rpartition(" ")[2] or kind.__name__, self.shape)
        dtype = self._data.dtype
        try:
            if dtype.kind in dtypes or (dtype.kind == "V" and dtype.names is None and not what):
                return kind(self._data.item())
        except (OverflowError, ValueError) as fault:
            raise error(Diagnostic("NE577", f"{kind.__name__}: {fault}")) from fault
        except TypeError as fault:
            raise _no_number(what or kind.__name__, dtype) from fault
        raise _no_number(what or kind.__name__, dtype)

    def __format__(self, spec: str) -> str:
        """Return the number of a 0-d tensor in a format, and the repr of any other.

        >>> f"{ne.tensor([1.0, 2.5]).mean():.2f}"
        '1.75'
        """
        if not self._data.ndim:
            return format(self._data.item(), spec)
        return super().__format__(spec)

    def __dir__(self) -> list[str]:
        """Return the names of the attributes, without those that only an error answers."""
        return [name for name in super().__dir__() if name not in ANSWERED]

    def __copy__(self) -> Self:
        """Return a tensor with a copy of the array, as NumPy's arrays do."""
        return self._wrap(self._copied(), self._names)


def _no_number(what: str, dtype: np.dtype[Any]) -> NameExprError:
    hint = "x.to('int64') makes integers" if what == "an index" else "x.to(dtype) converts"
    return error(Diagnostic("NE571", f"an element of {dtype} is no {what.removeprefix('an ')}", hint=hint))
