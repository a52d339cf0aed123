"""What NamedTensors around arrays of JAX and of Dask share: these libraries never write to an array."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.libraries.classes import LibraryTensor


class ImmutableTensor(LibraryTensor):
    """A NamedTensor whose elements the library stores as it likes, and without recording gradients."""

    __slots__ = ()

    _library: ClassVar[str]
    _with_memory: ClassVar[str]
    """What to write for an array in memory."""
    _with_gradients: ClassVar[str]
    """What to write for gradients."""

    def _no_memory(self, *arguments: Any, **options: Any) -> NoReturn:
        """Raise an error: the library does not show where elements are in memory (NE689)."""
        message = f"data_ptr, stride and is_contiguous are not supported for arrays of {self._library}"
        raise error(Diagnostic("NE689", message, hint=f"{self._with_memory}, which has them"))

    data_ptr = stride = is_contiguous = _no_memory

    def contiguous(self, memory_format: Any = None) -> Self:
        """Return the tensor itself: the library chooses how elements are stored."""
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Return the tensor if no gradient is requested (NE679)."""
        if requires_grad:
            message = f"requires_grad_: arrays of {self._library} do not record gradients"
            raise error(Diagnostic("NE679", message, hint=self._with_gradients))
        return self
