"""What Python and NumPy ask of an object, so far as it can be answered without losing names in silence.

`np.asarray(x)` is an explicit wish for the bare array. `np.add(x, y)` and `np.sum(x)` are not: their results
would have no names, so they are refused with the way out. For the same reason comparison and truth are errors
where NumPy's answer is an array: Python's defaults, identity and True, would be wrong in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.core import Array, Core


class Protocols(Core):
    """The special methods, but for operators and indexing."""

    __slots__ = ()

    __array_priority__ = 1000.0

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the array without names, as `np.asarray(x)` asks for it.

        It is the tensor's own array, not a copy, where dtype and copy allow.

        Examples
        --------
        >>> import numpy as np
        >>> import nameexpr as ne
        >>> np.asarray(ne.tensor([1, 2], names="N"))
        array([1, 2])
        """
        if copy is None:
            return np.asarray(self._data, dtype=dtype)
        return np.array(self._data, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> NoReturn:
        """Refuse NumPy's ufuncs, which know no names."""
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        raise _nameless(name)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> NoReturn:
        """Refuse NumPy's functions, which know no names."""
        module = getattr(func, "__module__", None) or "numpy"
        raise _nameless(f"{module}.{getattr(func, '__name__', func)}".replace("numpy.", "np.", 1))

    def __bool__(self) -> bool:
        """Return the truth of the only element.

        Raises
        ------
        OptionError
            NE659, unless there is exactly one element.
        """
        if self._data.size != 1:
            message = f"a tensor of {self._data.size} elements is neither true nor false"
            raise error(Diagnostic("NE659", message, hint="ask its array: x.numpy().any(), .all() or .size"))
        return bool(self._data.item())

    def __copy__(self) -> Self:
        """Return a tensor with a copy of the array, as NumPy's arrays do."""
        return self._wrap(self._data.copy(), self._names)


def _nameless(name: str) -> Exception:
    hint = "for the result without names apply it to x.numpy()"
    return error(Diagnostic("NE658", f"{name} would lose the names of a NamedTensor", hint=hint))
