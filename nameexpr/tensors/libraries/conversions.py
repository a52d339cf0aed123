"""Conversions, facts about memory, the repr and the protocols of Python, by the functions of a library."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from nameexpr.carets import visible
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.arguments import Device
from nameexpr.tensors.casts import DEVICES, Casts
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.display import Display, preview
from nameexpr.tensors.faults import mixed, not_one, undefined
from nameexpr.tensors.info import Info
from nameexpr.tensors.libraries.operators import LibraryOperators
from nameexpr.tensors.operators import NUMBERS
from nameexpr.tensors.ops import checked
from nameexpr.tensors.protocols import Protocols


class LibraryCasts(LibraryOperators, Casts):
    """The methods of `Casts` that touch elements."""

    __slots__ = ()

    @checked
    def to(self, *target: Any, dtype: Any = None, device: Any = None, copy: bool = False) -> Self:
        """Return the tensor in another dtype or on another device, which a tensor may give as well."""
        for item in target:
            if isinstance(item, LibraryOperators) and item._kernels is self._kernels:
                dtype, device = item.dtype, self._kernels.device_of(item._data)
            elif isinstance(item, Core):
                dtype = item.dtype
            elif isinstance(item, bool):
                continue  # PyTorch's non_blocking
            elif self._is_device(item):
                device = item
            else:
                dtype = item
        return self._cast(dtype, copy=copy, device=device)

    def _is_device(self, item: Any) -> bool:
        if isinstance(item, str):
            return item.partition(":")[0] in DEVICES
        return isinstance(item, (Device, self._kernels.DEVICE))

    def _cast(self, dtype: Any, *, copy: bool = False, device: Any = None) -> Self:
        wanted = self._as_dtype(dtype) or self._data.dtype
        try:
            data = self._kernels.converted(self._data, wanted, device, copy)
        except Exception as fault:
            raise self._refusal(fault, "to", (self,)) from fault
        return self if data is self._data else self._wrap(data, self._names)

    def _dtype_name(self) -> str:
        return self._kernels.name_of(self._data.dtype)  # type: ignore[no-any-return]

    @checked
    def type_as(self, other: Core) -> Self:
        """Return the tensor in the dtype, and on the device, of another."""
        return self.to(other) if isinstance(other, LibraryOperators) else super().type_as(other)


class LibraryInfo(LibraryOperators, Info):
    """The methods of `Info`: the library's own answers."""

    __slots__ = ()

    @checked
    def numel(self) -> int:
        """Return the number of elements."""
        return self._kernels.size(self._data)  # type: ignore[no-any-return]

    nelement = numel

    @checked
    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._data.itemsize  # type: ignore[no-any-return]

    @checked
    def is_floating_point(self) -> bool:
        """Return whether the elements are floats."""
        return self._kernels.kind_of(self._data.dtype) == "f"  # type: ignore[no-any-return]

    @checked
    def is_signed(self) -> bool:
        """Return whether elements can be negative: False for bool and unsigned dtypes."""
        return self._kernels.kind_of(self._data.dtype) not in "bu"

    @checked
    def is_complex(self) -> bool:
        """Return whether the elements are complex."""
        return self._kernels.kind_of(self._data.dtype) == "c"  # type: ignore[no-any-return]

    @checked
    def item(self) -> Any:
        """Return the only element as a Python number (NE382 unless there is exactly one)."""
        if self.numel() != 1:
            raise not_one(self.numel(), "item", self.shape, self._names)
        return self._read("item")

    @checked
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._read("tolist")

    @checked
    def numpy(self, *, force: bool = False) -> Array:
        """Return the elements as an array of NumPy, without the names: it shares memory on the CPU.

        Elsewhere, and for a tensor that requires a gradient, it is an error unless `force` is True, which
        copies from the device and detaches.
        """
        try:
            return self._kernels.numpy_view(self._data, force)  # type: ignore[no-any-return]
        except Exception as fault:
            raise self._refusal(fault, "numpy", (self,)) from fault


class LibraryDisplay(LibraryOperators, Display):
    """The repr: elements as NumPy prints them, names and sizes; dtype, device and what the library adds."""

    __slots__ = ()

    def __repr__(self) -> str:
        names = [f"names={self._names!r}"] if self.has_names() else []
        shape = [f"shape={tuple(self._data.shape)}"] if self._data.ndim else []
        tail = ", ".join([*names, *shape, *self._kernels.described(self._data)])
        head = "tensor(" + visible(self._elements())
        width = len(head) - (head.rfind("\n") + 1) + 2 + len(tail)
        space = " " if width < np.get_printoptions()["linewidth"] else "\n" + " " * len("tensor(")
        return f"{head},{space}{tail})"

    def _elements(self) -> str:
        """Return the elements as text: only those are moved to the host that are shown."""
        options = np.get_printoptions()
        edge, limit = options["edgeitems"], options["threshold"]
        data, is_long = self._data, self._kernels.size(self._data) > limit
        corners = self._kernels.corners(data, edge) if is_long else data
        if not self._kernels.is_known(corners):
            return "..."
        array = self._kernels.to_numpy(corners)
        limit = 0 if is_long else limit
        return np.array2string(array, separator=", ", prefix="tensor(", suffix=")", threshold=limit)

    def _repr_html_(self) -> str:
        from nameexpr.pictures.html import HtmlTable, html_table

        what = ", ".join(self._kernels.described(self._data))
        if not self._kernels.is_known(self._data) or self._kernels.size(self._data) > _MOST_MOVED:
            return html_table(HtmlTable(f"NamedTensor  {dict(self.sizes)}  {what}"))
        return html_table(preview(self._kernels.to_numpy(self._data), self._names, what))


_MOST_MOVED = 1 << 24
"""The number of elements up to which a tensor is moved to the host to show a table of it."""


class LibraryProtocols(LibraryOperators, Protocols):
    """The protocols of Python and NumPy."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the elements without names, for `np.asarray(x)`: see `numpy`."""
        array = self.numpy()
        return np.asarray(array, dtype) if copy is None else np.array(array, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of `np.float64(2) * x`; raise an error for other NumPy functions (NE507)."""
        verb = _SIGNS.get(ufunc.__name__, "")
        others = [each for each in inputs if not isinstance(each, np.generic) and type(each) not in NUMBERS]
        if verb and method == "__call__" and not kwargs and all(each is self for each in others):
            left, right = inputs
            return self._operate(verb, left, right)
        other = next((each for each in inputs if isinstance(each, np.ndarray)), None)
        if other is not None and verb and self._kernels.JOINS_NUMPY and not kwargs:
            return self._operate(verb, *inputs)
        if other is not None and verb:
            raise mixed(verb, self, other)
        raise self._not_numpy(ufunc.__name__)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        """Raise an error: NumPy functions compute with NumPy arrays (NE507)."""
        raise self._not_numpy(func.__name__)

    def _not_numpy(self, name: str) -> Exception:
        message = f"np.{name} computes with arrays of NumPy, and this tensor is of {self._kernels.NAME}"
        hint = f"nameexpr has the operators: ne.sum(x); np.{name}(x.numpy()) computes with NumPy"
        return error(Diagnostic("NE507", message, hint=hint))

    def __bool__(self) -> bool:
        """Return the truth of the only element (NE659 unless there is exactly one)."""
        if self._kernels.size(self._data) != 1:
            message = f"a tensor of {self._kernels.size(self._data)} elements has no single truth value"
            raise error(Diagnostic("NE659", message, hint="use x.any(), x.all() or x.numel()"))
        return bool(self._read("item", "bool"))

    def _number(self, kind: Any, dtypes: str, what: str = "") -> Any:
        if self._kernels.size(self._data) != 1:
            word = what.rpartition(" ")[2] or kind.__name__
            raise not_one(self._kernels.size(self._data), word, self.shape)
        if self._kernels.kind_of(self._data.dtype) not in dtypes:
            raise undefined(what or kind.__name__, (self,))
        try:
            return kind(self._read("item", what or kind.__name__))
        except (OverflowError, ValueError) as fault:
            raise error(Diagnostic("NE577", f"{kind.__name__}: {fault}")) from fault

    def __dir__(self) -> list[str]:
        """Return the names of the attributes, also of those that tensors of NumPy lack."""
        kinds = [kind for kind in type(self).__mro__ if issubclass(kind, LibraryOperators)]
        own = {name for kind in kinds for name in vars(kind)}
        return sorted({*super().__dir__(), *own})

    def _copied(self) -> Array:
        return self._kernels.copy(self._data)  # type: ignore[no-any-return]


_SIGNS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floor_divide",
    "remainder": "remainder",
    "power": "pow",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}
"""Ufuncs of NumPy that are signs."""
