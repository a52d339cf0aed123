"""The core of a `NamedTensor`: one array and one name per dim.

Every family of methods derives from this class, and needs nothing else of the others. Code that only needs to
know whether an object is a tensor, and its array and names, uses `Core`, and loads no methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, overload

import numpy as np

from nameexpr.dims import Dims, Names, dims_of
from nameexpr.tensors.ops import checked, op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    Dtype: TypeAlias = DTypeLike | None
OneDim: TypeAlias = "str | int | np.integer[Any]"
"""A dim, by its name or its position."""
SomeDims: TypeAlias = "OneDim | Sequence[OneDim] | None"
"""One dim or several; None for all."""
Other: TypeAlias = "Core | ArrayLike"
"""The other operand of an operator: a tensor, an array, nested lists or a number."""
Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]


class Core:
    """The array and the names, and the methods that only need these."""

    __slots__ = ("__weakref__", "_data", "_names", "_node")

    _data: Array
    _names: Names
    _coordinates: tuple[Any, ...] = ()
    """The coordinates of a `Labelled` tensor; others have none."""
    _kernels: ClassVar[Any] = None
    """The functions of the array's library, `nameexpr.backends.<library>.tensors`; None for NumPy, and
    `RECORDED` for a tensor of NumPy with a `_node`, which other tensors lack.
    """
    _plain: ClassVar[type[Core] | None] = None
    """The class of a `Labelled` tensor without its coordinates."""
    _is_by_name: ClassVar[bool] = False
    """Whether operators pair dims by name: True for `x.by_name`."""
    _by_position: ClassVar[type[Core] | None] = None
    """The class before `by_name`."""
    _tensor_class: ClassVar[type[Core]]
    """`NamedTensor`, which registers itself: code in lower layers creates tensors through it."""

    @classmethod
    def _wrap(cls, data: Array, names: Names) -> Self:
        """Return a tensor around `data` without a copy or a check: names must be valid, and one per dim."""
        new = object.__new__(cls)
        new._data = data
        new._names = names
        return new

    def _copied(self) -> Array:
        return self._data.copy()

    @property
    def _dims(self) -> Dims:
        return dims_of(self._names, self._data.shape)

    def _position(self, dim: object, verb: str, arguments: tuple[object, ...] = (), index: int = 0) -> int:
        """Return the position of a dim; an error shows the whole call with all its arguments."""
        if isinstance(dim, str) and dim in self._names:
            return self._names.index(dim)
        if type(dim) is int and -len(self._names) <= dim < len(self._names):
            return dim % len(self._names)
        from nameexpr.rules.calls import ShownCall, position_of

        dims = self._dims
        return position_of(dims, ShownCall(verb, arguments or (dim,), (dims,)), index)

    @property
    def data(self) -> Array:
        """The array itself, not a copy; writing to it writes to the tensor."""
        return self._data

    @checked
    def numpy(self) -> Array:
        """Return the array itself, without its names and without a copy.

        >>> ne.tensor([1, 2], names="N").numpy()
        array([1, 2])
        """
        return self._data

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dims."""
        return self._data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of the elements."""
        return self._data.dtype

    @property
    @op("answers", is_bare=True)
    def ndim(self) -> int:
        """The number of dims."""
        return self._data.ndim

    @overload
    def size(self, dim: None = None) -> tuple[int, ...]: ...

    @overload
    def size(self, dim: str | int) -> int: ...

    @op("answers")
    def size(self, dim: str | int | None = None) -> int | tuple[int, ...]:
        """Return the size of one dim, given by name or position, or the sizes of all.

        Raises
        ------
        DimNameError
            If no dim has that name.
        DimRangeError
            If there is no such position.

        Examples
        --------
        >>> ne.tensor([[1, 2, 3]], names="N C").size("C")
        3
        """
        if dim is None:
            return self.shape
        return self.shape[self._position(dim, "size")]

    @property
    @op("names", is_bare=True)
    def names(self) -> Names:
        """The names of the dims, None for one without; may be set.

        They may be set to a string "N C", a list or tuple, or None for no names at all; the names are
        checked.

        >>> x = ne.tensor([[1, 2]])
        >>> x.names
        (None, None)
        >>> x.names = "N C"
        >>> x.names
        ('N', 'C')
        """
        return self._names

    @names.setter
    def names(self, names: object) -> None:
        from nameexpr.rules.targets import checked_names

        self._names = checked_names(names, self._dims)

    @property
    @op("names", extra=True, is_bare=True)
    def dims(self) -> Names:
        """The names of the dims under the name that xarray has for `names`; they may be set."""
        return self._names

    @property
    @op("answers", extra=True, is_bare=True)
    def sizes(self) -> dict[str | int, int]:
        """The size of each dim by its name, or by its position if it has none.

        >>> ne.zeros(2, 3, names=("N", None)).sizes
        {'N': 2, 1: 3}
        """
        keys = (at if name is None else name for at, name in enumerate(self._names))
        return dict(zip(keys, self._data.shape, strict=True))

    @op("names")
    def has_names(self) -> bool:
        """Return whether at least one dim has a name.

        >>> ne.tensor([1, 2]).has_names()
        False
        """
        return any(name is not None for name in self._names)
