"""Types for annotating your own functions, as `numpy.typing` provides for NumPy.

>>> from nameexpr.typing import Operand
>>> def scaled(x: Operand, factor: float) -> Operand:
...     return ne.einsum("..., -> ...", x, factor)

`Operand` is anything that a text can be applied to: `ArrayLike` without names, `Labelled` with names, or
`Foreign`, an array of another library. A call returns a NamedTensor if any operand has names, else an array
of the operands' library: type checkers distinguish the two because they do not see the `__array__` of a
NamedTensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from nameexpr.tensors import NamedTensor

__all__ = ["ArrayLike", "Foreign", "Labelled", "Operand", "SupportsArray"]

Array = TypeVar("Array")
Array_co = TypeVar("Array_co", covariant=True)


class SupportsArray(Protocol):
    """An array of a library whose arrays convert themselves: torch.Tensor, h5py.Dataset, xarray.DataArray."""

    def __array__(self) -> np.ndarray[Any, Any]:
        """Return the array."""
        ...


class _DataArray(SupportsArray, Protocol):
    @property
    def coords(self) -> object: ...


class _Table(SupportsArray, Protocol):
    @property
    def axes(self) -> object: ...


class _Tensor(Protocol[Array_co]):
    """torch.Tensor and its subclasses, which operators give up."""

    @property
    def requires_grad(self) -> bool: ...

    def detach(self) -> Array_co: ...


class _Ready(Protocol[Array_co]):
    """An array of JAX."""

    def block_until_ready(self) -> Array_co: ...


class _Standard(Protocol[Array_co]):
    """An array of the array API standard, which NumPy's are, too."""

    def __array_namespace__(self) -> Any: ...

    def __pos__(self) -> Array_co: ...


class _Chunked(Protocol[Array_co]):
    """A Dask array."""

    def rechunk(self) -> Array_co: ...


ArrayLike: TypeAlias = "np.ndarray[Any, Any] | np.generic | complex | Sequence[ArrayLike]"
"""A NumPy array, a number, or nested lists of them."""
Labelled: TypeAlias = "NamedTensor | _DataArray | _Table"
"""An array with names: a NamedTensor, xarray's DataArray, a Series or a DataFrame of pandas."""
Foreign: TypeAlias = _Tensor[Array] | _Ready[Array] | _Chunked[Array] | _Standard[Array]
"""An array of PyTorch, JAX, Dask or the array API standard, whose operators return `Array`."""
Operand: TypeAlias = "NamedTensor | SupportsArray | Foreign[Any] | complex | Sequence[ArrayLike]"
"""An operand of an expression or a formula."""
