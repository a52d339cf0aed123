"""Types for annotating your own functions, as `numpy.typing` provides for NumPy.

>>> from nameexpr.typing import Operand
>>> def scaled(x: Operand, factor: float) -> Operand:
...     return ne.einsum("..., -> ...", x, factor)

`Operand` is anything that a text can be applied to: `ArrayLike` without names, or `Labelled` with names. A
call returns a NamedTensor if any operand has names, else an array: type checkers distinguish the two because
they do not see the `__array__` of a NamedTensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from nameexpr.tensors import NamedTensor

__all__ = ["ArrayLike", "Labelled", "Operand", "SupportsArray"]


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


ArrayLike: TypeAlias = "np.ndarray[Any, Any] | np.generic | complex | Sequence[ArrayLike]"
"""A NumPy array, a number, or nested lists of them."""
Labelled: TypeAlias = "NamedTensor | _DataArray | _Table"
"""An array with names: a NamedTensor, xarray's DataArray, a Series or a DataFrame of pandas."""
Operand: TypeAlias = "NamedTensor | SupportsArray | complex | Sequence[ArrayLike]"
"""An operand of an expression or a formula."""
