"""`NamedTensor`: a NumPy array whose dims have names.

Each module contains one family of methods as a mixin; `named_tensor` combines them and contains the functions
that create tensors. They are loaded on use: `core` alone distinguishes tensors from other objects.

>>> tensor([[1, 2, 3], [4, 5, 6]], names="N C").align_to("C N").names
('C', 'N')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, from_numpy, tensor, wrap

__all__ = ["NamedTensor", "as_tensor", "from_numpy", "tensor", "wrap"]


def __getattr__(name: str) -> Any:
    """Return a name of `named_tensor`, which loads every family."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nameexpr.tensors import named_tensor

    globals().update((each, getattr(named_tensor, each)) for each in __all__)
    return globals()[name]
