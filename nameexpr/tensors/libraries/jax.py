"""NamedTensors around arrays of JAX, which are pytrees with static names.

>>> import jax
>>> x = ne.tensor(jax.numpy.ones((2, 3)), names="N C")
>>> jax.grad(lambda x: (x * x).sum().data)(x).names
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NoReturn, Self

import jax

from nameexpr.backends.jax import tensors as kernels
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.libraries.classes import LibraryTensor


class JaxTensor(LibraryTensor):
    """A NamedTensor whose elements are an array of JAX, or are traced by JAX."""

    __slots__ = ()

    _kernels: ClassVar[Any] = kernels
    _unary: ClassVar[Any] = kernels.UNARY
    _binary: ClassVar[Any] = kernels.BINARY
    _reducers: ClassVar[Any] = kernels.REDUCTIONS

    @property
    def device(self) -> Any:
        """The device of the elements, or their sharding."""
        return self._data.device

    def _no_memory(self, *arguments: Any, **options: Any) -> NoReturn:
        """Raise an error: JAX does not show where elements are in memory (NE689)."""
        message = "data_ptr, stride and is_contiguous are not supported for arrays of JAX"
        raise error(Diagnostic("NE689", message, hint="x.numpy() is an array of NumPy, which has them"))

    data_ptr = stride = is_contiguous = _no_memory

    def contiguous(self, memory_format: Any = None) -> Self:
        """Return the tensor itself: JAX chooses how elements are stored."""
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Return the tensor if no gradient is requested (NE679)."""
        if requires_grad:
            message = "requires_grad_: arrays of JAX do not record gradients"
            hint = "jax.grad(function)(x) returns the gradient, with the names of x"
            raise error(Diagnostic("NE679", message, hint=hint))
        return self

    def __hash__(self) -> int:
        return object.__hash__(self)


def _flatten(x: JaxTensor) -> tuple[tuple[Any, ...], Any]:
    return ((jax.tree_util.GetAttrKey("data"), x._data),), (type(x), x._names)


def _unflatten(context: Any, leaves: Iterable[Any]) -> Any:
    """Return a tensor around any leaf; without names if it has another number of dims.

    Within `jax.vmap` a dim is hidden, and its name with it.
    """
    (leaf,), (kind, names) = leaves, context
    ndim = getattr(leaf, "ndim", None)
    if isinstance(ndim, int) and ndim != len(names):
        hidden = kernels.hidden_axis(leaf)
        if hidden is not None and ndim == len(names) - 1:
            names = (*names[:hidden], *names[hidden + 1 :])
        else:
            names = (None,) * ndim
    return kind._wrap(leaf, names)


jax.tree_util.register_pytree_with_keys(JaxTensor, _flatten, _unflatten)
CLASS = JaxTensor
