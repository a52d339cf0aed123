"""Types to annotate your own functions with, as `numpy.typing` has them for NumPy's.

>>> from nameexpr.typing import Operand
>>> def scaled(x: Operand, factor: float) -> Operand:
...     return ne.einsum("..., -> ...", x, factor)

`Operand` is what a text can be applied to; of its parts, `ArrayLike` has no names, and `Labelled` has. A call
has a NamedTensor as its result if any operand has names, else an array: type checkers tell the two apart
because a NamedTensor has no `__array__` for them.
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
"""An array of NumPy's, a number, or nested lists of them."""
Labelled: TypeAlias = "NamedTensor | _DataArray | _Table"
"""An array with names: a NamedTensor, xarray's DataArray, a Series or a DataFrame of pandas."""
Operand: TypeAlias = "NamedTensor | SupportsArray | complex | Sequence[ArrayLike]"
"""What an expression or a formula can be applied to."""
