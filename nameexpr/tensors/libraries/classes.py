"""The class of the NamedTensors of each library: `class_for`.

>>> class_for("torch").__name__
'TorchTensor'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nameexpr.tensors.libraries.along import LibraryAlong
from nameexpr.tensors.libraries.combining import LibraryArithmetic, LibraryProducts
from nameexpr.tensors.libraries.conversions import (
    LibraryCasts,
    LibraryDisplay,
    LibraryInfo,
    LibraryProtocols,
)
from nameexpr.tensors.libraries.filling import LibraryFills
from nameexpr.tensors.named_tensor import NamedTensor


class LibraryTensor(
    LibraryFills,
    LibraryAlong,
    LibraryArithmetic,
    LibraryProducts,
    LibraryCasts,
    LibraryInfo,
    LibraryDisplay,
    LibraryProtocols,
    NamedTensor,
):
    """A NamedTensor around an array of another library than NumPy, with the same rules for names."""

    __slots__ = ()
    __hash__ = NamedTensor.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to recreate this tensor, for pickle and deepcopy."""
        from nameexpr.tensors.named_tensor import as_tensor

        return as_tensor, (self._data, self._names)


def class_for(library: str) -> type[LibraryTensor]:
    """Return the class of the NamedTensors of a library, which is imported by now."""
    if library not in _CLASSES:
        _CLASSES[library] = import_module(f"nameexpr.tensors.libraries.{library}").CLASS
    return _CLASSES[library]


_CLASSES: dict[str, type[LibraryTensor]] = {}
