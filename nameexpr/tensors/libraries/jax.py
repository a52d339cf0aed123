"""NamedTensors around arrays of JAX, which are pytrees with static names.

>>> import jax
>>> x = ne.tensor(jax.numpy.ones((2, 3)), names="N C")
>>> jax.grad(lambda x: (x * x).sum().data)(x).names
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import jax

from nameexpr.backends.jax import tensors as kernels
from nameexpr.tensors.libraries.immutable import ImmutableTensor


class JaxTensor(ImmutableTensor):
    """A NamedTensor whose elements are an array of JAX, or are traced by JAX."""

    __slots__ = ()

    _kernels: ClassVar[Any] = kernels
    _unary: ClassVar[Any] = kernels.UNARY
    _binary: ClassVar[Any] = kernels.BINARY
    _reducers: ClassVar[Any] = kernels.REDUCTIONS
    _library: ClassVar[str] = "JAX"
    _with_memory: ClassVar[str] = "x.numpy() is an array of NumPy"
    _with_gradients: ClassVar[str] = "jax.grad(function)(x) returns the gradient, with the names of x"

    @property
    def device(self) -> Any:
        """The device of the elements, or their sharding."""
        return self._data.device


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
