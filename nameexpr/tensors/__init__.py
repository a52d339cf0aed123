"""`NamedTensor`: a NumPy array whose dims have names.

Each module holds one family of methods as a mixin; `named_tensor` puts them together and has the functions
that make tensors.

>>> tensor([[1, 2, 3], [4, 5, 6]], names="N C").align_to("C N").names
('C', 'N')
"""

from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, from_numpy, from_xarray, tensor, wrap

__all__ = ["NamedTensor", "as_tensor", "from_numpy", "from_xarray", "tensor", "wrap"]
