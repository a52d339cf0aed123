"""`NamedTensor`: a NumPy array whose dims have names.

Each module holds one family of methods as a mixin; `named_tensor` puts them together and has the functions
that make tensors. They are loaded on use: `core` alone tells tensors from other objects.

>>> tensor([[1, 2, 3], [4, 5, 6]], names="N C").align_to("C N").names
('C', 'N')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, from_numpy, tensor, wrap

__all__ = ["NamedTensor", "as_tensor", "from_numpy", "tensor", "wrap"]


def __getattr__(name: str) -> Any:
    """Return what `named_tensor` makes, which loads every family."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nameexpr.tensors import named_tensor

    globals().update((each, getattr(named_tensor, each)) for each in __all__)
    return globals()[name]
