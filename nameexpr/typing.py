"""Types to annotate your own functions with, as `numpy.typing` has them for NumPy's.

>>> from nameexpr.typing import Operand
>>> def scaled(x: Operand, factor: float) -> Operand:
...     return ne.einsum("..., -> ...", x, factor)

`ArrayLike` is what counts as an array without names, and `Operand` what a text can be applied to: one of
those, or a NamedTensor. A call has a NamedTensor as its result if any operand is one, else an array: type
checkers tell the two apart because a NamedTensor is not an `ArrayLike` for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from nameexpr.tensors import NamedTensor

__all__ = ["ArrayLike", "Operand", "SupportsArray"]


class SupportsArray(Protocol):
    """An array of NumPy's, or of a library whose arrays convert themselves."""

    def __array__(self) -> np.ndarray[Any, Any]:
        """Return the array."""
        ...


ArrayLike: TypeAlias = "SupportsArray | complex | Sequence[ArrayLike]"
"""An array, a number, or nested lists of them."""
Operand: TypeAlias = "NamedTensor | SupportsArray | complex | Sequence[ArrayLike]"
"""What an expression or a formula can be applied to."""
